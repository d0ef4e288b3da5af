// RUN: tilebridge-opt %s --tilebridge-scalarize-offsets --canonicalize --cse -split-input-file | FileCheck %s

// A pointer that moves by a scalar; what leaves the loop is put together again, and attributes stay.
// CHECK-LABEL: tt.func public @for
// CHECK: %[[P0:.*]] = tt.addptr
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[D:.*]] = %c0_i64) -> (i64)
// CHECK: %[[DS:.*]] = tt.splat %[[D]] : i64 -> tensor<64xi64>
// CHECK: %[[P:.*]] = tt.addptr %[[P0]], %[[DS]]
// CHECK: tt.load %[[P]]
// CHECK: %[[S:.*]] = arith.extsi %arg2 : i32 to i64
// CHECK: %[[N:.*]] = arith.addi %[[D]], %[[S]] : i64
// CHECK: scf.yield %[[N]] : i64
// CHECK: tt.num_stages = 2
// CHECK: %[[RS:.*]] = tt.splat %[[R]]
// CHECK: %[[Q:.*]] = tt.addptr %[[P0]], %[[RS]]
// CHECK: tt.return %[[Q]]
tt.func public @for(%p: !tt.ptr<f32>, %n: i32, %s: i32) -> tensor<64x!tt.ptr<f32>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p0) -> (tensor<64x!tt.ptr<f32>>) : i32 {
    %v = tt.load %a : tensor<64x!tt.ptr<f32>>
    tt.store %a, %v : tensor<64x!tt.ptr<f32>>
    %ss = tt.splat %s : i32 -> tensor<64xi32>
    %b = tt.addptr %a, %ss : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %b : tensor<64x!tt.ptr<f32>>
  } {tt.num_stages = 2 : i32}
  tt.return %q : tensor<64x!tt.ptr<f32>>
}

// -----

// Moves of the inner loop accumulate over the outer one's iterations, in the program's order.
// CHECK-LABEL: tt.func public @nested
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.*]] = %c0_i64) -> (i64)
// CHECK: %[[IN:.*]] = scf.for {{.*}} iter_args(%[[INNER:.*]] = %c0_i64) -> (i64)
// CHECK: %[[I1:.*]] = arith.addi %[[INNER]], %c64_i64
// CHECK: scf.yield %[[I1]] : i64
// CHECK: %[[STEP:.*]] = arith.addi %[[IN]], %c1000_i64
// CHECK: %[[O1:.*]] = arith.addi %[[OUTER]], %[[STEP]]
// CHECK: scf.yield %[[O1]] : i64
tt.func public @nested(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = arith.constant dense<64> : tensor<64xi32>
  %j = arith.constant dense<1000> : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p0) -> (tensor<64x!tt.ptr<f32>>) : i32 {
    %w = scf.for %l = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<64x!tt.ptr<f32>>) : i32 {
      %v = tt.load %b : tensor<64x!tt.ptr<f32>>
      tt.store %b, %v : tensor<64x!tt.ptr<f32>>
      %c = tt.addptr %b, %k : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %c : tensor<64x!tt.ptr<f32>>
    }
    %x = tt.addptr %w, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %x : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Integers move in their own type, in either order of the addition, down as well as up; a boolean stays.
// CHECK-LABEL: tt.func public @ints
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %c0_i64, %[[B:.*]] = %c0_i8, %{{.*}} = %arg2) -> (i64, i8, tensor<64xi1>)
// CHECK-DAG: %[[A1:.*]] = arith.addi %[[A]], %c64_i64 : i64
// CHECK-DAG: %[[B1:.*]] = arith.addi %[[B]], %c-3_i8 : i8
// CHECK: scf.yield %[[A1]], %[[B1]], %{{.*}} : i64, i8, tensor<64xi1>
tt.func public @ints(%p: !tt.ptr<f32>, %n: i32, %m0: tensor<64xi1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r8 = arith.trunci %r : tensor<64xi32> to tensor<64xi8>
  %r64 = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %k = arith.constant dense<64> : tensor<64xi64>
  %k8 = arith.constant dense<3> : tensor<64xi8>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r64, %b = %r8, %m = %m0) -> (tensor<64xi64>, tensor<64xi8>, tensor<64xi1>) : i32 {
    %z = tt.addptr %ps, %a : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
    %y = tt.addptr %z, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi8>
    %v = tt.load %y, %m : tensor<64x!tt.ptr<f32>>
    tt.store %z, %v : tensor<64x!tt.ptr<f32>>
    %c = arith.addi %k, %a : tensor<64xi64>
    %d = arith.subi %b, %k8 : tensor<64xi8>
    %t = arith.cmpi slt, %d, %b : tensor<64xi8>
    scf.yield %c, %d, %t : tensor<64xi64>, tensor<64xi8>, tensor<64xi1>
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @while
// CHECK: scf.while (%{{.*}} = %c0_i32, %{{.*}} = %c0_i64) : (i32, i64) -> (i32, i64)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : i32, i64
// CHECK: ^bb0(%{{.*}}: i32, %[[D:.*]]: i64):
// CHECK: tt.splat %[[D]]
// CHECK: %[[D1:.*]] = arith.addi %[[D]], %{{.*}} : i64
// CHECK: scf.yield %{{.*}}, %[[D1]] : i32, i64
tt.func public @while(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q:2 = scf.while (%i = %c0, %a = %p0) : (i32, tensor<64x!tt.ptr<f32>>) -> (tensor<64x!tt.ptr<f32>>, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %a, %i : tensor<64x!tt.ptr<f32>>, i32
  } do {
  ^bb0(%a: tensor<64x!tt.ptr<f32>>, %i: i32):
    %v = tt.load %a : tensor<64x!tt.ptr<f32>>
    tt.store %a, %v : tensor<64x!tt.ptr<f32>>
    %ii = arith.addi %i, %c1 : i32
    %s = arith.muli %i, %c64 : i32
    %ss = tt.splat %s : i32 -> tensor<64xi32>
    %b = tt.addptr %a, %ss : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %ii, %b : i32, tensor<64x!tt.ptr<f32>>
  }
  %v = tt.load %q#0 : tensor<64x!tt.ptr<f32>>
  tt.store %ps, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Of one root: a number is chosen. Of two: nothing can be said, the tensors are chosen.
// CHECK-LABEL: tt.func public @if
// CHECK: %[[T:.*]] = arith.select %arg2, %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
// CHECK: %[[D:.*]]:2 = scf.if %arg2 -> (i64, i64)
// CHECK: tt.splat %[[D]]#0
// CHECK: tt.addptr %arg0, %[[D]]#1 : !tt.ptr<f32>, i64
tt.func public @if(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %c: i1, %s: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q:3 = scf.if %c -> (tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, !tt.ptr<f32>) {
    %ss = tt.splat %s : i32 -> tensor<64xi32>
    %b = tt.addptr %p0, %ss : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %e = tt.addptr %p, %s : !tt.ptr<f32>, i32
    scf.yield %b, %os, %e : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, !tt.ptr<f32>
  } else {
    scf.yield %p0, %p0, %p : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, !tt.ptr<f32>
  }
  %v = tt.load %q#0 : tensor<64x!tt.ptr<f32>>
  %w = tt.load %q#1 : tensor<64x!tt.ptr<f32>>
  %x = tt.load %q#2 : !tt.ptr<f32>
  tt.store %os, %v : tensor<64x!tt.ptr<f32>>
  tt.store %os, %w : tensor<64x!tt.ptr<f32>>
  tt.store %o, %x : !tt.ptr<f32>
  tt.return
}
