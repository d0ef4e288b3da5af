// RUN: tilebridge-opt %s -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @scan
// CHECK: linalg_ext.scan(%{{.*}}) dimension = 1 {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: linalg_ext.yield %[[C]] : f32
// CHECK: linalg_ext.scan(%{{.*}}, %{{.*}}) dimension = 0 reverse {
tt.func private @scan(%x: tensor<8x64xf32>, %i: tensor<8x64xi32>) -> (tensor<8x64xf32>, tensor<8x64xi32>) {
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1:2 = "tt.scan"(%0, %i) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %m: i32, %b: f32, %n: i32):
    %s = arith.mulf %a, %b : f32
    %t = arith.maxsi %m, %n : i32
    tt.scan.return %s, %t : f32, i32
  }) : (tensor<8x64xf32>, tensor<8x64xi32>) -> (tensor<8x64xf32>, tensor<8x64xi32>)
  tt.return %1#0, %1#1 : tensor<8x64xf32>, tensor<8x64xi32>
}
