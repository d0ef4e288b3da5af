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

// -----

// exp(-inf - m) is 0 or, in all rows of a column alike, NaN; and the weights are stored as far as there are rows.
// CHECK-LABEL: func.func @weights_of_columns(
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c1024
// CHECK: scf.for %{{.*}} = %c0 to %[[LAST]] step %c1
// CHECK: math.exp
func.func @weights_of_columns(%x: memref<?xf32, strided<[1], offset: ?>>, %m: memref<64xf32>, %o: memref<1024x64xf32>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
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
  %y = bufferization.to_tensor %m : memref<64xf32> to tensor<64xf32>
  %empty = tensor.empty() : tensor<1024x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%padded, %y : tensor<1024x64xf32>, tensor<64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024x64xf32>
  %init = arith.constant dense<-0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  %w = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %r : tensor<1024x64xf32>, tensor<64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024x64xf32>
  %slice = tensor.extract_slice %w[0, 0] [%size, 64] [1, 1] : tensor<1024x64xf32> to tensor<?x64xf32>
  %place = memref.subview %o[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %place : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}

// -----

// All weights are stored.
// CHECK-LABEL: func.func @all_stored(
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c1
// CHECK: math.exp
func.func @all_stored(%x: memref<?xf32, strided<[1], offset: ?>>, %m: memref<64xf32>, %o: memref<1024x64xf32>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
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
  %y = bufferization.to_tensor %m : memref<64xf32> to tensor<64xf32>
  %empty = tensor.empty() : tensor<1024x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%padded, %y : tensor<1024x64xf32>, tensor<64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024x64xf32>
  %init = arith.constant dense<-0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  %w = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %r : tensor<1024x64xf32>, tensor<64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024x64xf32>
  bufferization.materialize_in_destination %w in writable %o : (tensor<1024x64xf32>, memref<1024x64xf32>) -> ()
  return
}

// -----

// Of rows that each subtract numbers of their own, some may be NaN and others not.
// CHECK-LABEL: func.func @each_its_own(
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c1
// CHECK: math.exp
func.func @each_its_own(%x: memref<?xf32, strided<[1], offset: ?>>, %m: memref<1024x64xf32>, %o: memref<1024x64xf32>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %outside = arith.constant 0xFF800000 : f32
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
  %y = bufferization.to_tensor %m : memref<1024x64xf32> to tensor<1024x64xf32>
  %empty = tensor.empty() : tensor<1024x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%padded, %y : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<1024x64xf32>
  %init = arith.constant dense<-0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%v : tensor<1024x64xf32>) outs(%init : tensor<64xf32>) dimensions = [0]
  %w = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (e)>, affine_map<(d, e) -> (d, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %r : tensor<1024x64xf32>, tensor<64xf32>) outs(%empty : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<1024x64xf32>
  %slice = tensor.extract_slice %w[0, 0] [%size, 64] [1, 1] : tensor<1024x64xf32> to tensor<?x64xf32>
  %place = memref.subview %o[0, 0] [%size, 64] [1, 1] : memref<1024x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %place : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}
