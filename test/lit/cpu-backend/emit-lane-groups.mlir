// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s

// Rows of two equal elements: each is loaded once, and is in two lanes of what is stored.
// CHECK-LABEL: func.func @equal(
// CHECK: memref.alloc() {{.*}} : memref<{{.*}}xf32>
// CHECK: %[[ONCE:.*]] = vector.load {{.*}} vector<32xf32>
// CHECK: %[[TWICE:.*]] = vector.interleave %[[ONCE]], %[[ONCE]] : vector<32xf32>
// CHECK: vector.store %[[TWICE]]
func.func @equal(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 2], strides: [1, 0] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[1, 0]>>
  %in = bufferization.to_tensor %view : memref<32x2xf32, strided<[1, 0]>> to tensor<32x2xf32>
  %flat = tensor.collapse_shape %in [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%flat : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %y in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Rows of two elements that run backwards: both ones of the lanes' rows are put together.
// CHECK-LABEL: func.func @exchanged(
// CHECK-NOT: vector.gather
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK: vector.store
func.func @exchanged(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [1], sizes: [32, 2], strides: [2, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[2, -1], offset: 1>>
  %in = bufferization.to_tensor %view : memref<32x2xf32, strided<[2, -1], offset: 1>> to tensor<32x2xf32>
  %flat = tensor.collapse_shape %in [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%flat : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %y in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
