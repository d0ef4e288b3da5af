// RUN: tilebridge-opt %s -tilebridge-cpu-lower-directed | FileCheck %s

// The rounding is set, the operation called and the rounding set back; one such function for each kind of operand.
// CHECK: llvm.func internal @tilebridge_add_downward_8xf32_8xf32(
// CHECK-SAME: no_inline, optimize_none
// CHECK: llvm.call @fesetround
// CHECK: llvm.call @tilebridge_add_downward_8xf32_8xf32_operation
// CHECK: llvm.call @fesetround
// CHECK: llvm.func internal @tilebridge_add_downward_8xf32_8xf32_operation(
// CHECK-SAME: no_inline, optimize_none
// CHECK: llvm.fadd

// CHECK-LABEL: func.func @add
// CHECK-COUNT-2: llvm.call @tilebridge_add_downward_8xf32_8xf32(%{{.*}}, %{{.*}}) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
func.func @add(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = linalg_ext.directed "add" downward(%x, %y) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %1 = linalg_ext.directed "add" downward(%0, %y) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  return %1 : vector<8xf32>
}

// CHECK-LABEL: func.func @shapes
// CHECK: vector.shape_cast %{{.*}} : vector<2x4xi64> to vector<8xi64>
// CHECK: llvm.call @tilebridge_uitofp_upward_8xf64_8xi64
// CHECK: vector.shape_cast %{{.*}} : vector<8xf64> to vector<2x4xf64>
// CHECK: llvm.call @tilebridge_sqrt_toward_zero_f64_f64
func.func @shapes(%x: vector<2x4xi64>, %y: f64) -> (vector<2x4xf64>, f64) {
  %0 = linalg_ext.directed "uitofp" upward(%x) : (vector<2x4xi64>) -> vector<2x4xf64>
  %1 = linalg_ext.directed "sqrt" toward_zero(%y) : (f64) -> f64
  return %0, %1 : vector<2x4xf64>, f64
}
