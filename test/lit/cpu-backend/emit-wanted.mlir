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
func.func @short_rows(%x: memref<16x64xf32>, %o: memref<16x64xf32>, %low: index, %size: index) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x64xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<16x64xf32>
  %all = linalg.broadcast ins(%sums : tensor<16xf32>) outs(%empty : tensor<16x64xf32>) dimensions = [1]
  %e = arith.divf %t, %all : tensor<16x64xf32>
  %slice = tensor.extract_slice %e[%low, 0] [%size, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[%low, 0] [%size, 64] [1, 1] : memref<16x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1], offset: ?>>) -> ()
  return
}

// -----

// Rows of a vector or two are summed at once, from a multiple of their number on.
// CHECK-LABEL: func.func @rows_at_once(
// CHECK-SAME: %[[LOW:[a-z0-9]*]]: index, %[[SIZE:[a-z0-9]*]]: index
// CHECK: %[[END:.*]] = arith.addi %[[LOW]], %[[SIZE]]
// CHECK: %[[BEGIN:.*]] = arith.andi %[[LOW]], %c-8
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c8
// CHECK-COUNT-8: vector.load %{{.*}} vector<32xf32>
// One tree: halves of each row, neighbours of two rows, of four and of eight, and then the halves of one vector.
// CHECK-COUNT-8: arith.addf %{{.*}} : vector<16xf32>
// CHECK: vector.shuffle %{{.*}} [0, 16, 2, 18, 4, 20
// CHECK: vector.shuffle %{{.*}} [1, 17, 3, 19, 5, 21
// CHECK-COUNT-7: arith.addf %{{.*}} : vector<16xf32>
// CHECK: %[[SUMS:.*]] = arith.addf %{{.*}} : vector<8xf32>
// CHECK: vector.store %[[SUMS]], %{{.*}}[%[[ROW]]]
func.func @rows_at_once(%x: memref<16x32xf32>, %o: memref<16x32xf32>, %low: index, %size: index) {
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

// Two stores of different rows: those of both are summed.
// CHECK-LABEL: func.func @two_stores(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[END:.*]] = arith.maxsi %[[N]], %[[M]]
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c1
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

// -----

// The number of rows may be a constant: then a tile of three rows is multiplied.
// CHECK-LABEL: func.func @known_product(
// CHECK: %{{.*}}:6 = scf.for %{{.*}} = %c0 to %c64
func.func @known_product(%x: memref<16x64xf32>, %y: memref<64x32xf32>, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %slice = tensor.extract_slice %c[0, 0] [3, 32] [1, 1] : tensor<16x32xf32> to tensor<3x32xf32>
  %to = memref.subview %o[0, 0] [3, 32] [1, 1] : memref<16x32xf32> to memref<3x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<3x32xf32>, memref<3x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// Of two stores of different rows, both known, those from the first to the last one are summed.
// CHECK-LABEL: func.func @known_stores(
// CHECK: scf.for %{{.*}} = %c2 to %c9 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c1024
func.func @known_stores(%x: memref<16x1024xf32>, %o: memref<16xf32>, %p: memref<16xf32>) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<16x1024xf32> to tensor<16x1024xf32>
  %sums = linalg.reduce { arith.addf } ins(%t : tensor<16x1024xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %some = tensor.extract_slice %sums[2] [3] [1] : tensor<16xf32> to tensor<3xf32>
  %to = memref.subview %o[2] [3] [1] : memref<16xf32> to memref<3xf32, strided<[1], offset: 2>>
  bufferization.materialize_in_destination %some in writable %to : (tensor<3xf32>, memref<3xf32, strided<[1], offset: 2>>) -> ()
  %others = tensor.extract_slice %sums[4] [5] [1] : tensor<16xf32> to tensor<5xf32>
  %also = memref.subview %p[4] [5] [1] : memref<16xf32> to memref<5xf32, strided<[1], offset: 4>>
  bufferization.materialize_in_destination %others in writable %also : (tensor<5xf32>, memref<5xf32, strided<[1], offset: 4>>) -> ()
  return
}

// -----

// Rows that are stored one by one, the first ones of the block, are as many as their mask compares with.
// CHECK-LABEL: func.func @scattered(
// CHECK: %[[M:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: arith.cmpi eq, %[[M]], %c1
// CHECK: arith.minsi %[[M]], %c{{.*}}
func.func @scattered(%x: memref<16x64xf32>, %y: memref<64x32xf32>, %o: memref<?x32xf32>, %places: memref<16xi64>, %m: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %at = bufferization.to_tensor %places : memref<16xi64> to tensor<16xi64>
  // What is compared with is only computed here, and moves up.
  %some = arith.maxsi %m, %c0 : index
  %size = arith.minsi %some, %c16 : index
  %number = arith.index_cast %size : index to i64
  %all = tensor.splat %number : tensor<16xi64>
  %e = tensor.empty() : tensor<16xi64>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<16xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  } -> tensor<16xi64>
  %f = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%rows, %all : tensor<16xi64>, tensor<16xi64>) outs(%f : tensor<16xi1>) {
  ^bb0(%i: i64, %n: i64, %out: i1):
    %is = arith.cmpi slt, %i, %n : i64
    linalg.yield %is : i1
  } -> tensor<16xi1>
  linalg_ext.scatter_rows %c into %o[%at] dim 0 rowmask %mask : (tensor<16x32xf32>, memref<?x32xf32>, tensor<16xi64>, tensor<16xi1>) -> ()
  return
}

// -----

// The same in a loop, whose one stored row stays where it lies: no copy has more than that row.
// CHECK-LABEL: func.func @known_loop(
// CHECK: scf.for
// CHECK: memref.store {{.*}} : memref<6xi64>
// CHECK: %{{.*}}:2 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
func.func @known_loop(%x: memref<1x64xf32, strided<[?, 1]>>, %y: memref<64x32xf32>, %o: memref<16x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %row = bufferization.to_tensor %x : memref<1x64xf32, strided<[?, 1]>> to tensor<1x64xf32>
    %a = tensor.pad %row low[0, 0] high[15, 0] {
    ^bb0(%r: index, %k: index):
      tensor.yield %f0 : f32
    } : tensor<1x64xf32> to tensor<16x64xf32>
    %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
    %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %c : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sums[0, 0] [1, 32] [1, 1] : tensor<16x32xf32> to tensor<1x32xf32>
  %to = memref.subview %o[0, 0] [1, 32] [1, 1] : memref<16x32xf32> to memref<1x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<1x32xf32>, memref<1x32xf32, strided<[32, 1]>>) -> ()
  return
}
