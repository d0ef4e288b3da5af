// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-repeat-tables,cse))' | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// 1 / sqrt(variance + eps) of 32 channels, read at `i % 32`: computed for 32 channels, and repeated.
// CHECK-LABEL: func.func @channels(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [32], strides: [1]
// CHECK: %[[TABLE:.*]] = bufferization.to_tensor %[[VIEW]] : memref<32xf32
// CHECK: %[[EPS:.*]] = arith.constant dense<{{.*}}> : tensor<32xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[TABLE]], %[[EPS]] : tensor<32xf32>, tensor<32xf32>)
// CHECK: arith.addf
// CHECK: %[[ROOT:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<32xf32>)
// CHECK: math.rsqrt
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[ROOT]] : tensor<32xf32>) outs(%{{.*}} : tensor<32x32xf32>) dimensions = [0]
// CHECK: %[[BLOCK:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BLOCK]] : tensor<1024xf32>, tensor<1024xf32>)
// CHECK: arith.mulf
func.func @channels(%x: memref<?xf32, strided<[1], offset: ?>>, %block: tensor<1024xf32>) -> tensor<1024xf32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %read = bufferization.to_tensor %view : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
  %t = tensor.collapse_shape %read [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<1024xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%t, %eps : tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %root = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%sum : tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.rsqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%block, %root : tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>

// A sum of two tables costs no more than to repeat them: it is computed where it is used.
// CHECK-LABEL: func.func @cheap(
// CHECK-NOT: linalg.broadcast
func.func @cheap(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>) -> tensor<1024xf32> {
  %vx = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %rx = bufferization.to_tensor %vx : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
  %tx = tensor.collapse_shape %rx [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
  %vy = memref.reinterpret_cast %y to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %ry = bufferization.to_tensor %vy : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
  %ty = tensor.collapse_shape %ry [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%tx, %ty : tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %sum : tensor<1024xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>

// Tables of 32 and of 64: what is made of both is no table of 32. Elements that are there twice in a row are no table, either.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.broadcast
func.func @others(%x: memref<?xf32, strided<[1], offset: ?>>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %vx = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %rx = bufferization.to_tensor %vx : memref<32x32xf32, strided<[0, 1]>> to tensor<32x32xf32>
  %tx = tensor.collapse_shape %rx [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
  %vy = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[0, 1]>>
  %ry = bufferization.to_tensor %vy : memref<16x64xf32, strided<[0, 1]>> to tensor<16x64xf32>
  %ty = tensor.collapse_shape %ry [[0, 1]] : tensor<16x64xf32> into tensor<1024xf32>
  %vz = memref.reinterpret_cast %x to offset: [0], sizes: [512, 2], strides: [1, 0]
      : memref<?xf32, strided<[1], offset: ?>> to memref<512x2xf32, strided<[1, 0]>>
  %rz = bufferization.to_tensor %vz : memref<512x2xf32, strided<[1, 0]>> to tensor<512x2xf32>
  %tz = tensor.collapse_shape %rz [[0, 1]] : tensor<512x2xf32> into tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %div = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%tx, %ty : tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %root = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%tz : tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.rsqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %div, %root : tensor<1024xf32>, tensor<1024xf32>
}
