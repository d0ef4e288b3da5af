// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-accumulate -canonicalize -cse -verify-diagnostics | FileCheck %s

// Rows of a stride, positions moved by the program, a mask of a box.

// CHECK-LABEL: func.func @box
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [8, 4], strides: [%{{.*}}, 1]
// CHECK: %[[ROWS:.*]] = arith.minsi
// CHECK: %[[BOX:.*]] = memref.subview %[[VIEW]][0, 0] [%[[ROWS]], 4] [1, 1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 0] [%[[ROWS]], 4] [1, 1]
// CHECK: accel.copy %[[PART]] to %[[BOX]] accumulate add : (tensor<?x4xf32>, memref<?x4xf32, strided<[?, 1], offset: ?>>) -> ()
// CHECK-NOT: atomic
#row = affine_map<(d0, d1) -> (d0, 0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
module attributes {accel.target = "ascend-910b-like"} {
func.func @box(%c: memref<?xf32, strided<[1], offset: ?>>, %v: tensor<8x4xf32>, %first: i32, %stride: i32, %n: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %e1 = tensor.empty() : tensor<8x1xi32>
  %e2 = tensor.empty() : tensor<8x4xi64>
  %e3 = tensor.empty() : tensor<8x4xi1>
  %rows = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e1 : tensor<8x1xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.addi %j, %first : i32
    linalg.yield %k : i32
  } -> tensor<8x1xi32>
  %offsets = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<8x1xi32>) outs(%e2 : tensor<8x4xi64>) {
  ^bb0(%in: i32, %out: i64):
    %r = arith.muli %in, %stride : i32
    %w = arith.extsi %r : i32 to i64
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.addi %w, %j : i64
    linalg.yield %s : i64
  } -> tensor<8x4xi64>
  %mask = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<8x1xi32>) outs(%e3 : tensor<8x4xi1>) {
  ^bb0(%in: i32, %out: i1):
    %b = arith.cmpi sgt, %n, %in : i32
    linalg.yield %b : i1
  } -> tensor<8x4xi1>
  // expected-remark @+1 {{is one accumulating copy of the engine 'mte': PEs add in any order, so float sums may differ in their last bits}}
  %old = linalg_ext.atomic_rmw fadd acq_rel gpu %c[%offsets], %v mask %mask : (memref<?xf32, strided<[1], offset: ?>>, tensor<8x4xi64>, tensor<8x4xf32>, tensor<8x4xi1>) -> tensor<8x4xf32>
  return
}
}

// -----

// A mask that is no box stays one; integers are exact, which needs no remark. Steps may be 0.

// CHECK-LABEL: func.func @mask
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [8], strides: [0]
// CHECK: accel.copy %{{.*}} to %[[VIEW]] mask %{{.*}} accumulate add
module attributes {accel.target = "ascend-910b-like"} {
func.func @mask(%c: memref<?xi32, strided<[1], offset: ?>>, %v: tensor<8xi32>, %mask: tensor<8xi1>, %first: i64, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*i32"]} {
  %offsets = tensor.splat %first : tensor<8xi64>
  %old = linalg_ext.atomic_rmw add relaxed gpu %c[%offsets], %v mask %mask : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  return
}
}

// -----

// What somebody reads, other kinds, offsets that are not known, and what orders accesses that the kernel observes.

// CHECK-LABEL: func.func @stays
// CHECK-COUNT-4: linalg_ext.atomic_rmw
// CHECK-NOT: accumulate
module attributes {accel.target = "ascend-910b-like"} {
func.func @stays(%c: memref<?xi32, strided<[1], offset: ?>>, %v: tensor<8xi32>, %o: tensor<8xi64>, %first: i64, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) -> tensor<8xi32>
    attributes {accel.kernel, tilebridge.signature = ["*i32"]} {
  %offsets = tensor.splat %first : tensor<8xi64>
  %0 = linalg_ext.atomic_rmw add relaxed gpu %c[%offsets], %v : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  %1 = linalg_ext.atomic_rmw max relaxed gpu %c[%offsets], %v : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  // expected-remark @+1 {{is added element by element: its offsets are no strides of a block; the engine 'mte' adds blocks}}
  %2 = linalg_ext.atomic_rmw add relaxed gpu %c[%o], %v : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  // expected-remark @+1 {{is added element by element: it orders what other atomic accesses of the kernel see; the engine 'mte' adds blocks}}
  %3 = linalg_ext.atomic_rmw add acq_rel gpu %c[%offsets], %v : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
}

// -----

// An engine that does not accumulate.

// CHECK-LABEL: func.func @cannot
// CHECK: linalg_ext.atomic_rmw
module attributes {accel.target = "mtia-2i-like"} {
func.func @cannot(%c: memref<?xi32, strided<[1], offset: ?>>, %v: tensor<8xi32>, %first: i64, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*i32"]} {
  %offsets = tensor.splat %first : tensor<8xi64>
  %0 = linalg_ext.atomic_rmw add relaxed gpu %c[%offsets], %v : (memref<?xi32, strided<[1], offset: ?>>, tensor<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  return
}
}
