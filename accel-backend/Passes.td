//===- Passes.td - passes of accel-backend ----------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PASSES
#define TILEBRIDGE_ACCEL_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Tensors: what is copied, what is computed (lower/)
//===----------------------------------------------------------------------===//

def AccelKernelsPass : Pass<"tilebridge-accel-kernels", "::mlir::ModuleOp"> {
  let summary = "Leaves kernels only, each without calls";
  let description = [{
    Every call has been inlined before; one that is left is that of a function that calls itself, for which a scratchpad has
    no room of known size: an error. Private functions go, and kernels are marked as kernels of this backend.

    Before:
    ```mlir
    func.func private @unused(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
      return
    }
    func.func @f(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = []} {
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = []} {
      return
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

//===----------------------------------------------------------------------===//
// Programs on PEs, and what fits (plan/)
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Buffers and transfers (lower/)
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Lines of PEs, places of buffers (plan/)
//===----------------------------------------------------------------------===//

#endif
