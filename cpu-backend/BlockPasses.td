//===- BlockPasses.td - passes on blocks before loops ------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_BLOCKPASSES
#define TILEBRIDGE_CPUBACKEND_BLOCKPASSES

include "mlir/Pass/PassBase.td"

def CpuFoldEmptyPass : Pass<"tilebridge-cpu-fold-empty", "::mlir::func::FuncOp"> {
  let summary = "Removes accesses to boxes that are known to be empty";
  let description = [{
    Where bounds are constants, a mask can be false everywhere. There are no vectors and no buffers of no elements: what is
    loaded is the padding, or the tensor that it would have been inserted into, and nothing is stored.

    Before:
    ```mlir
    func.func @f(%x: memref<0xf32, strided<[1], offset: ?>>, %zero: f32) -> tensor<64xf32> {
      %0 = bufferization.to_tensor %x : memref<0xf32, strided<[1], offset: ?>> to tensor<0xf32>
      %1 = tensor.pad %0 low[0] high[64] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<0xf32> to tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<0xf32, strided<[1], offset: ?>>, %zero: f32) -> tensor<64xf32> {
      %0 = tensor.splat %zero : tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def CpuTransposeGathersPass : Pass<"tilebridge-cpu-transpose-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gathers columns that are contiguous in memory as rows";
  let description = [{
    A block whose columns are chosen by a tensor, and lie in memory as contiguous rows, such as the keys of an attention in pages,
    is gathered as rows and transposed. Where the contiguous dimension is the last one already, nothing changes. What is computed
    element by element from such a block for products alone, such as keys of 8 bits that are widened and scaled, is computed before it is transposed.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index) -> tensor<128x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [128, 64], strides: [1, %stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<128x64xf32, strided<[1, ?]>>
      %1 = memref.cast %0 : memref<128x64xf32, strided<[1, ?]>> to memref<128x?xf32, strided<[1, ?]>>
      %2 = linalg_ext.gather_rows %1[%rows] dim 1 : (memref<128x?xf32, strided<[1, ?]>>, tensor<64xi64>) -> tensor<128x64xf32>
      return %2 : tensor<128x64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index) -> tensor<128x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [64, 128], strides: [%stride, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x128xf32, strided<[?, 1]>>
      %1 = memref.cast %0 : memref<64x128xf32, strided<[?, 1]>> to memref<?x128xf32, strided<[?, 1]>>
      %2 = linalg_ext.gather_rows %1[%rows] dim 0 : (memref<?x128xf32, strided<[?, 1]>>, tensor<64xi64>) -> tensor<64x128xf32>
      %3 = tensor.empty() : tensor<128x64xf32>
      %4 = linalg.transpose ins(%2 : tensor<64x128xf32>) outs(%3 : tensor<128x64xf32>) permutation = [1, 0]
      return %4 : tensor<128x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuTrimBlocksPass : Pass<"tilebridge-cpu-trim-blocks", "::mlir::func::FuncOp"> {
  let summary = "Cuts what was padded off the blocks of products";
  let description = [{
    A block of a power of two of which loads and stores only reach a constant number of elements, such as 80 of 128 in each row of an
    attention's heads, becomes shorter, with all that is computed from it or stored like it: whole vectors of 16 elements, or on CPUs with tiles 64 bytes
    of them. This is done for dimensions of products, if nobody sees elements behind the last one that is accessed, and sums over the
    dimension get zeros of them: both operands of a product are padded with zeros. Dimensions are told apart by what is computed
    element by element, carried by loops, broadcast or transposed; one whose blocks are reshaped, gathered from or printed keeps its size.

    Before:
    ```mlir
    func.func @f(%p: tensor<16x32xf32>, %v: memref<32x80xf32>, %y: memref<16x80xf32>) {
      %zero = arith.constant 0.0 : f32
      %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
      %0 = bufferization.to_tensor %v : memref<32x80xf32> to tensor<32x80xf32>
      %1 = tensor.pad %0 low[0, 0] high[0, 48] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<32x80xf32> to tensor<32x128xf32>
      %2 = linalg.matmul ins(%p, %1 : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
      %3 = tensor.extract_slice %2[0, 0] [16, 80] [1, 1] : tensor<16x128xf32> to tensor<16x80xf32>
      bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: tensor<16x32xf32>, %v: memref<32x80xf32>, %y: memref<16x80xf32>) {
      %zero = arith.constant 0.0 : f32
      %zeros = arith.constant dense<0.0> : tensor<16x80xf32>
      %0 = bufferization.to_tensor %v : memref<32x80xf32> to tensor<32x80xf32>
      %1 = tensor.pad %0 low[0, 0] high[0, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<32x80xf32> to tensor<32x80xf32>
      %2 = linalg.matmul ins(%p, %1 : tensor<16x32xf32>, tensor<32x80xf32>) outs(%zeros : tensor<16x80xf32>) -> tensor<16x80xf32>
      %3 = tensor.extract_slice %2[0, 0] [16, 80] [1, 1] : tensor<16x80xf32> to tensor<16x80xf32>
      bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
      return
    }
    ```
  }];
  let options = [
    Option<"tiles", "tiles", "bool", /*default=*/"false", "the target has AMX">,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CpuNarrowOperandsPass : Pass<"tilebridge-cpu-narrow-operands", "::mlir::func::FuncOp"> {
  let summary = "Reads weights of 8 bits as they are where products widen them";
  let description = [{
    The right operand of a product that is a load and was only widened, such as weights of 8 bits for activations in bf16, is read as it is:
    the micro-kernel widens it while it packs it, or multiplies few rows with it where it lies. Widened so are integers of 8 bits to bf16, f16 and f32, floats of 8 bits to
    bf16 (with `small-floats`), and bf16 and f16 to f32, all of them exactly.

    Before:
    ```mlir
    func.func @f(%x: tensor<16x64xf32>, %w: memref<64x32xi8>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
      %0 = bufferization.to_tensor %w : memref<64x32xi8> to tensor<64x32xi8>
      %1 = tensor.empty() : tensor<64x32xf32>
      %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%0 : tensor<64x32xi8>) outs(%1 : tensor<64x32xf32>) {
      ^bb0(%a: i8, %o: f32):
        %4 = arith.sitofp %a : i8 to f32
        linalg.yield %4 : f32
      } -> tensor<64x32xf32>
      %3 = linalg.matmul ins(%x, %2 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
      return %3 : tensor<16x32xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<16x64xf32>, %w: memref<64x32xi8>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
      %0 = bufferization.to_tensor %w : memref<64x32xi8> to tensor<64x32xi8>
      %1 = linalg.matmul ins(%x, %0 : tensor<16x64xf32>, tensor<64x32xi8>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
      return %1 : tensor<16x32xf32>
    }
    ```
  }];
  let options = [
    Option<"smallFloats", "small-floats", "bool", /*default=*/"false", "also floats of 8 bits: the target looks up their bf16 (AVX512_VBMI), and multiplies it">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuWidenOperandsPass : Pass<"tilebridge-cpu-widen-operands", "::mlir::func::FuncOp"> {
  let summary = "Keeps left operands of products as f32 where bf16 and f16 are widened to be multiplied";
  let description = [{
    A left operand below f32 that is computed, such as an attention's weights, or that all iterations of a loop multiply, such as its queries, is in
    scratch memory. Where the micro-kernel multiplies f32, it would be widened from there to other scratch memory, and again in each iteration; so it is
    widened before, and is kept as f32. What is rounded is rounded as before.
    Not operands of a product that a loop adds up, nor what is read in each iteration: these are packed as they come. Not where the target multiplies
    the narrow type.

    Before:
    ```mlir
    func.func @f(%x: tensor<64x64xf32>, %v: tensor<64x32xbf16>, %sums: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = tensor.empty() : tensor<64x64xbf16>
      %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<64x64xf32>) outs(%0 : tensor<64x64xbf16>) {
      ^bb0(%a: f32, %o: bf16):
        %4 = arith.truncf %a : f32 to bf16
        linalg.yield %4 : bf16
      } -> tensor<64x64xbf16>
      %2 = linalg.matmul ins(%1, %v : tensor<64x64xbf16>, tensor<64x32xbf16>) outs(%sums : tensor<64x32xf32>) -> tensor<64x32xf32>
      return %2 : tensor<64x32xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<64x64xf32>, %v: tensor<64x32xbf16>, %sums: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %1 = linalg.generic ... // as before
      %2 = tensor.empty() : tensor<64x64xf32>
      %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%1 : tensor<64x64xbf16>) outs(%2 : tensor<64x64xf32>) {
      ^bb0(%a: bf16, %o: f32):
        %5 = arith.extf %a : bf16 to f32
        linalg.yield %5 : f32
      } -> tensor<64x64xf32>
      %4 = linalg.matmul ins(%3, %v : tensor<64x64xf32>, tensor<64x32xbf16>) outs(%sums : tensor<64x32xf32>) -> tensor<64x32xf32>
      return %4 : tensor<64x32xf32>
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "256", "bits of a native vector: 128, 256 or 512">,
    Option<"bf16Pairs", "bf16-pairs", "bool", "false", "AVX512_BF16: products of bf16 by vdpbf16ps">,
    Option<"twoFmas", "two-fmas", "bool", "false", "two multiply-adds of native vectors a cycle: bf16 is widened all the same">,
    Option<"bf16Tiles", "bf16-tiles", "bool", "false", "AMX: products of bf16 by tdpbf16ps">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuNarrowScansPass : Pass<"tilebridge-cpu-narrow-scans", "::mlir::func::FuncOp"> {
  let summary = "Scans integers before they are widened";
  let description = [{
    An operand of a scan that was widened, such as indices that `tl.arange` gave and that were made i64, and that the scan's region only chooses from, and
    compares with one another, is scanned as it was; what is found is widened. A vector has twice as many lanes then. Without a sign where `extui` widened it.

    Before:
    ```mlir
    func.func @f(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi64>) {
      %0 = tensor.empty() : tensor<64xi64>
      %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%i : tensor<64xi32>) outs(%0 : tensor<64xi64>) {
      ^bb0(%n: i32, %o: i64):
        %3 = arith.extsi %n : i32 to i64
        linalg.yield %3 : i64
      } -> tensor<64xi64>
      %2:2 = linalg_ext.scan(%x, %1) dimension = 0 {
      ^bb0(%a: f32, %ai: i64, %b: f32, %bi: i64):
        %3 = arith.cmpf ogt, %a, %b : f32
        %4 = arith.select %3, %a, %b : f32
        %5 = arith.select %3, %ai, %bi : i64
        linalg_ext.yield %4, %5 : f32, i64
      } : (tensor<64xf32>, tensor<64xi64>) -> (tensor<64xf32>, tensor<64xi64>)
      return %2#0, %2#1 : tensor<64xf32>, tensor<64xi64>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi64>) {
      %0:2 = linalg_ext.scan(%x, %i) dimension = 0 {
      ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
        %3 = arith.cmpf ogt, %a, %b : f32
        %4 = arith.select %3, %a, %b : f32
        %5 = arith.select %3, %ai, %bi : i32
        linalg_ext.yield %4, %5 : f32, i32
      } : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
      %1 = tensor.empty() : tensor<64xi64>
      %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%0#1 : tensor<64xi32>) outs(%1 : tensor<64xi64>) {
      ^bb0(%n: i32, %o: i64):
        %3 = arith.extsi %n : i32 to i64
        linalg.yield %3 : i64
      } -> tensor<64xi64>
      return %0#0, %2 : tensor<64xf32>, tensor<64xi64>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuSplitJoinsPass : Pass<"tilebridge-cpu-split-joins", "::mlir::func::FuncOp"> {
  let summary = "Stores the parts of a join one by one";
  let description = [{
    A block that `tl.join` or `tl.interleave` made of two to four others, or what is computed from such blocks and constants element by
    element, is stored part by part, each to every second (third, fourth) element. The parts need no memory of their own then, and loops that
    store all of them store whole vectors.

    Before:
    ```mlir
    func.func @f(%a: tensor<32xf32>, %b: tensor<32xf32>, %out: memref<64xf32>) {
      %0 = tensor.empty() : tensor<32x2xf32>
      %1 = tensor.insert_slice %a into %0[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
      %2 = tensor.insert_slice %b into %1[0, 1] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
      %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
      bufferization.materialize_in_destination %3 in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%a: tensor<32xf32>, %b: tensor<32xf32>, %out: memref<64xf32>) {
      %even = memref.subview %out[0] [32] [2] : memref<64xf32> to memref<32xf32, strided<[2]>>
      bufferization.materialize_in_destination %a in writable %even : (tensor<32xf32>, memref<32xf32, strided<[2]>>) -> ()
      %odd = memref.subview %out[1] [32] [2] : memref<64xf32> to memref<32xf32, strided<[2], offset: 1>>
      bufferization.materialize_in_destination %b in writable %odd : (tensor<32xf32>, memref<32xf32, strided<[2], offset: 1>>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuSplitReadsPass : Pass<"tilebridge-cpu-split-reads", "::mlir::func::FuncOp"> {
  let summary = "Reads the parts of a split one by one";
  let description = [{
    What `tl.split` takes of a block that is reshaped, `x.reshape(n, 2)`, or `x.reshape(2, n).trans()`, is read by itself, as every second
    element, or as the first or second half: a block that is reshaped would be in memory. The block may be computed element by element
    from loads, constants, indices and blocks that are broadcast; then parts of these are computed.

    Before:
    ```mlir
    func.func @f(%x: memref<64xf32>) -> tensor<32xf32> {
      %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
      %1 = tensor.expand_shape %0 [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
      %2 = tensor.extract_slice %1[0, 1] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
      return %2 : tensor<32xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<64xf32>) -> tensor<32xf32> {
      %odd = memref.subview %x[1] [32] [2] : memref<64xf32> to memref<32xf32, strided<[2], offset: 1>>
      %0 = bufferization.to_tensor %odd : memref<32xf32, strided<[2], offset: 1>> to tensor<32xf32>
      return %0 : tensor<32xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuSplitRowsPass : Pass<"tilebridge-cpu-split-rows", "::mlir::func::FuncOp"> {
  let summary = "Reduces blocks in the shape that they have in memory";
  let description = [{
    A block whose rows are several dimensions in memory, such as rows at `k // 8` of weights that are packed along K, is a load of one
    dimension more that is reshaped. Where what is computed from it element by element is only reduced, all of that gets the load's shape: loops read
    where the weights lie, and each row once for all those that it stands for. Not where operands of the block's size had to be copied for that.

    Before:
    ```mlir
    func.func @f(%w: memref<8x8x64xi32, strided<[64, 0, 1]>>, %init: tensor<64xi32>) -> tensor<64xi32> {
      %0 = bufferization.to_tensor %w : memref<8x8x64xi32, strided<[64, 0, 1]>> to tensor<8x8x64xi32>
      %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<8x8x64xi32> into tensor<64x64xi32>
      %2 = linalg.reduce { arith.addi } ins(%1 : tensor<64x64xi32>) outs(%init : tensor<64xi32>) dimensions = [0]
      return %2 : tensor<64xi32>
    }
    ```
    After:
    ```mlir
    func.func @f(%w: memref<8x8x64xi32, strided<[64, 0, 1]>>, %init: tensor<64xi32>) -> tensor<64xi32> {
      %0 = bufferization.to_tensor %w : memref<8x8x64xi32, strided<[64, 0, 1]>> to tensor<8x8x64xi32>
      %1 = linalg.reduce { arith.addi } ins(%0 : tensor<8x8x64xi32>) outs(%init : tensor<64xi32>) dimensions = [0, 1]
      return %1 : tensor<64xi32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
