// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @splat
// CHECK-SAME: %[[A:.*]]: f32
// CHECK: tensor.splat %[[A]] : tensor<4x8xf32>
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<1x1xi64>
tt.func private @splat(%a: f32, %b: tensor<1x1xi64>) -> (tensor<4x8xf32>, i64) {
  %0 = tt.splat %a : f32 -> tensor<4x8xf32>
  %1 = tt.unsplat %b : tensor<1x1xi64>
  tt.return %0, %1 : tensor<4x8xf32>, i64
}

// -----

// CHECK-LABEL: func.func private @range
// CHECK: %[[START:.*]] = arith.constant -8 : i32
// CHECK: linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%{{.*}} : tensor<16xi32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: arith.addi %[[J]], %[[START]]
tt.func private @range() -> tensor<16xi32> {
  %0 = tt.make_range {start = -8 : i32, end = 8 : i32} : tensor<16xi32>
  tt.return %0 : tensor<16xi32>
}

// -----

// CHECK-LABEL: func.func private @expand_dims
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [64, 1]
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [1, 64, 1]
tt.func private @expand_dims(%x: tensor<64xf32>) -> tensor<1x64x1xf32> {
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64x1xf32> -> tensor<1x64x1xf32>
  tt.return %1 : tensor<1x64x1xf32>
}

// -----

// CHECK-LABEL: func.func private @broadcast
// CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<64x1xf32> into tensor<64xf32>
// CHECK: linalg.broadcast ins(%[[A]] : tensor<64xf32>) outs(%{{.*}} : tensor<64x32xf32>) dimensions = [1]
// CHECK: %[[B:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : tensor<1x8x1xi1> into tensor<8xi1>
// CHECK: linalg.broadcast ins(%[[B]] : tensor<8xi1>) outs(%{{.*}} : tensor<4x8x2xi1>) dimensions = [0, 2]
// CHECK: %[[C:.*]] = tensor.collapse_shape %{{.*}} [] : tensor<1x1xf16> into tensor<f16>
// CHECK: linalg.broadcast ins(%[[C]] : tensor<f16>) outs(%{{.*}} : tensor<2x4xf16>) dimensions = [0, 1]
tt.func private @broadcast(%x: tensor<64x1xf32>, %y: tensor<1x8x1xi1>, %z: tensor<1x1xf16>)
    -> (tensor<64x32xf32>, tensor<4x8x2xi1>, tensor<2x4xf16>) {
  %0 = tt.broadcast %x : tensor<64x1xf32> -> tensor<64x32xf32>
  %1 = tt.broadcast %y : tensor<1x8x1xi1> -> tensor<4x8x2xi1>
  %2 = tt.broadcast %z : tensor<1x1xf16> -> tensor<2x4xf16>
  tt.return %0, %1, %2 : tensor<64x32xf32>, tensor<4x8x2xi1>, tensor<2x4xf16>
}

// -----

// Only the dimensions that differ are touched.
// CHECK-LABEL: func.func private @reshape
// CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<4x8x2xf32> into tensor<4x16xf32>
// CHECK: tensor.expand_shape %[[A]] {{\[}}[0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xf32> into tensor<4x2x8xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : tensor<4x2x8xf32> into tensor<64xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1, 2, 3]] output_shape [1, 32, 2, 1]
tt.func private @reshape(%x: tensor<4x8x2xf32>) -> tensor<1x32x2x1xf32> {
  %0 = tt.reshape %x : tensor<4x8x2xf32> -> tensor<4x2x8xf32>
  %1 = tt.reshape %0 allow_reorder : tensor<4x2x8xf32> -> tensor<64xf32>
  %2 = tt.reshape %1 : tensor<64xf32> -> tensor<1x32x2x1xf32>
  tt.return %2 : tensor<1x32x2x1xf32>
}

// -----

// CHECK-LABEL: func.func private @trans
// CHECK: linalg.transpose ins(%{{.*}} : tensor<2x4x8xf32>) outs(%{{.*}} : tensor<8x2x4xf32>) permutation = [2, 0, 1]
tt.func private @trans(%x: tensor<2x4x8xf32>) -> tensor<8x2x4xf32> {
  %0 = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  tt.return %0 : tensor<8x2x4xf32>
}

// -----

// CHECK-LABEL: func.func private @together
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [4, 8, 1] [1, 1, 1]
// CHECK: %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[A]][0, 0, 1] [4, 8, 1] [1, 1, 1]
// CHECK: tensor.extract_slice %[[B]][0, 0, 0] [4, 8, 1] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x8xf32>
// CHECK: tensor.extract_slice %[[B]][0, 0, 1] [4, 8, 1] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x8xf32>
// CHECK: %[[C:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0] [16] [1]
// CHECK: tensor.insert_slice %{{.*}} into %[[C]][16] [16] [1]
tt.func private @together(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<16xi8>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xi8>) {
  %0 = tt.join %x, %y : tensor<4x8xf32> -> tensor<4x8x2xf32>
  %1, %2 = tt.split %0 : tensor<4x8x2xf32> -> tensor<4x8xf32>
  %3 = tt.cat %z, %z : tensor<16xi8> -> tensor<32xi8>
  tt.return %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xi8>
}
