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

// Vectors multiply by the reciprocal, which the dividend has no part in.
// CHECK-LABEL: func.func @vectors
// CHECK: %[[SAFE:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xi32>
// CHECK: %[[REAL:.*]] = arith.sitofp %[[SAFE]]
// CHECK: %[[RECIPROCAL:.*]] = arith.divf %{{.*}}, %[[REAL]] : vector<16xf64>
// CHECK: arith.mulf %{{.*}}, %[[RECIPROCAL]]
// CHECK: %[[QUOTIENT:.*]] = arith.fptosi
// CHECK-NOT: arith.divsi
// CHECK: return %[[QUOTIENT]]
func.func @vectors(%a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xi32> {
  %q = arith.divsi %a, %b : vector<16xi32>
  return %q : vector<16xi32>
}

// CHECK-LABEL: func.func @unsigned_remainder
// CHECK: arith.uitofp
// CHECK: arith.divf
// CHECK: %[[QUOTIENT:.*]] = arith.fptoui
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[QUOTIENT]]
// CHECK: arith.subi %{{.*}}, %[[PRODUCT]]
func.func @unsigned_remainder(%a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xi32> {
  %r = arith.remui %a, %b : vector<16xi32>
  return %r : vector<16xi32>
}

// LLVM knows better for constants, and doubles do not hold 64 bits.
// CHECK-LABEL: func.func @other_vectors
// CHECK: arith.divsi
// CHECK: arith.divsi
func.func @other_vectors(%a: vector<16xi32>, %b: vector<8xi64>) -> (vector<16xi32>, vector<8xi64>) {
  %c7 = arith.constant dense<7> : vector<16xi32>
  %q = arith.divsi %a, %c7 : vector<16xi32>
  %r = arith.divsi %b, %b : vector<8xi64>
  return %q, %r : vector<16xi32>, vector<8xi64>
}
