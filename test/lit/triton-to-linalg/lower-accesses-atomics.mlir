// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func public @elements
// CHECK: %[[O:.*]] = arith.extsi %{{.*}} : tensor<64xi32> to tensor<64xi64>
// CHECK: linalg_ext.atomic_rmw fadd acq_rel gpu %{{.*}}[%[[O]]], %arg1 mask %arg2
// CHECK: linalg_ext.atomic_rmw exch release sys %{{.*}}[%[[O]]], %arg1 :
// CHECK: linalg_ext.atomic_load acquire cta %{{.*}}[%[[O]]] mask %arg2
// CHECK: linalg_ext.atomic_store release gpu %{{.*}} into %{{.*}}[%[[O]]] mask %arg2
tt.func public @elements(%p: !tt.ptr<f32>, %x: tensor<64xf32>, %m: tensor<64xi1>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %t = arith.constant dense<true> : tensor<64xi1>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.atomic_rmw fadd, acq_rel, gpu, %q, %x, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  %b = tt.atomic_rmw exch, release, sys, %q, %x, %t : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  %c = tt.atomic_load acquire, cta, %q, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>
  tt.atomic_store release, gpu, %q, %c, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @scalars
// CHECK: %[[X:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK: %[[O:.*]] = arith.index_cast %[[X]] : index to i64
// CHECK: linalg_ext.atomic_rmw add relaxed gpu %{{.*}}[%[[O]]], %arg1 mask %arg2 : (memref<?xi32, strided<[1], offset: ?>>, i64, i32, i1) -> i32
// CHECK: linalg_ext.atomic_cas acq_rel gpu %{{.*}}[%[[O]]], %arg1, %{{.*}} : (memref<?xi32, strided<[1], offset: ?>>, i64, i32, i32) -> i32
tt.func public @scalars(%p: !tt.ptr<i32>, %i: i32, %m: i1) -> i32 {
  %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
  %a = tt.atomic_rmw add, relaxed, gpu, %q, %i, %m : (!tt.ptr<i32>, i32, i1) -> i32
  %b = tt.atomic_cas acq_rel, gpu, %q, %i, %a : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return %b : i32
}

// -----

// Waiting is a loop of atomic loads; a timeout bounds how often. Without one it is an error after a minute.
// CHECK-LABEL: tt.func public @poll
// CHECK: %[[NOW:.*]] = linalg_ext.clock
// CHECK: %[[END:.*]] = arith.addi %[[NOW]], %c60000000000_i64
// CHECK: %[[SEEN:.*]] = scf.while
// CHECK: linalg_ext.atomic_load acquire gpu
// CHECK: %[[TIME:.*]] = linalg_ext.clock
// CHECK: arith.subi %[[END]], %[[TIME]]
// CHECK: linalg_ext.assert %[[SEEN]], "a program has waited for a minute
// CHECK: scf.for
// CHECK: scf.while
// CHECK: arith.cmpi sgt, %{{.*}}, %c0_i64
tt.func public @poll(%p: !tt.ptr<i32>, %x: i32, %n: i64) -> (i1, tensor<8xi1>) {
  %a = tt.atomic_poll acquire, gpu, %p, %x : !tt.ptr<i32>, i32 -> i1
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %ps, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %b = tt.atomic_poll acquire, gpu, %q, %r timeout %n : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  tt.return %a, %b : i1, tensor<8xi1>
}

// -----

// What is volatile is read each time; in blocks where a loop may wait for it, else as other loads are.
// CHECK-LABEL: tt.func public @volatile
// CHECK: %[[F:.*]] = linalg_ext.atomic_load relaxed sys %{{.*}} mask %arg2 : (memref<?xi32, strided<[1], offset: ?>>, i64, i1) -> i32
// CHECK: arith.select %arg2, %[[F]], %arg1 : i32
// CHECK: linalg_ext.atomic_load relaxed sys %{{.*}} : (memref<?xi32, strided<[1], offset: ?>>, i64) -> i32
// CHECK-NOT: atomic_load
// CHECK: scf.while
// CHECK: %[[B:.*]] = linalg_ext.atomic_load relaxed sys %{{.*}} mask %arg3 : {{.*}} -> tensor<64xi32>
// CHECK: arith.select %arg3, %[[B]], %{{.*}} : tensor<64xi1>, tensor<64xi32>
tt.func public @volatile(%p: !tt.ptr<i32>, %i: i32, %m: i1, %ms: tensor<64xi1>, %out: !tt.ptr<i32>) {
  %a = tt.load %p, %m, %i {isVolatile = true} : !tt.ptr<i32>
  %b = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %sum = arith.addi %a, %b : i32
  tt.store %out, %sum : !tt.ptr<i32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %q = tt.addptr %ps, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %os = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %oq = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %once = tt.load %q, %ms {isVolatile = true} : tensor<64x!tt.ptr<i32>>
  tt.store %oq, %once : tensor<64x!tt.ptr<i32>>
  %others = tt.splat %i : i32 -> tensor<64xi32>
  %zero = arith.constant 0 : i32
  %end = scf.while (%v = %zero) : (i32) -> i32 {
    %c = tt.load %q, %ms, %others {isVolatile = true} : tensor<64x!tt.ptr<i32>>
    %n = "tt.reduce"(%c) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %y: i32):
      %z = arith.addi %x, %y : i32
      tt.reduce.return %z : i32
    }) : (tensor<64xi32>) -> i32
    %again = arith.cmpi eq, %n, %zero : i32
    scf.condition(%again) %n : i32
  } do {
  ^bb0(%v: i32):
    scf.yield %v : i32
  }
  tt.store %out, %end : !tt.ptr<i32>
  tt.return
}
