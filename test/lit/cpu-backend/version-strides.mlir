// RUN: tilebridge-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(tilebridge-cpu-version-strides))" | FileCheck %s

// Both strides are asked for once; in the first body they are 1, and views are contiguous. In the second one what is read may also be
// broadcast or run backwards, and the third is for all others.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[Y:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[R:[^:]*]]: i32
// CHECK-SAME: %[[S:[^:]*]]: i32, %[[T:[^:]*]]: i64
// CHECK-DAG: %[[A:.*]] = arith.cmpi eq, %[[S]], %c1_i32
// CHECK-DAG: %[[B:.*]] = arith.cmpi eq, %[[T]], %c1_i64
// CHECK: %[[ALL:.*]] = arith.andi %[[B]], %[[A]]
// CHECK: scf.if %[[ALL]] {
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] {{.*}}strides: [%{{.*}}, 1]
// CHECK: bufferization.to_tensor %[[VIEW]]
// CHECK: memref.reinterpret_cast %[[Y]] {{.*}}strides: [1, %{{.*}}]
// CHECK: bufferization.materialize_in_destination
// CHECK: } else {
// CHECK: %[[MOST:.*]] = arith.minsi %[[S]], %c1_i32
// CHECK: %[[NEAR:.*]] = arith.maxsi %[[MOST]], %c-1_i32
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[S]], %[[NEAR]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[B]], %[[SAME]]
// CHECK: scf.if %[[BOTH]] {
// CHECK: %[[STRIDE:.*]] = arith.index_cast %[[NEAR]]
// CHECK: memref.reinterpret_cast %[[X]] {{.*}}strides: [%{{.*}}, %[[STRIDE]]]
// CHECK: memref.reinterpret_cast %[[Y]] {{.*}}strides: [1, %{{.*}}]
// CHECK: bufferization.materialize_in_destination
// CHECK: } else {
// CHECK: memref.reinterpret_cast %[[X]] {{.*}}strides: [%{{.*}}, %{{.*}}]
// CHECK: memref.reinterpret_cast %[[Y]] {{.*}}strides: [%{{.*}}, %{{.*}}]
// CHECK: bufferization.materialize_in_destination
// CHECK: tilebridge.rare_else
func.func @two(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %rows: i32, %xs: i32, %ys: i64,
    %m: i32 {tilebridge.divisibility = 16 : i32}) attributes {tilebridge.kernel} {
  %r = arith.index_cast %rows : i32 to index
  %s = arith.index_cast %xs : i32 to index
  %t = arith.index_cast %ys : i64 to index
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [4, 64], strides: [%r, %s]
      : memref<?xf32, strided<[1], offset: ?>> to memref<4x64xf32, strided<[?, ?]>>
  %v = bufferization.to_tensor %from : memref<4x64xf32, strided<[?, ?]>> to tensor<4x64xf32>
  // A dimension of one element has no neighbours.
  %to = memref.reinterpret_cast %y to offset: [0], sizes: [64, 1], strides: [%t, %r]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64x1xf32, strided<[?, ?]>>
  %column = tensor.extract_slice %v[0, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
  %stored = tensor.expand_shape %column [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
  bufferization.materialize_in_destination %stored in writable %to : (tensor<64x1xf32>, memref<64x1xf32, strided<[?, ?]>>) -> ()
  return
}

// -----

// What is a multiple of 16 is not 1, and a constant is known.
// CHECK-LABEL: func.func @known
// CHECK-NOT: scf.if
func.func @known(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
    %xs: i32 {tilebridge.divisibility = 16 : i32}) attributes {tilebridge.kernel} {
  %s = arith.index_cast %xs : i32 to index
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [%s]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?]>>
  %v = bufferization.to_tensor %from : memref<64xf32, strided<[?]>> to tensor<64xf32>
  %to = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[2]>>
  bufferization.materialize_in_destination %v in writable %to : (tensor<64xf32>, memref<64xf32, strided<[2]>>) -> ()
  return
}

// -----

// A product packs its operands, whatever their strides.
// CHECK-LABEL: func.func @product
// CHECK-NOT: scf.if
func.func @product(%x: memref<?xf32, strided<[1], offset: ?>>, %xs: i32) attributes {tilebridge.kernel} {
  %s = arith.index_cast %xs : i32 to index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [16, 16], strides: [16, %s]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x16xf32, strided<[16, ?]>>
  %v = bufferization.to_tensor %from : memref<16x16xf32, strided<[16, ?]>> to tensor<16x16xf32>
  %p = linalg.matmul ins(%v, %v : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  bufferization.materialize_in_destination %p in writable %from : (tensor<16x16xf32>, memref<16x16xf32, strided<[16, ?]>>) -> ()
  return
}
