// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas bf16-pairs i16-pairs bf16-tiles i8-tiles" --canonicalize --cse | FileCheck %s

// Columns that go on wait for 4 KiB of each, for up to 64 rows. Up to 2 of these are multiplied by vectors, more by tiles: a is packed, 16 columns are
// loaded where they lie, and what comes out is transposed.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[MAY:.*]] = arith.cmpi sle, %[[M]], %c32
// CHECK: arith.select %[[MAY]], %c1, %c0
// CHECK: scf.for
// CHECK: arith.cmpi uge, %{{.*}}, %c2048
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// Of one iteration up to 4 are.
// CHECK: %[[IS_SHORT:.*]] = arith.cmpi ule, %{{.*}}, %c64 :
// CHECK: %[[MOST:.*]] = arith.select %[[IS_SHORT]], %c4, %c2
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %[[MOST]]
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: llvm.x86.avx512bf16.dpbf16ps.512
// CHECK-NOT: tileloadd64
// CHECK: } else {
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %c16
// CHECK: llvm.x86.ldtilecfg
// CHECK: scf.for %{{.*}} = %c0 to %[[TILES]] step %c1
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<16xi32>
// CHECK-COUNT-64: vector.shuffle {{.*}} vector<16xi32>
// CHECK-COUNT-16: vector.store {{.*}} : memref<2x64x16x16xi32>, vector<16xi32>
// Two tiles of rows with each of columns.
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c64 step %c16
// CHECK: %[[REST:.*]] = arith.remui %[[TILES]], %c2
// CHECK: %[[PAIRS:.*]] = arith.subi %[[TILES]], %[[REST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[PAIRS]] step %c2
// CHECK-COUNT-2: llvm.x86.tilezero
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8,
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8,
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c6_i8, %c4_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8,
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c6_i8, %c5_i8)
// CHECK-COUNT-16: "llvm.intr.prefetch"
// CHECK-COUNT-2: llvm.x86.tilestored64
// One tile of rows has two chains of sums.
// CHECK: scf.for %{{.*}} = %[[PAIRS]] to %[[TILES]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c2
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c6_i8, %c4_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c7_i8, %c5_i8)
// CHECK-COUNT-2: llvm.x86.tilestored64
// CHECK: vector.store {{.*}} : memref<1x2x16x16xf32>, vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[TILES]] step %c1
// CHECK-COUNT-64: vector.shuffle {{.*}} vector<16xf32>
// CHECK-COUNT-16: vector.store {{.*}} : memref<32x64xf32>, vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK: llvm.x86.tilerelease
// More rows, and what is packed, by panels.
// CHECK: llvm.x86.ldtilecfg
// CHECK: llvm.x86.tdpbf16ps
// CHECK: return
func.func @loop(%m: index, %a: memref<32x4096xbf16>, %b: memref<?xbf16>, %n: index, %k: index, %o: memref<32x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<32x64xf32>) {
    %rows = memref.subview %a[0, %i] [32, 64] [1, 1] : memref<32x4096xbf16> to memref<32x64xbf16, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%i], sizes: [64, 64], strides: [1, %n] : memref<?xbf16> to memref<64x64xbf16, strided<[1, ?], offset: ?>>
    %x = bufferization.to_tensor %rows : memref<32x64xbf16, strided<[4096, 1], offset: ?>> to tensor<32x64xbf16>
    %y = bufferization.to_tensor %columns : memref<64x64xbf16, strided<[1, ?], offset: ?>> to tensor<64x64xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<32x64xbf16>, tensor<64x64xbf16>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<32x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<32x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}

// -----

// Without a loop there is too little of a column for tiles: few rows are multiplied by vectors.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %c4
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: llvm.x86.avx512.vpdpbusd.512
// CHECK-NOT: tileloadd64
// CHECK: } else {
// CHECK: llvm.x86.tdpbssd
func.func @single(%m: index, %a: memref<16x64xi8>, %b: memref<64x32xi8, strided<[1, ?], offset: ?>>, %o: memref<16x32xi32>) {
  %zero = arith.constant dense<0> : tensor<16x32xi32>
  %x = bufferization.to_tensor %a : memref<16x64xi8> to tensor<16x64xi8>
  %y = bufferization.to_tensor %b : memref<64x32xi8, strided<[1, ?], offset: ?>> to tensor<64x32xi8>
  %c = linalg.matmul ins(%x, %y : tensor<16x64xi8>, tensor<64x32xi8>) outs(%zero : tensor<16x32xi32>) -> tensor<16x32xi32>
  %slice = tensor.extract_slice %c[0, 0] [%m, 32] [1, 1] : tensor<16x32xi32> to tensor<?x32xi32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xi32> to memref<?x32xi32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xi32>, memref<?x32xi32, strided<[32, 1]>>) -> ()
  return
}
