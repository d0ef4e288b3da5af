// RUN: tilebridge-opt %s -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @lookup
// CHECK: linalg_ext.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
// CHECK: linalg_ext.histogram %{{.*}}, %{{.*}} : tensor<64xi32>, tensor<64xi1> -> tensor<16xi32>
// CHECK: linalg_ext.gather_along %{{.*}}[%{{.*}}] dimension = 1 : tensor<8x64xf32>, tensor<8x4xi32> -> tensor<8x4xf32>
tt.func private @lookup(%x: tensor<64xi32>, %m: tensor<64xi1>, %s: tensor<8x64xf32>, %i: tensor<8x4xi32>)
    -> (tensor<16xi32>, tensor<16xi32>, tensor<8x4xf32>) {
  %0 = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>
  %1 = tt.histogram %x, %m : tensor<64xi32> -> tensor<16xi32>
  %2 = tt.gather %s[%i] {axis = 1 : i32} : (tensor<8x64xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  tt.return %0, %1, %2 : tensor<16xi32>, tensor<16xi32>, tensor<8x4xf32>
}
