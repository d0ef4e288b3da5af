// RUN: tilebridge-opt %s -tilebridge-accel-copies -canonicalize -split-input-file 2>/dev/null | FileCheck %s

!box = memref<?x?xf32, strided<[?, 1], offset: ?>>
!ptr = memref<?xf32, strided<[1], offset: ?>>

// CHECK-LABEL: @padded(
// CHECK-SAME: %[[BOX:[^ ]*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[L:[^ ]*]]: index, %[[H:[^ ]*]]: index, %[[Z:[^ ]*]]: f32
func.func @padded(%box: !box, %l: index, %h: index, %z: f32) -> tensor<7x33xf32> {
  // CHECK: %[[INIT:.*]] = tensor.empty() : tensor<7x33xf32>
  // CHECK: %[[T:.*]] = accel.copy %[[BOX]] to %[[INIT]] low[%[[L]], %{{.*}}] pad %[[Z]]
  // CHECK: return %[[T]]
  %0 = bufferization.to_tensor %box : !box to tensor<?x?xf32>
  %1 = tensor.pad %0 low[%l, 0] high[%h, %h] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<7x33xf32>
  return %1 : tensor<7x33xf32>
}

// Where low is 0 everywhere it is left out; a static box needs no padding.
// CHECK-LABEL: @whole(
func.func @whole(%box: memref<7x33xf32, strided<[0, -1], offset: ?>>) -> tensor<7x33xf32> {
  // CHECK: accel.copy %{{.*}} to %{{.*}} : (memref<7x33xf32, strided<[0, -1], offset: ?>>, tensor<7x33xf32>) -> tensor<7x33xf32>
  %0 = bufferization.to_tensor %box : memref<7x33xf32, strided<[0, -1], offset: ?>> to tensor<7x33xf32>
  return %0 : tensor<7x33xf32>
}

// A cast to a block says that the box is whole.
// CHECK-LABEL: @cast(
func.func @cast(%box: memref<?x?xf32, strided<[?, 1], offset: ?>>) -> tensor<7x33xf32> {
  // CHECK: %[[INIT:.*]] = tensor.empty() : tensor<7x33xf32>
  // CHECK: accel.copy %{{.*}} to %[[INIT]] : (memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<7x33xf32>) -> tensor<7x33xf32>
  %0 = bufferization.to_tensor %box : !box to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<7x33xf32>
  return %1 : tensor<7x33xf32>
}

// CHECK-LABEL: @inserted(
// CHECK-SAME: %[[OTHER:[^ ]*]]: tensor<7x33xf32>
func.func @inserted(%box: !box, %l: index, %n: index, %other: tensor<7x33xf32>) -> tensor<7x33xf32> {
  // CHECK: accel.copy %{{.*}} to %[[OTHER]] low[%{{.*}}, %{{.*}}] :
  %0 = bufferization.to_tensor %box : !box to tensor<?x?xf32>
  %1 = tensor.insert_slice %0 into %other[%l, 0] [%n, %n] [1, 1] : tensor<?x?xf32> into tensor<7x33xf32>
  return %1 : tensor<7x33xf32>
}

// The load happens before the store; what pads it moves up.
// CHECK-LABEL: @behind_store(
func.func @behind_store(%box: !box, %l: index, %x: f32, %p: !ptr) -> tensor<7x33xf32> {
  // CHECK: %[[H:.*]] = arith.mulf
  // CHECK: accel.copy {{.*}} pad %[[H]]
  // CHECK: memref.store
  %c0 = arith.constant 0 : index
  %0 = bufferization.to_tensor %box : !box to tensor<?x?xf32>
  memref.store %x, %p[%c0] : !ptr
  %y = arith.mulf %x, %x : f32
  %1 = tensor.pad %0 low[0, 0] high[%l, %l] {
  ^bb0(%i: index, %j: index):
    tensor.yield %y : f32
  } : tensor<?x?xf32> to tensor<7x33xf32>
  return %1 : tensor<7x33xf32>
}

// CHECK-LABEL: @store(
func.func @store(%t: tensor<7x33xf32>, %box: !box, %n: index) {
  // CHECK: %[[PART:.*]] = tensor.extract_slice
  // CHECK: accel.copy %[[PART]] to %{{.*}} : (tensor<?x?xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>) -> ()
  %0 = tensor.extract_slice %t[0, 0] [%n, %n] [1, 1] : tensor<7x33xf32> to tensor<?x?xf32>
  bufferization.materialize_in_destination %0 in writable %box : (tensor<?x?xf32>, !box) -> ()
  return
}

// CHECK-LABEL: @masked(
func.func @masked(%v: memref<5x3xf32, strided<[?, 2], offset: ?>>, %m: tensor<5x3xi1>, %o: tensor<5x3xf32>) -> tensor<5x3xf32> {
  // CHECK: %[[A:.*]] = accel.copy {{.*}} pad %{{.*}} mask %{{.*}} :
  %0 = linalg_ext.masked_load %v, %m : (memref<5x3xf32, strided<[?, 2], offset: ?>>, tensor<5x3xi1>) -> tensor<5x3xf32>
  // CHECK: accel.copy %{{.*}} to %{{.*}} mask %{{.*}} : {{.*}} -> tensor<5x3xf32>
  %1 = linalg_ext.masked_load %v, %m other %o
      : (memref<5x3xf32, strided<[?, 2], offset: ?>>, tensor<5x3xi1>, tensor<5x3xf32>) -> tensor<5x3xf32>
  // CHECK: accel.copy %[[A]] to %{{.*}} mask
  linalg_ext.masked_store %0, %v, %m : (tensor<5x3xf32>, memref<5x3xf32, strided<[?, 2], offset: ?>>, tensor<5x3xi1>) -> ()
  return %1 : tensor<5x3xf32>
}

// CHECK-LABEL: @rows(
func.func @rows(%v: memref<3x?x?xf32, strided<[?, ?, 1], offset: ?>>, %r: tensor<5xi64>, %m: tensor<5xi1>, %z: f32) -> tensor<3x5x8xf32> {
  // CHECK: %[[T:.*]] = accel.copy %{{.*}} to %{{.*}} rows[%{{.*}}] dim 1 pad %{{.*}} mask %{{.*}} :
  %0 = linalg_ext.gather_rows %v[%r] dim 1 rowmask %m other %z
      : (memref<3x?x?xf32, strided<[?, ?, 1], offset: ?>>, tensor<5xi64>, tensor<5xi1>, f32) -> tensor<3x5x8xf32>
  // CHECK: %[[D:.*]] = memref.dim
  // CHECK: tensor.extract_slice %[[T]][0, 0, 0] [3, 5, %[[D]]]
  // CHECK: accel.copy %{{.*}} to %{{.*}} rows[%{{.*}}] dim 1 scatter :
  linalg_ext.scatter_rows %0 into %v[%r] dim 1 : (tensor<3x5x8xf32>, memref<3x?x?xf32, strided<[?, ?, 1], offset: ?>>, tensor<5xi64>) -> ()
  return %0 : tensor<3x5x8xf32>
}

// Elements are rows of one element.
// CHECK-LABEL: @elements(
func.func @elements(%p: !ptr, %o: tensor<5x3xi32>, %m: tensor<5x3xi1>) -> tensor<5x3xf32> {
  // CHECK-DAG: %[[O:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<5x3xi32> into tensor<15xi32>
  // CHECK-DAG: %[[M:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<5x3xi1> into tensor<15xi1>
  // CHECK: %[[T:.*]] = accel.copy %{{.*}} to %{{.*}} rows[%[[O]]] dim 0 pad %{{.*}} mask %[[M]] :
  // CHECK: tensor.expand_shape %[[T]]
  %0 = linalg_ext.gather %p[%o] mask %m : (!ptr, tensor<5x3xi32>, tensor<5x3xi1>) -> tensor<5x3xf32>
  // CHECK: accel.copy %{{.*}} to %{{.*}} rows[%{{.*}}] dim 0 scatter :
  linalg_ext.scatter %0 into %p[%o] : (tensor<5x3xf32>, !ptr, tensor<5x3xi32>) -> ()
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: @atomics(
func.func @atomics(%p: !ptr, %o: tensor<5xi64>, %v: tensor<5xf32>, %i: i64, %x: f32) -> tensor<5xf32> {
  // CHECK: accel.atomic fadd acq_rel gpu %{{.*}}[%{{.*}}] values(%{{.*}}) old(%{{.*}})
  %0 = linalg_ext.atomic_rmw fadd acq_rel gpu %p[%o], %v : (!ptr, tensor<5xi64>, tensor<5xf32>) -> tensor<5xf32>
  // CHECK: accel.atomic cas relaxed gpu %{{.*}}[%{{.*}}] values(%{{.*}}) compare(%{{.*}}) old(%{{.*}})
  %1 = linalg_ext.atomic_cas relaxed gpu %p[%o], %0, %v : (!ptr, tensor<5xi64>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  // CHECK: accel.atomic store release sys %{{.*}}[%{{.*}}] values(%{{.*}}) :
  linalg_ext.atomic_store release sys %1 into %p[%o] : (tensor<5xf32>, !ptr, tensor<5xi64>) -> ()
  // A scalar stays.
  // CHECK: linalg_ext.atomic_rmw exch
  %2 = linalg_ext.atomic_rmw exch relaxed gpu %p[%i], %x : (!ptr, i64, f32) -> f32
  return %1 : tensor<5xf32>
}
