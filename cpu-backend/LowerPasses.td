//===- LowerPasses.td - on the way to LLVM's dialect -------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_LOWERPASSES
#define TILEBRIDGE_CPUBACKEND_LOWERPASSES

include "mlir/Pass/PassBase.td"

def CpuLowerAddressesPass : Pass<"tilebridge-cpu-lower-addresses", "::mlir::ModuleOp"> {
  let summary = "Makes memrefs of byte addresses";
  let description = [{
    `linalg_ext.view_address` becomes the descriptor that the conversion of memrefs to LLVM uses.

    Before:
    ```mlir
    %base = linalg_ext.view_address %address : (i64) -> memref<?xf32, strided<[1], offset: ?>>
    ```
    After, with offset, size and stride left out:
    ```mlir
    %p = llvm.inttoptr %address : i64 to !llvm.ptr
    %0 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %1 = llvm.insertvalue %p, %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    ...
    %base = builtin.unrealized_conversion_cast %6 : ... to memref<?xf32, strided<[1], offset: ?>>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuLowerClockPass : Pass<"tilebridge-cpu-lower-clock", "::mlir::ModuleOp"> {
  let summary = "Asks the C library for the time";
  let description = [{
    `linalg_ext.clock` becomes a call of `clock_gettime` for the monotonic clock, in nanoseconds.

    Before:
    ```mlir
    %t = linalg_ext.clock
    ```
    After, with `%slot` allocated once in the function:
    ```mlir
    %r = llvm.call @clock_gettime(%monotonic, %slot) : (i32, !llvm.ptr) -> i32
    %s = llvm.load %slot : !llvm.ptr -> i64
    %rest = llvm.getelementptr %slot[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %ns = llvm.load %rest : !llvm.ptr -> i64
    ...
    %t = llvm.add %scaled, %ns : i64
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuLowerControlFlowPass : Pass<"tilebridge-cpu-lower-control-flow", "::mlir::ModuleOp"> {
  let summary = "Turns loops and branches into blocks, the last ones first";
  let description = [{
    MLIR's patterns for `scf` cut the block of an operation in two, which takes as long as the rest of the block is. From the
    last operation to the first, that rest ends at the next loop; from the first to the last, as `convert-scf-to-cf` goes, it
    is all that follows, and hundreds of loops took the square of their number. Loops come before what is in them.

    Before:
    ```mlir
    scf.for %i = %lower to %upper step %step {
      memref.store %value, %memory[%i] : memref<?xf32>
    }
    ```
    After:
    ```mlir
      cf.br ^header(%lower : index)
    ^header(%i: index):
      %more = arith.cmpi slt, %i, %upper : index
      cf.cond_br %more, ^body, ^end
    ^body:
      memref.store %value, %memory[%i] : memref<?xf32>
      %next = arith.addi %i, %step : index
      cf.br ^header(%next : index)
    ^end:
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
