#ifndef TILEBRIDGE_FRONTEND_TTDIALECT
#define TILEBRIDGE_FRONTEND_TTDIALECT

include "mlir/IR/OpBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tilebridge::tt";
  let summary = "Triton's tile IR, as the wheels 3.7 to 3.9 print it";
}

#endif
