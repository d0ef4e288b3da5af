// RUN: tilebridge-opt %s -tilebridge-accel-branch-once | FileCheck %s

// CHECK-LABEL: func.func @once
// CHECK-SAME: %[[IS:[a-z0-9]*]]: i1, %[[TIMES:[a-z0-9]*]]: index, %[[A:[a-z0-9]*]]: index
// CHECK: %[[R:.*]] = scf.if %[[IS]] -> (index) {
// CHECK: %[[S:.*]] = arith.addi %[[A]], %c0
// CHECK: scf.yield %[[S]]
// CHECK: } else {
// CHECK: scf.yield %[[A]]
// CHECK: scf.if %[[IS]] {
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// Twice, an unknown number of times, and with a buffer that changes.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @once(%is: i1, %times: index, %a: index, %m: memref<4xf32>, %o: memref<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %once = arith.select %is, %c1, %c0 : index
  %twice = arith.select %is, %c2, %c0 : index
  %r = scf.for %i = %c0 to %once step %c1 iter_args(%b = %a) -> (index) {
    %s = arith.addi %b, %i : index
    scf.yield %s : index
  }
  scf.for %i = %c0 to %once step %c1 {
    memref.store %zero, %m[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %twice step %c1 {
    memref.store %zero, %m[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %times step %c1 {
    memref.store %zero, %m[%i] : memref<4xf32>
  }
  %n = scf.for %i = %c0 to %once step %c1 iter_args(%b = %m) -> (memref<4xf32>) {
    scf.yield %o : memref<4xf32>
  }
  memref.store %zero, %n[%r] : memref<4xf32>
  return %r : index
}
