// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// What is contiguous along another dimension than the lanes is copied first: 8x8 elements at a time, by three times 8 shuffles.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: memref<32x16xf32, strided<[?, 1], offset: ?>>
func.func @transpose(%x: memref<32x16xf32, strided<[?, 1], offset: ?>>, %o: memref<16x32xf32>) {
  // CHECK: %[[TILES:.*]] = memref.alloc() {{.*}} : memref<512xf32>
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
  // CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
  // CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-NOT: vector.shuffle
  // CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
  // CHECK: scf.for
  // CHECK-NOT: vector.gather
  // CHECK: vector.load
  // CHECK: vector.store
  %t = bufferization.to_tensor %x : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %y = linalg.transpose ins(%t : tensor<32x16xf32>) outs(%e : tensor<16x32xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Tiles that are partly outside of the box have masks; what is outside is the pad, which is written first.
// CHECK-LABEL: func.func @edge(
func.func @edge(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %o: memref<16x32xf32>, %h0: index, %h1: index) {
  // CHECK: scf.if
  // CHECK: } else {
  // CHECK: vector.store %{{[^ ]*}}, {{.*}} vector<8xf32>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.if {{.*}} -> (vector<8xf32>, vector<8xf32>
  // CHECK-COUNT-8: vector.load
  // CHECK: %[[AT:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
  // CHECK-NEXT: vector.maskedload %{{.*}}[%[[AT]]]
  // CHECK-COUNT-7: vector.maskedload
  // CHECK-COUNT-24: vector.shuffle
  %zero = arith.constant 0.0 : f32
  %in = bufferization.to_tensor %x : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
  %t = tensor.pad %in low[0, 0] high[%h0, %h1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<32x16xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %y = linalg.transpose ins(%t : tensor<32x16xf32>) outs(%e : tensor<16x32xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// A block and its transpose: there is no one order for both.
// CHECK-LABEL: func.func @symmetric(
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
func.func @symmetric(%x: memref<16x16xf32>, %o: memref<16x16xf32>) {
  %t = bufferization.to_tensor %x : memref<16x16xf32> to tensor<16x16xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %r = linalg.transpose ins(%t : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) permutation = [1, 0]
  %y = arith.addf %t, %r : tensor<16x16xf32>
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
