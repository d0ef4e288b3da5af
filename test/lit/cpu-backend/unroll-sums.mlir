// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-unroll-sums --canonicalize | FileCheck %s

// Three rows, of which a number that is carried, too, says the place of the next; scaled, then stored.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: scf.for
// CHECK: bufferization.to_tensor
// CHECK: arith.addf
// CHECK: bufferization.to_tensor
// CHECK: arith.addf
// CHECK: bufferization.to_tensor
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: bufferization.materialize_in_destination
func.func @rows(%x: memref<9x64xf32>, %begin: index, %by: index, %n: index, %out: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64xf32>
  %sum, %end = scf.for %i = %c1 to %c6 step %c2 iter_args(%acc = %zero, %at = %begin) -> (tensor<64xf32>, index) {
    %row = memref.subview %x[%at, 0] [1, 64] [1, 1] : memref<9x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %0 = bufferization.to_tensor %row : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %1 = arith.addf %acc, %0 : tensor<64xf32>
    %next = arith.addi %at, %by : index
    scf.yield %1, %next : tensor<64xf32>, index
  }
  %scaled = arith.mulf %sum, %half : tensor<64xf32>
  %part = tensor.extract_slice %scaled[0] [%n] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %part in writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// Many iterations, an end that only the launch knows, sums that are summed behind the loop, a loop that stores.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: scf.for
func.func @others(%x: memref<64xf32>, %n: index, %out: memref<64xf32>, %one: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c17 = arith.constant 17 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = scf.for %i = %c0 to %c17 step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %1 = arith.addf %acc, %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  bufferization.materialize_in_destination %a in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %1 = arith.addf %acc, %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  bufferization.materialize_in_destination %b in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  %c = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %1 = arith.addf %acc, %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  %number = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce ins(%c : tensor<64xf32>) outs(%number : tensor<f32>) dimensions = [0]
    (%in: f32, %init: f32) {
      %2 = arith.addf %in, %init : f32
      linalg.yield %2 : f32
    }
  bufferization.materialize_in_destination %sum in writable %one : (tensor<f32>, memref<f32>) -> ()
  %d = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) {
    %0 = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %1 = arith.addf %acc, %0 : tensor<64xf32>
    bufferization.materialize_in_destination %1 in writable %x : (tensor<64xf32>, memref<64xf32>) -> ()
    scf.yield %1 : tensor<64xf32>
  }
  bufferization.materialize_in_destination %d in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
