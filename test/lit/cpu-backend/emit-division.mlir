// RUN: tilebridge-opt %s --tilebridge-cpu-emit | FileCheck %s

// A scalar division by what may be zero, or by -1, must not end the process: it divides by one instead. A
// function without tensors is no exception.

// CHECK-LABEL: func.func @scalars
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: arith.ori
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}} : i32
// CHECK: arith.divsi %{{.*}}, %[[SAFE]] : i32
func.func @scalars(%a: i32, %b: i32) -> i32 {
  %q = arith.divsi %a, %b : i32
  return %q : i32
}

// A divisor that is known to be harmless stays.
// CHECK-LABEL: func.func @constant
// CHECK-NOT: arith.select
// CHECK: return
func.func @constant(%a: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %r = arith.remsi %a, %c3 : i32
  return %r : i32
}
