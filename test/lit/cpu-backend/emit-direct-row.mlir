// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256" --canonicalize --cse | FileCheck %s --check-prefix=SHORT

// Weights are unpacked and scaled: up to four rows that are stored are multiplied with them at once, two steps at a time by an
// instruction for pairs of bf16; more rows with what is packed.
// CHECK-LABEL: func.func @weights
// CHECK: %[[LEAST:.*]] = arith.cmpi sge, %[[WANTED:.*]], %c1 : index
// CHECK: %[[MOST:.*]] = arith.cmpi sle, %[[WANTED]], %c4 : index
// CHECK: %[[FEW:.*]] = arith.andi %[[LEAST]], %[[MOST]] : i1
// CHECK: scf.for
// CHECK: scf.if %[[FEW]] {
// CHECK: %[[ONE:.*]] = arith.cmpi sle, %[[WANTED]], %c1 : index
// CHECK: scf.if %[[ONE]] {
// CHECK: %[[SUMS:.*]]:4 = scf.for %[[STEP:.*]] = %c0 to %c32 step %c2 iter_args
// CHECK: %[[PAIR:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK: arith.sitofp {{.*}} : vector<16xi8> to vector<16xbf16>
// CHECK: arith.addi %[[STEP]], %c1 : index
// CHECK: vector.load {{.*}} vector<16xi8>
// CHECK: arith.sitofp {{.*}} : vector<16xi8> to vector<16xbf16>
// CHECK: vector.interleave {{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: %[[LEFT:.*]] = vector.bitcast %[[ALL]] : vector<16xi32> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[LEFT]], %{{.*}})
// CHECK: } else {
// CHECK: %[[TWO:.*]] = arith.cmpi sle, %[[WANTED]], %c2 : index
// CHECK: scf.if %[[TWO]] {
// CHECK: :8 = scf.for %{{.*}} = %c0 to %c32 step %c2 iter_args
// CHECK: } else {
// CHECK: :16 = scf.for %{{.*}} = %c0 to %c32 step %c2 iter_args
// CHECK: } else {
// CHECK: vector.store
// Without an instruction for pairs of bf16, up to four rows are: rows behind the last one that is wanted are that one.
// SHORT-LABEL: func.func @weights
// SHORT-SAME: %[[M:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: memref<16x64xf32>)
// SHORT: %[[LEAST:.*]] = arith.cmpi sge, %[[WANTED:.*]], %c1 : index
// SHORT: %[[MOST:.*]] = arith.cmpi sle, %[[WANTED]], %c4 : index
// SHORT: %[[FEW:.*]] = arith.andi %[[LEAST]], %[[MOST]] : i1
// SHORT: scf.if %[[FEW]] {
// SHORT: %[[ONE:.*]] = arith.cmpi sle, %[[WANTED]], %c1 : index
// SHORT: scf.if %[[ONE]] {
// SHORT: scf.for %{{.*}} = %c0 to %c64 step %c32
// SHORT: %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// SHORT: vector.load {{.*}} vector<8xi8>
// SHORT: } else {
// SHORT: %[[TWO:.*]] = arith.cmpi sle, %[[WANTED]], %c2 : index
// SHORT: scf.if %[[TWO]] {
// SHORT: } else {
// SHORT: %[[LAST:.*]] = arith.addi %[[WANTED]], %c-1 : index
// SHORT: arith.minsi %[[LAST]], %c1 : index
// SHORT: arith.minsi %[[LAST]], %c3 : index
// SHORT: scf.for %{{.*}} = %c0 to %c64 step %c16
// SHORT: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// SHORT: vector.load {{.*}} vector<8xi8>
func.func @weights(%w: memref<32x64xi8>, %a: memref<16x32xbf16>, %n: i32, %m: index, %out: memref<16x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %i0 = arith.constant 0 : index
  %i16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<32x64xbf16>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xbf16> to tensor<16x32xbf16>
    %bytes = bufferization.to_tensor %w : memref<32x64xi8> to tensor<32x64xi8>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%bytes : tensor<32x64xi8>) outs(%e : tensor<32x64xbf16>) {
    ^bb0(%byte: i8, %o: bf16):
      %number = arith.sitofp %byte : i8 to bf16
      linalg.yield %number : bf16
    } -> tensor<32x64xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xbf16>, tensor<32x64xbf16>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  %some = arith.maxsi %m, %i0 : index
  %size = arith.minsi %some, %i16 : index
  %slice = tensor.extract_slice %sum[0, 0] [%size, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %to = memref.subview %out[0, 0] [%size, 64] [1, 1] : memref<16x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}
