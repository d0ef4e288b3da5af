// RUN: tilebridge-opt %s --tilebridge-cpu-share-operands --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas bf16-pairs bf16-tiles" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --tilebridge-cpu-share-operands --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s --check-prefix=ONE

// Panels of b that are kept for the next program have fallen out of the second cache before they are read again. While one is
// multiplied with the 11 tiles of 64 rows, each asks for as much of the next one, 6 lines of it with each line of a: in this slot's
// memory, and behind its last panel in the next slot; behind the last slot of a program in the first one, as the next program has.
// CHECK-LABEL: func.func @vectors
// CHECK: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64, tilebridge.kept} : memref<17x2x512x64xf32>
// CHECK: %[[SLOT:.*]] = arith.select %[[HAS_SLOT:.*]], %{{.*}}, %c16
// CHECK: %[[PANELS:.*]] = memref.subview %[[KEPT]][%[[SLOT]], 0, 0, 0]
// CHECK: %[[BEHIND:.*]] = arith.addi %[[SLOT]], %c1
// CHECK: %[[FOLLOWING:.*]] = arith.select %{{.*}}, %c0, %[[BEHIND]]
// CHECK: %[[NEXT_SLOT:.*]] = arith.select %[[HAS_SLOT]], %[[FOLLOWING]], %c16
// CHECK: %[[NEXT_PANELS:.*]] = memref.subview %[[KEPT]][%[[NEXT_SLOT]], 0, 0, 0]
// CHECK: scf.for %[[PANEL:.*]] = %c0 to %c2 step %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[PANEL]], %c1
// CHECK: arith.cmpi slt, %[[NEXT]], %c2
// CHECK: arith.muli %[[NEXT]], %c131072
// CHECK: memref.extract_aligned_pointer_as_index %[[NEXT_PANELS]]
// CHECK: %[[TILE:.*]] = arith.divui %{{.*}}, %c6
// CHECK: %[[OWN:.*]] = arith.muli %[[TILE]], %c11916
// CHECK: arith.addi %{{.*}}, %[[OWN]]
// CHECK: :24 = scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step %c16 iter_args(
// CHECK-COUNT-6: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: %[[TURN:.*]] = arith.divui %[[LINE]], %c16
// CHECK: arith.muli %[[TURN]], %c384
// CHECK-COUNT-6: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: :24 = scf.for %{{.*}} = %[[LINE]]
// CHECK: return
// ONE-LABEL: func.func @vectors
// ONE-NOT: llvm.intr.prefetch
// ONE: return
func.func @vectors(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<64x128xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32>) : i32 {
    %row = arith.addi %i, %x : i32
    %at = arith.index_cast %row : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%at], sizes: [64, 32], strides: [512, 1] : memref<?xf32> to memref<64x32xf32, strided<[512, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<64x32xf32, strided<[512, 1], offset: ?>> to tensor<64x32xf32>
    %column = arith.addi %i, %y : i32
    %from = arith.index_cast %column : i32 to index
    %right = memref.reinterpret_cast %b to offset: [%from], sizes: [32, 128], strides: [128, 1] : memref<?xf32> to memref<32x128xf32, strided<[128, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x128xf32, strided<[128, 1], offset: ?>> to tensor<32x128xf32>
    %d = linalg.matmul ins(%l, %r : tensor<64x32xf32>, tensor<32x128xf32>) outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}

// With AMX, 4 lines in each step of 32 where a block has 256 rows, and so 8 tiles of them.
// CHECK-LABEL: func.func @tiles
// CHECK: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64, tilebridge.kept} : memref<65x2x256x64xi16>
// CHECK: scf.for
// CHECK: "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: "llvm.x86.tilestored64"
// Of 64 rows it were 16, which hold up the loads of tiles.
// CHECK-LABEL: func.func @few_tiles
// CHECK: "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.intr.prefetch
// CHECK: return
func.func @tiles(%a: memref<?xbf16>, %b: memref<?xbf16>, %c: memref<256x64xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<256x64xf32>) : i32 {
    %row = arith.addi %i, %x : i32
    %at = arith.index_cast %row : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%at], sizes: [256, 32], strides: [512, 1] : memref<?xbf16> to memref<256x32xbf16, strided<[512, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<256x32xbf16, strided<[512, 1], offset: ?>> to tensor<256x32xbf16>
    %column = arith.addi %i, %y : i32
    %from = arith.index_cast %column : i32 to index
    %right = memref.reinterpret_cast %b to offset: [%from], sizes: [32, 64], strides: [64, 1] : memref<?xbf16> to memref<32x64xbf16, strided<[64, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x64xbf16, strided<[64, 1], offset: ?>> to tensor<32x64xbf16>
    %d = linalg.matmul ins(%l, %r : tensor<256x32xbf16>, tensor<32x64xbf16>) outs(%acc : tensor<256x64xf32>) -> tensor<256x64xf32>
    scf.yield %d : tensor<256x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<256x64xf32>, memref<256x64xf32>) -> ()
  return
}

func.func @few_tiles(%a: memref<?xbf16>, %b: memref<?xbf16>, %c: memref<64x64xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %row = arith.addi %i, %x : i32
    %at = arith.index_cast %row : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%at], sizes: [64, 32], strides: [512, 1] : memref<?xbf16> to memref<64x32xbf16, strided<[512, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<64x32xbf16, strided<[512, 1], offset: ?>> to tensor<64x32xbf16>
    %column = arith.addi %i, %y : i32
    %from = arith.index_cast %column : i32 to index
    %right = memref.reinterpret_cast %b to offset: [%from], sizes: [32, 64], strides: [64, 1] : memref<?xbf16> to memref<32x64xbf16, strided<[64, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x64xbf16, strided<[64, 1], offset: ?>> to tensor<32x64xbf16>
    %d = linalg.matmul ins(%l, %r : tensor<64x32xbf16>, tensor<32x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
