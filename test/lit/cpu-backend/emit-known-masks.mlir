// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// The mask of a selection is that of the load: lanes inside of the load's box do not compute it, those at its end do.
// CHECK-LABEL: func.func @same(
// CHECK: scf.for
// CHECK: vector.load
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK: vector.store
// CHECK: scf.for
// CHECK: arith.cmpi sgt, {{.*}} : vector<
// CHECK: arith.select
func.func @same(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %from: i32, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %start = arith.index_cast %from : i32 to index
  %end = arith.index_cast %n : i32 to index
  %left = arith.subi %end, %start : index
  %some = arith.maxsi %left, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%start], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %starts = tensor.splat %from : tensor<1024xi32>
  %ends = tensor.splat %n : tensor<1024xi32>
  %at = arith.addi %starts, %range : tensor<1024xi32>
  %mask = arith.cmpi sgt, %ends, %at : tensor<1024xi32>
  %ones = tensor.splat %one : tensor<1024xf32>
  %y = arith.select %mask, %padded, %ones : tensor<1024xi1>, tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [%c0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Other numbers: another end, another start, and a comparison that the box does not decide.
// CHECK-LABEL: func.func @other(
// CHECK: scf.for
// CHECK: vector.load
// CHECK-COUNT-3: arith.cmpi {{.*}} : vector<
// CHECK: vector.store
func.func @other(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %from: i32, %n: i32, %m: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %start = arith.index_cast %from : i32 to index
  %end = arith.index_cast %n : i32 to index
  %left = arith.subi %end, %start : index
  %some = arith.maxsi %left, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%start], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %box = memref.subview %in[0] [%size] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %rest = arith.subi %c1024, %size : index
  %padded = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %starts = tensor.splat %from : tensor<1024xi32>
  %ends = tensor.splat %n : tensor<1024xi32>
  %others = tensor.splat %m : tensor<1024xi32>
  %at = arith.addi %starts, %range : tensor<1024xi32>
  %elsewhere = arith.addi %others, %range : tensor<1024xi32>
  %mask = arith.cmpi slt, %at, %others : tensor<1024xi32>
  %mask1 = arith.cmpi slt, %elsewhere, %ends : tensor<1024xi32>
  %mask2 = arith.cmpi ult, %at, %ends : tensor<1024xi32>
  %ones = tensor.splat %one : tensor<1024xf32>
  %y0 = arith.select %mask, %padded, %ones : tensor<1024xi1>, tensor<1024xf32>
  %y1 = arith.select %mask1, %y0, %ones : tensor<1024xi1>, tensor<1024xf32>
  %y2 = arith.select %mask2, %y1, %ones : tensor<1024xi1>, tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [%c0], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %y2 in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Sums of a range are no range, also where they are computed in the store's loop.
// CHECK-LABEL: func.func @sums(
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<32xi32>
// CHECK: %[[ROW:.*]] = vector.load {{.*}} vector<32xf32>
// CHECK: arith.select %[[MASK]], %[[ROW]]
// CHECK: vector.store
func.func @sums(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %end = arith.index_cast %n : i32 to index
  %some = arith.maxsi %end, %c0 : index
  %size = arith.minsi %some, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%c0], sizes: [%size], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %part = bufferization.to_tensor %in : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %empty = tensor.splat %zero : tensor<1024xf32>
  %row = tensor.insert_slice %part into %empty[0] [%size] [1] : tensor<?xf32> into tensor<1024xf32>
  %ints = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%ints : tensor<1024xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<1024xi32>
  %sums = linalg_ext.scan(%range) dimension = 0 {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    linalg_ext.yield %sum : i32
  } : (tensor<1024xi32>) -> tensor<1024xi32>
  %ends = tensor.splat %n : tensor<1024xi32>
  %mask = arith.cmpi slt, %sums, %ends : tensor<1024xi32>
  %ones = tensor.splat %one : tensor<1024xf32>
  %y = arith.select %mask, %row, %ones : tensor<1024xi1>, tensor<1024xf32>
  %stored = tensor.extract_slice %y[0] [%size] [1] : tensor<1024xf32> to tensor<?xf32>
  %out = memref.reinterpret_cast %o to offset: [%c0], sizes: [%size], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %stored in writable %out : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}
