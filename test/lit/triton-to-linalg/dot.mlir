// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @matmul
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x64xf16>, %[[C:.*]]: tensor<16x64xf32>
// CHECK: linalg.matmul ins(%[[A]], %[[B]] : tensor<16x32xf16>, tensor<32x64xf16>) outs(%[[C]] : tensor<16x64xf32>) -> tensor<16x64xf32>
tt.func private @matmul(%a: tensor<16x32xf16>, %b: tensor<32x64xf16>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
  tt.return %0 : tensor<16x64xf32>
}

// -----

// Hazard 17: an accumulator of f16 is rounded to f16, once. Integers are signed: the widening of a named matmul.
// CHECK-LABEL: func.func private @types
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[S:.*]] = linalg.matmul ins({{.*}} : tensor<16x16xf16>, tensor<16x16xf16>) outs({{.*}} : tensor<16x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<16x16xf32>) outs({{.*}} : tensor<16x16xf16>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16xi8>, tensor<16x16xi8>) outs({{.*}} : tensor<16x16xi32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16xf8E5M2>, tensor<16x16xf8E4M3FN>) outs({{.*}} : tensor<16x16xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16xf64>, tensor<16x16xf64>) outs({{.*}} : tensor<16x16xf64>)
tt.func private @types(%h: tensor<16x16xf16>, %i: tensor<16x16xi8>, %n: tensor<16x16xi32>, %p: tensor<16x16xf8E5M2>,
                       %q: tensor<16x16xf8E4M3FN>, %f: tensor<16x16xf32>, %d: tensor<16x16xf64>)
    -> (tensor<16x16xf16>, tensor<16x16xi32>, tensor<16x16xf32>, tensor<16x16xf64>) {
  %0 = tt.dot %h, %h, %h : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  %1 = tt.dot %i, %i, %n : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  %2 = tt.dot %p, %q, %f {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  %3 = tt.dot %d, %d, %d : tensor<16x16xf64> * tensor<16x16xf64> -> tensor<16x16xf64>
  tt.return %0, %1, %2, %3 : tensor<16x16xf16>, tensor<16x16xi32>, tensor<16x16xf32>, tensor<16x16xf64>
}

// -----

// CHECK-LABEL: func.func private @batch
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<4x16x32xbf16>, tensor<4x32x16xbf16>) outs({{.*}} : tensor<4x16x16xf32>)
tt.func private @batch(%a: tensor<4x16x32xbf16>, %b: tensor<4x32x16xbf16>, %c: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
  %0 = tt.dot %a, %b, %c : tensor<4x16x32xbf16> * tensor<4x32x16xbf16> -> tensor<4x16x16xf32>
  tt.return %0 : tensor<4x16x16xf32>
}
