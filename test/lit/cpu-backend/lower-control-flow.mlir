// RUN: tilebridge-opt %s -tilebridge-cpu-lower-control-flow -split-input-file | FileCheck %s
// Block by block, it is what MLIR's own pass makes.
// RUN: tilebridge-opt %s -tilebridge-cpu-lower-control-flow -split-input-file > %t.ours
// RUN: tilebridge-opt %s -convert-scf-to-cf -split-input-file > %t.theirs
// RUN: diff %t.ours %t.theirs

// Loops within loops, with what they carry, and another one behind them.
// CHECK-LABEL: func.func @loops
// CHECK-NOT: scf.
// CHECK: cf.br ^[[OUTER:bb[0-9]+]](%{{.*}}, %{{.*}} : index, f32)
// CHECK: ^[[OUTER]](%[[I:.*]]: index, %[[SUM:.*]]: f32):
// CHECK: cf.cond_br
// CHECK: cf.br ^[[INNER:bb[0-9]+]](
// CHECK: ^[[INNER]](%[[J:.*]]: index, %{{.*}}: f32):
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: cf.br ^[[INNER]](
// CHECK: cf.br ^[[OUTER]](
// CHECK: ^[[LAST:bb[0-9]+]](%[[K:.*]]: index):
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[K]], %[[K]]]
// CHECK: cf.br ^[[LAST]](
// CHECK: return
func.func @loops(%m: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
    %row = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %x = memref.load %m[%i, %j] : memref<?x?xf32>
      %y = arith.addf %b, %x : f32
      scf.yield %y : f32
    }
    scf.yield %row : f32
  }
  scf.for %k = %c0 to %n step %c1 {
    memref.store %sum, %m[%k, %k] : memref<?x?xf32>
  }
  return
}

// -----

// Branches and loops of unknown length; loops keep their attributes.
// CHECK-LABEL: func.func @branches
// CHECK-NOT: scf.
// CHECK: cf.br ^{{.*}} {llvm.loop_annotation = #{{.*}}}
// CHECK-NOT: scf.
// CHECK: return
#note = #llvm.loop_annotation<mustProgress = true>
func.func @branches(%m: memref<?xi32>, %take: i1, %n: index, %start: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %take -> i32 {
    scf.for %i = %c0 to %n step %c1 {
      memref.store %start, %m[%i] : memref<?xi32>
    } {llvm.loop_annotation = #note}
    scf.yield %start : i32
  } else {
    %1 = scf.while (%a = %start) : (i32) -> i32 {
      %more = arith.cmpi slt, %a, %start : i32
      scf.condition(%more) %a : i32
    } do {
    ^bb0(%a: i32):
      %next = arith.addi %a, %a : i32
      scf.yield %next : i32
    }
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

// A loop that tests at its end, with a branch before it.
// CHECK-LABEL: func.func @test_at_the_end
// CHECK-NOT: scf.
// CHECK: return
func.func @test_at_the_end(%m: memref<?xi64>, %first: i1, %start: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.while (%a = %start) : (index) -> index {
    %next = scf.if %first -> index {
      %x = memref.load %m[%a] : memref<?xi64>
      %y = arith.index_cast %x : i64 to index
      scf.yield %y : index
    } else {
      %y = arith.addi %a, %c1 : index
      scf.yield %y : index
    }
    %more = arith.cmpi slt, %next, %n : index
    scf.condition(%more) %next : index
  } do {
  ^bb0(%a: index):
    scf.yield %a : index
  }
  return %0 : index
}

// -----

// What becomes loops first.
// CHECK-LABEL: func.func @parallel
// CHECK-NOT: scf.
// CHECK: return
func.func @parallel(%m: memref<?x?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %x, %m[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}

// -----

// What ends a loop in parallel has regions, and goes with the loop.
// CHECK-LABEL: func.func @parallel(
// CHECK-NOT: scf.
func.func @parallel(%n: index, %memory: memref<?xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%zero) to (%n) step (%one) init (%none) -> f32 {
    %value = memref.load %memory[%i] : memref<?xf32>
    scf.reduce(%value : f32) {
    ^bb0(%left: f32, %right: f32):
      %both = arith.addf %left, %right : f32
      scf.reduce.return %both : f32
    }
  }
  scf.forall (%i) in (%n) {
    memref.store %sum, %memory[%i] : memref<?xf32>
  }
  return %sum : f32
}
