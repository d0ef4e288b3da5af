// RUN: tilebridge-opt %s | tilebridge-opt | FileCheck %s
// RUN: tilebridge-opt %s --mlir-print-op-generic | tilebridge-opt | FileCheck %s

// CHECK-LABEL: @reduce
func.func @reduce(%value: tensor<32x64xf32>, %index: tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>) {
  // CHECK: linalg_ext.reduce(%{{.*}}, %{{.*}}) dimension = 1 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: linalg_ext.yield %{{.*}}, %{{.*}} : f32, i32
  // CHECK-NEXT: } : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
  %max, %where = linalg_ext.reduce(%value, %index) dimension = 1 {
  ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
    %gt = arith.cmpf ogt, %v0, %v1 : f32
    %v = arith.select %gt, %v0, %v1 : f32
    %i = arith.select %gt, %i0, %i1 : i32
    linalg_ext.yield %v, %i : f32, i32
  } : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
  return %max, %where : tensor<32xf32>, tensor<32xi32>
}

// CHECK-LABEL: @reduce_to_rank_0
func.func @reduce_to_rank_0(%x: tensor<1xf16>) -> tensor<f16> {
  // CHECK: (tensor<1xf16>) -> tensor<f16>
  %0 = linalg_ext.reduce(%x) dimension = 0 {
  ^bb0(%a: f16, %b: f16):
    linalg_ext.yield %b : f16
  } : (tensor<1xf16>) -> tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: @scan
func.func @scan(%x: tensor<8x128xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>) {
  // CHECK: linalg_ext.scan(%{{.*}}) dimension = 1 {
  %0 = linalg_ext.scan(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } : (tensor<8x128xf32>) -> tensor<8x128xf32>
  // CHECK: linalg_ext.scan(%{{.*}}) dimension = 0 reverse {
  %1 = linalg_ext.scan(%x) dimension = 0 reverse {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    linalg_ext.yield %s : f32
  } : (tensor<8x128xf32>) -> tensor<8x128xf32>
  return %0, %1 : tensor<8x128xf32>, tensor<8x128xf32>
}

// CHECK-LABEL: @histogram
func.func @histogram(%x: tensor<512xi32>, %m: tensor<512xi1>) -> (tensor<16xi32>, tensor<16xi64>) {
  // CHECK: linalg_ext.histogram %{{.*}}, %{{.*}} : tensor<512xi32>, tensor<512xi1> -> tensor<16xi32>
  %0 = linalg_ext.histogram %x, %m : tensor<512xi32>, tensor<512xi1> -> tensor<16xi32>
  // CHECK: linalg_ext.histogram %{{.*}} : tensor<512xi32> -> tensor<16xi64>
  %1 = linalg_ext.histogram %x : tensor<512xi32> -> tensor<16xi64>
  return %0, %1 : tensor<16xi32>, tensor<16xi64>
}

// CHECK-LABEL: @gather_along
func.func @gather_along(%x: tensor<16x64xf32>, %i: tensor<16x8xi32>) -> tensor<16x8xf32> {
  // CHECK: linalg_ext.gather_along %{{.*}}[%{{.*}}] dimension = 1 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  %0 = linalg_ext.gather_along %x[%i] dimension = 1 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: @print
func.func @print(%x: tensor<64xi32>, %n: i32, %px: i32, %py: i32, %pz: i32) {
  // CHECK: linalg_ext.print " x: " programs(%{{.*}}, %{{.*}}, %{{.*}}) values(%{{.*}}, %{{.*}}) signed = [true, false] hex : tensor<64xi32>, i32
  linalg_ext.print " x: " programs(%px, %py, %pz) values(%x, %n) signed = [true, false] hex : tensor<64xi32>, i32
  // CHECK: linalg_ext.print "here" programs(%{{.*}}, %{{.*}}, %{{.*}}) values() signed = []
  linalg_ext.print "here" programs(%px, %py, %pz) values() signed = []
  return
}

// CHECK-LABEL: @assert
func.func @assert(%m: tensor<64xi1>, %c: i1) {
  // CHECK: linalg_ext.assert %{{.*}}, "index out of range" : tensor<64xi1>
  linalg_ext.assert %m, "index out of range" : tensor<64xi1>
  // CHECK: linalg_ext.assert %{{.*}}, "no" : i1
  linalg_ext.assert %c, "no" : i1
  return
}

// CHECK-LABEL: @libm
func.func @libm(%x: f64, %n: i32, %v: vector<4xf32>) -> (f64, f64, vector<4xf32>) {
  // CHECK: linalg_ext.libm "tgamma"(%{{.*}}) : (f64) -> f64
  %0 = linalg_ext.libm "tgamma"(%x) : (f64) -> f64
  // CHECK: linalg_ext.libm "yn"(%{{.*}}, %{{.*}}) : (i32, f64) -> f64
  %1 = linalg_ext.libm "yn"(%n, %x) : (i32, f64) -> f64
  // CHECK: linalg_ext.libm "hypot"(%{{.*}}, %{{.*}}) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %2 = linalg_ext.libm "hypot"(%v, %v) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  return %0, %1, %2 : f64, f64, vector<4xf32>
}

// CHECK-LABEL: @directed
func.func @directed(%x: f32, %d: f64, %l: vector<4xi64>) -> (f32, f32, vector<4xf64>) {
  // CHECK: linalg_ext.directed "fma" downward(%{{.*}}, %{{.*}}, %{{.*}}) : (f32, f32, f32) -> f32
  %0 = linalg_ext.directed "fma" downward(%x, %x, %x) : (f32, f32, f32) -> f32
  // CHECK: linalg_ext.directed "truncf" upward(%{{.*}}) : (f64) -> f32
  %1 = linalg_ext.directed "truncf" upward(%d) : (f64) -> f32
  // CHECK: linalg_ext.directed "sitofp" toward_zero(%{{.*}}) : (vector<4xi64>) -> vector<4xf64>
  %2 = linalg_ext.directed "sitofp" toward_zero(%l) : (vector<4xi64>) -> vector<4xf64>
  return %0, %1, %2 : f32, f32, vector<4xf64>
}
