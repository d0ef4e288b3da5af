#ifndef TILEBRIDGE_BRIDGE_LINALGEXTDIALECT
#define TILEBRIDGE_BRIDGE_LINALGEXTDIALECT

include "mlir/IR/OpBase.td"

def LinalgExt_Dialect : Dialect {
  let name = "linalg_ext";
  let cppNamespace = "::tilebridge::linalg_ext";
  let summary = "What the bridge IR needs and linalg lacks";
}

class LinalgExt_Op<string mnemonic, list<Trait> traits = []> : Op<LinalgExt_Dialect, mnemonic, traits>;

#endif
