// RUN: tilebridge-opt %s -tilebridge-cpu-expand-float-types="word-shuffles" | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-expand-float-types | FileCheck %s --check-prefix=OTHERS

// bf16 and words of zero in turn are f32: one shuffle for each 16. Without the option, and where a vector is no multiple of 32, elements are
// widened and shifted.

// CHECK-LABEL: func.func @whole
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0> : vector<32xi16>
// CHECK: %[[WORDS:.*]] = vector.shuffle %[[ZEROS]], %{{.*}} [0, 32, 0, 33, 0, 34, {{.*}}, 0, 62, 0, 63] : vector<32xi16>, vector<32xi16>
// CHECK: %[[F32:.*]] = vector.bitcast %[[WORDS]] : vector<64xi16> to vector<32xf32>
// CHECK: return %[[F32]]
// OTHERS-LABEL: func.func @whole
// OTHERS: arith.extui
// OTHERS: arith.shli
func.func @whole(%x: vector<32xbf16>) -> vector<32xf32> {
  %y = arith.extf %x : vector<32xbf16> to vector<32xf32>
  return %y : vector<32xf32>
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-3: arith.shli
// CHECK: return
func.func @others(%x: vector<16xbf16>, %y: bf16, %z: vector<2x32xbf16>) -> (vector<16xf32>, f32, vector<2x32xf32>) {
  %xf = arith.extf %x : vector<16xbf16> to vector<16xf32>
  %yf = arith.extf %y : bf16 to f32
  %zf = arith.extf %z : vector<2x32xbf16> to vector<2x32xf32>
  return %xf, %yf, %zf : vector<16xf32>, f32, vector<2x32xf32>
}
