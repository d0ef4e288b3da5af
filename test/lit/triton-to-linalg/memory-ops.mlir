// RUN: tilebridge-opt %s | tilebridge-opt | FileCheck %s

!ptr = memref<?xf32, strided<[1], offset: ?>>
!iptr = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: func.func @elements
func.func @elements(%base: !ptr, %o: tensor<4x8xi64>, %o32: tensor<4x8xi32>, %m: tensor<4x8xi1>, %x: f32, %t: tensor<4x8xf32>) {
  // CHECK: linalg_ext.gather %{{.*}}[%{{.*}}] : (memref<?xf32, strided<[1], offset: ?>>, tensor<4x8xi32>) -> tensor<4x8xf32>
  %0 = linalg_ext.gather %base[%o32] : (!ptr, tensor<4x8xi32>) -> tensor<4x8xf32>
  // CHECK: linalg_ext.gather %{{.*}}[%{{.*}}] mask %{{.*}} other %{{.*}} :
  %1 = linalg_ext.gather %base[%o] mask %m other %x : (!ptr, tensor<4x8xi64>, tensor<4x8xi1>, f32) -> tensor<4x8xf32>
  %2 = linalg_ext.gather %base[%o] mask %m other %t : (!ptr, tensor<4x8xi64>, tensor<4x8xi1>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: linalg_ext.scatter %{{.*}} into %{{.*}}[%{{.*}}] :
  linalg_ext.scatter %0 into %base[%o] : (tensor<4x8xf32>, !ptr, tensor<4x8xi64>) -> ()
  // CHECK: linalg_ext.scatter %{{.*}} into %{{.*}}[%{{.*}}] mask %{{.*}} :
  linalg_ext.scatter %1 into %base[%o] mask %m : (tensor<4x8xf32>, !ptr, tensor<4x8xi64>, tensor<4x8xi1>) -> ()
  linalg_ext.scatter %2 into %base[%o] mask %m : (tensor<4x8xf32>, !ptr, tensor<4x8xi64>, tensor<4x8xi1>) -> ()
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%view: memref<?x?xf32, strided<[?, 1], offset: ?>>, %r: tensor<64xi64>, %m: tensor<64xi1>, %x: f32) {
  // CHECK: linalg_ext.gather_rows %{{.*}}[%{{.*}}] dim 0 rowmask %{{.*}} other %{{.*}} :
  %0 = linalg_ext.gather_rows %view[%r] dim 0 rowmask %m other %x
      : (memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<64x32xf32>
  // CHECK: linalg_ext.scatter_rows %{{.*}} into %{{.*}}[%{{.*}}] dim 0 :
  linalg_ext.scatter_rows %0 into %view[%r] dim 0
      : (tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>) -> ()
  return
}

// CHECK-LABEL: func.func @masked
func.func @masked(%view: memref<4x8xf32, strided<[?, 1], offset: ?>>, %m: tensor<4x8xi1>, %x: f32) {
  // CHECK: linalg_ext.masked_load %{{.*}}, %{{.*}} other %{{.*}} :
  %0 = linalg_ext.masked_load %view, %m other %x
      : (memref<4x8xf32, strided<[?, 1], offset: ?>>, tensor<4x8xi1>, f32) -> tensor<4x8xf32>
  // CHECK: linalg_ext.masked_store %{{.*}}, %{{.*}}, %{{.*}} :
  linalg_ext.masked_store %0, %view, %m : (tensor<4x8xf32>, memref<4x8xf32, strided<[?, 1], offset: ?>>, tensor<4x8xi1>) -> ()
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%a: i64, %f: !ptr, %o: tensor<8xi64>, %v: tensor<8xf32>, %m: tensor<8xi1>, %s: i64, %x: i32, %c: i1) -> i32 {
  // CHECK: linalg_ext.view_address %{{.*}} : (i64) -> memref<?xi32, strided<[1], offset: ?>>
  %i = linalg_ext.view_address %a : (i64) -> !iptr
  // CHECK: linalg_ext.atomic_rmw fadd acq_rel gpu %{{.*}}[%{{.*}}], %{{.*}} mask %{{.*}} :
  %0 = linalg_ext.atomic_rmw fadd acq_rel gpu %f[%o], %v mask %m : (!ptr, tensor<8xi64>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: linalg_ext.atomic_rmw exch relaxed sys %{{.*}}[%{{.*}}], %{{.*}} :
  %1 = linalg_ext.atomic_rmw exch relaxed sys %i[%s], %x : (!iptr, i64, i32) -> i32
  // CHECK: linalg_ext.atomic_cas acquire cta %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} :
  %2 = linalg_ext.atomic_cas acquire cta %i[%s], %x, %1 : (!iptr, i64, i32, i32) -> i32
  // CHECK: linalg_ext.atomic_load acquire gpu %{{.*}}[%{{.*}}] mask %{{.*}} :
  %3 = linalg_ext.atomic_load acquire gpu %i[%s] mask %c : (!iptr, i64, i1) -> i32
  // CHECK: linalg_ext.atomic_store release gpu %{{.*}} into %{{.*}}[%{{.*}}] mask %{{.*}} :
  linalg_ext.atomic_store release gpu %3 into %i[%s] mask %c : (i32, !iptr, i64, i1) -> ()
  return %2 : i32
}
