// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas" --canonicalize --cse | FileCheck %s

// Up to 4 rows of bf16 are multiplied with columns where they lie: lanes run along K, two rows share what is converted, and
// the lanes of 8 columns are added up in one tree. More rows are worth a transposed copy.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %{{.*}}, %[[B:[a-z0-9]*]]: memref<64x32xbf16, strided<[1, ?], offset: ?>>
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %c4
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: %[[WHOLE:.*]] = arith.andi %[[M]], %c-2
// CHECK: %[[HAS_REST:.*]] = arith.cmpi ne, %[[WHOLE]], %[[M]]
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c2
// CHECK: %[[DOTS:.*]]:16 = scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.load {{.*}} -> vector<16xbf16>
// CHECK: arith.extf
// CHECK-NOT: llvm.load
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: vector.shuffle %[[DOTS]]#0, %[[DOTS]]#1
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: scf.if %[[HAS_REST]] {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: } else {
// CHECK: vector.store {{.*}} : memref<1x64x32xf32>
func.func @single(%m: index, %a: memref<16x64xbf16>, %b: memref<64x32xbf16, strided<[1, ?], offset: ?>>, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = bufferization.to_tensor %a : memref<16x64xbf16> to tensor<16x64xbf16>
  %y = bufferization.to_tensor %b : memref<64x32xbf16, strided<[1, ?], offset: ?>> to tensor<64x32xbf16>
  %c = linalg.matmul ins(%x, %y : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = math.exp %c : tensor<16x32xf32>
  %slice = tensor.extract_slice %e[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// A loop that only adds products up does the same in each iteration, and asks for the next one's columns meanwhile.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: memref<3xi64>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<3xi64>
// CHECK: %[[ALONE:.*]] = arith.cmpi sle, %[[M]], %c8
// CHECK: scf.for
// CHECK: scf.if %[[ALONE]] {
// CHECK: memref.store {{.*}}, %[[RIGHT]][%c2]
// CHECK: } else {
// CHECK: %[[AHEAD:.*]] = arith.select %{{.*}}, %c0, %c64 : index
// CHECK: arith.muli %[[AHEAD]], %c4
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c64
// CHECK: "llvm.intr.prefetch"
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16
func.func @loop(%m: index, %a: memref<16x64xf32>, %b: memref<64x32xf32, strided<[1, ?], offset: ?>>, %n: index, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %x = bufferization.to_tensor %a : memref<16x64xf32> to tensor<16x64xf32>
    %y = bufferization.to_tensor %b : memref<64x32xf32, strided<[1, ?], offset: ?>> to tensor<64x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// A loop that writes memory copies b when the program reads it.
// CHECK-LABEL: func.func @writes(
// CHECK-NOT: memref<3xi64>
// CHECK-NOT: arith.cmpi sle, %{{.*}}, %c8
// CHECK: return
func.func @writes(%m: index, %a: memref<16x64xf32>, %b: memref<64x32xf32, strided<[1, ?], offset: ?>>, %n: index, %o: memref<16x32xf32>, %p: memref<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %x = bufferization.to_tensor %a : memref<16x64xf32> to tensor<16x64xf32>
    %y = bufferization.to_tensor %b : memref<64x32xf32, strided<[1, ?], offset: ?>> to tensor<64x32xf32>
    memref.store %one, %p[] : memref<f32>
    %d = linalg.matmul ins(%x, %y : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}
