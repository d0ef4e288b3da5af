// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// One branch stores some rows, the other one all: which it will be, and how many, is known before the product.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %[[FEW:[a-z0-9]*]]: i1)
// CHECK: %[[SOME:.*]] = arith.minsi %{{.*}}, %c32
// CHECK: %[[ELSE:.*]] = arith.select %[[FEW]], %c0, %c32
// CHECK: %[[IF:.*]] = arith.select %[[FEW]], %[[SOME]], %c0
// CHECK: %[[END:.*]] = arith.maxsi %[[ELSE]], %[[IF]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[END]], %c32
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c8
func.func @branches(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %o: memref<32x32xf32>, %m: index, %few: i1) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  scf.if %few {
    %some = arith.maxsi %m, %c0 : index
    %size = arith.minsi %some, %c32 : index
    %slice = tensor.extract_slice %c[0, 0] [%size, 32] [1, 1] : tensor<32x32xf32> to tensor<?x32xf32>
    %to = memref.subview %o[0, 0] [%size, 32] [1, 1] : memref<32x32xf32> to memref<?x32xf32, strided<[32, 1]>>
    bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  } else {
    bufferization.materialize_in_destination %c in writable %o : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  }
  return
}

// -----

// A store of all rows that no branch is around: all are multiplied.
// CHECK-LABEL: func.func @all(
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.select
func.func @all(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %o: memref<32x32xf32>, %p: memref<32x32xf32>, %m: index, %few: i1) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  scf.if %few {
    %slice = tensor.extract_slice %c[0, 0] [%m, 32] [1, 1] : tensor<32x32xf32> to tensor<?x32xf32>
    %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<32x32xf32> to memref<?x32xf32, strided<[32, 1]>>
    bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  }
  bufferization.materialize_in_destination %c in writable %p : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// A mask of rows lets elements through to a sum over all rows. It is computed behind the loop, and moves before it, as the
// number behind its last element that is true.
// CHECK-LABEL: func.func @selected(
// CHECK: %[[BITS:.*]] = scf.for {{.*}} iter_args(%{{.*}}) -> (vector<{{.*}}xi64>)
// CHECK: %[[LAST:.*]] = vector.reduction <maxsi>, %[[BITS]]
// CHECK: %[[END:.*]] = arith.index_cast %[[LAST]]
// CHECK: scf.for
// CHECK: %[[ROWS:.*]] = arith.minsi %[[END]], %c32
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c{{.*}}
func.func @selected(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %o: memref<32xf32>, %m: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %init = arith.constant dense<-0.0> : tensor<32xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) {
    %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
    %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
    %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %c : tensor<32x32xf32>
  }
  %e = tensor.empty() : tensor<32xi1>
  %all = tensor.splat %m : tensor<32xi32>
  %mask = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%all : tensor<32xi32>) outs(%e : tensor<32xi1>) {
  ^bb0(%number: i32, %out: i1):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %is = arith.cmpi slt, %j, %number : i32
    linalg.yield %is : i1
  } -> tensor<32xi1>
  %f = tensor.empty() : tensor<32x32xi1>
  %masks = linalg.broadcast ins(%mask : tensor<32xi1>) outs(%f : tensor<32x32xi1>) dimensions = [1]
  %g = tensor.empty() : tensor<32x32xf32>
  %shown = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%masks, %sums : tensor<32x32xi1>, tensor<32x32xf32>) outs(%g : tensor<32x32xf32>) {
  ^bb0(%is: i1, %value: f32, %out: f32):
    %one = arith.select %is, %value, %f0 : f32
    linalg.yield %one : f32
  } -> tensor<32x32xf32>
  %total = linalg.reduce { arith.addf } ins(%shown : tensor<32x32xf32>) outs(%init : tensor<32xf32>) dimensions = [0]
  bufferization.materialize_in_destination %total in writable %o : (tensor<32xf32>, memref<32xf32>) -> ()
  return
}

// -----

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// A mask that what is selected decides upon says nothing, nor does one that chooses between two products for the second one.
// CHECK-LABEL: func.func @not_selected(
// CHECK-NOT: vector.reduction <maxsi>
func.func @not_selected(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %given: memref<32xi8>, %o: memref<32xf32>) {
  %f0 = arith.constant 0.0 : f32
  %i0 = arith.constant 0 : i8
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %init = arith.constant dense<-0.0> : tensor<32xf32>
  %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %bytes = bufferization.to_tensor %given : memref<32xi8> to tensor<32xi8>
  %e = tensor.empty() : tensor<32xi1>
  %mask = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%bytes : tensor<32xi8>) outs(%e : tensor<32xi1>) {
  ^bb0(%byte: i8, %out: i1):
    %is = arith.cmpi ne, %byte, %i0 : i8
    linalg.yield %is : i1
  } -> tensor<32xi1>
  %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  %f = tensor.empty() : tensor<32x32xi1>
  %masks = linalg.broadcast ins(%mask : tensor<32xi1>) outs(%f : tensor<32x32xi1>) dimensions = [1]
  %g = tensor.empty() : tensor<32x32xf32>
  %shown = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%masks, %c : tensor<32x32xi1>, tensor<32x32xf32>) outs(%g : tensor<32x32xf32>) {
  ^bb0(%is: i1, %value: f32, %out: f32):
    %positive = arith.cmpf ogt, %value, %f0 : f32
    %either = arith.ori %is, %positive : i1
    %one = arith.select %either, %value, %f0 : f32
    %two = arith.select %is, %f0, %one : f32
    linalg.yield %two : f32
  } -> tensor<32x32xf32>
  %total = linalg.reduce { arith.addf } ins(%shown : tensor<32x32xf32>) outs(%init : tensor<32xf32>) dimensions = [0]
  bufferization.materialize_in_destination %total in writable %o : (tensor<32xf32>, memref<32xf32>) -> ()
  return
}

// -----

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Rows of tokens and heads are stored by a mask of both and of columns: those of the mask of rows are multiplied.
// CHECK-LABEL: func.func @masked(
// CHECK: %[[BITS:.*]] = scf.for {{.*}} iter_args(%{{.*}}) -> (vector<{{.*}}xi64>)
// CHECK: %[[LAST:.*]] = vector.reduction <maxsi>, %[[BITS]]
// CHECK: %[[END:.*]] = arith.index_cast %[[LAST]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[END]], %c32
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c{{.*}}
func.func @masked(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %given: memref<32xi8>, %columns: memref<32xi8>, %o: memref<8x4x32xf32>) {
  %i0 = arith.constant 0 : i8
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %bytes = bufferization.to_tensor %given : memref<32xi8> to tensor<32xi8>
  %others = bufferization.to_tensor %columns : memref<32xi8> to tensor<32xi8>
  %e = tensor.empty() : tensor<32xi1>
  %rows = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%bytes : tensor<32xi8>) outs(%e : tensor<32xi1>) {
  ^bb0(%byte: i8, %out: i1):
    %is = arith.cmpi ne, %byte, %i0 : i8
    linalg.yield %is : i1
  } -> tensor<32xi1>
  %along = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%others : tensor<32xi8>) outs(%e : tensor<32xi1>) {
  ^bb0(%byte: i8, %out: i1):
    %is = arith.cmpi ne, %byte, %i0 : i8
    linalg.yield %is : i1
  } -> tensor<32xi1>
  %f = tensor.empty() : tensor<32x32xi1>
  %left = linalg.broadcast ins(%rows : tensor<32xi1>) outs(%f : tensor<32x32xi1>) dimensions = [1]
  %right = linalg.broadcast ins(%along : tensor<32xi1>) outs(%f : tensor<32x32xi1>) dimensions = [0]
  %mask = arith.andi %left, %right : tensor<32x32xi1>
  %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  %masks = tensor.expand_shape %mask [[0, 1], [2]] output_shape [8, 4, 32] : tensor<32x32xi1> into tensor<8x4x32xi1>
  %values = tensor.expand_shape %c [[0, 1], [2]] output_shape [8, 4, 32] : tensor<32x32xf32> into tensor<8x4x32xf32>
  linalg_ext.masked_store %values, %o, %masks : (tensor<8x4x32xf32>, memref<8x4x32xf32>, tensor<8x4x32xi1>) -> ()
  return
}

// -----

#id1 = affine_map<(d0) -> (d0)>

// Sums are added to what other programs have summed, by a mask of rows: those are multiplied. Rows of which the mask has none
// are not gone through.
// CHECK-LABEL: func.func @changed(
// CHECK: %[[BITS:.*]] = scf.for {{.*}} iter_args(%{{.*}}) -> (vector<{{.*}}xi64>)
// CHECK: %[[LAST:.*]] = vector.reduction <maxsi>, %[[BITS]]
// CHECK: %[[END:.*]] = arith.index_cast %[[LAST]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[END]], %c32
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c{{.*}}
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<32xi1> into i1
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: scf.while
// CHECK: llvm.cmpxchg
func.func @changed(%x: memref<32x64xf32>, %y: memref<64x32xf32>, %given: memref<32xi8>, %o: memref<?xf32>, %places: memref<32x32xi32>) {
  %i0 = arith.constant 0 : i8
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = bufferization.to_tensor %x : memref<32x64xf32> to tensor<32x64xf32>
  %b = bufferization.to_tensor %y : memref<64x32xf32> to tensor<64x32xf32>
  %bytes = bufferization.to_tensor %given : memref<32xi8> to tensor<32xi8>
  %at = bufferization.to_tensor %places : memref<32x32xi32> to tensor<32x32xi32>
  %c = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  %e = tensor.empty() : tensor<32xi1>
  %rows = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%bytes : tensor<32xi8>) outs(%e : tensor<32xi1>) {
  ^bb0(%byte: i8, %out: i1):
    %is = arith.cmpi ne, %byte, %i0 : i8
    linalg.yield %is : i1
  } -> tensor<32xi1>
  %f = tensor.empty() : tensor<32x32xi1>
  %mask = linalg.broadcast ins(%rows : tensor<32xi1>) outs(%f : tensor<32x32xi1>) dimensions = [1]
  %0 = linalg_ext.atomic_rmw fadd relaxed gpu %o[%at], %c mask %mask : (memref<?xf32>, tensor<32x32xi32>, tensor<32x32xf32>, tensor<32x32xi1>) -> tensor<32x32xf32>
  return
}
