#ifndef TILEBRIDGE_BRIDGE_LINALGEXTOPS
#define TILEBRIDGE_BRIDGE_LINALGEXTOPS

include "mlir/IR/OpBase.td"

def LinalgExt_Dialect : Dialect {
  let name = "linalg_ext";
  let cppNamespace = "::tilebridge::linalg_ext";
  let summary = "What the bridge IR needs and linalg lacks";
}

#endif
