// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// Only rows that are stored are multiplied; how many is computed before the loop. One row alone has its own tile.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[WANTED:.*]] = arith.minsi %[[M]], %c16
// CHECK: scf.for
// CHECK: arith.cmpi sge, {{.*}}, %[[WANTED]]
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[WANTED]], %c1
// CHECK: scf.if %[[ONE]] {
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK: } else {
// CHECK: %[[END:.*]] = arith.minsi %[[WANTED]], %c16
// CHECK: scf.for %[[ROW:.*]] = %c0 to %[[END]] step %c4
// Rows of a behind the last one need not exist.
// CHECK: %[[LAST:.*]] = arith.addi %[[WANTED]], %c-1
// CHECK: arith.minsi {{.*}}, %[[LAST]]
func.func @rows(%m: index, %a: memref<?x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x16xf32, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pad = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 32] [1, 1] : memref<?x32xf32, strided<[?, 1], offset: ?>> to memref<?x32xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x32xf32, strided<[?, 1], offset: ?>> to tensor<?x32xf32>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %to = memref.subview %out[0, 0] [%size, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x16xf32>, memref<?x16xf32, strided<[16, 1]>>) -> ()
  return
}

// -----

// What else is done with the sums may see all of them.
// CHECK-LABEL: func.func @all
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK-NOT: arith.minsi
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK: llvm.load
func.func @all(%m: index, %a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: i32, %out: memref<?x16xf32>, %other: memref<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %part = tensor.extract_slice %sum[0, 0] [%m, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %to = memref.subview %out[0, 0] [%m, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x16xf32>, memref<?x16xf32, strided<[16, 1]>>) -> ()
  bufferization.materialize_in_destination %sum in writable %other : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// Rows that a mask stores: behind the last one nothing is multiplied.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: %{{.*}}: memref<16xi32>, %[[END:[a-z0-9]*]]: i32
// CHECK: %[[LAST:.*]] = scf.for {{.*}} -> (vector<4xi64>) {
// CHECK: arith.cmpi slt
// CHECK: arith.maxsi
// CHECK: %[[NUMBER:.*]] = vector.reduction <maxsi>, %[[LAST]]
// CHECK: %[[WANTED:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK: arith.cmpi eq, %[[WANTED]], %c1
// CHECK: arith.minsi %[[WANTED]], %c16
#map = affine_map<(d0) -> (d0)>
func.func @masked(%slots: memref<16xi32>, %end: i32, %rows: memref<16xi64>, %a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: i32,
                  %out: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %slot = bufferization.to_tensor %slots : memref<16xi32> to tensor<16xi32>
  %ends = tensor.splat %end : tensor<16xi32>
  %none = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%slot, %ends : tensor<16xi32>, tensor<16xi32>) outs(%none : tensor<16xi1>) {
  ^bb0(%s: i32, %e: i32, %o: i1):
    %less = arith.cmpi slt, %s, %e : i32
    linalg.yield %less : i1
  } -> tensor<16xi1>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %to = bufferization.to_tensor %rows : memref<16xi64> to tensor<16xi64>
  linalg_ext.scatter_rows %sum into %out[%to] dim 0 rowmask %mask : (tensor<16x16xf32>, memref<?x16xf32>, tensor<16xi64>, tensor<16xi1>) -> ()
  return
}
