// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-split-reads --canonicalize | FileCheck %s

// Of 2 k + 1 elements that are there one more is even; each part is widened and scaled by itself.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<8x64xbf16>, %[[ROWS:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK-DAG: %[[EVEN:.*]] = memref.subview %{{.*}}[0, 0] [%[[ROWS]], %[[EVENS:.*]]] [1, 2]
// CHECK-DAG: %[[ODD:.*]] = memref.subview %{{.*}}[0, 1] [%[[ROWS]], %[[ODDS:.*]]] [1, 2]
// CHECK-DAG: bufferization.to_tensor %[[EVEN]]
// CHECK-DAG: bufferization.to_tensor %[[ODD]]
// CHECK-NOT: tensor.expand_shape
// CHECK-NOT: tensor.extract_slice
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @pairs(%x: memref<8x64xbf16>, %rows: index, %n: index) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  %two = arith.constant dense<2.0> : tensor<8x64xf32>
  %part = memref.subview %x[0, 0] [%rows, %n] [1, 1] : memref<8x64xbf16> to memref<?x?xbf16, strided<[64, 1]>>
  %0 = bufferization.to_tensor %part : memref<?x?xbf16, strided<[64, 1]>> to tensor<?x?xbf16>
  %above = arith.subi %c8, %rows : index
  %behind = arith.subi %c64, %n : index
  %1 = tensor.pad %0 low[0, 0] high[%above, %behind] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : bf16
  } : tensor<?x?xbf16> to tensor<8x64xbf16>
  %2 = tensor.empty() : tensor<8x64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %two : tensor<8x64xbf16>, tensor<8x64xf32>) outs(%2 : tensor<8x64xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %s = arith.mulf %w, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %4 = tensor.expand_shape %3 [[0], [1, 2]] output_shape [8, 32, 2] : tensor<8x64xf32> into tensor<8x32x2xf32>
  %5 = tensor.extract_slice %4[0, 0, 0] [8, 32, 1] [1, 1, 1] : tensor<8x32x2xf32> to tensor<8x32xf32>
  %6 = tensor.extract_slice %4[0, 0, 1] [8, 32, 1] [1, 1, 1] : tensor<8x32x2xf32> to tensor<8x32xf32>
  return %5, %6 : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// Halves: the second one ends where the whole block does, and may be empty. What a row is multiplied with stays.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<8x64xf32>, %[[SCALES:[a-z0-9]+]]: tensor<8xf32>)
// CHECK: %[[HALF:.*]] = memref.subview %[[X]][0, 32] [8, 32] [1, 1]
// CHECK: %[[READ:.*]] = bufferization.to_tensor %[[HALF]]
// CHECK: %[[SCALE:.*]] = linalg.broadcast ins(%[[SCALES]] : tensor<8xf32>) outs(%{{.*}} : tensor<8x32xf32>) dimensions = [1]
// CHECK: linalg.generic {{.*}} ins(%[[READ]], %[[SCALE]]
// CHECK: %[[INDEX:.*]] = linalg.index 1
// CHECK: arith.addi %[[INDEX]], %c32
// CHECK-NOT: tensor.expand_shape
// CHECK-NOT: linalg.transpose
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @halves(%x: memref<8x64xf32>, %scales: tensor<8xf32>) -> tensor<8x32xf32> {
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x : memref<8x64xf32> to tensor<8x64xf32>
  %1 = tensor.empty() : tensor<8x64xf32>
  %2 = linalg.broadcast ins(%scales : tensor<8xf32>) outs(%1 : tensor<8x64xf32>) dimensions = [1]
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0, %2 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%1 : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 1 : index
    %below = arith.cmpi ult, %i, %c60 : index
    %s = arith.mulf %a, %b : f32
    %c = arith.select %below, %s, %zero : f32
    linalg.yield %c : f32
  } -> tensor<8x64xf32>
  %4 = tensor.expand_shape %3 [[0], [1, 2]] output_shape [8, 2, 32] : tensor<8x64xf32> into tensor<8x2x32xf32>
  %5 = tensor.empty() : tensor<8x32x2xf32>
  %6 = linalg.transpose ins(%4 : tensor<8x2x32xf32>) outs(%5 : tensor<8x32x2xf32>) permutation = [0, 2, 1]
  %7 = tensor.extract_slice %6[0, 0, 1] [8, 32, 1] [1, 1, 1] : tensor<8x32x2xf32> to tensor<8x32xf32>
  return %7 : tensor<8x32xf32>
}

// -----

// Parts of parts.
// CHECK-LABEL: func.func @fourth
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<64xf32>)
// CHECK: memref.subview %[[X]][1] [16] [4]
// CHECK-NOT: tensor.extract_slice
func.func @fourth(%x: memref<64xf32>) -> tensor<16xf32> {
  %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [16, 2, 2] : tensor<64xf32> into tensor<16x2x2xf32>
  %2 = tensor.extract_slice %1[0, 0, 1] [16, 2, 1] [1, 1, 1] : tensor<16x2x2xf32> to tensor<16x2xf32>
  %3 = tensor.extract_slice %2[0, 0] [16, 1] [1, 1] : tensor<16x2xf32> to tensor<16xf32>
  return %3 : tensor<16xf32>
}

// -----

// What is computed by others, or needed whole; a box that begins within the block; no reshape.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tensor.extract_slice
// CHECK-NOT: memref.subview %{{.*}} [32] [2]
#map = affine_map<(d0) -> (d0)>
func.func @others(%x: memref<64xf32>, %part: memref<?xf32>, %low: index, %high: index, %y: tensor<64xf32>, %pairs: tensor<32x2xf32>)
    -> (tensor<32xf32>, tensor<32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %y [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
  %1 = tensor.extract_slice %0[0, 1] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
  %2 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %3 = tensor.empty() : tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%2 : tensor<64xf32>) outs(%3 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<64xf32>
  %5 = tensor.expand_shape %4 [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
  %6 = tensor.extract_slice %5[0, 0] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
  %7 = bufferization.to_tensor %part : memref<?xf32> to tensor<?xf32>
  %8 = tensor.pad %7 low[%low] high[%high] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<64xf32>
  %9 = tensor.expand_shape %8 [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
  %10 = tensor.extract_slice %9[0, 0] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
  %11 = tensor.extract_slice %pairs[0, 0] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
  return %1, %6, %4, %10, %11 : tensor<32xf32>, tensor<32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>
}
