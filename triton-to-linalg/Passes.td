//===- Passes.td - passes of triton-to-linalg --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_TRITONTOLINALG_PASSES
#define TILEBRIDGE_TRITONTOLINALG_PASSES

include "mlir/Pass/PassBase.td"

def ToBridgePass : Pass<"tilebridge-to-bridge", "::mlir::ModuleOp"> {
  let summary = "Lowers all of tt but its memory accesses to the bridge IR";
  let description = [{
    A full conversion: functions with the program's ids as arguments, pointers and descriptors as memrefs, arithmetic on
    tensors as `linalg.generic`, shapes, reductions, scans and products. Memory accesses are lowered before, by
    `tilebridge-lower-accesses`; the casts that it leaves between types of tt and of the bridge go away. An op that has no
    lowering is an error at its place, and nothing is written.

    Before:
    ```mlir
    tt.func public @f(%p: !tt.ptr<f32>, %a: f32) {
      %i = tt.get_program_id x : i32
      %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %m = builtin.unrealized_conversion_cast %q : !tt.ptr<f32> to memref<?xf32, strided<[1], offset: ?>>
      %zero = arith.constant 0 : index
      memref.store %a, %m[%zero] : memref<?xf32, strided<[1], offset: ?>>
      tt.return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %a: f32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "fp32"]} {
      %base, %offset, %size, %stride = memref.extract_strided_metadata %p : ...
      %i = arith.index_cast %px : i32 to index
      %o = arith.addi %offset, %i : index
      %m = memref.reinterpret_cast %base to offset: [%o], sizes: [%size], strides: [1] : ...
      %zero = arith.constant 0 : index
      memref.store %a, %m[%zero] : memref<?xf32, strided<[1], offset: ?>>
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect", "::mlir::LLVM::LLVMDialect",
    "::tilebridge::linalg_ext::LinalgExtDialect"];
}

#endif
