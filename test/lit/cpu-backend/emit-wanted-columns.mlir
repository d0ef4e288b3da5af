// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// Of a product whose first columns are stored, panels of b up to the last of these are multiplied.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: %[[BEHIND:.*]] = arith.addi %[[N]], %c{{[0-9]+}}
// CHECK: %[[PANELS:.*]] = arith.divui %[[BEHIND]], %c{{[0-9]+}}
// CHECK: %[[SEEN:.*]] = arith.minui %[[PANELS]], %c{{[0-9]+}}
// CHECK: scf.for %{{.*}} = %c0 to %[[SEEN]] step %c1
// The others have no sums.
// CHECK: %[[FIRST:.*]] = arith.andi %{{.*}}, %c-8
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{[0-9]+}} step %c8
func.func @columns(%x: memref<16x64xf32>, %y: memref<64x256xf32>, %o: memref<16x256xf32>, %n: index) {
  %zero = arith.constant dense<0.0> : tensor<16x256xf32>
  %a = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %b = bufferization.to_tensor %y : memref<64x256xf32> to tensor<64x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x256xf32>) outs(%zero : tensor<16x256xf32>) -> tensor<16x256xf32>
  %slice = tensor.extract_slice %c[0, 0] [16, %n] [1, 1] : tensor<16x256xf32> to tensor<16x?xf32>
  %to = memref.subview %o[0, 0] [16, %n] [1, 1] : memref<16x256xf32> to memref<16x?xf32, strided<[256, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<16x?xf32>, memref<16x?xf32, strided<[256, 1]>>) -> ()
  return
}

// -----

// In a loop, other panels are not packed either. All of them are packed by code that knows their number.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[COUNT:[a-z0-9]*]]: index
// CHECK: %[[IS_EMPTY:.*]] = arith.cmpi sle, %[[COUNT]], %c0
// CHECK: %[[IS_PART:.*]] = arith.cmpi slt, %[[N]], %c256
// CHECK: %[[WRITES:.*]] = arith.ori %[[IS_EMPTY]], %[[IS_PART]]
// CHECK: scf.if %[[WRITES]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK: %[[IS_ALL:.*]] = arith.cmpi sgt, %[[N]], %c{{[0-9]+}}
// CHECK: scf.if %[[IS_ALL]] {
// CHECK: vector.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %{{[0-9]+}} step %c1
// CHECK: vector.store
// CHECK: arith.addi %[[N]], %c63
// CHECK: scf.for %{{.*}} = %c0 to %{{[0-9]+}} step %c1
// CHECK: %{{.*}}:16 = scf.for
func.func @loop(%x: memref<16x32xf32>, %y: memref<32x256xf32, strided<[?, 1]>>, %o: memref<16x256xf32>, %n: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x256xf32>
  %sums = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> (tensor<16x256xf32>) {
    %a = bufferization.to_tensor %x : memref<16x32xf32> to tensor<16x32xf32>
    %b = bufferization.to_tensor %y : memref<32x256xf32, strided<[?, 1]>> to tensor<32x256xf32>
    %c = linalg.matmul ins(%a, %b : tensor<16x32xf32>, tensor<32x256xf32>) outs(%acc : tensor<16x256xf32>) -> tensor<16x256xf32>
    scf.yield %c : tensor<16x256xf32>
  }
  %slice = tensor.extract_slice %sums[0, 0] [16, %n] [1, 1] : tensor<16x256xf32> to tensor<16x?xf32>
  %to = memref.subview %o[0, 0] [16, %n] [1, 1] : memref<16x256xf32> to memref<16x?xf32, strided<[256, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<16x?xf32>, memref<16x?xf32, strided<[256, 1]>>) -> ()
  return
}

// -----

// A block that has no other panel is multiplied in tiles of one vector where no more columns are stored: those of tokens.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[COUNT:[a-z0-9]*]]: index
// CHECK: %[[IS_NARROW:.*]] = arith.cmpi sle, %[[N]], %c16
// CHECK: scf.if %[[IS_NARROW]] {
// CHECK: %{{.*}}:8 = scf.for {{.*}} iter_args
// CHECK: } else {
// CHECK: %{{.*}}:16 = scf.for {{.*}} iter_args
func.func @tokens(%x: memref<64x64xf32>, %y: memref<64x32xf32>, %o: memref<64x32xf32>, %n: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sums = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
    %a = bufferization.to_tensor %x : memref<64x64xf32> to tensor<64x64xf32>
    %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<64x32xf32>) -> tensor<64x32xf32>
    scf.yield %c : tensor<64x32xf32>
  }
  %slice = tensor.extract_slice %sums[0, 0] [64, %n] [1, 1] : tensor<64x32xf32> to tensor<64x?xf32>
  %to = memref.subview %o[0, 0] [64, %n] [1, 1] : memref<64x32xf32> to memref<64x?xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<64x?xf32>, memref<64x?xf32, strided<[32, 1]>>) -> ()
  return
}
