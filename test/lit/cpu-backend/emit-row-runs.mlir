// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// Rows of one element, as pixels are: 8 that follow one another are read by vectors, transposed and copied; others are gathered.
// CHECK-LABEL: func.func @pixels(
// CHECK: scf.for {{.*}} to %c16 step %c8
// CHECK: %[[STARTS:.*]] = arith.subi {{.*}} : vector<8xi64>
// CHECK: %[[START:.*]] = vector.extract %[[STARTS]][0]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[STARTS]]
// CHECK: %[[ONE:.*]] = vector.reduction <and>, %[[SAME]]
// CHECK: scf.if %[[ONE]] {
// CHECK: scf.for {{.*}} to %c32 step %c8
// CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for {{.*}} to %c32 step %c8
// CHECK: vector.gather
// CHECK: scf.for
// CHECK-NOT: vector.gather
// CHECK: return
func.func @pixels(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %ids: memref<16xi64>, %o: memref<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %box = memref.subview %x[0, 0] [16, 32] [1, 1]
      : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x32xf32, strided<[1, ?], offset: ?>>
  %view = memref.cast %box : memref<16x32xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
  %t = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
      : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Rows that are masked off are in any run: they need not be where it goes on. A square that is not whole is read with masks.
// CHECK-LABEL: func.func @masked(
// CHECK: %[[KNOWN:.*]] = arith.select %[[MASK:[^,]*]], %[[STARTS:[^,]*]], {{.*}} vector<8xi64>
// CHECK: %[[LEAST:.*]] = vector.reduction <minsi>, %[[KNOWN]]
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[LEAST]]
// CHECK: %[[START:.*]] = arith.select %[[NONE]], %c0_i64, %[[LEAST]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[STARTS]]
// CHECK: %[[OFF:.*]] = arith.xori %[[MASK]]
// CHECK: %[[OPEN:.*]] = arith.ori %[[SAME]], %[[OFF]]
// CHECK: %[[ONE:.*]] = vector.reduction <and>, %[[OPEN]]
// CHECK: %[[WHOLE:.*]] = vector.reduction <and>, %[[MASK]]
// CHECK: scf.if %[[ONE]] {
// CHECK: scf.if %{{.*}} -> (vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8: vector.load
// CHECK-COUNT-8: vector.maskedload
// CHECK-COUNT-24: vector.shuffle
func.func @masked(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %ids: memref<16xi64>, %n: index, %o: memref<16x32xf32>) {
  %other = arith.constant 7.0 : f32
  %zero = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %e: i1):
    %known = arith.cmpi sge, %row, %zero : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %view = memref.subview %x[0, 0] [16, %n] [1, 1]
      : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x?xf32, strided<[1, ?], offset: ?>>
  %cast = memref.cast %view : memref<16x?xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
  %t = linalg_ext.gather_rows %cast[%rows] dim 0 rowmask %mask other %other
      : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, tensor<16xi1>, f32) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Columns that are contiguous are read as they are.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @rows(%x: memref<?x?xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>, %o: memref<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %box = memref.subview %x[0, 0] [16, 32] [1, 1]
      : memref<?x?xf32, strided<[1, 1], offset: ?>> to memref<16x32xf32, strided<[1, 1], offset: ?>>
  %view = memref.cast %box : memref<16x32xf32, strided<[1, 1], offset: ?>> to memref<?x?xf32, strided<[1, 1], offset: ?>>
  %t = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
      : (memref<?x?xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}
