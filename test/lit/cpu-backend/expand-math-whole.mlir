// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=256" -split-input-file | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=128 fma=false" -split-input-file | FileCheck %s --check-prefix=SSE
// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=512 scalef" -split-input-file | FileCheck %s --check-prefix=AVX512

// 2^x of whole x (tilebridge.whole): the exponent's bits, shifted where the result is no normal number.
// CHECK-LABEL: func.func @integer(
// CHECK-SAME: %[[I:.*]]: i32
// CHECK: %[[LOW:.*]] = arith.minsi %[[I]], %c128_i32
// CHECK: %[[IN:.*]] = arith.maxsi %[[LOW]], %c-150_i32
// CHECK: %[[NORMAL:.*]] = arith.maxsi %[[IN]], %c-126_i32
// CHECK: %[[BIASED:.*]] = arith.addi %[[NORMAL]], %c127_i32
// CHECK: %[[BITS:.*]] = arith.shli %[[BIASED]], %c23_i32
// CHECK: %[[BELOW:.*]] = arith.subi %[[NORMAL]], %[[IN]]
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[BITS]], %[[BELOW]]
// CHECK: arith.bitcast %[[SHIFTED]] : i32 to f32
// SSE-LABEL: func.func @integer(
// SSE: arith.shrui
func.func @integer(%i: i32) -> f32 {
  %x = arith.sitofp %i : i32 to f32
  %y = math.exp2 %x {tilebridge.whole} : f32
  return %y : f32
}

// -----

// Without shifts of lanes by different numbers, the product of two powers. With AVX-512 one instruction.
// CHECK-LABEL: func.func @integers(
// CHECK-NOT: arith.mulf
// CHECK: arith.shrui
// SSE-LABEL: func.func @integers(
// SSE-NOT: arith.shrui
// SSE: arith.mulf
// AVX512-LABEL: func.func @integers(
// AVX512: %[[X:.*]] = arith.sitofp
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"({{.*}}, %[[X]],
// AVX512-NOT: math.fma
// AVX512: return
func.func @integers(%i: vector<16xi32>) -> vector<16xf32> {
  %x = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %y = math.exp2 %x {tilebridge.whole} : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Integers without sign have one limit; wide ones are limited before they become narrow, narrow ones widened.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[I:.*]]: i64, %[[J:.*]]: i8
// CHECK: %[[IN:.*]] = arith.minui %[[I]], %c128_i64
// CHECK: arith.trunci %[[IN]] : i64 to i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[J]] : i8 to i32
// CHECK: arith.minui %[[WIDE]], %c1024_i32
// CHECK: %[[BIASED:.*]] = arith.addi %{{.*}}, %c1023_i32
// CHECK: %[[BITS:.*]] = arith.extui %[[BIASED]] : i32 to i64
// CHECK: arith.shli %[[BITS]], %c52_i64
func.func @unsigned(%i: i64, %j: i8) -> (f32, f64) {
  %x = arith.uitofp %i : i64 to f32
  %y = math.exp2 %x {tilebridge.whole} : f32
  %u = arith.uitofp %j : i8 to f64
  %v = math.exp2 %u {tilebridge.whole} : f64
  return %y, %v : f32, f64
}

// -----

// No number is converted that may be NaN or out of range.
// CHECK-LABEL: func.func @f64(
// CHECK-SAME: %[[X:.*]]: vector<4xf64>
// CHECK: arith.cmpf ogt, %[[X]],
// CHECK: arith.select
// CHECK: arith.cmpf olt
// CHECK: %[[IN:.*]] = arith.select
// CHECK: arith.fptosi %[[IN]] : vector<4xf64> to vector<4xi32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK: arith.select %[[NAN]]
func.func @f64(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp2 %x {tilebridge.whole} : vector<4xf64>
  return %y : vector<4xf64>
}

// -----

// A float has no polynomial; one operation keeps NaN.
// CHECK-LABEL: func.func @f32(
// CHECK: } else {
// CHECK: arith.shli
// CHECK: math.fma
// CHECK-NOT: math.fma
// CHECK: return
func.func @f32(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x {tilebridge.whole} : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Not known to be whole.
// CHECK-LABEL: func.func @any(
// CHECK: math.fma
func.func @any(%i: vector<16xi32>) -> vector<16xf32> {
  %x = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %y = math.exp2 %x : vector<16xf32>
  return %y : vector<16xf32>
}
