// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline-copies -canonicalize -cse -tilebridge-accel-verify-schedule | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline-copies=depth=3 -tilebridge-accel-verify-schedule | FileCheck %s --check-prefix=THREE

!ptr = memref<?xf32, strided<[1], offset: ?>>
!ids = memref<?xi32, strided<[1], offset: ?>>
!table = memref<?x64xf32, strided<[1, 1]>>
!numbers = memref<16xi32, #accel.memory<"local">>
!rows = memref<16xi64, #accel.memory<"local">>
!local = memref<16x64xf32, #accel.memory<"local">>
#id = affine_map<(d0) -> (d0)>

// Rows that are computed from what the loop loads: indices are two iterations ahead, in three buffers, and rows one. Two loads by the
// same rows share what computes them.

// CHECK-LABEL: @gathers(
// CHECK-DAG: %[[IDS:.*]] = accel.alloc : memref<3x16xi32, #accel.memory<"local">>
// CHECK-DAG: %[[X:.*]] = accel.alloc : memref<2x16x64xf32, #accel.memory<"local">>
// CHECK-DAG: %[[Y:.*]] = accel.alloc : memref<2x16x64xf32, #accel.memory<"local">>
// CHECK-DAG: %[[ROWS:.*]] = accel.alloc : memref<2x16xi64, #accel.memory<"local">>
// CHECK: scf.for {{.*}} -> (index, index, !accel.token, !accel.token, !accel.token)
// The indices of the next iteration but one.
// CHECK: %[[FED:.*]] = scf.if
// CHECK: accel.copy_start %{{.*}} to %{{.*}} : (memref<16xi32
// CHECK: accel.wait
// CHECK: scf.if {{.*}} -> (!accel.token, !accel.token) {
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: accel.copy_start %{{.*}} to %{{.*}} rows[%[[AT:.*]]] dim 0 :
// CHECK: accel.copy_start %{{.*}} to %{{.*}} rows[%[[AT]]] dim 0 :
// CHECK: } else {
// Its own are computed by nobody else.
// CHECK-NOT: arith.extsi
// CHECK: scf.yield

// THREE-LABEL: @gathers(
// THREE-DAG: accel.alloc : memref<4x16xi32, #accel.memory<"local">>
// THREE-DAG: accel.alloc : memref<3x16xi64, #accel.memory<"local">>
func.func @gathers(%x: !ptr {accel.noalias}, %y: !ptr {accel.noalias}, %ids: !ids {accel.noalias}, %out: memref<16x64xf32> {accel.noalias}, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : i32
  %t = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64], strides: [1, 1] : !ptr to memref<16x64xf32, strided<[1, 1]>>
  %u = memref.reinterpret_cast %y to offset: [0], sizes: [16, 64], strides: [1, 1] : !ptr to memref<16x64xf32, strided<[1, 1]>>
  %sum = accel.alloc : !local
  scf.for %i = %c0 to %n step %c16 {
    %v = memref.reinterpret_cast %ids to offset: [%i], sizes: [16], strides: [1] : !ids to memref<16xi32, strided<[1], offset: ?>>
    %a = accel.alloc : !numbers
    accel.copy %v to %a : (memref<16xi32, strided<[1], offset: ?>>, !numbers) -> ()
    %r = accel.alloc : !rows
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : !numbers) outs(%r : !rows) {
    ^bb0(%in: i32, %o: i64):
      %k = arith.muli %in, %c64 : i32
      %w = arith.extsi %k : i32 to i64
      linalg.yield %w : i64
    }
    %b = accel.alloc : !local
    accel.copy %t to %b rows [%r] dim 0 : (memref<16x64xf32, strided<[1, 1]>>, !local, !rows) -> ()
    %c = accel.alloc : !local
    accel.copy %u to %c rows [%r] dim 0 : (memref<16x64xf32, strided<[1, 1]>>, !local, !rows) -> ()
    linalg.add ins(%b, %c : !local, !local) outs(%sum : !local)
  }
  accel.copy %sum to %out : (!local, memref<16x64xf32>) -> ()
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!block = memref<16xf32, #accel.memory<"local">>
!mask = memref<16xi1, #accel.memory<"local">>
#id = affine_map<(d0) -> (d0)>

// A mask that is computed from the loop's counter; a buffer from before the loop that is only read.

// CHECK-LABEL: @masked(
// CHECK-DAG: accel.alloc : memref<2x16xf32, #accel.memory<"local">>
// CHECK-DAG: accel.alloc : memref<2x16xi1, #accel.memory<"local">>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: accel.copy_start %{{.*}} to %{{.*}} pad %{{.*}} mask %{{.*}} :
func.func @masked(%x: !ptr {accel.noalias}, %wanted: memref<16xi32, #accel.memory<"local">>, %out: memref<16xf32> {accel.noalias}, %n: i32) attributes {accel.kernel} {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant 0.0 : f32
  %sum = accel.alloc : !block
  scf.for %i = %c0 to %n step %c16 : i32 {
    %at = arith.index_cast %i : i32 to index
    %v = memref.reinterpret_cast %x to offset: [%at], sizes: [16], strides: [1] : !ptr to memref<16xf32, strided<[1], offset: ?>>
    %m = accel.alloc : !mask
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%wanted : memref<16xi32, #accel.memory<"local">>) outs(%m : !mask) {
    ^bb0(%in: i32, %o: i1):
      %k = arith.cmpi sgt, %in, %i : i32
      linalg.yield %k : i1
    }
    %b = accel.alloc : !block
    accel.copy %v to %b pad %zero mask %m : (memref<16xf32, strided<[1], offset: ?>>, !block, f32, !mask) -> ()
    linalg.add ins(%b, %sum : !block, !block) outs(%sum : !block)
  }
  accel.copy %sum to %out : (!block, memref<16xf32>) -> ()
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!rows = memref<16xi64, #accel.memory<"local">>
!local = memref<16x64xf32, #accel.memory<"local">>
#id = affine_map<(d0) -> (d0)>

// Rows that depend on the iteration before, and rows that are written after the load: it stays.

// CHECK-LABEL: @carried(
// CHECK: scf.for
// CHECK-NOT: accel.token
// CHECK: %[[T:.*]] = accel.copy_start %{{.*}} rows
// CHECK: accel.wait %[[T]]
func.func @carried(%x: !ptr {accel.noalias}, %out: memref<16x64xf32> {accel.noalias}, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64], strides: [1, 1] : !ptr to memref<16x64xf32, strided<[1, 1]>>
  %sum = accel.alloc : !local
  %r = accel.alloc : !rows
  scf.for %i = %c0 to %n step %c1 {
    %b = accel.alloc : !local
    accel.copy %t to %b rows [%r] dim 0 : (memref<16x64xf32, strided<[1, 1]>>, !local, !rows) -> ()
    linalg.add ins(%b, %b : !local, !local) outs(%sum : !local)
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : !rows) outs(%r : !rows) {
    ^bb0(%in: i64, %o: i64):
      %k = arith.addi %in, %in : i64
      linalg.yield %k : i64
    }
  }
  accel.copy %sum to %out : (!local, memref<16x64xf32>) -> ()
  return
}
