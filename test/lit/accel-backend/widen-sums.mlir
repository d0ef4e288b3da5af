// RUN: tilebridge-opt %s -tilebridge-accel-widen-sums | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[S:.*]] = linalg.reduce ins(%{{.*}} : tensor<16x8xf32>) outs(%{{.*}} : tensor<16xf32>) dimensions = [1]
// CHECK: arith.addf
// CHECK: ins(%[[S]] : tensor<16xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @sum(%x: tensor<16x8xf16>, %init: tensor<16xf16>) -> tensor<16xf16> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<16x8xf16>) outs(%init : tensor<16xf16>) dimensions = [1]
  return %0 : tensor<16xf16>
}

// A product of all.

// CHECK-LABEL: func.func @product
// CHECK: linalg.reduce ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<f32>)
// CHECK: arith.mulf
func.func @product(%x: tensor<8xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %0 = linalg.reduce { arith.mulf } ins(%x : tensor<8xbf16>) outs(%init : tensor<bf16>) dimensions = [0]
  return %0 : tensor<bf16>
}

// Nothing is rounded in these.

// CHECK-LABEL: func.func @others
// CHECK: linalg.reduce { arith.maximumf } ins(%{{.*}} : tensor<8xf16>)
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<8xf32>)
// CHECK: linalg.reduce { arith.addi {{.*}} ins(%{{.*}} : tensor<8xi16>)
func.func @others(%x: tensor<8xf16>, %y: tensor<8xf32>, %z: tensor<8xi16>, %a: tensor<f16>, %b: tensor<f32>, %c: tensor<i16>)
    -> (tensor<f16>, tensor<f32>, tensor<i16>) {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<8xf16>) outs(%a : tensor<f16>) dimensions = [0]
  %1 = linalg.reduce { arith.addf } ins(%y : tensor<8xf32>) outs(%b : tensor<f32>) dimensions = [0]
  %2 = linalg.reduce { arith.addi } ins(%z : tensor<8xi16>) outs(%c : tensor<i16>) dimensions = [0]
  return %0, %1, %2 : tensor<f16>, tensor<f32>, tensor<i16>
}

// A product of blocks widens its operands by itself.

// CHECK-LABEL: func.func @matmul
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[S:.*]] = linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<8x64xf16>, tensor<64x16xf16>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: ins(%[[S]] : tensor<8x16xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @matmul(%a: tensor<8x64xf16>, %b: tensor<64x16xf16>, %c: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x16xf16>) outs(%c : tensor<8x16xf16>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}

// CHECK-LABEL: func.func @batch
// CHECK: linalg.batch_matmul {{.*}} outs(%{{.*}} : tensor<2x8x16xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-LABEL: func.func @wide
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: return
func.func @batch(%a: tensor<2x8x64xf8E5M2>, %b: tensor<2x64x16xf8E4M3FN>, %c: tensor<2x8x16xf16>) -> tensor<2x8x16xf16> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x8x64xf8E5M2>, tensor<2x64x16xf8E4M3FN>) outs(%c : tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %0 : tensor<2x8x16xf16>
}
func.func @wide(%a: tensor<8x64xf16>, %b: tensor<64x16xf16>, %c: tensor<8x16xf32>, %x: tensor<8x64xi8>, %y: tensor<64x16xi8>, %z: tensor<8x16xi32>)
    -> (tensor<8x16xf32>, tensor<8x16xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x16xf16>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.matmul ins(%x, %y : tensor<8x64xi8>, tensor<64x16xi8>) outs(%z : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xi32>
}
