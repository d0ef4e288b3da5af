//===- Passes.td - passes that search ----------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_SEARCH_PASSES
#define TILEBRIDGE_ACCEL_SEARCH_PASSES

include "mlir/Pass/PassBase.td"

def AccelOrderCopiesPass : Pass<"tilebridge-accel-order-copies", "::mlir::func::FuncOp"> {
  let summary = "Copies blocks in the order of memory, and transposes them in local memory, where engines do not";
  let description = [{
    A block whose memory has its elements in another order, such as a transposed one, is more than an engine of few dimensions can say: one
    that moves contiguous bytes only would move each element by itself. Where the set-up of the descriptors that this saves takes longer than a
    compute unit takes to transpose the block, the copy is one of the same box with its dimensions in the order of the strides, from the largest to
    the smallest; a `linalg.transpose` behind a load, or before a store, makes the block of it. Boxes, padding, masks and
    accumulation go with it. A remark says how many descriptors both take, and reports have it as the reason of the form `subview, transposed`.

    Before, on an engine that copies one run:
    ```mlir
    %t = accel.copy %v to %e : (memref<64x32xf16, strided<[1, 512], offset: ?>>, tensor<64x32xf16>) -> tensor<64x32xf16>
    ```
    After:
    ```mlir
    %w = memref.reinterpret_cast %p to offset: [%o], sizes: [32, 64], strides: [512, 1]
        : memref<?xf16, strided<[1], offset: ?>> to memref<32x64xf16, strided<[512, 1], offset: ?>>
    %s = accel.copy %w to %f : (memref<32x64xf16, strided<[512, 1], offset: ?>>, tensor<32x64xf16>) -> tensor<32x64xf16>
    %t = linalg.transpose ins(%s : tensor<32x64xf16>) outs(%e : tensor<64x32xf16>) permutation = [1, 0]
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AccelFitPass : Pass<"tilebridge-accel-fit", "::mlir::ModuleOp"> {
  let summary = "Decides depths and tiles so that all buffers fit into local memory";
  let description = [{
    Tries, on a copy of the kernel that is lowered until its buffers can be placed: all copies in loops with several buffers, then with one;
    then the same with blocks that are half as large along one class of dimensions, of those that can be tiled the one with the most bytes,
    and so on. The first that fits is taken, and written as `accel.depth` and `accel.tile` on the copies. Buffers that are not needed at
    the same time share their places in each. Where two fit, more are taken if the model of the machine says that they help, as far as they fit too:
    the fewest that are as fast as any. Blocks never become smaller for more than two.

    Where nothing fits, one error says how many bytes are needed of how many, names the buffers with their places in the kernel,
    and the largest dimensions of blocks that would fit.

    Before, on a target with 16 KB of local memory for each PE:
    ```mlir
    %t = accel.copy %v to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
    ```
    After:
    ```mlir
    %t = accel.copy %v to %e {accel.depth = 1 : i64, accel.tile = array<i64: 2048>}
        : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
    ```
  }];
  let options = [Option<"mostDepth", "depth", "int64_t", "0", "no load has more buffers than these; 0: as many as help">];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def AccelAutoTilePass : Pass<"tilebridge-accel-autotile", "::mlir::ModuleOp"> {
  let summary = "Searches the fastest assignment, tiles and depth by the model";
  let description = [{
    Begins with what fits, as `tilebridge-accel-fit` would decide, and changes one decision at a time for as long as the
    model says that it helps: the size of each class that can be tiled, the number of buffers, multicast, the assignment of programs to PEs, how many
    neighbours of the launch grid are one program. Each is tried on a lowered copy of the kernel. What is found is written as attributes: `accel.tile` and `accel.depth` on
    copies, `accel.assignment`, `accel.unicast` and `accel.merge` on the kernel. The grid is not mapped yet.

    Before:
    ```mlir
    %t = accel.copy %v to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
    ```
    After:
    ```mlir
    %t = accel.copy %v to %e {accel.depth = 3 : i64, accel.tile = array<i64: 512>}
        : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def AccelReportPass : Pass<"tilebridge-accel-report", "::mlir::ModuleOp"> {
  let summary = "Writes what was decided about lowered kernels as JSON";
  let description = [{
    An array with an object for each kernel: `merge`, how many programs are one in each dimension; `buffers` with type, memory, bytes, offset, the first and last use (numbers of operations in
    the order in which the kernel is written down) and the line of the source; `bytes_used` by memory; `transfers` with line, tensor, direction,
    form (`subview`, `row gather`, ...), for what is no box of a view its `reason` and `cause`, and multicast; `bytes_read` and `bytes_written` by memory; `multicast_saved_bytes`; `expected_cycles` by the model, and
    `lower_bounds_cycles`, what compute, each engine and each memory alone would take.

    ```mlir
    %a = accel.alloc {offset = 4096 : i64} : memref<64x32xf16, #accel.memory<"local">>
    ```
    is told of as `{"type": "64x32xf16", "memory": "local", "bytes": 4096, "offset": 4096, "first_use": 7, "last_use": 12, ...}`.
  }];
  let options = [Option<"output", "output", "std::string", "\"-\"", "the file to be written; - for standard output">];
}

#endif
