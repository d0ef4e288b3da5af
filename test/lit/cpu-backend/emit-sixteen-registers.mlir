// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=128" --canonicalize --cse | FileCheck %s --check-prefix=SHORT

// 6 x 2 vectors of sums, and four steps in an iteration of the loop along K: a CPU sees further ahead. Vectors of 128 bits were not measured.
// CHECK-LABEL: func.func @tile
// CHECK: scf.for %{{.*}} = %c0 to %c60 step %c6 {
// CHECK: :12 = scf.for %{{.*}} = %c0 to %c32 step %c4 iter_args(
// CHECK-COUNT-48: arith.mulf {{.*}} : vector<8xf32>
// CHECK: scf.yield
// The last 4 rows are few of all; 32 rows are tiles of 4.
// CHECK: :8 = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(
// CHECK-LABEL: func.func @low
// CHECK: :8 = scf.for %{{.*}} = %c0 to %c32 step %c4 iter_args(
// SHORT-LABEL: func.func @tile
// SHORT: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(
// SHORT-NOT: scf.for %{{.*}} = %c0 to %c32 step %c4
// SHORT-LABEL: func.func @low
func.func @tile(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %out: memref<64x64xf32>) {
  %x = bufferization.to_tensor %a : memref<64x32xf32> to tensor<64x32xf32>
  %y = bufferization.to_tensor %b : memref<32x64xf32> to tensor<32x64xf32>
  %acc = bufferization.to_tensor %out : memref<64x64xf32> to tensor<64x64xf32>
  %c = linalg.matmul ins(%x, %y : tensor<64x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
func.func @low(%a: memref<32x32xf32>, %b: memref<32x64xf32>, %out: memref<32x64xf32>) {
  %x = bufferization.to_tensor %a : memref<32x32xf32> to tensor<32x32xf32>
  %y = bufferization.to_tensor %b : memref<32x64xf32> to tensor<32x64xf32>
  %acc = bufferization.to_tensor %out : memref<32x64xf32> to tensor<32x64xf32>
  %c = linalg.matmul ins(%x, %y : tensor<32x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<32x64xf32>, memref<32x64xf32>) -> ()
  return
}

// -----

// 64 rows that a loop's product reads in place are multiplied with all panels, then those below; of twice as many, all are, and of a product that no loop adds up.
// CHECK-LABEL: func.func @parts
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c256 step %c64 {
// CHECK: memref.subview %{{.*}}[%[[FIRST]], 0] [64, 64] [1, 1]
// CHECK: arith.muli %[[FIRST]],
// CHECK: %[[OUT:.*]] = memref.subview %{{.*}}[%[[FIRST]], 0] [64, 64] [1, 1]
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c60 step %c6 {
// CHECK: :12 = scf.for
// CHECK: vector.store %{{.*}}, %[[OUT]][
// CHECK: return
// CHECK-LABEL: func.func @twice
// CHECK-NOT: step %c64
// CHECK: scf.for %{{.*}} = %c0 to %c126 step %c6 {
// CHECK: return
// CHECK-LABEL: func.func @once
// CHECK-NOT: %c0 to %c256 step %c64
// CHECK: scf.for %{{.*}} = %c0 to %c252 step %c6 {
// CHECK: return
// SHORT-LABEL: func.func @parts
// SHORT-NOT: %c0 to %c256 step %c64
// SHORT: return
func.func @parts(%a: memref<256x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x64xf32, strided<[?, 1], offset: ?>>, %n: i32,
                     %out: memref<256x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %init = tensor.splat %zero : tensor<256x64xf32>
  %sum = scf.for %i = %first to %n step %step iter_args(%acc = %init) -> (tensor<256x64xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<256x32xf32, strided<[?, 1], offset: ?>> to tensor<256x32xf32>
    %y = bufferization.to_tensor %b : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %c = linalg.matmul ins(%x, %y : tensor<256x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<256x64xf32>) -> tensor<256x64xf32>
    scf.yield %c : tensor<256x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<256x64xf32>, memref<256x64xf32>) -> ()
  return
}
func.func @twice(%a: memref<128x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x64xf32, strided<[?, 1], offset: ?>>, %n: i32,
                     %out: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %init = tensor.splat %zero : tensor<128x64xf32>
  %sum = scf.for %i = %first to %n step %step iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<128x32xf32, strided<[?, 1], offset: ?>> to tensor<128x32xf32>
    %y = bufferization.to_tensor %b : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %c = linalg.matmul ins(%x, %y : tensor<128x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %c : tensor<128x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<128x64xf32>, memref<128x64xf32>) -> ()
  return
}
func.func @once(%a: memref<256x32xf32>, %b: memref<32x64xf32>, %out: memref<256x64xf32>) {
  %x = bufferization.to_tensor %a : memref<256x32xf32> to tensor<256x32xf32>
  %y = bufferization.to_tensor %b : memref<32x64xf32> to tensor<32x64xf32>
  %acc = bufferization.to_tensor %out : memref<256x64xf32> to tensor<256x64xf32>
  %c = linalg.matmul ins(%x, %y : tensor<256x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<256x64xf32>) -> tensor<256x64xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<256x64xf32>, memref<256x64xf32>) -> ()
  return
}

// -----

// Two steps of a K of 6, of two rows as well; one of integers.
// CHECK-LABEL: func.func @odd
// CHECK: :8 = scf.for %{{.*}} = %c0 to %c6 step %c2 iter_args(
// CHECK-LABEL: func.func @integers
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(
// CHECK-LABEL: func.func @rows
// CHECK: :4 = scf.for %{{.*}} = %c0 to %c6 step %c2 iter_args(
func.func @odd(%a: memref<4x6xf32>, %b: memref<6x16xf32>, %out: memref<4x16xf32>) {
  %x = bufferization.to_tensor %a : memref<4x6xf32> to tensor<4x6xf32>
  %y = bufferization.to_tensor %b : memref<6x16xf32> to tensor<6x16xf32>
  %acc = bufferization.to_tensor %out : memref<4x16xf32> to tensor<4x16xf32>
  %c = linalg.matmul ins(%x, %y : tensor<4x6xf32>, tensor<6x16xf32>) outs(%acc : tensor<4x16xf32>) -> tensor<4x16xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<4x16xf32>, memref<4x16xf32>) -> ()
  return
}
func.func @integers(%a: memref<64x32xi32>, %b: memref<32x64xi32>, %out: memref<64x64xi32>) {
  %x = bufferization.to_tensor %a : memref<64x32xi32> to tensor<64x32xi32>
  %y = bufferization.to_tensor %b : memref<32x64xi32> to tensor<32x64xi32>
  %acc = bufferization.to_tensor %out : memref<64x64xi32> to tensor<64x64xi32>
  %c = linalg.matmul ins(%x, %y : tensor<64x32xi32>, tensor<32x64xi32>) outs(%acc : tensor<64x64xi32>) -> tensor<64x64xi32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<64x64xi32>, memref<64x64xi32>) -> ()
  return
}
func.func @rows(%a: memref<2x6xf32>, %b: memref<6x16xf32>, %out: memref<2x16xf32>) {
  %x = bufferization.to_tensor %a : memref<2x6xf32> to tensor<2x6xf32>
  %y = bufferization.to_tensor %b : memref<6x16xf32> to tensor<6x16xf32>
  %acc = bufferization.to_tensor %out : memref<2x16xf32> to tensor<2x16xf32>
  %c = linalg.matmul ins(%x, %y : tensor<2x6xf32>, tensor<6x16xf32>) outs(%acc : tensor<2x16xf32>) -> tensor<2x16xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<2x16xf32>, memref<2x16xf32>) -> ()
  return
}
