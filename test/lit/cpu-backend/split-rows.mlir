// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-split-rows | FileCheck %s

// Rows along N: the sum along K has the rows' two dimensions, and is reshaped itself.
// CHECK-LABEL: func.func @kept
// CHECK: %[[SUM:.*]] = linalg.reduce {{.*}} ins(%{{.*}} : tensor<4x8x64xi32>) outs(%{{.*}} : tensor<4x8xi32>) dimensions = [2]
// CHECK: tensor.collapse_shape %[[SUM]] {{\[\[}}0, 1]] : tensor<4x8xi32> into tensor<32xi32>
func.func @kept(%w: memref<4x8x64xi32, strided<[64, 0, 1]>>) -> tensor<32xi32> {
  %zero = arith.constant dense<0> : tensor<32xi32>
  %packed = bufferization.to_tensor %w : memref<4x8x64xi32, strided<[64, 0, 1]>> to tensor<4x8x64xi32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x64xi32> into tensor<32x64xi32>
  %sum = linalg.reduce { arith.addi } ins(%rows : tensor<32x64xi32>) outs(%zero : tensor<32xi32>) dimensions = [1]
  return %sum : tensor<32xi32>
}

// -----

// A product packs the block, a store writes it, and columns of packed words are lanes.
// CHECK-LABEL: func.func @product
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<32x64xf32>)
// CHECK-LABEL: func.func @stored
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<32x64xi32>)
// CHECK-LABEL: func.func @columns
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<64x32xi32>)
// CHECK-LABEL: func.func @short
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<32x8xi32>)
// An operand of the block's size that only a copy could give this shape.
// CHECK-LABEL: func.func @copied
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<32x64xi32>)
func.func @product(%w: memref<4x8x64xf32, strided<[64, 0, 1]>>, %a: tensor<16x32xf32>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %packed = bufferization.to_tensor %w : memref<4x8x64xf32, strided<[64, 0, 1]>> to tensor<4x8x64xf32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x64xf32> into tensor<32x64xf32>
  %d = linalg.matmul ins(%a, %rows : tensor<16x32xf32>, tensor<32x64xf32>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %d : tensor<16x64xf32>
}
func.func @stored(%w: memref<4x8x64xi32, strided<[64, 0, 1]>>, %y: memref<32x64xi32>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %packed = bufferization.to_tensor %w : memref<4x8x64xi32, strided<[64, 0, 1]>> to tensor<4x8x64xi32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x64xi32> into tensor<32x64xi32>
  bufferization.materialize_in_destination %rows in restrict writable %y : (tensor<32x64xi32>, memref<32x64xi32>) -> ()
  %sum = linalg.reduce { arith.addi } ins(%rows : tensor<32x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  return %sum : tensor<64xi32>
}
func.func @columns(%w: memref<64x4x8xi32, strided<[64, 1, 0]>>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %packed = bufferization.to_tensor %w : memref<64x4x8xi32, strided<[64, 1, 0]>> to tensor<64x4x8xi32>
  %columns = tensor.collapse_shape %packed [[0], [1, 2]] : tensor<64x4x8xi32> into tensor<64x32xi32>
  %sum = linalg.reduce { arith.addi } ins(%columns : tensor<64x32xi32>) outs(%zero : tensor<64xi32>) dimensions = [1]
  return %sum : tensor<64xi32>
}
func.func @short(%w: memref<4x8x8xi32, strided<[8, 0, 1]>>) -> tensor<8xi32> {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %packed = bufferization.to_tensor %w : memref<4x8x8xi32, strided<[8, 0, 1]>> to tensor<4x8x8xi32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x8xi32> into tensor<32x8xi32>
  %sum = linalg.reduce { arith.addi } ins(%rows : tensor<32x8xi32>) outs(%zero : tensor<8xi32>) dimensions = [0]
  return %sum : tensor<8xi32>
}
func.func @copied(%w: memref<4x8x64xi32, strided<[64, 0, 1]>>, %other: tensor<32x64xi32>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %packed = bufferization.to_tensor %w : memref<4x8x64xi32, strided<[64, 0, 1]>> to tensor<4x8x64xi32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x64xi32> into tensor<32x64xi32>
  %p = arith.muli %rows, %other : tensor<32x64xi32>
  %sum = linalg.reduce { arith.addi } ins(%p : tensor<32x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  return %sum : tensor<64xi32>
}
