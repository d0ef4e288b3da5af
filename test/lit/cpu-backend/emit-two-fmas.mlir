// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s --check-prefix=ONE

// 6 x 4 vectors of sums, and two steps in an iteration of the loop along K. A CPU with one multiply-add of such vectors a
// cycle has tiles of 4 x 4, which leave no rows of the block.
// CHECK-LABEL: func.func @tile
// CHECK: %[[SUMS:.*]]:24 = scf.for %{{.*}} = %c0 to %c32 step %c2 iter_args(
// CHECK-COUNT-48: arith.mulf {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0
// The last 4 rows have a tile of their own, which takes little time and shall be little code.
// CHECK: :16 = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(
// ONE-LABEL: func.func @tile
// ONE: :16 = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(
// ONE-NOT: scf.for %{{.*}} = %c0 to %c32
func.func @tile(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %out: memref<64x64xf32>) {
  %x = bufferization.to_tensor %a : memref<64x32xf32> to tensor<64x32xf32>
  %y = bufferization.to_tensor %b : memref<32x64xf32> to tensor<32x64xf32>
  %acc = bufferization.to_tensor %out : memref<64x64xf32> to tensor<64x64xf32>
  %c = linalg.matmul ins(%x, %y : tensor<64x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// -----

// Of 32 rows 24 are 4 tiles of 6; the other 8 are two of 4, not one of 6 and one of 2.
// CHECK-LABEL: func.func @halves
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c6 {
// CHECK: :24 = scf.for
// CHECK: scf.for %{{.*}} = %c24 to %c32 step %c4 {
// CHECK: :16 = scf.for
// CHECK: return
// ONE-LABEL: func.func @halves
func.func @halves(%a: memref<32x32xf32>, %b: memref<32x64xf32>, %out: memref<32x64xf32>) {
  %x = bufferization.to_tensor %a : memref<32x32xf32> to tensor<32x32xf32>
  %y = bufferization.to_tensor %b : memref<32x64xf32> to tensor<32x64xf32>
  %acc = bufferization.to_tensor %out : memref<32x64xf32> to tensor<32x64xf32>
  %c = linalg.matmul ins(%x, %y : tensor<32x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<32x64xf32>, memref<32x64xf32>) -> ()
  return
}

// -----

// Chains of f16 stay what they are: every fourth of 128 steps.
// CHECK-LABEL: func.func @chains
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c4 step %c1 {
// CHECK: :16 = scf.for %{{.*}} = %[[TURN]] to %c128 step %c16 iter_args(
// CHECK-COUNT-64: arith.mulf {{.*}} : vector<16xf32>
// CHECK: scf.yield
func.func @chains(%a: memref<16x128xf16>, %b: memref<128x32xf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x128xf16> to tensor<16x128xf16>
  %y = bufferization.to_tensor %b : memref<128x32xf16> to tensor<128x32xf16>
  %acc = bufferization.to_tensor %out : memref<16x32xf32> to tensor<16x32xf32>
  %c = linalg.matmul {tilebridge.short_sums} ins(%x, %y : tensor<16x128xf16>, tensor<128x32xf16>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// A loop gathers 512 steps along K. For each line of 16 elements of a's rows, which stay where they lie, one of the rows below
// is asked for, into the second cache; and the lines that the sums are stored to, while the first columns' number of steps is done.
// CHECK-LABEL: func.func @deep
// CHECK: memref.alloc() {{.*}} : memref<1x512x64xf32>
// CHECK: :24 = scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step %c16 iter_args(
// CHECK-COUNT-6: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: %[[IS_COLUMN:.*]] = arith.cmpi ult, %[[LINE]], %c64 : index
// CHECK: scf.if %[[IS_COLUMN]] {
// CHECK-COUNT-6: memref.prefetch %{{.*}}[%{{.*}}, %[[LINE]]], write, locality<3>
// CHECK: }
// CHECK: :24 = scf.for %{{.*}} = %[[LINE]] to %{{.*}} step %c2 iter_args(
// CHECK: scf.yield
// ONE-LABEL: func.func @deep
// ONE: memref.alloc() {{.*}} : memref<1x64x64xf32>
// ONE: :16 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 iter_args(
// ONE-NOT: llvm.intr.prefetch
func.func @deep(%a: memref<64x?xf32, strided<[?, 1]>>, %b: memref<?x64xf32, strided<[?, 1]>>, %out: memref<64x64xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %l = memref.subview %a[0, %i] [64, 32] [1, 1] : memref<64x?xf32, strided<[?, 1]>> to memref<64x32xf32, strided<[?, 1], offset: ?>>
    %r = memref.subview %b[%i, 0] [32, 64] [1, 1] : memref<?x64xf32, strided<[?, 1]>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
    %x = bufferization.to_tensor %l : memref<64x32xf32, strided<[?, 1], offset: ?>> to tensor<64x32xf32>
    %y = bufferization.to_tensor %r : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %c = linalg.matmul ins(%x, %y : tensor<64x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %c : tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
