// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// The last steps along K store the sums, if the block is in the array as a whole: rows of a, which lie in memory, are compared with it.
// CHECK-LABEL: func.func @store
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?xf32>, %[[ROWS:[a-z0-9]*]]: index, %[[STRIDE:[a-z0-9]*]]: index
// CHECK: %[[ACC:.*]] = memref.alloc() {{.*}} : memref<16x16xf32>
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c16 : index
// CHECK: %[[WORD:.*]] = memref.alloc() {{.*}} : memref<1xi64>
// CHECK: memref.store %c0_i64, %[[WORD]][%c0]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[MAY:.*]] = arith.andi %{{.*}}, %[[WHOLE]] : i1
// CHECK: arith.andi %{{.*}}, %[[MAY]] : i1
// CHECK: %[[BEFORE:.*]] = arith.cmpi ule, {{.*}} : index
// CHECK: %[[BEHIND:.*]] = arith.cmpi ule, {{.*}} : index
// CHECK: %[[APART:.*]] = arith.ori %[[BEFORE]], %[[BEHIND]] : i1
// CHECK: %[[NOW:.*]] = arith.andi %{{.*}}, %[[APART]] : i1
// CHECK: %[[BIT:.*]] = arith.extui %[[NOW]] : i1 to i64
// CHECK: memref.store %[[BIT]], %[[WORD]][%c0]
// CHECK: %[[CAST:.*]] = memref.cast %[[ACC]]
// CHECK: %[[SUMS:.*]] = arith.select %[[NOW]], %{{.*}}, %[[CAST]]
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: vector.load %[[ACC]]
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// Behind the loop only what has not been stored is.
// CHECK: %[[DONE:.*]] = memref.load %[[WORD]][%c0]
// CHECK: %[[LEFT:.*]] = arith.cmpi eq, %[[DONE]], %c0_i64
// CHECK: scf.if %[[LEFT]] {
// CHECK: vector.load
// CHECK: return
func.func @store(%a: memref<16x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x16xf32, strided<[?, 1], offset: ?>>, %n: index,
                 %out: memref<?xf32>, %rows: index, %stride: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tensor.splat %zero : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  %at = arith.muli %rows, %stride : index
  %block = memref.reinterpret_cast %out to offset: [%at], sizes: [16, 16], strides: [%stride, 1]
      : memref<?xf32> to memref<16x16xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %view = memref.subview %block[0, 0] [%rows, 16] [1, 1] : memref<16x16xf32, strided<[?, 1], offset: ?>> to memref<?x16xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %view : (tensor<?x16xf32>, memref<?x16xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// Where the output has a stride that only the launch knows, that is asked, too; rows that are 2 apart are no place for vectors.
// CHECK-LABEL: func.func @strides
// CHECK: %[[IS_ROW:.*]] = arith.cmpi eq, %{{.*}}, %c1 : index
// CHECK: memref.alloc() {{.*}} : memref<1xi64>
// CHECK: scf.for
// CHECK: arith.andi %{{.*}}, %[[IS_ROW]] : i1
// CHECK: return
// CHECK-LABEL: func.func @apart
// CHECK-NOT: memref<1xi64>
// CHECK: return
func.func @strides(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: index, %out: memref<16x16xf32, strided<[?, ?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}
func.func @apart(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: index, %out: memref<16x16xf32, strided<[64, 2]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32, strided<[64, 2]>>) -> ()
  return
}

// -----

// Something else is done with the sums, or read and written in between.
// CHECK-LABEL: func.func @two
// CHECK-NOT: memref<1xi64>
// CHECK: return
// CHECK-LABEL: func.func @between
// CHECK-NOT: memref<1xi64>
// CHECK: return
func.func @two(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: index, %out: memref<16x16xf32>, %other: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  bufferization.materialize_in_destination %sum in writable %other : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
func.func @between(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: index, %out: memref<16x16xf32>, %other: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  %old = bufferization.to_tensor %out : memref<16x16xf32> to tensor<16x16xf32>
  bufferization.materialize_in_destination %old in writable %other : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
