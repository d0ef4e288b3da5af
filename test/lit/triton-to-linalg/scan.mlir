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

// -----

// What runs is kept in f32 where it is added up, and rounded where it is read.
// CHECK-LABEL: func.func private @narrow_sums
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[S:.*]] = linalg_ext.scan(%{{.*}}) dimension = 0
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: linalg_ext.yield %[[C]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<16xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
tt.func private @narrow_sums(%x: tensor<16xbf16>) -> tensor<16xbf16> {
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: bf16, %b: bf16):
    %c = arith.addf %a, %b : bf16
    tt.scan.return %c : bf16
  }) : (tensor<16xbf16>) -> tensor<16xbf16>
  tt.return %0 : tensor<16xbf16>
}

// -----

// Where nothing is rounded the type stays.
// CHECK-LABEL: func.func private @narrow_maxima
// CHECK-NOT: f32
// CHECK: arith.maxnumf %{{.*}} : f16
// CHECK-NOT: f32
tt.func private @narrow_maxima(%x: tensor<16xf16>) -> tensor<16xf16> {
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f16, %b: f16):
    %c = arith.maxnumf %a, %b : f16
    tt.scan.return %c : f16
  }) : (tensor<16xf16>) -> tensor<16xf16>
  tt.return %0 : tensor<16xf16>
}
