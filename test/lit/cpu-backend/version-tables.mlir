// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-version-tables))' | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// Sums are compared as 64 bits: start + i may not fit.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[START:[^:]*]]: i32, %[[END:[^:]*]]: i32
// CHECK: %[[SIZE:.*]] = arith.constant 1024 : index
// CHECK: %[[S:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK: %[[LAST:.*]] = arith.addi %[[S]], %[[SIZE]] : index
// CHECK: %[[E:.*]] = arith.index_cast %[[END]] : i32 to index
// CHECK: %[[ALL:.*]] = arith.cmpi sle, %[[LAST]], %[[E]] : index
// CHECK: scf.if %[[ALL]] {
// CHECK: %[[READ:.*]] = bufferization.to_tensor %{{.*}} : memref<32x32xf32, strided<[0, 1]>>
// CHECK: bufferization.materialize_in_destination %[[READ]]
// CHECK: } else {
// CHECK: %[[SOME:.*]] = linalg_ext.masked_load
// CHECK: bufferization.materialize_in_destination %[[SOME]]
// CHECK: }
func.func @masked(%x: memref<?xf32, strided<[1], offset: ?>>, %start: i32, %end: i32, %o: memref<32x32xf32>) {
  %ei = tensor.empty() : tensor<1024xi32>
  %e1 = tensor.empty() : tensor<1024xi1>
  %i = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%ei : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    linalg.yield %1 : i32
  } -> tensor<1024xi32>
  %s = tensor.splat %start : tensor<1024xi32>
  %at = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%s, %i : tensor<1024xi32>, tensor<1024xi32>) outs(%ei : tensor<1024xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %0 = arith.addi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<1024xi32>
  %n = tensor.splat %end : tensor<1024xi32>
  %mask = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%at, %n : tensor<1024xi32>, tensor<1024xi32>) outs(%e1 : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i32, %out: i1):
    %0 = arith.cmpi slt, %a, %b : i32
    linalg.yield %0 : i1
  } -> tensor<1024xi1>
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %rows = tensor.expand_shape %mask [[0, 1]] output_shape [32, 32] : tensor<1024xi1> into tensor<32x32xi1>
  %t = linalg_ext.masked_load %view, %rows : (memref<32x32xf32, strided<[0, 1]>>, tensor<32x32xi1>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

#map = affine_map<(d0) -> (d0)>

// Another comparison says nothing of where the block ends.
// CHECK-LABEL: func.func @another(
// CHECK-NOT: scf.if
func.func @another(%x: memref<?xf32, strided<[1], offset: ?>>, %start: i32, %end: i32, %o: memref<32x32xf32>) {
  %ei = tensor.empty() : tensor<1024xi32>
  %e1 = tensor.empty() : tensor<1024xi1>
  %i = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%ei : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    linalg.yield %1 : i32
  } -> tensor<1024xi32>
  %s = tensor.splat %start : tensor<1024xi32>
  %at = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%s, %i : tensor<1024xi32>, tensor<1024xi32>) outs(%ei : tensor<1024xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %0 = arith.addi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<1024xi32>
  %n = tensor.splat %end : tensor<1024xi32>
  %mask = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%at, %n : tensor<1024xi32>, tensor<1024xi32>) outs(%e1 : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i32, %out: i1):
    %0 = arith.cmpi ne, %a, %b : i32
    linalg.yield %0 : i1
  } -> tensor<1024xi1>
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[0, 1]>>
  %rows = tensor.expand_shape %mask [[0, 1]] output_shape [32, 32] : tensor<1024xi1> into tensor<32x32xi1>
  %t = linalg_ext.masked_load %view, %rows : (memref<32x32xf32, strided<[0, 1]>>, tensor<32x32xi1>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

// The first rows of a table are all of it in most programs.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[ROWS:[^:]*]]: index
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[ROWS]], %{{.*}} : index
// CHECK: scf.if %[[ALL]] {
// CHECK-NOT: tensor.pad
// CHECK: %[[READ:.*]] = bufferization.to_tensor %{{.*}} : memref<64x16xf32, strided<[0, 1]>>
// CHECK: bufferization.materialize_in_destination %[[READ]]
// CHECK: } else {
// CHECK: tensor.pad
// CHECK: }
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: index, %o: memref<64x16xf32>) {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [64, 16], strides: [0, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64x16xf32, strided<[0, 1]>>
  %part = memref.subview %view[0, 0] [%rows, 16] [1, 1] : memref<64x16xf32, strided<[0, 1]>> to memref<?x16xf32, strided<[0, 1]>>
  %read = bufferization.to_tensor %part : memref<?x16xf32, strided<[0, 1]>> to tensor<?x16xf32>
  %high = arith.subi %c64, %rows : index
  %t = tensor.pad %read low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x16xf32> to tensor<64x16xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<64x16xf32>, memref<64x16xf32>) -> ()
  return
}

// -----

// Rows that differ are no table.
// CHECK-LABEL: func.func @block(
// CHECK-NOT: scf.if
func.func @block(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: index, %o: memref<64x16xf32>) {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [64, 16], strides: [16, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64x16xf32, strided<[16, 1]>>
  %part = memref.subview %view[0, 0] [%rows, 16] [1, 1] : memref<64x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1]>>
  %read = bufferization.to_tensor %part : memref<?x16xf32, strided<[16, 1]>> to tensor<?x16xf32>
  %high = arith.subi %c64, %rows : index
  %t = tensor.pad %read low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x16xf32> to tensor<64x16xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<64x16xf32>, memref<64x16xf32>) -> ()
  return
}
