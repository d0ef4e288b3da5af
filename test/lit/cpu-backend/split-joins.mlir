// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-split-joins | FileCheck %s

// CHECK-LABEL: func.func @interleave
// CHECK-SAME: (%[[A:.*]]: tensor<32xf32>, %[[B:.*]]: tensor<32xf32>, %[[OUT:.*]]: memref<64xf32>)
// CHECK: %[[EVEN:.*]] = memref.subview %[[OUT]][0] [32] [2]
// CHECK: bufferization.materialize_in_destination %[[A]] in writable %[[EVEN]]
// CHECK: %[[ODD:.*]] = memref.subview %[[OUT]][1] [32] [2]
// CHECK: bufferization.materialize_in_destination %[[B]] in writable %[[ODD]]
// CHECK-NOT: materialize
func.func @interleave(%a: tensor<32xf32>, %b: tensor<32xf32>, %out: memref<64xf32>) {
  %0 = tensor.empty() : tensor<32x2xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  %2 = tensor.insert_slice %b into %1[0, 1] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %3 in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Rounded, with a constant added, and only the first ones of it: of 2 k + 1 elements one more is even.
// CHECK-DAG: #[[$UP:.*]] = affine_map<()[s0] -> ((s0 + 1) floordiv 2)>
// CHECK-DAG: #[[$DOWN:.*]] = affine_map<()[s0] -> (s0 floordiv 2)>
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[EVENS:.*]] = affine.apply #[[$UP]]()[%[[N]]]
// CHECK: memref.subview %{{.*}}[0] [%[[EVENS]]] [2]
// CHECK: tensor.extract_slice %[[X]][0] [%[[EVENS]]] [1]
// CHECK: %[[ODDS:.*]] = affine.apply #[[$DOWN]]()[%[[N]]]
// CHECK: memref.subview %{{.*}}[1] [%[[ODDS]]] [2]
// CHECK: tensor.extract_slice %[[Y]][0] [%[[ODDS]]] [1]
#map = affine_map<(d0) -> (d0)>
func.func @rounded(%a: tensor<32xf32>, %b: tensor<32xf32>, %n: index, %out: memref<?xf16>) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %0 = tensor.empty() : tensor<32x2xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  %2 = tensor.insert_slice %b into %1[0, 1] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %4 = tensor.empty() : tensor<64xf16>
  %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%3, %one : tensor<64xf32>, tensor<64xf32>) outs(%4 : tensor<64xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64xf16>
  %6 = tensor.extract_slice %5[0] [%n] [1] : tensor<64xf16> to tensor<?xf16>
  bufferization.materialize_in_destination %6 in writable %out : (tensor<?xf16>, memref<?xf16>) -> ()
  return
}

// -----

// The dimension that counts the parts stays, of one element.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-2: bufferization.materialize_in_destination %{{.*}} : (tensor<8x2x1xf32>, memref<8x2x1xf32, strided<[4, 2, 1]
// CHECK-NOT: materialize
func.func @nested(%a: tensor<8xf32>, %b: tensor<8xf32>, %out: memref<8x2x2xf32>) {
  %0 = tensor.empty() : tensor<8x2xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %2 = tensor.insert_slice %b into %1[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %3 = tensor.insert_slice %b into %0[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %4 = tensor.insert_slice %a into %3[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %5 = tensor.empty() : tensor<8x2x2xf32>
  %6 = tensor.insert_slice %2 into %5[0, 0, 0] [8, 2, 1] [1, 1, 1] : tensor<8x2xf32> into tensor<8x2x2xf32>
  %7 = tensor.insert_slice %4 into %6[0, 0, 1] [8, 2, 1] [1, 1, 1] : tensor<8x2xf32> into tensor<8x2x2xf32>
  bufferization.materialize_in_destination %7 in writable %out : (tensor<8x2x2xf32>, memref<8x2x2xf32>) -> ()
  return
}

// -----

// Not all parts are there; too many parts; an end that begins later; a number for each element.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: bufferization.materialize_in_destination
// CHECK-NOT: materialize
#map = affine_map<(d0) -> (d0)>
func.func @others(%a: tensor<32xf32>, %some: tensor<32x2xf32>, %n: index, %out: memref<64xf32>, %part: memref<?xf32>,
                  %pairs: memref<32x2xf32>, %five: memref<32x5xf32>, %numbers: tensor<64xf32>) {
  %0 = tensor.insert_slice %a into %some[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  bufferization.materialize_in_destination %0 in writable %pairs : (tensor<32x2xf32>, memref<32x2xf32>) -> ()
  %1 = tensor.empty() : tensor<32x5xf32>
  %2 = tensor.insert_slice %a into %1[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x5xf32>
  %3 = tensor.insert_slice %a into %2[0, 1] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x5xf32>
  %4 = tensor.insert_slice %a into %3[0, 2] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x5xf32>
  %5 = tensor.insert_slice %a into %4[0, 3] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x5xf32>
  %6 = tensor.insert_slice %a into %5[0, 4] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x5xf32>
  bufferization.materialize_in_destination %6 in writable %five : (tensor<32x5xf32>, memref<32x5xf32>) -> ()
  %7 = tensor.insert_slice %a into %0[0, 1] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
  %8 = tensor.collapse_shape %7 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %9 = tensor.extract_slice %8[2] [%n] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %9 in writable %part : (tensor<?xf32>, memref<?xf32>) -> ()
  %10 = tensor.empty() : tensor<64xf32>
  %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%8, %numbers : tensor<64xf32>, tensor<64xf32>) outs(%10 : tensor<64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %11 in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// A block that takes turns with itself is repeated, and so is what takes turns with itself again: eight times in all.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xi32>
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[A]] : tensor<4x8xi32>) outs(%{{.*}} : tensor<4x8x8xi32>) dimensions = [2]
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0], [1, 2]] : tensor<4x8x8xi32> into tensor<4x64xi32>
// CHECK: return %[[ROWS]]
func.func @repeated(%a: tensor<4x8xi32>) -> tensor<4x64xi32> {
  %0 = tensor.empty() : tensor<4x8x2xi32>
  %1 = tensor.insert_slice %a into %0[0, 0, 0] [4, 8, 1] [1, 1, 1] : tensor<4x8xi32> into tensor<4x8x2xi32>
  %2 = tensor.insert_slice %a into %1[0, 0, 1] [4, 8, 1] [1, 1, 1] : tensor<4x8xi32> into tensor<4x8x2xi32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<4x8x2xi32> into tensor<4x16xi32>
  %4 = tensor.empty() : tensor<4x16x2xi32>
  %5 = tensor.insert_slice %3 into %4[0, 0, 0] [4, 16, 1] [1, 1, 1] : tensor<4x16xi32> into tensor<4x16x2xi32>
  %6 = tensor.insert_slice %3 into %5[0, 0, 1] [4, 16, 1] [1, 1, 1] : tensor<4x16xi32> into tensor<4x16x2xi32>
  %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<4x16x2xi32> into tensor<4x32xi32>
  %8 = tensor.empty() : tensor<4x32x2xi32>
  %9 = tensor.insert_slice %7 into %8[0, 0, 0] [4, 32, 1] [1, 1, 1] : tensor<4x32xi32> into tensor<4x32x2xi32>
  %10 = tensor.insert_slice %7 into %9[0, 0, 1] [4, 32, 1] [1, 1, 1] : tensor<4x32xi32> into tensor<4x32x2xi32>
  %11 = tensor.collapse_shape %10 [[0], [1, 2]] : tensor<4x32x2xi32> into tensor<4x64xi32>
  return %11 : tensor<4x64xi32>
}

// -----

// Two blocks are not one.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.broadcast
func.func @others(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<16xi32> {
  %0 = tensor.empty() : tensor<8x2xi32>
  %1 = tensor.insert_slice %a into %0[0, 0] [8, 1] [1, 1] : tensor<8xi32> into tensor<8x2xi32>
  %2 = tensor.insert_slice %b into %1[0, 1] [8, 1] [1, 1] : tensor<8xi32> into tensor<8x2xi32>
  %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<8x2xi32> into tensor<16xi32>
  return %3 : tensor<16xi32>
}
