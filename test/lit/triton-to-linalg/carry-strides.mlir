// RUN: tilebridge-opt %s -tilebridge-carry-strides -canonicalize -cse | FileCheck %s

// A branch between two bases with strides of their own.
// CHECK-LABEL: tt.func public @branch
// CHECK-SAME: %[[X:[^:]*]]: !tt.ptr<f32>, %[[Y:[^:]*]]: !tt.ptr<f32>, %[[C:[^:]*]]: i1
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[BASE:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : !tt.ptr<f32>
// CHECK-DAG: %[[STRIDE:.*]] = arith.select %[[C]], %[[ONE]], %[[TWO]] : i64
// CHECK-DAG: %[[STRIDES:.*]] = tt.splat %[[STRIDE]]
// CHECK-DAG: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[STRIDES]]
// CHECK-DAG: %[[BASES:.*]] = tt.splat %[[BASE]]
// CHECK: %[[P:.*]] = tt.addptr %[[BASES]], %[[OFFSET]]
// CHECK: tt.load %[[P]]
tt.func public @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c2 = arith.constant dense<2> : tensor<16xi32>
  %p = scf.if %c -> (tensor<16x!tt.ptr<f32>>) {
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %xs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %q : tensor<16x!tt.ptr<f32>>
  } else {
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %d = arith.muli %r, %c2 : tensor<16xi32>
    %q = tt.addptr %ys, %d : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %q : tensor<16x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A select with one condition; what both sides have in common stays outside.
// CHECK-LABEL: tt.func public @select
// CHECK-SAME: %[[X:[^:]*]]: !tt.ptr<f32>, %[[A:[^:]*]]: i32, %[[C:[^:]*]]: i1
// CHECK: %[[D:.*]] = arith.select %[[C]], %{{.*}}, %[[A]] : i32
// CHECK: %[[DS:.*]] = tt.splat %[[D]] : i32
// CHECK: %[[O:.*]] = arith.addi %[[DS]], %{{.*}} : tensor<16xi32>
// CHECK: tt.splat %[[X]]
// CHECK: tt.addptr %{{.*}}, %[[O]]
tt.func public @select(%x: !tt.ptr<f32>, %a: i32, %c: i1) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %as = tt.splat %a : i32 -> tensor<16xi32>
  %moved = arith.addi %r, %as : tensor<16xi32>
  %cs = tt.splat %c : i1 -> tensor<16xi1>
  %o = arith.select %cs, %r, %moved : tensor<16xi1>, tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %p : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Two buffers that take turns: the strides never change and stay constant.
// CHECK-LABEL: tt.func public @swap
// CHECK-SAME: %[[X:[^:]*]]: !tt.ptr<f32>, %[[Y:[^:]*]]: !tt.ptr<f32>
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]]) -> (!tt.ptr<f32>, !tt.ptr<f32>)
// CHECK-DAG: %[[AS:.*]] = tt.splat %[[A]]
// CHECK-DAG: %[[BS:.*]] = tt.splat %[[B]]
// CHECK-DAG: %[[R:.*]] = arith.extsi
// CHECK-DAG: tt.addptr %[[AS]], %[[R]] :
// CHECK-DAG: tt.addptr %[[BS]], %[[R]] :
// CHECK: scf.yield %[[B]], %[[A]]
tt.func public @swap(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %px = tt.addptr %xs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %py = tt.addptr %ys, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %o:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %px, %b = %py)
      -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>) : i32 {
    %v = tt.load %a : tensor<16x!tt.ptr<f32>>
    tt.store %b, %v : tensor<16x!tt.ptr<f32>>
    scf.yield %b, %a : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
  }
  tt.return
}

// The stride of a while loop's offsets doubles; what does not move is outside.
// CHECK-LABEL: tt.func public @double
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[W:.*]]:2 = scf.while (%[[S:.*]] = %{{.*}}, %[[T:.*]] = %[[ONE]]) : (i32, i32) -> (i32, i32)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[T]]
// CHECK: ^bb0(%{{.*}}: i32, %[[U:.*]]: i32):
// CHECK: %[[V:.*]] = arith.{{muli|shli}} %[[U]]
// CHECK: scf.yield %{{.*}}, %[[V]] : i32, i32
tt.func public @double(%x: !tt.ptr<f32>, %n: i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c2s = arith.constant dense<2> : tensor<16xi32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %w:2 = scf.while (%step = %c1, %o = %r) : (i32, tensor<16xi32>) -> (i32, tensor<16xi32>) {
    %more = arith.cmpi slt, %step, %n : i32
    scf.condition(%more) %step, %o : i32, tensor<16xi32>
  } do {
  ^bb0(%s: i32, %o: tensor<16xi32>):
    %p = tt.addptr %xs, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %v = tt.load %p : tensor<16x!tt.ptr<f32>>
    tt.store %p, %v : tensor<16x!tt.ptr<f32>>
    %o2 = arith.muli %o, %c2s : tensor<16xi32>
    %s2 = arith.muli %s, %c2 : i32
    scf.yield %s2, %o2 : i32, tensor<16xi32>
  }
  %p = tt.addptr %xs, %w#1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %p : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// What is loaded is not strided: nothing changes, not in the loop around either.
// CHECK-LABEL: tt.func public @loaded
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<16xi32>)
// CHECK: scf.if {{.*}} -> (tensor<16xi32>)
// CHECK-NOT: unrealized_conversion_cast
// CHECK: tt.return
tt.func public @loaded(%x: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r) -> (tensor<16xi32>) : i32 {
    %p = tt.addptr %xs, %a : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %v = tt.load %p : tensor<16x!tt.ptr<i32>>
    %odd = arith.cmpi eq, %i, %c1 : i32
    %next = scf.if %odd -> (tensor<16xi32>) {
      %k = arith.addi %v, %r : tensor<16xi32>
      scf.yield %k : tensor<16xi32>
    } else {
      scf.yield %a : tensor<16xi32>
    }
    scf.yield %next : tensor<16xi32>
  }
  %p = tt.addptr %xs, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %p, %r : tensor<16x!tt.ptr<i32>>
  tt.return
}
