// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// Rows that are added up one above the other end with those that are read, and one of zeros.
// CHECK-LABEL: func.func @rows_of_zeros(
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c1024
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} = %c0 to %[[LAST]] step %c1
func.func @rows_of_zeros(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024, 64], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024x64xf32, strided<[4096, 1]>>
  %box = memref.subview %in[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32, strided<[4096, 1]>> to memref<?x64xf32, strided<[4096, 1]>>
  %t = bufferization.to_tensor %box : memref<?x64xf32, strided<[4096, 1]>> to tensor<?x64xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0, 0] high[%rest, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %outside : f32
  } : tensor<?x64xf32> to tensor<1024x64xf32>
  %init = arith.constant dense<0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%padded : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Rows of ones are all added.
// CHECK-LABEL: func.func @rows_of_ones(
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c1
func.func @rows_of_ones(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 1.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [1024, 64], strides: [4096, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024x64xf32, strided<[4096, 1]>>
  %box = memref.subview %in[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32, strided<[4096, 1]>> to memref<?x64xf32, strided<[4096, 1]>>
  %t = bufferization.to_tensor %box : memref<?x64xf32, strided<[4096, 1]>> to tensor<?x64xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0, 0] high[%rest, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %outside : f32
  } : tensor<?x64xf32> to tensor<1024x64xf32>
  %init = arith.constant dense<0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%padded : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  bufferization.materialize_in_destination %r in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
