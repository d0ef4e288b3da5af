// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge -canonicalize | FileCheck %s

// Every value of the narrower type is one of the wider: no rounding.
// CHECK-LABEL: func.func private @widen
// CHECK: arith.extf %{{.*}} : f8E5M2 to f32
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f16
// CHECK: arith.extf %{{.*}} : f8E5M2FNUZ to bf16
// CHECK: arith.extf %{{.*}} : f8E4M3FNUZ to f64
tt.func private @widen(%a: tensor<8xf8E5M2>, %b: tensor<8xf8E4M3FN>, %c: tensor<8xf8E5M2FNUZ>, %d: f8E4M3FNUZ)
    -> (tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, f64) {
  %0 = tt.fp_to_fp %a : tensor<8xf8E5M2> -> tensor<8xf32>
  %1 = tt.fp_to_fp %b : tensor<8xf8E4M3FN> -> tensor<8xf16>
  %2 = tt.fp_to_fp %c : tensor<8xf8E5M2FNUZ> -> tensor<8xbf16>
  %3 = tt.fp_to_fp %d : f8E4M3FNUZ -> f64
  tt.return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, f64
}

// -----

// To 8 bits it saturates, and is rounded once, from the type it has.
// CHECK-LABEL: func.func private @narrow
// CHECK-DAG: %[[MAX:.*]] = arith.constant 4.480000e+02 : f32
// CHECK-DAG: %[[MIN:.*]] = arith.constant -4.480000e+02 : f32
// CHECK: %[[A:.*]] = arith.maximumf %{{.*}}, %[[MIN]] : f32
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %[[MAX]] : f32
// CHECK: arith.truncf %[[B]] : f32 to f8E4M3FN
// CHECK: arith.truncf %{{.*}} toward_zero : f64 to f8E5M2
tt.func private @narrow(%a: tensor<8xf32>, %b: tensor<8xf64>) -> (tensor<8xf8E4M3FN>, tensor<8xf8E5M2>) {
  %0 = tt.fp_to_fp %a, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %1 = tt.fp_to_fp %b, rounding = rtz : tensor<8xf64> -> tensor<8xf8E5M2>
  tt.return %0, %1 : tensor<8xf8E4M3FN>, tensor<8xf8E5M2>
}

// -----

// CHECK-LABEL: func.func private @narrow_to_16
// CHECK-NOT: arith.maximumf
// CHECK: arith.truncf %{{.*}} toward_zero : f32 to f16
// CHECK: arith.truncf %{{.*}} : f32 to bf16
tt.func private @narrow_to_16(%a: tensor<8xf32>, %b: f32) -> (tensor<8xf16>, bf16) {
  %0 = tt.fp_to_fp %a, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  %1 = tt.fp_to_fp %b, rounding = rtne : f32 -> bf16
  tt.return %0, %1 : tensor<8xf16>, bf16
}

// -----

// Between types of one width by f32, which holds both.
// CHECK-LABEL: func.func private @same_width
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : f8E5M2 to f32
// CHECK: arith.maximumf %[[A]]
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
tt.func private @same_width(%a: tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN> {
  %0 = tt.fp_to_fp %a : tensor<8xf8E5M2> -> tensor<8xf8E4M3FN>
  tt.return %0 : tensor<8xf8E4M3FN>
}
