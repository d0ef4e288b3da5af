//===- Passes.td - passes over the bridge IR --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_BRIDGE_PASSES
#define TILEBRIDGE_BRIDGE_PASSES

include "mlir/Pass/PassBase.td"

def VerifyBridgePass : Pass<"tilebridge-verify-bridge", "::mlir::ModuleOp"> {
  let summary = "Checks that a module is bridge IR";
  let description = [{
    Checks the contract of docs/bridge-ir.md, which every backend relies on, and changes nothing. A message begins with the
    number of the rule in its section "What the verifier checks".

    Before, and after it passed:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
      return
    }
    ```
    Without the last argument:
    ```
    error: (B2) the last 6 arguments of a function are the program's ids and their counts, all i32
    ```
  }];
}

#endif
