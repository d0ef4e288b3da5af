// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas bf16-pairs i16-pairs byte-lookups bf16-tiles i8-tiles" --canonicalize --cse | FileCheck %s

// Weights of 8 bits are widened to tiles of two steps, while those of the two steps before are multiplied. Up to 2 rows are multiplied as f32.
// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %c2 :
// CHECK: scf.if %[[IS_FEW]] {
// A line of a column is four vectors, which one row has sums for.
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c64 iter_args
// CHECK-COUNT-4: "llvm.intr.prefetch"
// CHECK: llvm.load {{.*}} -> vector<16xbf16>
// CHECK: arith.sitofp {{.*}} vector<16xi8> to vector<16xf32>
// CHECK-NOT: tileloadd64
// CHECK: } else {
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %c16
// CHECK: llvm.x86.ldtilecfg
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c64 step %c16
// The first two steps, before the others.
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<64xi8>
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c2
// CHECK: llvm.x86.tilezero
// CHECK: scf.for %[[STEP:.*]] = %c0 to %[[END:.*]] step %c2
// CHECK: %[[NEXT:.*]] = arith.addi %[[STEP]], %c2
// CHECK: %[[IS_THERE:.*]] = arith.cmpi ult, %[[NEXT]], %[[END]]
// CHECK: scf.if %[[IS_THERE]] {
// CHECK: llvm.load {{.*}} -> vector<64xi8>
// CHECK-COUNT-2: llvm.x86.avx512bf16.cvtne2ps2bf16.512
// CHECK-COUNT-2: vector.store {{.*}} : memref<2x2x16x32xi16>, vector<32xi16>
// CHECK: }
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8,
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c6_i8, %c4_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c6_i8, %c5_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8,
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c7_i8, %c5_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c7_i8, %c4_i8)
// A line of each column that comes next.
// CHECK-COUNT-16: "llvm.intr.prefetch"
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.x86.tilestored64
// CHECK: return
func.func @bytes(%m: index, %a: memref<32x4096xbf16>, %b: memref<?xi8>, %n: index, %k: index, %o: memref<32x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<32x64xf32>) {
    %rows = memref.subview %a[0, %i] [32, 64] [1, 1] : memref<32x4096xbf16> to memref<32x64xbf16, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%i], sizes: [64, 64], strides: [1, %n] : memref<?xi8> to memref<64x64xi8, strided<[1, ?], offset: ?>>
    %x = bufferization.to_tensor %rows : memref<32x64xbf16, strided<[4096, 1], offset: ?>> to tensor<32x64xbf16>
    %y = bufferization.to_tensor %columns : memref<64x64xi8, strided<[1, ?], offset: ?>> to tensor<64x64xi8>
    %d = linalg.matmul ins(%x, %y : tensor<32x64xbf16>, tensor<64x64xi8>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<32x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<32x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}

// -----

// Blocks of 32 steps may end in the middle of a pair: weights are packed.
// CHECK-LABEL: func.func @short_blocks(
// CHECK-NOT: llvm.load {{.*}} -> vector<64xi8>
// CHECK-NOT: memref<2x2x16x32xi16>
// CHECK: llvm.x86.tdpbf16ps
// CHECK: return
func.func @short_blocks(%m: index, %a: memref<32x4096xbf16>, %b: memref<?xf8E5M2>, %n: index, %k: index, %o: memref<32x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<32x64xf32>) {
    %rows = memref.subview %a[0, %i] [32, 32] [1, 1] : memref<32x4096xbf16> to memref<32x32xbf16, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%i], sizes: [32, 64], strides: [1, %n] : memref<?xf8E5M2> to memref<32x64xf8E5M2, strided<[1, ?], offset: ?>>
    %x = bufferization.to_tensor %rows : memref<32x32xbf16, strided<[4096, 1], offset: ?>> to tensor<32x32xbf16>
    %y = bufferization.to_tensor %columns : memref<32x64xf8E5M2, strided<[1, ?], offset: ?>> to tensor<32x64xf8E5M2>
    %d = linalg.matmul ins(%x, %y : tensor<32x32xbf16>, tensor<32x64xf8E5M2>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<32x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<32x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}

// -----

// Rows that are widened are copied before they are packed: up to 48.
// CHECK-LABEL: func.func @bytes_with_bytes(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: arith.cmpi sle, %[[M]], %c48 :
func.func @bytes_with_bytes(%m: index, %a: memref<64x4096xf8E5M2>, %b: memref<?xf8E5M2>, %n: index, %k: index, %o: memref<64x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %rows = memref.subview %a[0, %i] [64, 64] [1, 1] : memref<64x4096xf8E5M2> to memref<64x64xf8E5M2, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%i], sizes: [64, 64], strides: [1, %n] : memref<?xf8E5M2> to memref<64x64xf8E5M2, strided<[1, ?], offset: ?>>
    %x = bufferization.to_tensor %rows : memref<64x64xf8E5M2, strided<[4096, 1], offset: ?>> to tensor<64x64xf8E5M2>
    %y = bufferization.to_tensor %columns : memref<64x64xf8E5M2, strided<[1, ?], offset: ?>> to tensor<64x64xf8E5M2>
    %d = linalg.matmul ins(%x, %y : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<64x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}

// -----

// A product that no loop adds up, with a block of 128 steps: tiles are worth transposing its sums for up to 16 rows.
// CHECK-LABEL: func.func @alone(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %c2
// CHECK: scf.if %[[IS_FEW]] {
// CHECK-NOT: tileloadd64
// CHECK: } else {
// CHECK: llvm.x86.ldtilecfg
// CHECK: llvm.x86.tdpbf16ps
// CHECK-COUNT-64: vector.shuffle {{.*}} vector<16xf32>
// CHECK: llvm.x86.tilerelease
func.func @alone(%m: index, %a: memref<16x128xbf16>, %b: memref<64x128xf8E4M3FN>, %o: memref<16x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %x = bufferization.to_tensor %a : memref<16x128xbf16> to tensor<16x128xbf16>
  %y = bufferization.to_tensor %b : memref<64x128xf8E4M3FN> to tensor<64x128xf8E4M3FN>
  %sum = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
      ins(%x, %y : tensor<16x128xbf16>, tensor<64x128xf8E4M3FN>) outs(%zero : tensor<16x64xf32>) -> tensor<16x64xf32>
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<16x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}
