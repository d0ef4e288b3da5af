// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// Rows of one element are packed as columns, where they follow one another by vectors: those that are all there, none of which is
// there, some of which are; others are gathered.
// CHECK-LABEL: func.func @pixels(
// CHECK-DAG: %[[PACKED:.*]] = memref.alloc() {alignment = 64 : i64} : memref<256x16xf32>
// CHECK: scf.for
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c8
// CHECK: %[[GOESON:.*]] = vector.reduction <and>
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: %[[PLAIN:.*]] = arith.andi %[[GOESON]], %[[ALL]]
// CHECK: scf.if %[[PLAIN]] {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c32 step %c1
// CHECK: %[[SOME:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: memref.prefetch
// CHECK: vector.store %[[SOME]], %[[PACKED]][%{{.*}}, %[[ROW]]]
// CHECK: } else {
// CHECK: scf.if
// CHECK: vector.store {{.*}}, %[[PACKED]]
// CHECK: } else {
// CHECK: scf.if %[[GOESON]] {
// CHECK: vector.maskedload
// CHECK: } else {
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: vector.maskedload
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 9, 11, 13, 15] : vector<8xf32>, vector<8xf32>
// CHECK: } else {
// CHECK: vector.gather
func.func @pixels(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<?xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %e: i1):
    %known = arith.cmpi sge, %row, %none : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) {
    %box = memref.subview %x[0, %i] [16, 32] [1, 1]
        : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x32xf32, strided<[1, ?], offset: ?>>
    %view = memref.cast %box : memref<16x32xf32, strided<[1, ?], offset: ?>> to memref<?x32xf32, strided<[1, ?], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 rowmask %mask other %zero
        : (memref<?x32xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, tensor<16xi1>, f32) -> tensor<16x32xf32>
    %right = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x16xf32, strided<[16, 1], offset: ?>> to tensor<32x16xf32>
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// Rows that are contiguous are packed as rows, from where they lie: places are computed before, and those that end before the block
// does are read with masks.
// CHECK-LABEL: func.func @channels(
// CHECK-DAG: %[[PACKED:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16x272xf32>
// CHECK: %[[PLACES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xi64>
// CHECK: vector.store {{.*}}, %[[PLACES]]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c1
// CHECK: memref.load %[[PLACES]][%[[ROW]]]
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c32 step %c8
// CHECK: %[[SOME:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: vector.store %[[SOME]], %[[PACKED]][%[[ROW]]
// CHECK: } else {
// CHECK: vector.create_mask
// CHECK: vector.maskedload
func.func @channels(%x: memref<?x?xf32, strided<[64, 1], offset: ?>>, %w: memref<?xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %n: index, %end: index) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) {
    %box = memref.subview %x[0, %i] [16, %end] [1, 1]
        : memref<?x?xf32, strided<[64, 1], offset: ?>> to memref<16x?xf32, strided<[64, 1], offset: ?>>
    %view = memref.cast %box : memref<16x?xf32, strided<[64, 1], offset: ?>> to memref<?x?xf32, strided<[64, 1], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
        : (memref<?x?xf32, strided<[64, 1], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
    %right = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x16xf32, strided<[16, 1], offset: ?>> to tensor<32x16xf32>
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
