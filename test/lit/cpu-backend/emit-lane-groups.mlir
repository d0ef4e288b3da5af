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

// Rows of two elements that run backwards: as they follow one another, they are loaded as one row.
// CHECK-LABEL: func.func @exchanged(
// CHECK-NOT: vector.gather
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<{{.*}}>, vector<[[LANES:.*]]xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [1, 0, 3, 2, {{.*}}] : vector<[[LANES]]xf32>
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

// -----

// `i ^ 2` of as many rows as are inside: halves of four lanes change places, and the row's end is one of whole groups.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[ROWS:arg2]]: index)
// CHECK-NOT: vector.gather
// CHECK: %[[END:.*]] = arith.muli %[[ROWS]], %c4 :
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<{{.*}}>, vector<[[LANES:.*]]xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [2, 3, 0, 1, 6, 7, 4, 5{{.*}}] : vector<[[LANES]]xf32>
// CHECK: vector.store
// CHECK: %[[TAIL:.*]] = vector.maskedload
// CHECK: vector.shuffle %[[TAIL]], %[[TAIL]] [2, 3, 0, 1{{.*}}]
func.func @halves(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>, %rows: index) {
  %c16 = arith.constant 16 : index
  %none = arith.constant 7.0 : f32
  %view = memref.reinterpret_cast %x to offset: [2], sizes: [16, 2, 2], strides: [4, -2, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x2x2xf32, strided<[4, -2, 1], offset: 2>>
  %box = memref.subview %view[0, 0, 0] [%rows, 2, 2] [1, 1, 1] : memref<16x2x2xf32, strided<[4, -2, 1], offset: 2>> to memref<?x2x2xf32, strided<[4, -2, 1], offset: 2>>
  %part = bufferization.to_tensor %box : memref<?x2x2xf32, strided<[4, -2, 1], offset: 2>> to tensor<?x2x2xf32>
  %high = arith.subi %c16, %rows : index
  %in = tensor.pad %part low[0, 0, 0] high[%high, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %none : f32
  } : tensor<?x2x2xf32> to tensor<16x2x2xf32>
  %flat = tensor.collapse_shape %in [[0, 1, 2]] : tensor<16x2x2xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %flat in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
