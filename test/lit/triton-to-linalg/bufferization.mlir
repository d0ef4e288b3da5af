// BufferizableOpInterface of linalg_ext: each op as its own meaning, element by element, into a new buffer.
// RUN: tilebridge-opt %s -one-shot-bufferize="bufferize-function-boundaries" -canonicalize -cse | FileCheck %s

!pointer = memref<?xf32, strided<[1], offset: ?>>
!view = memref<?x?xf32, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[P:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[O:[^:]*]]: memref<8x4xi64{{.*}}, %[[M:[^:]*]]: memref<8x4xi1{{.*}}, %[[Z:[^:]*]]: f32
// CHECK: %[[R:.*]] = memref.alloc() {{.*}}: memref<8x4xf32>
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: %[[AT:.*]] = memref.load %[[O]][%[[I]], %[[J]]]
// CHECK: %[[AS:.*]] = arith.index_cast %[[AT]] : i64 to index
// CHECK: %[[IN:.*]] = memref.load %[[M]][%[[I]], %[[J]]]
// CHECK: %[[V:.*]] = scf.if %[[IN]]
// CHECK: memref.load %[[P]][%[[AS]]]
// CHECK: } else {
// CHECK: scf.yield %[[Z]]
// CHECK: memref.store %[[V]], %[[R]][%[[I]], %[[J]]]
func.func @gather(%p: !pointer, %o: tensor<8x4xi64>, %m: tensor<8x4xi1>, %z: f32) -> tensor<8x4xf32> {
  %0 = linalg_ext.gather %p[%o] mask %m other %z : (!pointer, tensor<8x4xi64>, tensor<8x4xi1>, f32) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: memref.load %{{.*}}[%[[I]]] : memref<8xi64
// CHECK: %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[J]], %[[N]]
// CHECK: scf.if %[[IN]]
// CHECK: memref.load %{{.*}}[%{{.*}}, %[[J]]]
// CHECK: memref.store
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf32, strided<[?, 1], offset: ?>>
func.func @rows(%v: !view, %r: tensor<8xi64>) {
  %0 = linalg_ext.gather_rows %v[%r] dim 0 : (!view, tensor<8xi64>) -> tensor<8x4xf32>
  linalg_ext.scatter_rows %0 into %v[%r] dim 0 : (tensor<8x4xf32>, !view, tensor<8xi64>) -> ()
  return
}

// CHECK-LABEL: func.func @masked
// CHECK: scf.if
// CHECK: memref.load %{{.*}} : memref<8x4xf32, strided<[?, 1], offset: ?>>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store %{{.*}} : memref<8x4xf32, strided<[?, 1], offset: ?>>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
func.func @masked(%v: memref<8x4xf32, strided<[?, 1], offset: ?>>, %m: tensor<8x4xi1>, %p: !pointer, %o: tensor<8x4xi32>) {
  %0 = linalg_ext.masked_load %v, %m : (memref<8x4xf32, strided<[?, 1], offset: ?>>, tensor<8x4xi1>) -> tensor<8x4xf32>
  linalg_ext.masked_store %0, %v, %m : (tensor<8x4xf32>, memref<8x4xf32, strided<[?, 1], offset: ?>>, tensor<8x4xi1>) -> ()
  linalg_ext.scatter %0 into %p[%o] mask %m : (tensor<8x4xf32>, !pointer, tensor<8x4xi32>, tensor<8x4xi1>) -> ()
  return
}

// Lane by lane, and the offset as wide as a scalar's is.
// CHECK-LABEL: func.func @atomics
// CHECK: %[[V:.*]] = memref.load
// CHECK: %[[WIDE:.*]] = arith.extsi
// CHECK: %[[OLD:.*]] = linalg_ext.atomic_rmw fadd acq_rel gpu %{{.*}}[%{{.*}}], %{{.*}} : ({{.*}}, i64, f32) -> f32
// CHECK: memref.store %[[OLD]]
// CHECK: linalg_ext.atomic_cas acq_rel gpu
// CHECK: linalg_ext.atomic_load acquire gpu
// CHECK: linalg_ext.atomic_store release gpu %{{.*}} : (f32, {{.*}}, i64, i1) -> ()
func.func @atomics(%p: !pointer, %o: tensor<8xi32>, %x: tensor<8xf32>, %m: tensor<8xi1>) -> tensor<8xf32> {
  %0 = linalg_ext.atomic_rmw fadd acq_rel gpu %p[%o], %x : (!pointer, tensor<8xi32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg_ext.atomic_cas acq_rel gpu %p[%o], %0, %x : (!pointer, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg_ext.atomic_load acquire gpu %p[%o] mask %m : (!pointer, tensor<8xi32>, tensor<8xi1>) -> tensor<8xf32>
  linalg_ext.atomic_store release gpu %2 into %p[%o] mask %m : (tensor<8xf32>, !pointer, tensor<8xi32>, tensor<8xi1>) -> ()
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @scan
// CHECK: %[[R:.*]] = memref.alloc() {{.*}}: memref<8x4xf32>
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}}[%c7, %[[J]]]
// CHECK: memref.store %[[FIRST]], %[[R]][%c7, %[[J]]]
// CHECK: scf.for %[[I:[^ ]*]] = %c0 to %c7
// CHECK: %[[BEFORE:.*]] = arith.subi %c7, %[[I]]
// CHECK: %[[AT:.*]] = arith.subi %c6, %[[I]]
// CHECK: %[[SUM:.*]] = memref.load %[[R]][%[[BEFORE]], %[[J]]]
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[AT]], %[[J]]]
// CHECK: %[[NEW:.*]] = arith.subf %[[SUM]], %[[X]]
// CHECK: memref.store %[[NEW]], %[[R]][%[[AT]], %[[J]]]
func.func @scan(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg_ext.scan(%x) dimension = 0 reverse {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    linalg_ext.yield %s : f32
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reduce
// CHECK: memref.alloc() {{.*}}: memref<4xf32>
// CHECK: memref.alloc() {{.*}}: memref<4xi32>
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK: arith.select
func.func @reduce(%x: tensor<8x4xf32>, %i: tensor<8x4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = linalg_ext.reduce(%x, %i) dimension = 0 {
  ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
    %gt = arith.cmpf ogt, %v0, %v1 : f32
    %v = arith.select %gt, %v0, %v1 : f32
    %w = arith.select %gt, %i0, %i1 : i32
    linalg_ext.yield %v, %w : f32, i32
  } : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @lookup
// CHECK: arith.index_castui
// CHECK: arith.minui %{{.*}}, %c7
// CHECK: memref.store %c0_i32
// CHECK: arith.cmpi ult
// CHECK: arith.addi %{{.*}}, %c1_i32
func.func @lookup(%x: tensor<8x4xf32>, %i: tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<16xi32>) {
  %0 = linalg_ext.gather_along %x[%i] dimension = 0 : tensor<8x4xf32>, tensor<2x4xi32> -> tensor<2x4xf32>
  %1 = linalg_ext.histogram %i : tensor<2x4xi32> -> tensor<16xi32>
  return %0, %1 : tensor<2x4xf32>, tensor<16xi32>
}
