// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-transpose-gathers))' | FileCheck %s

// CHECK-LABEL: func.func @columns(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [64, 128], strides: [%{{.*}}, 1]
// CHECK: %[[OPEN:.*]] = memref.cast %[[VIEW]]
// CHECK-SAME: to memref<?x128xf32, strided<[?, 1], offset: ?>>
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows %[[OPEN]][%{{.*}}] dim 0
// CHECK-SAME: -> tensor<64x128xf32>
// CHECK: %[[BACK:.*]] = linalg.transpose ins(%[[ROWS]]
// CHECK-SAME: permutation = [1, 0]
// CHECK: return %[[BACK]]
func.func @columns(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %at: index, %stride: index) -> tensor<128x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [128, 64], strides: [1, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<128x64xf32, strided<[1, ?], offset: ?>>
  %open = memref.cast %view : memref<128x64xf32, strided<[1, ?], offset: ?>> to memref<128x?xf32, strided<[1, ?], offset: ?>>
  %t = linalg_ext.gather_rows %open[%rows] dim 1 : (memref<128x?xf32, strided<[1, ?], offset: ?>>, tensor<64xi64>) -> tensor<128x64xf32>
  return %t : tensor<128x64xf32>
}

// -----

// A part of each row, rows that are left out, and what is in their place; three dimensions, of which the last two change places.
// CHECK-LABEL: func.func @part(
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} sizes: [2, 64, 128], strides: [%[[OUTER:.*]], %[[STRIDE:.*]], 1]
// CHECK: %[[PART:.*]] = memref.subview %[[VIEW]][0, 0, 0] [2, 64, %[[N:.*]]] [1, 1, 1]
// CHECK: %[[OPEN:.*]] = memref.cast %[[PART]]
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows %[[OPEN]][%{{.*}}] dim 1 rowmask %{{.*}} other %{{.*}} -> tensor<2x64x128xf32>
// CHECK: linalg.transpose ins(%[[ROWS]]
// CHECK-SAME: permutation = [0, 2, 1]
func.func @part(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %mask: tensor<64xi1>, %other: f32, %n: index, %outer: index, %stride: index) -> tensor<2x128x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [2, 128, 64], strides: [%outer, 1, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<2x128x64xf32, strided<[?, 1, ?]>>
  %part = memref.subview %view[0, 0, 0] [2, %n, 64] [1, 1, 1] : memref<2x128x64xf32, strided<[?, 1, ?]>> to memref<2x?x64xf32, strided<[?, 1, ?]>>
  %open = memref.cast %part : memref<2x?x64xf32, strided<[?, 1, ?]>> to memref<2x?x?xf32, strided<[?, 1, ?]>>
  %t = linalg_ext.gather_rows %open[%rows] dim 2 rowmask %mask other %other : (memref<2x?x?xf32, strided<[?, 1, ?]>>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<2x128x64xf32>
  return %t : tensor<2x128x64xf32>
}

// -----

// Rows that are contiguous, or whose elements lie apart, or that nobody knows, stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
func.func @others(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<128x?xf32, strided<[1, ?], offset: ?>>, %rows: tensor<64xi64>, %stride: index) -> (tensor<64x128xf32>, tensor<128x64xf32>, tensor<128x64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [64, 128], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<64x128xf32, strided<[?, 1]>>
  %open = memref.cast %view : memref<64x128xf32, strided<[?, 1]>> to memref<?x128xf32, strided<[?, 1]>>
  %t = linalg_ext.gather_rows %open[%rows] dim 0 : (memref<?x128xf32, strided<[?, 1]>>, tensor<64xi64>) -> tensor<64x128xf32>
  %apart = memref.reinterpret_cast %x to offset: [0], sizes: [128, 64], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<128x64xf32, strided<[?, 1]>>
  %openApart = memref.cast %apart : memref<128x64xf32, strided<[?, 1]>> to memref<128x?xf32, strided<[?, 1]>>
  %u = linalg_ext.gather_rows %openApart[%rows] dim 1 : (memref<128x?xf32, strided<[?, 1]>>, tensor<64xi64>) -> tensor<128x64xf32>
  %v = linalg_ext.gather_rows %y[%rows] dim 1 : (memref<128x?xf32, strided<[1, ?], offset: ?>>, tensor<64xi64>) -> tensor<128x64xf32>
  return %t, %u, %v : tensor<64x128xf32>, tensor<128x64xf32>, tensor<128x64xf32>
}

// -----

// Keys of 8 bits are widened and scaled as rows, and then transposed for the product.
// CHECK-LABEL: func.func @widened(
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows %{{.*}} dim 0 {{.*}} -> tensor<64x128xi8>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[ROWS]] : tensor<64x128xi8>) outs(%{{.*}} : tensor<64x128xf32>)
// CHECK: %[[SCALES:.*]] = linalg.broadcast ins(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<64x128xf32>) dimensions = [1]
// CHECK: %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[WIDE]], %[[SCALES]], %{{.*}} : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>)
// CHECK: %[[BACK:.*]] = linalg.transpose ins(%[[KEYS]] : tensor<64x128xf32>) outs(%{{.*}} : tensor<128x64xf32>) permutation = [1, 0]
// CHECK: linalg.matmul ins(%{{.*}}, %[[BACK]] :
func.func @widened(%x: memref<?xi8, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index, %scales: tensor<64xf32>, %q: tensor<16x128xf32>, %sums: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [128, 64], strides: [1, %stride] : memref<?xi8, strided<[1], offset: ?>> to memref<128x64xi8, strided<[1, ?]>>
  %open = memref.cast %view : memref<128x64xi8, strided<[1, ?]>> to memref<128x?xi8, strided<[1, ?]>>
  %t = linalg_ext.gather_rows %open[%rows] dim 1 : (memref<128x?xi8, strided<[1, ?]>>, tensor<64xi64>) -> tensor<128x64xi8>
  %empty = tensor.empty() : tensor<128x64xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<128x64xi8>) outs(%empty : tensor<128x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<128x64xf32>
  %all = linalg.broadcast ins(%scales : tensor<64xf32>) outs(%empty : tensor<128x64xf32>) dimensions = [0]
  %halves = arith.constant dense<0.5> : tensor<128x64xf32>
  %keys = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%wide, %all, %halves : tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>) outs(%empty : tensor<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<128x64xf32>
  %r = linalg.matmul ins(%q, %keys : tensor<16x128xf32>, tensor<128x64xf32>) outs(%sums : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// -----

// What is seen otherwise, or computed from indices or from a block in another order, stays as it is.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<128x64xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<128x64xi8>)
// CHECK: linalg.index
// CHECK-NOT: linalg.transpose
func.func @stays(%x: memref<?xi8, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index, %q: tensor<16x128xf32>, %sums: tensor<16x64xf32>) -> (tensor<128x64xf32>, tensor<16x64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [128, 64], strides: [1, %stride] : memref<?xi8, strided<[1], offset: ?>> to memref<128x64xi8, strided<[1, ?]>>
  %open = memref.cast %view : memref<128x64xi8, strided<[1, ?]>> to memref<128x?xi8, strided<[1, ?]>>
  %t = linalg_ext.gather_rows %open[%rows] dim 1 : (memref<128x?xi8, strided<[1, ?]>>, tensor<64xi64>) -> tensor<128x64xi8>
  %u = linalg_ext.gather_rows %open[%rows] dim 1 : (memref<128x?xi8, strided<[1, ?]>>, tensor<64xi64>) -> tensor<128x64xi8>
  %empty = tensor.empty() : tensor<128x64xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<128x64xi8>) outs(%empty : tensor<128x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<128x64xf32>
  %keys = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<128x64xi8>) outs(%empty : tensor<128x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    %1 = linalg.index 0 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %0, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<128x64xf32>
  %r = linalg.matmul ins(%q, %keys : tensor<16x128xf32>, tensor<128x64xf32>) outs(%sums : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %wide, %r : tensor<128x64xf32>, tensor<16x64xf32>
}
