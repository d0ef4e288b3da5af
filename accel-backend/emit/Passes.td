//===- Passes.td - passes of accel-backend/emit ------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_EMIT_PASSES
#define TILEBRIDGE_ACCEL_EMIT_PASSES

include "mlir/Pass/PassBase.td"

def AccelToEmitCPass : Pass<"tilebridge-accel-to-emitc", "::mlir::ModuleOp"> {
  let summary = "Lowered kernels as EmitC that calls the interface of accel_abi.h";
  let description = [{
    Each function becomes one block of EmitC: scalars are its ops, transfers, loops and branches lines of C++. Buffers have
    their places, transfers are memory to memory, and nothing is left that needs a runtime beside accel_abi.h. A
    function without a body is one of another language: it is called with the PE, and for each memref with the address of the
    first element, the sizes and the strides.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel} {
      accel.barrier [0, 1]
      return
    }
    ```
    After:
    ```mlir
    emitc.func @f() {
      emitc.verbatim "//@@ static void f(accel_pe *pe, float *a0, int32_t programs_x, int32_t programs_y, int32_t programs_z) {"
      emitc.verbatim "accel_barrier(pe, ACCEL_ALONG_COLUMN | ACCEL_ALONG_ROW, \"k.py:3:4\");"
      emitc.return
    }
    ```
  }];
  let options = [
    Option<"rows", "rows", "unsigned", "0", "rows of the grid of PEs; 0: any">,
    Option<"columns", "columns", "unsigned", "0", "columns of the grid of PEs; 0: any">];
  let dependentDialects = ["::mlir::emitc::EmitCDialect"];
}

def AccelPrintCppPass : Pass<"tilebridge-accel-print-cpp", "::mlir::ModuleOp"> {
  let summary = "Prints EmitC as C++ on standard output";
  let description = [{
    Folds what is used once into expressions, translates, gives functions and variables their names, and drops what nothing
    uses. The module stays as it is.

    Before:
    ```mlir
    emitc.func @f() {
      emitc.verbatim "//@@ static void f(accel_pe *pe) {"
      emitc.verbatim "accel_barrier(pe, 1, \"\");"
      emitc.return
    }
    ```
    What is printed:
    ```cpp
    static void f(accel_pe *pe) {
      accel_barrier(pe, 1, "");
    }
    ```
  }];
}

#endif
