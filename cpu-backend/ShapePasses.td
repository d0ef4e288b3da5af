//===- ShapePasses.td - passes that give blocks other shapes -*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_SHAPEPASSES
#define TILEBRIDGE_CPUBACKEND_SHAPEPASSES

include "mlir/Pass/PassBase.td"

def CpuDropUnitDimsPass : Pass<"tilebridge-cpu-drop-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "Blocks have no dimensions of one element";
  let description = [{
    A block of 1 x N is a row, and one of one element is a number, which is carried and computed with as such. What is loaded or stored
    under a mask of such a dimension is empty where the mask is false. Reductions and scans along it give what they read; a
    product of batches of one is one of matrices. A block that an op needs as it is, such as what is printed or an operand of a product with one
    row, keeps its dimensions, and so do those that it is computed from element by element, or that are computed from it.

    Before:
    ```mlir
    func.func @f(%x: memref<1x64xf32, strided<[64, 1], offset: ?>>, %y: memref<1xf32, strided<[1], offset: ?>>) {
      %zero = arith.constant dense<-0.0> : tensor<1xf32>
      %0 = bufferization.to_tensor %x : memref<1x64xf32, strided<[64, 1], offset: ?>> to tensor<1x64xf32>
      %1 = linalg.reduce { arith.addf } ins(%0 : tensor<1x64xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
      bufferization.materialize_in_destination %1 in writable %y : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<1x64xf32, strided<[64, 1], offset: ?>>, %y: memref<1xf32, strided<[1], offset: ?>>) {
      %zero = arith.constant dense<-0.0> : tensor<f32>
      %row = memref.subview %x[0, 0] [1, 64] [1, 1] : memref<1x64xf32, strided<[64, 1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %0 = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
      %1 = linalg.reduce { arith.addf } ins(%0 : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      %2 = tensor.extract %1[] : tensor<f32>
      %3 = tensor.splat %2 : tensor<1xf32>
      bufferization.materialize_in_destination %3 in writable %y : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuFlattenCubesPass : Pass<"tilebridge-cpu-flatten-cubes", "::mlir::func::FuncOp"> {
  let summary = "Sees blocks of which halves change places as rows";
  let description = [{
    `tl.sort` and `tl.topk` see a row as a block whose dimensions are all of size 2, and let the halves of one dimension change places
    after the other. Such blocks, and all that is computed from them element by element, become rows of one dimension; what is element i with
    one bit of i changed is a `linalg_ext.gather_along` (`getExchangeStride()`). Masks that are computed from indices are computed from
    those of the row. A reduction along one dimension is one of a block of three dimensions. `tilebridge.lanes` is how many elements loops
    over the row compute in a step: 8 vectors of 512 bits, or 4 shorter ones. Nearer elements than these are in the same step, and change
    places in registers. Where nothing changes places, nothing changes.

    Before:
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %zero = arith.constant dense<0> : tensor<2xi32>
      %init = tensor.empty() : tensor<2x2xi32>
      %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
      %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [0]
      %2 = linalg.broadcast ins(%1 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [0]
      %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%0, %2 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
      ^bb0(%a: i32, %b: i32, %out: i32):
        %xor = arith.xori %a, %b : i32
        linalg.yield %xor : i32
      } -> tensor<2x2xi32>
      %4 = tensor.collapse_shape %3 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
      return %4 : tensor<4xi32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %c2 = arith.constant 2 : index
      %init = tensor.empty() : tensor<4xi32>
      %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%init : tensor<4xi32>) {
      ^bb0(%out: i32):
        %i = linalg.index 0 : index
        %other = arith.xori %i, %c2 : index
        %place = arith.index_cast %other : index to i32
        linalg.yield %place : i32
      } -> tensor<4xi32>
      %1 = linalg_ext.gather_along %x[%0] dimension = 0 {tilebridge.lanes = 4 : i64} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
      return %1 : tensor<4xi32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::tilebridge::linalg_ext::LinalgExtDialect"];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "512", "bits of a vector register">];
}

def CpuFlattenGroupsPass : Pass<"tilebridge-cpu-flatten-groups", "::mlir::func::FuncOp"> {
  let summary = "Reads and writes pairs that run backwards, and repeated elements, as rows";
  let description = [{
    What is read at `i ^ 1`, such as the other element of a rotary embedding's pairs, is a block in memory whose last dimension of size 2 runs
    backwards, and what is read at `i // 2` one whose last dimension has a stride of 0. Where such dimensions become a part of the last one, the
    memory is read as a row instead, and elements change places (`linalg_ext.gather_along` with `getExchangeStride()`), or are repeated, when they
    are there: marked by `tilebridge.near`, loops do that by one shuffle of what they load. So are stores to such blocks, of elements that change
    places before. Groups in which elements change places have up to 128 bytes, sizes are powers of two, and of a block that is there in part the
    groups are whole. Operands of products stay blocks, as do those of other ops with loops of their own: these pack what is in memory.
    Gathered rows whose elements are repeated (`tilebridge-cpu-repeat-loads`) are marked likewise.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32>) -> tensor<64xf32> {
      %pairs = memref.reinterpret_cast %x to offset: [1], sizes: [32, 2], strides: [2, -1] : memref<?xf32> to memref<32x2xf32, strided<[2, -1], offset: 1>>
      %0 = bufferization.to_tensor %pairs : memref<32x2xf32, strided<[2, -1], offset: 1>> to tensor<32x2xf32>
      %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: memref<?xf32>) -> tensor<64xf32> {
      %c1 = arith.constant 1 : index
      %row = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
      %0 = bufferization.to_tensor %row : memref<64xf32, strided<[1]>> to tensor<64xf32>
      %init = tensor.empty() : tensor<64xi32>
      %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%init : tensor<64xi32>) {
      ^bb0(%out: i32):
        %i = linalg.index 0 : index
        %other = arith.xori %i, %c1 : index
        %place = arith.index_cast %other : index to i32
        linalg.yield %place : i32
      } -> tensor<64xi32>
      %2 = linalg_ext.gather_along %0[%1] dimension = 0 {tilebridge.near} : tensor<64xf32>, tensor<64xi32> -> tensor<64xf32>
      return %2 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
                           "::tilebridge::linalg_ext::LinalgExtDialect"];
}

def CpuTurnBlocksPass : Pass<"tilebridge-cpu-turn-blocks", "::mlir::func::FuncOp"> {
  let summary = "Turns blocks of sums whose first dimension is contiguous in memory";
  let description = [{
    A loop that sums up a product of a matrix and a vector has blocks of rows x columns. Where the matrix is the transpose of one in memory, the
    first dimension of all blocks that are read is contiguous, and the last one, along which they are summed, is not. Then all blocks of two
    dimensions are turned, and what is computed from them, so that `tilebridge-cpu-merge-programs` sees rows of which programs have a few
    columns each. Only in kernels of loads, sums and arithmetic that store no such block; nothing else changes by it.

    Before:
    ```mlir
    #row = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: memref<?xf32>, %sums: memref<16xf32>, %n: index, %stride: index) attributes {tilebridge.kernel} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant dense<0.0> : tensor<16xf32>
      %all = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<16xf32>) {
        %at = arith.muli %i, %stride : index
        %view = memref.reinterpret_cast %x to offset: [%at], sizes: [16, 64], strides: [1, %stride] : memref<?xf32> to memref<16x64xf32, strided<[1, ?], offset: ?>>
        %block = bufferization.to_tensor %view : memref<16x64xf32, strided<[1, ?], offset: ?>> to tensor<16x64xf32>
        %sum = linalg.reduce { arith.addf } ins(%block : tensor<16x64xf32>) outs(%acc : tensor<16xf32>) dimensions = [1]
        scf.yield %sum : tensor<16xf32>
      }
      bufferization.materialize_in_destination %all in writable %sums : (tensor<16xf32>, memref<16xf32>) -> ()
      return
    }
    ```
    After, in the loop:
    ```mlir
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64, 16], strides: [%stride, 1] : ...
    %block = bufferization.to_tensor %view : ... to tensor<64x16xf32>
    %sum = linalg.reduce { arith.addf } ins(%block : tensor<64x16xf32>) outs(%acc : tensor<16xf32>) dimensions = [0]
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif
