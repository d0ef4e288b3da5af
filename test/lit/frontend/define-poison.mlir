// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics -tilebridge-define-poison | FileCheck %s

// CHECK-LABEL: tt.func public @address(
// CHECK-NOT: ub.poison
// CHECK: %[[I:.*]] = arith.constant 0 : i32
// CHECK: tt.addptr %{{.*}}, %[[I]]
// CHECK: %[[F:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: tt.store %{{.*}}, %[[F]]
tt.func public @address(%x: !tt.ptr<f32>) {
  %i = ub.poison : i32
  // expected-warning @+1 {{computes with a value that the kernel does not define, such as a loop's variable behind its loop: it is taken to be 0}}
  %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %f = ub.poison : f32
  // expected-warning @+1 {{does not define}}
  tt.store %p, %f : !tt.ptr<f32>
  tt.return
}

// -----

// What is only handed on, as from a branch that is not taken, is not told of.
// CHECK-LABEL: tt.func public @passed(
// CHECK: %[[T:.*]] = arith.constant dense<0> : tensor<16xi32>
// CHECK: scf.yield %[[T]]
tt.func public @passed(%x: tensor<16x!tt.ptr<i32>>, %c: i1, %v: tensor<16xi32>) {
  %t = ub.poison : tensor<16xi32>
  %r = scf.if %c -> tensor<16xi32> {
    scf.yield %v : tensor<16xi32>
  } else {
    scf.yield %t : tensor<16xi32>
  }
  tt.store %x, %r : tensor<16x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @pointer(
// CHECK: ub.poison : !tt.ptr<f32>
tt.func public @pointer(%f: f32, %c: i1) {
  %p = ub.poison : !tt.ptr<f32>
  scf.if %c {
    tt.store %p, %f : !tt.ptr<f32>
  }
  tt.return
}
