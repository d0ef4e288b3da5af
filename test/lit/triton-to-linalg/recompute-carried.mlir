// RUN: tilebridge-opt %s --tilebridge-recompute-carried | FileCheck %s

// The example of the pass's description: the induction variable and its step.
// CHECK-LABEL: tt.func public @induction
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: %[[IS:.*]] = tt.splat %[[I]]
// CHECK: %[[K:.*]] = arith.addi %[[IS]], %[[R:.*]] :
// CHECK: %[[M:.*]] = arith.cmpi slt, %[[K]]
// CHECK: tt.load %{{.*}}, %[[M]]
tt.func public @induction(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %m0 = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    %j = arith.addi %i, %c64 : i32
    %js = tt.splat %j : i32 -> tensor<64xi32>
    %k = arith.addi %js, %range : tensor<64xi32>
    %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
    scf.yield %next : tensor<64xi1>
  }
  tt.return
}

// The number of the next iteration times a block; the mask of rows is no part
// of what changes. What the product with zero was is folded.
// CHECK-LABEL: tt.func public @product
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: %[[A:.*]] = arith.muli %[[I]], %{{.*}} : i32
// CHECK: %[[AS:.*]] = tt.splat %[[A]]
// CHECK: %[[K:.*]] = arith.addi %{{.*}}, %[[AS]]
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[K]]
// CHECK: %[[M:.*]] = arith.andi %[[C]], %{{.*}}
// CHECK: tt.load %{{.*}}, %[[M]]
tt.func public @product(%x: !tt.ptr<f32>, %n: i32, %b: i32, %count: i32, %row: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %rows = tt.splat %row : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %inside = arith.cmpi slt, %rows, %ns : tensor<64xi32>
  %k0 = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %m0 = arith.andi %inside, %k0 : tensor<64xi1>
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    %j = arith.addi %i, %c1 : i32
    %a = arith.muli %j, %b : i32
    %as = tt.splat %a : i32 -> tensor<64xi32>
    %k = arith.addi %range, %as : tensor<64xi32>
    %c = arith.cmpi slt, %k, %ns : tensor<64xi32>
    %next = arith.andi %c, %inside : tensor<64xi1>
    scf.yield %next : tensor<64xi1>
  }
  tt.return
}

// The step after the sum: this iteration's number less the step, plus the step.
// CHECK-LABEL: tt.func public @later_step
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: arith.subi
// CHECK: %[[M:.*]] = arith.cmpi slt
// CHECK: tt.load %{{.*}}, %[[M]]
tt.func public @later_step(%x: !tt.ptr<f32>, %n: i32, %first: i32) {
  %c64 = arith.constant 64 : i32
  %c64s = arith.constant dense<64> : tensor<64xi32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %fs = tt.splat %first : i32 -> tensor<64xi32>
  %f = arith.addi %fs, %range : tensor<64xi32>
  %m0 = arith.cmpi slt, %f, %ns : tensor<64xi32>
  %r = scf.for %i = %first to %n step %c64 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %j = arith.addi %range, %is : tensor<64xi32>
    %k = arith.addi %j, %c64s : tensor<64xi32>
    %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
    scf.yield %next : tensor<64xi1>
  }
  tt.return
}

// Offsets that are carried, and the mask of the next ones. The mask is read
// after the loop, which may not run at all: it is still carried.
// CHECK-LABEL: tt.func public @offsets
// CHECK: %[[M0:.*]] = arith.cmpi slt
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %{{.*}} = %[[M0]])
// CHECK: %[[M:.*]] = arith.cmpi slt, %[[O]]
// CHECK: tt.load %{{.*}}, %[[M]]
// CHECK: %[[NEXT:.*]] = arith.cmpi slt
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: tt.store %{{.*}}, %{{.*}}, %[[R]]#1
tt.func public @offsets(%x: !tt.ptr<f32>, %n: i32, %count: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64s = arith.constant dense<64> : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %m0 = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%o = %range, %m = %m0)
      -> (tensor<64xi32>, tensor<64xi1>) : i32 {
    %p = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %ps, %v : tensor<64x!tt.ptr<f32>>
    %k = arith.addi %o, %c64s : tensor<64xi32>
    %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
    scf.yield %k, %next : tensor<64xi32>, tensor<64xi1>
  }
  %q = tt.addptr %ps, %r#0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %q, %zero, %r#1 : tensor<64x!tt.ptr<f32>>
  tt.return
}

// A number and a pointer.
// CHECK-LABEL: tt.func public @scalars
// CHECK-SAME: %[[X:.*]]: !tt.ptr<i32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-DAG: %[[K:.*]] = arith.muli %[[I]], %{{.*}} : i32
// CHECK-DAG: %[[P:.*]] = tt.addptr %[[X]], %{{.*}}
// CHECK: tt.store %[[P]], %{{.*}}
tt.func public @scalars(%x: !tt.ptr<i32>, %n: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0, %p = %x) -> (i32, !tt.ptr<i32>) : i32 {
    tt.store %p, %k : !tt.ptr<i32>
    %j = arith.addi %i, %c1 : i32
    %next = arith.muli %j, %b : i32
    %q = tt.addptr %x, %next : !tt.ptr<i32>, i32
    scf.yield %next, %q : i32, !tt.ptr<i32>
  }
  tt.return
}

// What the loop begins with is another mask.
// CHECK-LABEL: tt.func public @other_begin
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}) -> (tensor<64xi1>)
// CHECK: tt.load %{{.*}}, %[[M]]
tt.func public @other_begin(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %m0 = arith.cmpi sle, %range, %ns : tensor<64xi32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    %j = arith.addi %i, %c64 : i32
    %js = tt.splat %j : i32 -> tensor<64xi32>
    %k = arith.addi %js, %range : tensor<64xi32>
    %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
    scf.yield %next : tensor<64xi1>
  }
  tt.return
}

// The step of the expression is not the loop's.
// CHECK-LABEL: tt.func public @other_step
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}) -> (tensor<64xi1>)
// CHECK: tt.load %{{.*}}, %[[M]]
tt.func public @other_step(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %m0 = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    %j = arith.addi %i, %c32 : i32
    %js = tt.splat %j : i32 -> tensor<64xi32>
    %k = arith.addi %js, %range : tensor<64xi32>
    %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
    scf.yield %next : tensor<64xi1>
  }
  tt.return
}

// Memory may have changed, and the bound of this iteration is not the next
// one's.
// CHECK-LABEL: tt.func public @reads
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[E:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<64xi1>, tensor<64xi1>, i32)
// CHECK: tt.load %{{.*}}, %[[M]]
// CHECK: tt.store %{{.*}}, %{{.*}}, %[[E]]
tt.func public @reads(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %n0 = tt.load %y : !tt.ptr<i32>
  %n0s = tt.splat %n0 : i32 -> tensor<64xi32>
  %m0 = arith.cmpi slt, %range, %n0s : tensor<64xi32>
  %r:3 = scf.for %i = %c0 to %n step %c64 iter_args(%m = %m0, %e = %m0, %before = %n0)
      -> (tensor<64xi1>, tensor<64xi1>, i32) : i32 {
    %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v, %e : tensor<64x!tt.ptr<f32>>
    %n1 = tt.load %y : !tt.ptr<i32>
    %n1s = tt.splat %n1 : i32 -> tensor<64xi32>
    %n2 = arith.muli %n1, %c64 : i32
    %next = arith.cmpi slt, %range, %n1s : tensor<64xi32>
    %bs = tt.splat %before : i32 -> tensor<64xi32>
    %other = arith.cmpi slt, %range, %bs : tensor<64xi32>
    scf.yield %next, %other, %n2 : tensor<64xi1>, tensor<64xi1>, i32
  }
  tt.return
}

// A divisor that may be zero: the loop's end is reached where it is not.
// CHECK-LABEL: tt.func public @divides
// CHECK: scf.for {{.*}} iter_args(%[[K:.*]] = %{{.*}}) -> (i32)
// CHECK: tt.store %{{.*}}, %[[K]]
tt.func public @divides(%x: !tt.ptr<i32>, %n: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    tt.store %x, %k : !tt.ptr<i32>
    %j = arith.addi %i, %c1 : i32
    %next = arith.divsi %j, %b : i32
    scf.yield %next : i32
  }
  tt.return
}
