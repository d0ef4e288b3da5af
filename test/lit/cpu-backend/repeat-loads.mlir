// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-repeat-loads))' | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-repeat-loads,tilebridge-cpu-plan))' | FileCheck %s --check-prefix=PLAN

// Elements that lie apart are read once, and kept for all rows.
// CHECK-LABEL: func.func @apart(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32, {{.*}}>, %[[AT:[^:]*]]: index, %[[STRIDE:[^:]*]]: index
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [%[[AT]]], sizes: [64], strides: [%[[STRIDE]]]
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %[[VIEW]] : memref<64xf32, strided<[?], offset: ?>> to tensor<64xf32>
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[ROW]] : tensor<64xf32>) outs(%{{.*}} : tensor<32x64xf32>) dimensions = [0]
// CHECK: return %[[ALL]]
// PLAN-LABEL: func.func @apart(
// PLAN: bufferization.to_tensor {{.*}}buffer
func.func @apart(%x: memref<?xf32, strided<[1], offset: ?>>, %at: index, %stride: index) -> tensor<32x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 64], strides: [0, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, ?], offset: ?>>
  %t = bufferization.to_tensor %view : memref<32x64xf32, strided<[0, ?], offset: ?>> to tensor<32x64xf32>
  return %t : tensor<32x64xf32>
}

// -----

// Pairs of columns that are one column; the rows are repeated behind the reshape.
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} sizes: [16], strides: [8]
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %[[VIEW]] : memref<16xi8, strided<[8]>> to tensor<16xi8>
// CHECK: %[[PAIRS:.*]] = linalg.broadcast ins(%[[ROW]] : tensor<16xi8>) outs(%{{.*}} : tensor<16x2xi8>) dimensions = [1]
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[PAIRS]] {{\[\[}}0, 1]] : tensor<16x2xi8> into tensor<32xi8>
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[FLAT]] : tensor<32xi8>) outs(%{{.*}} : tensor<4x32xi8>) dimensions = [0]
// CHECK: return %[[ALL]]
func.func @pairs(%x: memref<?xi8, strided<[1], offset: ?>>) -> tensor<4x32xi8> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [4, 16, 2], strides: [0, 8, 0] : memref<?xi8, strided<[1], offset: ?>> to memref<4x16x2xi8, strided<[0, 8, 0]>>
  %t = bufferization.to_tensor %view : memref<4x16x2xi8, strided<[0, 8, 0]>> to tensor<4x16x2xi8>
  %flat = tensor.collapse_shape %t [[0], [1, 2]] : tensor<4x16x2xi8> into tensor<4x32xi8>
  return %flat : tensor<4x32xi8>
}

// -----

// Nothing is alone in its group: the reshape stays behind.
// CHECK-LABEL: func.func @together(
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%{{.*}} : tensor<16xi8>) outs(%{{.*}} : tensor<4x16xi8>) dimensions = [0]
// CHECK: tensor.collapse_shape %[[ALL]]
func.func @together(%x: memref<?xi8, strided<[1], offset: ?>>) -> tensor<64xi8> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [4, 16], strides: [0, 8] : memref<?xi8, strided<[1], offset: ?>> to memref<4x16xi8, strided<[0, 8]>>
  %t = bufferization.to_tensor %view : memref<4x16xi8, strided<[0, 8]>> to tensor<4x16xi8>
  %flat = tensor.collapse_shape %t [[0, 1]] : tensor<4x16xi8> into tensor<64xi8>
  return %flat : tensor<64xi8>
}

// -----

// Contiguous rows, one element for all lanes, one row, and a part of a block stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @others(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index, %n: index) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<1x64xf32>, tensor<32x?xf32>) {
  %0 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [0, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, 1]>>
  %1 = bufferization.to_tensor %0 : memref<32x64xf32, strided<[0, 1]>> to tensor<32x64xf32>
  %2 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [%stride, 0] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 0]>>
  %3 = bufferization.to_tensor %2 : memref<32x64xf32, strided<[?, 0]>> to tensor<32x64xf32>
  %4 = memref.reinterpret_cast %x to offset: [0], sizes: [1, 64], strides: [0, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<1x64xf32, strided<[0, ?]>>
  %5 = bufferization.to_tensor %4 : memref<1x64xf32, strided<[0, ?]>> to tensor<1x64xf32>
  %6 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [0, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, ?]>>
  %7 = memref.subview %6[0, 0] [32, %n] [1, 1] : memref<32x64xf32, strided<[0, ?]>> to memref<32x?xf32, strided<[0, ?]>>
  %8 = bufferization.to_tensor %7 : memref<32x?xf32, strided<[0, ?]>> to tensor<32x?xf32>
  return %1, %3, %5, %8 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<1x64xf32>, tensor<32x?xf32>
}

// -----

// Of some columns that are behind the array's end, all rows are the same, too.
// CHECK-LABEL: func.func @at_the_end(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32, {{.*}}>, %[[STRIDE:[^:]*]]: index, %[[N:[^:]*]]: index, %[[REST:[^:]*]]: index, %[[OTHER:[^:]*]]: f32
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [2, 64], strides: [1, %[[STRIDE]]]
// CHECK: %[[PART:.*]] = memref.subview %[[VIEW]][0, 0] [2, %[[N]]] [1, 1]
// CHECK: %[[ROWS:.*]] = bufferization.to_tensor %[[PART]] : {{.*}} to tensor<2x?xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[ROWS]] low[0, 0] high[0, %[[REST]]] {
// CHECK: tensor.yield %[[OTHER]] : f32
// CHECK: } : tensor<2x?xf32> to tensor<2x64xf32>
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[PADDED]] : tensor<2x64xf32>) outs(%{{.*}} : tensor<2x32x64xf32>) dimensions = [1]
// CHECK: return %[[ALL]]
func.func @at_the_end(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index, %n: index, %rest: index, %other: f32) -> tensor<2x32x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [2, 32, 64], strides: [1, 0, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<2x32x64xf32, strided<[1, 0, ?]>>
  %part = memref.subview %view[0, 0, 0] [2, 32, %n] [1, 1, 1] : memref<2x32x64xf32, strided<[1, 0, ?]>> to memref<2x32x?xf32, strided<[1, 0, ?]>>
  %t = bufferization.to_tensor %part : memref<2x32x?xf32, strided<[1, 0, ?]>> to tensor<2x32x?xf32>
  %all = tensor.pad %t low[0, 0, 0] high[0, 0, %rest] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %other : f32
  } : tensor<2x32x?xf32> to tensor<2x32x64xf32>
  return %all : tensor<2x32x64xf32>
}

// -----

// Rows that are not there are not what the others are.
// CHECK-LABEL: func.func @fewer_rows(
// CHECK-NOT: linalg.broadcast
// CHECK: tensor.pad
// CHECK: } : tensor<?x64xf32> to tensor<32x64xf32>
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @fewer_rows(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index, %n: index, %rest: index, %other: f32) -> tensor<32x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [0, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, ?]>>
  %part = memref.subview %view[0, 0] [%n, 64] [1, 1] : memref<32x64xf32, strided<[0, ?]>> to memref<?x64xf32, strided<[0, ?]>>
  %t = bufferization.to_tensor %part : memref<?x64xf32, strided<[0, ?]>> to tensor<?x64xf32>
  %all = tensor.pad %t low[0, 0] high[%rest, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %other : f32
  } : tensor<?x64xf32> to tensor<32x64xf32>
  return %all : tensor<32x64xf32>
}

// -----

// Bytes that follow one another, each for two columns, are spread over lanes: once.
// CHECK-LABEL: func.func @neighbours(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} sizes: [16], strides: [1]
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %[[VIEW]] : memref<16xi8, strided<[1]>> to tensor<16xi8>
// CHECK: %[[PAIRS:.*]] = linalg.broadcast ins(%[[ROW]] : tensor<16xi8>) outs(%{{.*}} : tensor<16x2xi8>) dimensions = [1]
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[PAIRS]] {{\[\[}}0, 1]] : tensor<16x2xi8> into tensor<32xi8>
// CHECK: linalg.broadcast ins(%[[FLAT]] : tensor<32xi8>) outs(%{{.*}} : tensor<4x32xi8>) dimensions = [0]
func.func @neighbours(%x: memref<?xi8, strided<[1], offset: ?>>) -> tensor<4x32xi8> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [4, 16, 2], strides: [0, 1, 0] : memref<?xi8, strided<[1], offset: ?>> to memref<4x16x2xi8, strided<[0, 1, 0]>>
  %t = bufferization.to_tensor %view : memref<4x16x2xi8, strided<[0, 1, 0]>> to tensor<4x16x2xi8>
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<4x16x2xi8> into tensor<4x32xi8>
  return %c : tensor<4x32xi8>
}

// -----

// Rows that a table chooses, of words that eight columns have, are gathered as words; also where columns end before.
// CHECK-LABEL: func.func @words(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [4, 2], strides: [1, 1]
// CHECK: %[[CAST:.*]] = memref.cast %[[VIEW]] : {{.*}} to memref<?x2xi32, strided<[1, 1], offset: ?>>
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows %[[CAST]][%{{.*}}] dim 0 rowmask %{{.*}} other %{{.*}} -> tensor<4x2xi32>
// CHECK: linalg.broadcast ins(%[[ROWS]] : tensor<4x2xi32>) outs(%{{.*}} : tensor<4x2x8xi32>) dimensions = [2]
func.func @words(%x: memref<?xi32, strided<[1], offset: ?>>, %at: index, %rows: tensor<4xi64>, %mask: tensor<4xi1>, %other: i32) -> tensor<4x16xi32> {
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [4, 2, 8], strides: [1, 1, 0] : memref<?xi32, strided<[1], offset: ?>> to memref<4x2x8xi32, strided<[1, 1, 0], offset: ?>>
  %cast = memref.cast %view : memref<4x2x8xi32, strided<[1, 1, 0], offset: ?>> to memref<?x2x8xi32, strided<[1, 1, 0], offset: ?>>
  %t = linalg_ext.gather_rows %cast[%rows] dim 0 rowmask %mask other %other : (memref<?x2x8xi32, strided<[1, 1, 0], offset: ?>>, tensor<4xi64>, tensor<4xi1>, i32) -> tensor<4x2x8xi32>
  %flat = tensor.collapse_shape %t [[0], [1, 2]] : tensor<4x2x8xi32> into tensor<4x16xi32>
  return %flat : tensor<4x16xi32>
}

// CHECK-LABEL: func.func @part_of_words(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} sizes: [8, 4], strides: [1, 1]
// CHECK: %[[PART:.*]] = memref.subview %[[VIEW]][0, 0] [%{{.*}}, %{{.*}}] [1, 1]
// CHECK: linalg_ext.gather_rows %[[PART]][%{{.*}}] dim 1 {{.*}} -> tensor<8x4xi32>
// CHECK: linalg.broadcast {{.*}} outs(%{{.*}} : tensor<2x8x4xi32>) dimensions = [0]
func.func @part_of_words(%x: memref<?xi32, strided<[1], offset: ?>>, %rows: tensor<4xi64>, %count: index, %n: index) -> tensor<2x8x4xi32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [2, 8, 4], strides: [0, 1, 1] : memref<?xi32, strided<[1], offset: ?>> to memref<2x8x4xi32, strided<[0, 1, 1]>>
  %part = memref.subview %view[0, 0, 0] [2, %n, %count] [1, 1, 1] : memref<2x8x4xi32, strided<[0, 1, 1]>> to memref<2x?x?xi32, strided<[0, 1, 1]>>
  %t = linalg_ext.gather_rows %part[%rows] dim 2 : (memref<2x?x?xi32, strided<[0, 1, 1]>>, tensor<4xi64>) -> tensor<2x8x4xi32>
  return %t : tensor<2x8x4xi32>
}

// Rows of one element stay, and such of which some are there.
// CHECK-LABEL: func.func @no_words(
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @no_words(%x: memref<?xi32, strided<[1], offset: ?>>, %rows: tensor<4xi64>, %n: index) -> (tensor<4x8xi32>, tensor<4x2x8xi32>) {
  %c4 = arith.constant 4 : index
  %0 = memref.reinterpret_cast %x to offset: [0], sizes: [4, 8], strides: [1, 0] : memref<?xi32, strided<[1], offset: ?>> to memref<4x8xi32, strided<[1, 0]>>
  %1 = memref.cast %0 : memref<4x8xi32, strided<[1, 0]>> to memref<?x8xi32, strided<[1, 0]>>
  %2 = linalg_ext.gather_rows %1[%rows] dim 0 : (memref<?x8xi32, strided<[1, 0]>>, tensor<4xi64>) -> tensor<4x8xi32>
  %3 = memref.reinterpret_cast %x to offset: [0], sizes: [4, 2, 8], strides: [1, 1, 0] : memref<?xi32, strided<[1], offset: ?>> to memref<4x2x8xi32, strided<[1, 1, 0]>>
  %4 = memref.subview %3[0, 0, 0] [%c4, 2, %n] [1, 1, 1] : memref<4x2x8xi32, strided<[1, 1, 0]>> to memref<?x2x?xi32, strided<[1, 1, 0]>>
  %5 = linalg_ext.gather_rows %4[%rows] dim 0 : (memref<?x2x?xi32, strided<[1, 1, 0]>>, tensor<4xi64>) -> tensor<4x2x8xi32>
  return %2, %5 : tensor<4x8xi32>, tensor<4x2x8xi32>
}

// A block whose part that is there is all of the view is padded once.
// CHECK-LABEL: func.func @padded_view(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [28], strides: [41]
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %[[VIEW]]
// CHECK: tensor.pad %[[ROW]] low[2] high[2]
// CHECK: } : tensor<28xi32> to tensor<32xi32>
// CHECK: linalg.broadcast {{.*}} outs(%{{.*}} : tensor<16x32xi32>) dimensions = [0]
func.func @padded_view(%x: memref<?xi32, strided<[1], offset: ?>>) -> tensor<16x32xi32> {
  %c0 = arith.constant 0 : i32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [16, 28], strides: [0, 41] : memref<?xi32, strided<[1], offset: ?>> to memref<16x28xi32, strided<[0, 41]>>
  %t = bufferization.to_tensor %view : memref<16x28xi32, strided<[0, 41]>> to tensor<16x28xi32>
  %padded = tensor.pad %t low[0, 2] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c0 : i32
  } : tensor<16x28xi32> to tensor<16x32xi32>
  return %padded : tensor<16x32xi32>
}

// Where it is padded by what is not one number it stays as it is.
// CHECK-LABEL: func.func @padded_by_numbers(
// CHECK-NOT: linalg.broadcast
// CHECK: tensor.pad
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @padded_by_numbers(%x: memref<?xindex, strided<[1], offset: ?>>) -> tensor<16x32xindex> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [16, 28], strides: [0, 41] : memref<?xindex, strided<[1], offset: ?>> to memref<16x28xindex, strided<[0, 41]>>
  %t = bufferization.to_tensor %view : memref<16x28xindex, strided<[0, 41]>> to tensor<16x28xindex>
  %padded = tensor.pad %t low[0, 2] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %j : index
  } : tensor<16x28xindex> to tensor<16x32xindex>
  return %padded : tensor<16x32xindex>
}
