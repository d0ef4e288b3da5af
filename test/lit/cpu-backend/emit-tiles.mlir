// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs i16-pairs bf16-tiles i8-tiles" --canonicalize --cse | FileCheck %s

// The registers are configured, four of them take sums of 16 x 16, and what is left over of K is none: 32 steps are one product.
// CHECK-LABEL: func.func @bf16
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<32x64xbf16
// CHECK-DAG: %[[SUM0:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[SUM1:.*]] = arith.constant 1 : i8
// CHECK-DAG: %[[SUM2:.*]] = arith.constant 2 : i8
// CHECK-DAG: %[[SUM3:.*]] = arith.constant 3 : i8
// CHECK-DAG: %[[RIGHT0:.*]] = arith.constant 4 : i8
// CHECK-DAG: %[[RIGHT1:.*]] = arith.constant 5 : i8
// CHECK-DAG: %[[LEFT0:.*]] = arith.constant 6 : i8
// CHECK-DAG: %[[LEFT1:.*]] = arith.constant 7 : i8
// CHECK: memref.alloc() {{.*}} : memref<1x32x64xi16>
// CHECK: vector.interleave {{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: %[[CONFIG:.*]] = memref.alloc() {{.*}} : memref<64xi8>
// CHECK: vector.store {{.*}}, %[[CONFIG]]
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: scf.for {{.*}} to %c2
// CHECK: "llvm.x86.tileloadd64"(%[[LEFT0]],
// CHECK: "llvm.x86.tileloadd64"(%[[RIGHT0]],
// CHECK: "llvm.x86.tdpbf16ps"(%[[SUM0]], %[[LEFT0]], %[[RIGHT0]])
// CHECK: "llvm.x86.tileloadd64"(%[[RIGHT1]],
// CHECK: "llvm.x86.tdpbf16ps"(%[[SUM1]], %[[LEFT0]], %[[RIGHT1]])
// CHECK: "llvm.x86.tileloadd64"(%[[LEFT1]],
// CHECK: "llvm.x86.tdpbf16ps"(%[[SUM3]], %[[LEFT1]], %[[RIGHT1]])
// CHECK: "llvm.x86.tdpbf16ps"(%[[SUM2]], %[[LEFT1]], %[[RIGHT0]])
// CHECK-COUNT-4: "llvm.x86.tilestored64"
// CHECK: "llvm.x86.tilerelease"()
func.func @bf16(%a: memref<32x64xbf16, strided<[?, 1], offset: ?>>, %b: memref<64x32xbf16>, %out: memref<32x32xf32>) {
  %x = bufferization.to_tensor %a : memref<32x64xbf16, strided<[?, 1], offset: ?>> to tensor<32x64xbf16>
  %y = bufferization.to_tensor %b : memref<64x32xbf16> to tensor<64x32xbf16>
  %one = arith.constant 1.0 : f32
  %init = tensor.splat %one : tensor<32x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<32x64xbf16>, tensor<64x32xbf16>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

// Half a tile of K, with one tile of sums, which begin at zero and are read from no memory; numbers without a sign.
// CHECK-LABEL: func.func @u8
// CHECK-DAG: %[[SUM:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[RIGHT:.*]] = arith.constant 4 : i8
// CHECK-DAG: %[[LEFT:.*]] = arith.constant 6 : i8
// CHECK-NOT: "llvm.x86.tileloadd64"
// CHECK: "llvm.x86.tilezero"(%[[SUM]])
// CHECK: "llvm.x86.tileloadd64"(%[[LEFT]],
// CHECK: "llvm.x86.tileloadd64"(%[[RIGHT]],
// CHECK: "llvm.x86.tdpbuud"({{.*}}, %[[LEFT]], %[[RIGHT]])
// CHECK-NOT: "llvm.x86.tileloadd64"
func.func @u8(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %out: memref<16x16xi32>) {
  %x = bufferization.to_tensor %a : memref<16x32xi8> to tensor<16x32xi8>
  %y = bufferization.to_tensor %b : memref<32x16xi8> to tensor<32x16xi8>
  %zero = arith.constant 0 : i32
  %init = tensor.splat %zero : tensor<16x16xi32>
  %c = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%x, %y : tensor<16x32xi8>, tensor<32x16xi8>) outs(%init : tensor<16x16xi32>) -> tensor<16x16xi32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x16xi32>, memref<16x16xi32>) -> ()
  return
}

// -----

// Eight rows are no tile.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: tileloadd64
// CHECK: "llvm.x86.avx512.vpdpbusd.512"
func.func @few_rows(%a: memref<8x32xi8>, %b: memref<32x16xi8>, %out: memref<8x16xi32>) {
  %x = bufferization.to_tensor %a : memref<8x32xi8> to tensor<8x32xi8>
  %y = bufferization.to_tensor %b : memref<32x16xi8> to tensor<32x16xi8>
  %zero = arith.constant 0 : i32
  %init = tensor.splat %zero : tensor<8x16xi32>
  %c = linalg.matmul ins(%x, %y : tensor<8x32xi8>, tensor<32x16xi8>) outs(%init : tensor<8x16xi32>) -> tensor<8x16xi32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<8x16xi32>, memref<8x16xi32>) -> ()
  return
}

// -----

// With eight panels each step asks for four lines of a that the next call reads, 512 steps (1 KiB) further on in a row: 16
// steps x 8 panels x 4 lines are 32 rows of 16 lines. Nothing is asked for in the last call, or where a is packed.
// CHECK-LABEL: func.func @wide
// CHECK: %[[NEXT:.*]] = arith.select {{.*}}, %c1024, %c0 : index
// CHECK: %[[AHEAD:.*]] = arith.select {{.*}}, %c0, %[[NEXT]] : index
// CHECK: "llvm.x86.tdpbf16ps"
// CHECK: %[[ASKS:.*]] = arith.cmpi ne, %[[AHEAD]], %c0 : index
// CHECK: scf.if %[[ASKS]] {
// CHECK: arith.divui {{.*}}, %c16
// CHECK: arith.remui {{.*}}, %c16
// CHECK-COUNT-4: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK: "llvm.x86.tilestored64"

// Four panels would ask for eight at once, which hold up the loads of tiles.
// CHECK-LABEL: func.func @less_wide
// CHECK: "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.intr.prefetch
// CHECK: "llvm.x86.tilestored64"
func.func @wide(%a: memref<64x64xbf16, strided<[?, 1], offset: ?>>, %b: memref<64x256xbf16, strided<[?, 1], offset: ?>>, %end: i32, %out: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %from = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %init = tensor.splat %zero : tensor<64x256xf32>
  %sum = scf.for %i = %from to %end step %step iter_args(%acc = %init) -> (tensor<64x256xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<64x64xbf16, strided<[?, 1], offset: ?>> to tensor<64x64xbf16>
    %y = bufferization.to_tensor %b : memref<64x256xbf16, strided<[?, 1], offset: ?>> to tensor<64x256xbf16>
    %c = linalg.matmul ins(%x, %y : tensor<64x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<64x256xf32>) -> tensor<64x256xf32>
    scf.yield %c : tensor<64x256xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64x256xf32>, memref<64x256xf32>) -> ()
  return
}

func.func @less_wide(%a: memref<64x64xbf16, strided<[?, 1], offset: ?>>, %b: memref<64x128xbf16, strided<[?, 1], offset: ?>>, %end: i32, %out: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %from = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %init = tensor.splat %zero : tensor<64x128xf32>
  %sum = scf.for %i = %from to %end step %step iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<64x64xbf16, strided<[?, 1], offset: ?>> to tensor<64x64xbf16>
    %y = bufferization.to_tensor %b : memref<64x128xbf16, strided<[?, 1], offset: ?>> to tensor<64x128xbf16>
    %c = linalg.matmul ins(%x, %y : tensor<64x64xbf16>, tensor<64x128xbf16>) outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
    scf.yield %c : tensor<64x128xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}
