// RUN: tilebridge-opt %s --tilebridge-cpu-expand-math --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : vector<16xf32>
// CHECK: return %[[Y]]
func.func @square(%x: vector<16xf32>) -> vector<16xf32> {
  %two = arith.constant dense<2.0> : vector<16xf32>
  %y = math.powf %x, %two : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// `powi` of f32 computes with f64; a square does not need it.
// CHECK-LABEL: func.func @square_of_single(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: return %[[Y]]
func.func @square_of_single(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f64
  %wide = arith.extf %x : f32 to f64
  %y = math.powf %wide, %two : f64
  %z = arith.truncf %y : f64 to f32
  return %z : f32
}

// -----

// More products than one are rounded once.
// CHECK-LABEL: func.func @cube(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK: %[[W:.*]] = arith.extf %[[X]] : vector<16xf32> to vector<16xf64>
// CHECK: %[[S:.*]] = arith.mulf %[[W]], %[[W]]
// CHECK: %[[C:.*]] = arith.mulf %[[S]], %[[W]]
// CHECK: arith.truncf %[[C]] : vector<16xf64> to vector<16xf32>
func.func @cube(%x: vector<16xf32>) -> vector<16xf32> {
  %three = arith.constant dense<3.0> : vector<16xf32>
  %y = math.powf %x, %three : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @root(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[IS:.*]] = arith.cmpf oeq, %[[X]], %[[LEAST]]
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[ZERO]]
// CHECK: %[[MOST:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SUM]]
// CHECK: arith.select %[[IS]], %[[MOST]], %[[ROOT]]
func.func @root(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %y = math.powf %x, %half : f32
  return %y : f32
}

// -----

// A cube of f64 would be rounded twice, and other exponents are the library's.
// CHECK-LABEL: func.func @library(
// CHECK-COUNT-3: call @pow
// CHECK-NOT: arith.mulf
func.func @library(%x: f64, %n: f64) -> (f64, f64, f64) {
  %three = arith.constant 3.0 : f64
  %other = arith.constant 2.5 : f64
  %a = math.powf %x, %three : f64
  %b = math.powf %x, %other : f64
  %c = math.powf %x, %n : f64
  return %a, %b, %c : f64, f64, f64
}
