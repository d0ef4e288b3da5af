//===- RepeatPasses.td - what repeats is computed once -----*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_REPEATPASSES
#define TILEBRIDGE_CPUBACKEND_REPEATPASSES

include "mlir/Pass/PassBase.td"

def CpuRepeatRowsPass : Pass<"tilebridge-cpu-repeat-rows", "::mlir::func::FuncOp"> {
  let summary = "Computes rows that are one row once";
  let description = [{
    Elementwise operations in functions with products, all of whose inputs are repeated along the same outer dimensions (or are one number), are done for what is
    repeated, and their result is repeated. Such are zeros of 4 bits that are unpacked for a block of weights: their rows are one row, where a group is no shorter than the block.
    Operations that ask for an element's index are left as they are, and those of single numbers.

    Before:
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%row: tensor<64xi8>) -> tensor<32x64xf32> {
      %0 = tensor.empty() : tensor<32x64xi8>
      %1 = linalg.broadcast ins(%row : tensor<64xi8>) outs(%0 : tensor<32x64xi8>) dimensions = [0]
      %2 = tensor.empty() : tensor<32x64xf32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%1 : tensor<32x64xi8>) outs(%2 : tensor<32x64xf32>) {
      ^bb0(%in: i8, %out: f32):
        %4 = arith.sitofp %in : i8 to f32
        linalg.yield %4 : f32
      } -> tensor<32x64xf32>
      return %3 : tensor<32x64xf32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%row: tensor<64xi8>) -> tensor<32x64xf32> {
      %0 = tensor.empty() : tensor<64xf32>
      %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
          ins(%row : tensor<64xi8>) outs(%0 : tensor<64xf32>) {
      ^bb0(%in: i8, %out: f32):
        %4 = arith.sitofp %in : i8 to f32
        linalg.yield %4 : f32
      } -> tensor<64xf32>
      %2 = tensor.empty() : tensor<32x64xf32>
      %3 = linalg.broadcast ins(%1 : tensor<64xf32>) outs(%2 : tensor<32x64xf32>) dimensions = [0]
      return %3 : tensor<32x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuVersionTablesPass : Pass<"tilebridge-cpu-version-tables", "::mlir::func::FuncOp"> {
  let summary = "Reads tables of whole blocks without masks";
  let description = [{
    A table that is read at `i % n` with the mask `start + i < end` is a masked load whose view has a stride of zero along its outer dimension. What follows the first such load in its block
    is there twice: programs with whole blocks (`start + size <= end`) read views with this mask as a whole, others as before. So are tables of which the first rows are read (a `tensor.pad` of a `memref.subview`),
    as where `end` is a multiple of the table's size: programs that read all of them do so without a bound. Not where more than 200 operations follow.

    Before:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: memref<32x32xf32, strided<[0, 1]>>, %start: i32, %end: i32, %o: memref<32x32xf32>) {
      %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
          : memref<32x32xf32, strided<[0, 1]>> to memref<32x32xf32, strided<[0, 1]>>
      %e = tensor.empty() : tensor<1024xi32>
      %i = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<1024xi32>) {
      ^bb0(%out: i32):
        %0 = linalg.index 0 : index
        %1 = arith.index_cast %0 : index to i32
        linalg.yield %1 : i32
      } -> tensor<1024xi32>
      %s = tensor.splat %start : tensor<1024xi32>
      %at = arith.addi %s, %i : tensor<1024xi32>
      %n = tensor.splat %end : tensor<1024xi32>
      %mask = arith.cmpi slt, %at, %n : tensor<1024xi32>
      %rows = tensor.expand_shape %mask [[0, 1]] output_shape [32, 32] : tensor<1024xi1> into tensor<32x32xi1>
      %t = linalg_ext.masked_load %view, %rows : (memref<32x32xf32, strided<[0, 1]>>, tensor<32x32xi1>) -> tensor<32x32xf32>
      bufferization.materialize_in_destination %t in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
      return
    }
    ```
    After, in place of the load and the store:
    ```
    %whole = arith.cmpi sle, %start + 1024, %end : index
    scf.if %whole {
      %t = bufferization.to_tensor %view : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
      bufferization.materialize_in_destination %t in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
    } else {
      %t = linalg_ext.masked_load %view, %rows : (memref<32x32xf32, strided<[0, 1]>>, tensor<32x32xi1>) -> tensor<32x32xf32>
      bufferization.materialize_in_destination %t in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect"];
}

def CpuRepeatTablesPass : Pass<"tilebridge-cpu-repeat-tables", "::mlir::func::FuncOp"> {
  let summary = "Computes with tables that are read over and over once";
  let description = [{
    A block that reads a table at `i % n` is a view with strides of zero along its outer dimensions, and a reshape. Elementwise operations all of whose inputs are such blocks
    of one shape (or one number) are done for the table, and their result is repeated, if they take as long as a root or a division: `1 / sqrt(variance + eps)` of the channels of
    pictures that are channels-last. Operations that ask for an element's index are left as they are.

    Before:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>) -> tensor<1024xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
      %1 = bufferization.to_tensor %0 : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
      %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
      %3 = tensor.empty() : tensor<1024xf32>
      %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
          ins(%2 : tensor<1024xf32>) outs(%3 : tensor<1024xf32>) {
      ^bb0(%in: f32, %out: f32):
        %5 = math.rsqrt %in : f32
        linalg.yield %5 : f32
      } -> tensor<1024xf32>
      return %4 : tensor<1024xf32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>) -> tensor<1024xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [32], strides: [1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1]>>
      %1 = bufferization.to_tensor %0 : memref<32xf32, strided<[1]>> to tensor<32xf32>
      %2 = tensor.empty() : tensor<32xf32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
          ins(%1 : tensor<32xf32>) outs(%2 : tensor<32xf32>) {
      ^bb0(%in: f32, %out: f32):
        %4 = math.rsqrt %in : f32
        linalg.yield %4 : f32
      } -> tensor<32xf32>
      %5 = tensor.empty() : tensor<32x32xf32>
      %6 = linalg.broadcast ins(%3 : tensor<32xf32>) outs(%5 : tensor<32x32xf32>) dimensions = [0]
      %7 = tensor.collapse_shape %6 [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
      return %7 : tensor<1024xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuRepeatLoadsPass : Pass<"tilebridge-cpu-repeat-loads", "::mlir::func::FuncOp"> {
  let summary = "Reads rows that are one row once";
  let description = [{
    A block whose stride along an outer dimension is zero, such as the scales of weights in groups that are no shorter than the block,
    is read as one row that is repeated, if the row's elements lie apart, or are each repeated for neighbours, as bytes with zeros of two
    columns are. Other contiguous rows are read as vectors wherever they are used, and stay. A repeated dimension that a `tensor.collapse_shape` leaves alone is repeated behind it. So is one of a block that
    is padded, as some of its columns may be outside of the array, if nothing is padded along the repeated one. Rows at places of a table (`linalg_ext.gather_rows`) are gathered
    without the dimensions along which they are repeated, such as eight columns that are one word of zeros.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index) -> tensor<32x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [0, %stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, ?]>>
      %1 = bufferization.to_tensor %0 : memref<32x64xf32, strided<[0, ?]>> to tensor<32x64xf32>
      return %1 : tensor<32x64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index) -> tensor<32x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [%stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?]>>
      %1 = bufferization.to_tensor %0 : memref<64xf32, strided<[?]>> to tensor<64xf32>
      %2 = tensor.empty() : tensor<32x64xf32>
      %3 = linalg.broadcast ins(%1 : tensor<64xf32>) outs(%2 : tensor<32x64xf32>) dimensions = [0]
      return %3 : tensor<32x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

#endif
