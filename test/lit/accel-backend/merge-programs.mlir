// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline="from=map-grid to=merge" | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(tilebridge-accel-map-grid))" | FileCheck %s --check-prefix=LOOP

// Two neighbours along x have the same block of A, in each iteration, and each its own of B: the loop over K stays one, its loads are three.

// CHECK-LABEL: func.func @matmul
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: %[[X:.*]], %[[Y:.*]], %{{.*}}, %{{.*}} = accel.program %{{.*}} counts(%c2_i32, %c4_i32, %c1_i32)
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} = %c0 to %c128 step %c32 iter_args(%[[S0:.*]] = %{{.*}}, %[[S1:.*]] = %{{.*}}) -> (tensor<32x32xf32>, tensor<32x32xf32>)
// CHECK: %[[A:.*]] = accel.copy
// CHECK: %[[B0:.*]] = accel.copy
// CHECK: %[[B1:.*]] = accel.copy
// CHECK-NOT: accel.copy
// CHECK: %[[T0:.*]] = linalg.matmul ins(%[[A]], %[[B0]] : {{.*}}) outs(%[[S0]]
// CHECK: %[[T1:.*]] = linalg.matmul ins(%[[A]], %[[B1]] : {{.*}}) outs(%[[S1]]
// CHECK: scf.yield %[[T0]], %[[T1]]
// CHECK-COUNT-2: accel.copy %{{.*}} to
// CHECK-NOT: accel.copy

// LOOP-LABEL: func.func @matmul
// LOOP: accel.program
// LOOP: scf.for %[[I:.*]] = %{{.*}} to %c2
// LOOP: arith.index_cast %[[I]]
// LOOP: {accel.merge = array<i64: 2, 1, 1>}
module attributes {accel.target = "grid-1x1"} {
func.func @matmul(%a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 4, 4, 1>, accel.merge = array<i64: 2, 1, 1>, tilebridge.kernel,
                tilebridge.signature = ["*fp32", "*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %x = arith.index_cast %px : i32 to index
  %y = arith.index_cast %py : i32 to index
  %n = arith.muli %x, %c32 : index
  %rows = arith.muli %y, %c32 : index
  %m = arith.muli %rows, %c128 : index
  %o = arith.addi %m, %n : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %i = arith.addi %m, %k : index
    %kn = arith.muli %k, %c128 : index
    %j = arith.addi %kn, %n : index
    %va = memref.reinterpret_cast %a to offset: [%i], sizes: [32, 32], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[128, 1], offset: ?>>
    %vb = memref.reinterpret_cast %b to offset: [%j], sizes: [32, 32], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[128, 1], offset: ?>>
    %e = tensor.empty() : tensor<32x32xf32>
    %ta = accel.copy %va to %e : (memref<32x32xf32, strided<[128, 1], offset: ?>>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %tb = accel.copy %vb to %e : (memref<32x32xf32, strided<[128, 1], offset: ?>>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %next = linalg.matmul ins(%ta, %tb : tensor<32x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %vc = memref.reinterpret_cast %c to offset: [%o], sizes: [32, 32], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[128, 1], offset: ?>>
  accel.copy %sum to %vc : (tensor<32x32xf32>, memref<32x32xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}
}

// -----

// Blocks by quotients of one id: two neighbours are in the same row. Of 7 programs the last pair has one: it loads the last block
// twice, and stores once.

// CHECK-LABEL: func.func @quotients
// CHECK: accel.program %{{.*}} counts(%c4_i32, %c1_i32, %c1_i32)
// CHECK: %[[INSIDE:.*]] = arith.cmpi
// CHECK-NOT: arith.cmpi
// CHECK: %[[ROW:.*]] = accel.copy %{{.*}} : (memref<8xf32
// CHECK: %[[V0:.*]] = accel.copy %{{.*}} : (memref<64xf32
// CHECK: %[[V1:.*]] = accel.copy %{{.*}} : (memref<64xf32
// CHECK-NOT: scf.if
// CHECK: accel.copy %{{.*}} : (tensor<64xf32>
// CHECK: scf.if %[[INSIDE]]
// CHECK-NEXT: accel.copy
module attributes {accel.target = "grid-1x1"} {
func.func @quotients(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %r: memref<?xf32, strided<[1], offset: ?>> {accel.noalias},
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 7, 1, 1>, accel.merge = array<i64: 2, 1, 1>, tilebridge.kernel,
                tilebridge.signature = ["*fp32", "*fp32", "*fp32"]} {
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %row = arith.divsi %px, %c2 : i32
  %o = arith.muli %px, %c64 : i32
  %i = arith.index_cast %o : i32 to index
  %j = arith.index_cast %row : i32 to index
  %vp = memref.reinterpret_cast %p to offset: [%j], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  %vq = memref.reinterpret_cast %q to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %vr = memref.reinterpret_cast %r to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %e8 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<64xf32>
  %tp = accel.copy %vp to %e8 : (memref<8xf32, strided<[1], offset: ?>>, tensor<8xf32>) -> tensor<8xf32>
  %tq = accel.copy %vq to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  %c0 = arith.constant 0 : index
  %s = tensor.extract %tp[%c0] : tensor<8xf32>
  %t = linalg.fill ins(%s : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %u = linalg.add ins(%tq, %t : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  accel.copy %u to %vr : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// A loop that runs differently often for each of them: one after the other, each with its loads; a branch that all of them take
// alike is one, and one that they do not is two.

// CHECK-LABEL: func.func @differ
// CHECK: scf.for
// CHECK: memref.store
// CHECK: scf.for
// CHECK: memref.store
// CHECK: scf.if
// CHECK-COUNT-2: memref.store
// CHECK: scf.if
// CHECK-COUNT-1: memref.store
// CHECK: }
// CHECK: scf.if
// CHECK-COUNT-1: memref.store
module attributes {accel.target = "grid-1x1"} {
func.func @differ(%p: memref<?xf32, strided<[1], offset: ?>>, %some: i1, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 1, 6, 1>, accel.merge = array<i64: 1, 2, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "i1"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %f = arith.constant 1.0 : f32
  %y = arith.index_cast %py : i32 to index
  scf.for %i = %c0 to %y step %c1 {
    memref.store %f, %p[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
  scf.if %some {
    memref.store %f, %p[%y] : memref<?xf32, strided<[1], offset: ?>>
  }
  %early = arith.cmpi slt, %py, %c3 : i32
  scf.if %early {
    memref.store %f, %p[%y] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}
}
