// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// What is contiguous along another dimension than the lanes is read in squares of 8x8, by three times 8 shuffles: a line of each row, so two of them a step.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: memref<32x16xf32, strided<[?, 1], offset: ?>>
func.func @transpose(%x: memref<32x16xf32, strided<[?, 1], offset: ?>>, %o: memref<16x32xf32>) {
  // Of its rows four share a pointer.
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
  // CHECK: %[[FIRST:.*]] = llvm.inttoptr
  // CHECK-DAG: %[[TWO:.*]] = arith.muli %[[BYTES:.*]], %c2_i64
  // CHECK-DAG: %[[THREE:.*]] = arith.muli %[[BYTES]], %c3_i64
  // CHECK-DAG: %[[FOUR:.*]] = arith.muli %[[BYTES]], %c4_i64
  // CHECK-DAG: llvm.getelementptr %[[FIRST]][%[[BYTES]]]
  // CHECK-DAG: llvm.getelementptr %[[FIRST]][%[[TWO]]]
  // CHECK-DAG: llvm.getelementptr %[[FIRST]][%[[THREE]]]
  // CHECK-DAG: %[[FIFTH:.*]] = llvm.getelementptr %[[FIRST]][%[[FOUR]]]
  // CHECK-DAG: llvm.getelementptr %[[FIFTH]][%[[BYTES]]]
  // CHECK-COUNT-8: llvm.load {{.*}} {alignment = 4 : i64} {{.*}} vector<8xf32>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-NOT: vector.shuffle
  // CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
  // CHECK-COUNT-8: llvm.load {{.*}} vector<8xf32>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-NOT: vector.shuffle
  // CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
  // CHECK-NOT: vector.gather
  %t = bufferization.to_tensor %x : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %y = linalg.transpose ins(%t : tensor<32x16xf32>) outs(%e : tensor<16x32xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Squares end where the box of what is read does, and are left out where rows do, before the lanes' end: what is left is copied to scratch memory, with the pad around it.
// CHECK-LABEL: func.func @edge(
func.func @edge(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %o: memref<16x32xf32>, %h0: index, %h1: index) {
  // CHECK: %[[IS_WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c32
  // CHECK: arith.andi %{{.*}}, %c-16
  // CHECK: %[[LINES:.*]] = arith.maxsi %{{.*}}, %c0
  // CHECK: %[[WHOLE:.*]] = arith.select %[[IS_WHOLE]], %[[LINES]], %c0
  // CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c16
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
  // CHECK-COUNT-8: llvm.load
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-COUNT-8: vector.store
  // CHECK-NOT: vector.maskedload
  // CHECK: %[[LEFT:.*]] = arith.cmpi slt, %[[WHOLE]], %c16
  // CHECK-NEXT: scf.if %[[LEFT]]
  // CHECK: scf.if
  // CHECK: } else {
  // CHECK: vector.store %{{[^ ]*}}, {{.*}} vector<8xf32>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.if {{.*}} -> (vector<8xf32>, vector<8xf32>
  // CHECK-COUNT-8: llvm.load
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

// What is much to compute is not written once for each column: the block is copied first.
// CHECK-LABEL: func.func @long(
func.func @long(%x: memref<32x16xf32, strided<[?, 1], offset: ?>>, %o: memref<16x32xf32>) {
  // CHECK: %[[TILES:.*]] = memref.alloc() {{.*}} : memref<512xf32>
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
  // CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
  // CHECK-COUNT-8: llvm.load {{.*}} vector<8xf32>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
  // CHECK: scf.for
  // CHECK-NOT: vector.gather
  // CHECK: vector.load
  // CHECK: math.exp
  // CHECK: vector.store
  %t = bufferization.to_tensor %x : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %r = linalg.transpose ins(%t : tensor<32x16xf32>) outs(%e : tensor<16x32xf32>) permutation = [1, 0]
  %y = math.exp %r : tensor<16x32xf32>
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Nor is what is computed from narrow elements, whose squares are large.
// CHECK-LABEL: func.func @narrow(
func.func @narrow(%x: memref<32x32xbf16, strided<[?, 1], offset: ?>>, %z: memref<32x32xbf16>, %o: memref<32x32xbf16>) {
  // CHECK: memref.alloc() {{.*}} : memref<1024xbf16>
  // CHECK: llvm.load {{.*}} vector<8xbf16>
  // CHECK: arith.addf
  %t = bufferization.to_tensor %x : memref<32x32xbf16, strided<[?, 1], offset: ?>> to tensor<32x32xbf16>
  %u = bufferization.to_tensor %z : memref<32x32xbf16> to tensor<32x32xbf16>
  %e = tensor.empty() : tensor<32x32xbf16>
  %r = linalg.transpose ins(%t : tensor<32x32xbf16>) outs(%e : tensor<32x32xbf16>) permutation = [1, 0]
  %y = arith.addf %r, %u : tensor<32x32xbf16>
  bufferization.materialize_in_destination %y in writable %o : (tensor<32x32xbf16>, memref<32x32xbf16>) -> ()
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
