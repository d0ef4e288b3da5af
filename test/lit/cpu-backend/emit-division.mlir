// RUN: tilebridge-opt %s --tilebridge-cpu-emit | FileCheck %s
// RUN: tilebridge-opt %s --tilebridge-cpu-emit=vector-bits=128 | FileCheck %s --check-prefix=SHORT
// RUN: tilebridge-opt %s --tilebridge-cpu-emit=vector-bits=512 | FileCheck %s --check-prefix=WIDE

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

// Vectors are divided as floats that have more bits: by one number as a product with its reciprocal, from a half
// beyond the dividend; else by the division of floats.
// CHECK-LABEL: func.func @vectors
// CHECK-SAME: %[[A:.*]]: vector<16xi32>, %[[B:.*]]: vector<16xi32>, %[[N:.*]]: i32
// CHECK: arith.cmpi eq, %[[N]]
// CHECK: %[[ONE:.*]] = arith.sitofp %{{.*}} : i32 to f64
// CHECK: arith.divf %{{.*}}, %[[ONE]] : f64
// CHECK: %[[FLOATS:.*]] = arith.sitofp %[[A]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[HALF:.*]] = math.copysign %{{.*}}, %[[FLOATS]]
// CHECK: arith.addf %[[FLOATS]], %[[HALF]]
// CHECK: arith.mulf
// CHECK: arith.fptosi %{{.*}} : vector<16xf64> to vector<16xi32>
// CHECK: arith.divf {{.*}} : vector<16xf64>
// CHECK: arith.fptoui %{{.*}} : vector<16xf64> to vector<16xi32>
// CHECK: arith.muli
// CHECK: arith.subi
func.func @vectors(%a: vector<16xi32>, %b: vector<16xi32>, %n: i32) -> (vector<16xi32>, vector<16xi32>) {
  %all = vector.broadcast %n : i32 to vector<16xi32>
  %q = arith.divsi %a, %all : vector<16xi32>
  %r = arith.remui %a, %b : vector<16xi32>
  return %q, %r : vector<16xi32>, vector<16xi32>
}

// Constants are LLVM's business, and of few lanes scalars are as quick. Vectors of 128 bits have two lanes of 64 bits.
// SHORT-LABEL: func.func @as_they_are
// SHORT-NOT: scf.if
// SHORT: arith.divsi %{{.*}} : vector<16xi64>
// CHECK-LABEL: func.func @as_they_are
// CHECK: arith.divsi %{{.*}} : vector<16xi32>
// CHECK: arith.divsi %{{.*}} : vector<16xi64>
// CHECK: arith.divsi %{{.*}} : vector<2xi32>
// CHECK: arith.divsi %{{.*}} : vector<16xi32>
// CHECK-NOT: arith.sitofp
// CHECK: return
func.func @as_they_are(%a: vector<16xi32>, %b: vector<16xi64>, %c: vector<2xi32>)
    -> (vector<16xi32>, vector<16xi64>, vector<2xi32>) {
  %c7 = arith.constant dense<7> : vector<16xi32>
  %q = arith.divsi %a, %c7 : vector<16xi32>
  %r = arith.divsi %b, %b : vector<16xi64>
  %s = arith.divsi %c, %c : vector<2xi32>
  // One number for all lanes, as the bodies of elementwise operations have it.
  %c9 = arith.constant 9 : i32
  %all = vector.broadcast %c9 : i32 to vector<16xi32>
  %t = arith.divsi %q, %all : vector<16xi32>
  return %t, %r, %s : vector<16xi32>, vector<16xi64>, vector<2xi32>
}

// Integers of 64 bits are divided as floats if they are small, which is tested; then vectors of 512 bits convert them, and those of 256
// add and subtract the bits of 1.5 * 2^52.
// WIDE-LABEL: func.func @wide
// WIDE: arith.cmpi ult, %{{.*}} : vector<8xi64>
// WIDE: vector.reduction <and>
// WIDE: arith.cmpi ult, %{{.*}} : i64
// WIDE: scf.if
// WIDE: arith.fptosi %{{.*}} : vector<8xf64> to vector<8xi64>
// WIDE: } else {
// WIDE: arith.select
// WIDE: arith.remsi {{.*}} : vector<8xi64>
// CHECK-LABEL: func.func @wide
// CHECK: arith.cmpi ult, %{{.*}} : vector<8xi64>
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK: %[[BITS:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: %[[SUM:.*]] = arith.bitcast %[[BITS]]
// CHECK: arith.subf %[[SUM]],
// CHECK: %[[Q:.*]] = math.trunc
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[Q]],
// CHECK: %[[REST:.*]] = arith.subf %{{.*}}, %[[PRODUCT]]
// CHECK: arith.addf %[[REST]],
// CHECK: arith.subi {{.*}} : vector<8xi64>
// CHECK: } else {
// CHECK: arith.remsi {{.*}} : vector<8xi64>
func.func @wide(%a: vector<8xi64>, %n: i64) -> vector<8xi64> {
  %all = vector.broadcast %n : i64 to vector<8xi64>
  %r = arith.remsi %a, %all : vector<8xi64>
  return %r : vector<8xi64>
}
