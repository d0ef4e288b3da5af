// RUN: tilebridge-opt %s --tilebridge-cpu-widen-sums | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<128xbf16>) outs(%{{.*}} : tensor<128xf32>)
// CHECK: arith.extf
// CHECK: %[[INIT:.*]] = arith.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[SUM:.*]] = linalg.reduce { arith.addf } ins(%[[WIDE]] : tensor<128xf32>) outs(%[[INIT]] : tensor<f32>) dimensions = [0]
// CHECK: %[[SCALAR:.*]] = tensor.extract %[[SUM]][]
// CHECK: %[[NARROW:.*]] = arith.truncf %[[SCALAR]] : f32 to bf16
// CHECK: %[[RESULT:.*]] = tensor.from_elements %[[NARROW]] : tensor<bf16>
// CHECK: return %[[RESULT]]
func.func @sum(%x: tensor<128xbf16>) -> tensor<bf16> {
  %init = arith.constant dense<-0.0> : tensor<bf16>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<128xbf16>) outs(%init : tensor<bf16>) dimensions = [0]
  return %r : tensor<bf16>
}

// CHECK-LABEL: func.func @product_of_columns
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<16xf32>
// CHECK: linalg.reduce { arith.mulf } ins(%{{.*}} : tensor<8x16xf32>) outs(%[[ONE]] : tensor<16xf32>) dimensions = [0]
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @product_of_columns(%x: tensor<8x16xf16>) -> tensor<16xf16> {
  %one = arith.constant 1.0 : f16
  %init = tensor.splat %one : tensor<16xf16>
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<8x16xf16>) outs(%init : tensor<16xf16>) dimensions = [0]
  return %r : tensor<16xf16>
}

// Maxima do not round, f32 is as wide as it gets.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.extf
func.func @others(%x: tensor<128xbf16>, %y: tensor<128xf32>) -> (tensor<bf16>, tensor<f32>) {
  %nan = arith.constant dense<0x7FC0> : tensor<bf16>
  %zero = arith.constant dense<-0.0> : tensor<f32>
  %a = linalg.reduce { arith.maxnumf } ins(%x : tensor<128xbf16>) outs(%nan : tensor<bf16>) dimensions = [0]
  %b = linalg.reduce { arith.addf } ins(%y : tensor<128xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %a, %b : tensor<bf16>, tensor<f32>
}
