// RUN: tilebridge-opt %s -tilebridge-accel-fuse | FileCheck %s

// The product keeps its shape and its name; what follows is one op.

// CHECK-LABEL: func.func @product
// CHECK: %[[P:.*]] = linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<64x32xf16>, tensor<32x64xf16>)
// CHECK: %[[W:.*]] = tensor.expand_shape %[[P]]
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<64x1x64xf32>)
// CHECK: arith.negf
// CHECK-NEXT: math.exp2
// CHECK-NOT: linalg.generic
func.func @product(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %zero: tensor<64x64xf32>) -> tensor<64x1x64xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %w = tensor.expand_shape %p [[0], [1, 2]] output_shape [64, 1, 64] : tensor<64x64xf32> into tensor<64x1x64xf32>
  %e = tensor.empty() : tensor<64x1x64xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<64x1x64xf32>) outs(%e : tensor<64x1x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<64x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n : tensor<64x1x64xf32>) outs(%e : tensor<64x1x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp2 %x : f32
    linalg.yield %y : f32
  } -> tensor<64x1x64xf32>
  return %s : tensor<64x1x64xf32>
}

// Nor does a change of an operand's shape go into it.

// CHECK-LABEL: func.func @operand
// CHECK: %[[A:.*]] = tensor.collapse_shape
// CHECK: linalg.matmul ins(%[[A]], %{{.*}} : tensor<64x32xf16>, tensor<32x64xf16>)
func.func @operand(%a: tensor<8x8x32xf16>, %b: tensor<32x64xf16>, %zero: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = tensor.collapse_shape %a [[0, 1], [2]] : tensor<8x8x32xf16> into tensor<64x32xf16>
  %p = linalg.matmul ins(%c, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// A change of shape between elementwise ops is no obstacle.

// CHECK-LABEL: func.func @elementwise
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.negf
// CHECK-NEXT: math.exp2
// CHECK-NOT: linalg.generic
func.func @elementwise(%a: tensor<64x64xf32>) -> tensor<64x1x64xf32> {
  %d = tensor.empty() : tensor<64x64xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%d : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %w = tensor.expand_shape %n [[0], [1, 2]] output_shape [64, 1, 64] : tensor<64x64xf32> into tensor<64x1x64xf32>
  %e = tensor.empty() : tensor<64x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<64x1x64xf32>) outs(%e : tensor<64x1x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp2 %x : f32
    linalg.yield %y : f32
  } -> tensor<64x1x64xf32>
  return %s : tensor<64x1x64xf32>
}

// The index of what was one dimension is computed from both.

// CHECK-LABEL: func.func @index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ROW:.*]] = linalg.index 0
// CHECK-DAG: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ROW]], %[[FOUR]]
// CHECK: arith.addi {{.*}}%[[BEGIN]]
// CHECK-NOT: affine.apply
// CHECK-NOT: linalg.generic
func.func @index(%n: i32) -> tensor<16x4xi1> {
  %d = tensor.empty() : tensor<64xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%d : tensor<64xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %y = arith.cmpi slt, %c, %n : i32
    linalg.yield %y : i1
  } -> tensor<64xi1>
  %w = tensor.expand_shape %mask [[0, 1]] output_shape [16, 4] : tensor<64xi1> into tensor<16x4xi1>
  %e = tensor.empty() : tensor<16x4xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<16x4xi1>) outs(%e : tensor<16x4xi1>) {
  ^bb0(%x: i1, %o: i1):
    %true = arith.constant true
    %y = arith.xori %x, %true : i1
    linalg.yield %y : i1
  } -> tensor<16x4xi1>
  return %r : tensor<16x4xi1>
}
