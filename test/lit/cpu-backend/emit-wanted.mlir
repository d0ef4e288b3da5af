// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// A reduction of rows of which the first ones are stored: it runs over those. Its rows are long.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[M:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: scf.for %{{.*}} = %c0 to %[[M]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c1024
// CHECK: scf.for %{{.*}} = %c0 to %[[M]] step %c1
func.func @rows(%x: memref<16x1024xf32>, %o: memref<16x1024xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<16x1024xf32> to tensor<16x1024xf32>
  %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x1024xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<16x1024xf32>
  %all = linalg.broadcast ins(%sums : tensor<16xf32>) outs(%empty : tensor<16x1024xf32>) dimensions = [1]
  %e = arith.divf %t, %all : tensor<16x1024xf32>
  // What is stored is only computed here, and moves up.
  %some = arith.maxsi %m, %c0 : index
  %size = arith.minsi %some, %c16 : index
  %slice = tensor.extract_slice %e[0, 0] [%size, 1024] [1, 1] : tensor<16x1024xf32> to tensor<?x1024xf32>
  %to = memref.subview %o[0, 0] [%size, 1024] [1, 1] : memref<16x1024xf32> to memref<?x1024xf32, strided<[1024, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x1024xf32>, memref<?x1024xf32, strided<[1024, 1]>>) -> ()
  return
}

// -----

// Of short rows several are summed in a row, from a multiple of their number on.
// CHECK-LABEL: func.func @short_rows(
// CHECK-SAME: %[[LOW:[a-z0-9]*]]: index, %[[SIZE:[a-z0-9]*]]: index
// CHECK: %[[END:.*]] = arith.addi %[[LOW]], %[[SIZE]]
// CHECK: %[[BEGIN:.*]] = arith.andi %[[LOW]], %c-4
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c4
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c4 step %c1
func.func @short_rows(%x: memref<16x32xf32>, %o: memref<16x32xf32>, %low: index, %size: index) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<16x32xf32> to tensor<16x32xf32>
  %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x32xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<16x32xf32>
  %all = linalg.broadcast ins(%sums : tensor<16xf32>) outs(%empty : tensor<16x32xf32>) dimensions = [1]
  %e = arith.divf %t, %all : tensor<16x32xf32>
  %slice = tensor.extract_slice %e[%low, 0] [%size, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[%low, 0] [%size, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}

// -----

// Two stores of different rows: all are summed.
// CHECK-LABEL: func.func @two_stores(
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
func.func @two_stores(%x: memref<16x1024xf32>, %o: memref<16xf32>, %p: memref<16xf32>, %m: index, %n: index) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<16x1024xf32> to tensor<16x1024xf32>
  %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x1024xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %some = tensor.extract_slice %sums[0] [%m] [1] : tensor<16xf32> to tensor<?xf32>
  %to = memref.subview %o[0] [%m] [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
  bufferization.materialize_in_destination %some in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  %others = tensor.extract_slice %sums[0] [%n] [1] : tensor<16xf32> to tensor<?xf32>
  %also = memref.subview %p[0] [%n] [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
  bufferization.materialize_in_destination %others in writable %also : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// -----

// Places that are gathered from must be there, whatever is stored.
// CHECK-LABEL: func.func @places(
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
func.func @places(%x: memref<16x1024xi64>, %table: memref<?xf32, strided<[1], offset: ?>>, %o: memref<16xf32>, %m: index) {
  %init = arith.constant dense<0> : tensor<16xi64>
  %t = bufferization.to_tensor %x : memref<16x1024xi64> to tensor<16x1024xi64>
  %places = linalg.reduce { arith.addi } ins(%t : tensor<16x1024xi64>) outs(%init : tensor<16xi64>) dimensions = [1]
  %v = linalg_ext.gather %table[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<16xi64>) -> tensor<16xf32>
  %some = tensor.extract_slice %v[0] [%m] [1] : tensor<16xf32> to tensor<?xf32>
  %to = memref.subview %o[0] [%m] [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
  bufferization.materialize_in_destination %some in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// -----

// What one iteration stores of what others have computed says nothing about those.
// CHECK-LABEL: func.func @iterations(
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c1024
func.func @iterations(%x: memref<16x1024xf32>, %o: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %last = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %zero) -> tensor<16xf32> {
    %some = tensor.extract_slice %acc[0] [%i] [1] : tensor<16xf32> to tensor<?xf32>
    %to = memref.subview %o[0] [%i] [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
    bufferization.materialize_in_destination %some in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
    %t = bufferization.to_tensor %x : memref<16x1024xf32> to tensor<16x1024xf32>
    %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x1024xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
    %next = math.exp %sums : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  return
}

// -----

// Of a product that no loop adds up, too, only rows that are stored are multiplied.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[IS_ONE:.*]] = arith.cmpi eq, %[[M]], %c1
// CHECK: scf.if %[[IS_ONE]]
// CHECK: arith.minsi %[[M]], %c{{.*}}
func.func @product(%x: memref<16x64xf32>, %y: memref<64x32xf32>, %o: memref<16x32xf32>, %m: index) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = math.exp %c : tensor<16x32xf32>
  %slice = tensor.extract_slice %e[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}
