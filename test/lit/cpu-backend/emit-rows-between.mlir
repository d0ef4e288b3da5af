// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// Rows of 16 elements, some stride apart, and others between them: their ranges overlap, they do not where a row and the distance
// from one array to the other fit into the stride.
// CHECK-LABEL: func.func @halves
// CHECK: %[[ENTWINED:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.subi
// CHECK: arith.subi
// CHECK: %[[DISTANCE:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.addi %[[DISTANCE]], %[[LENGTH:c64]] : index
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge, %[[DISTANCE]], %[[LENGTH]] : index
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[END]], %{{.*}} : index
// CHECK: %[[APART:.*]] = arith.andi %[[BEHIND]], %[[FITS]] : i1
// CHECK: %[[NOT:.*]] = arith.xori %[[APART]], %true
// CHECK: arith.andi %[[ENTWINED]], %[[NOT]] : i1
func.func @halves(%x: memref<?xf32>, %y: memref<?xf32>, %stride: index, %at: index) {
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [8, 16], strides: [%stride, 1] : memref<?xf32> to memref<8x16xf32, strided<[?, 1]>>
  %to = memref.reinterpret_cast %y to offset: [%at], sizes: [8, 16], strides: [%stride, 1] : memref<?xf32> to memref<8x16xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %from : memref<8x16xf32, strided<[?, 1]>> to tensor<8x16xf32>
  bufferization.materialize_in_destination %t in writable %to : (tensor<8x16xf32>, memref<8x16xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// Rows of different strides, and rows that follow one another, leave nothing between them.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.xori
// CHECK: return
func.func @others(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<8x16xf32>, %w: memref<8x16xf32>, %stride: index, %other: index) {
  %from = memref.reinterpret_cast %x to offset: [0], sizes: [8, 16], strides: [%stride, 1] : memref<?xf32> to memref<8x16xf32, strided<[?, 1]>>
  %to = memref.reinterpret_cast %y to offset: [0], sizes: [8, 16], strides: [%other, 1] : memref<?xf32> to memref<8x16xf32, strided<[?, 1]>>
  %t = bufferization.to_tensor %from : memref<8x16xf32, strided<[?, 1]>> to tensor<8x16xf32>
  bufferization.materialize_in_destination %t in writable %to : (tensor<8x16xf32>, memref<8x16xf32, strided<[?, 1]>>) -> ()
  %u = bufferization.to_tensor %z : memref<8x16xf32> to tensor<8x16xf32>
  bufferization.materialize_in_destination %u in writable %w : (tensor<8x16xf32>, memref<8x16xf32>) -> ()
  return
}
