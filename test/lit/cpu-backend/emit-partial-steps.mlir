// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 i16-pairs" --canonicalize --cse | FileCheck %s --check-prefix=QUADS

// Each tap has the first %n of 32 channels: four steps of zeros at most are packed behind them, and the next tap's channels follow
// these. The micro-kernel runs when another whole block has no room.
// CHECK-LABEL: func.func @taps(
// CHECK-DAG: %[[PACKED:.*]] = memref.alloc() {alignment = 64 : i64} : memref<256x16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[FILLED:.*]] = %c0) -> (index)
// CHECK: arith.maxsi %{{.*}}, %c0 : index
// CHECK: %[[UNITS:.*]] = arith.ceildivsi %{{.*}}, %c4
// CHECK: %[[WHOLE:.*]] = arith.muli %[[UNITS]], %c4
// CHECK: %[[OWN:.*]] = arith.minsi %[[WHOLE]], %c32
// CHECK: scf.for %{{.*}} to %[[OWN]] step %c1
// CHECK: vector.store {{.*}}, %[[PACKED]]
// CHECK: scf.for %{{.*}} = %c0 to %[[OWN]] step %c8
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %[[OWN]]
// CHECK: %[[FULL:.*]] = arith.cmpi uge, %[[NEXT]], %c225
// CHECK: %[[DUE:.*]] = arith.ori %[[FULL]], %{{.*}}
// CHECK: %[[TOTAL:.*]] = arith.addi %[[FILLED]], %[[OWN]]
// CHECK: arith.select %[[DUE]], %{{.*}}, %[[TOTAL]]
// CHECK: scf.if %[[DUE]]
func.func @taps(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<?xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %count: index, %n: index) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %high = arith.subi %c32, %n : index
  %sum = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) {
    %box = memref.subview %x[%i, 0] [16, %n] [1, 1]
        : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x?xf32, strided<[1, ?], offset: ?>>
    %view = memref.cast %box : memref<16x?xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
        : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
    %tap = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
    %some = memref.subview %tap[0, 0] [%n, 16] [1, 1] : memref<32x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    %read = bufferization.to_tensor %some : memref<?x16xf32, strided<[16, 1], offset: ?>> to tensor<?x16xf32>
    %r = tensor.pad %read low[0, 0] high[%high, 0] {
    ^bb0(%a: index, %b: index):
      tensor.yield %zero : f32
    } : tensor<?x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// Only the last block of a K has fewer steps: nothing follows it, and blocks are packed as a whole.
// CHECK-LABEL: func.func @last_block(
// CHECK: arith.cmpi uge, %{{.*}}, %c256
func.func @last_block(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<?xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %k: index) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zeros) -> (tensor<16x16xf32>) {
    %left = arith.subi %k, %i : index
    %n = arith.minsi %left, %c32 : index
    %high = arith.subi %c32, %n : index
    %box = memref.subview %x[0, %i] [16, %n] [1, 1]
        : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x?xf32, strided<[1, ?], offset: ?>>
    %view = memref.cast %box : memref<16x?xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
        : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
    %block = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
    %some = memref.subview %block[0, 0] [%n, 16] [1, 1] : memref<32x16xf32, strided<[16, 1], offset: ?>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    %read = bufferization.to_tensor %some : memref<?x16xf32, strided<[16, 1], offset: ?>> to tensor<?x16xf32>
    %r = tensor.pad %read low[0, 0] high[%high, 0] {
    ^bb0(%a: index, %b: index):
      tensor.yield %zero : f32
    } : tensor<?x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// Bytes are 128 too high in b: what is taken off for it are sums of rows of a up to the last step. What is behind that in memory are
// steps of iterations before, or nothing.
// QUADS-LABEL: func.func @bytes(
// QUADS: %[[CORRECTIONS:.*]] = memref.alloc() {{.*}} : memref<16xi32>
// QUADS: %[[REST:.*]] = arith.remui %[[END:.*]], %c64
// QUADS: %[[WHOLE:.*]] = arith.subi %[[END]], %[[REST]]
// QUADS: scf.for {{.*}} = %c0 to %[[WHOLE]] step %c64
// QUADS: llvm.load {{.*}} : !llvm.ptr -> vector<64xi8>
// QUADS: scf.for {{.*}} = %[[WHOLE]] to %[[END]] step %c64
// QUADS: %[[MASK:.*]] = vector.create_mask %[[REST]] : vector<64xi1>
// QUADS: %[[LAST:.*]] = llvm.intr.masked.load {{.*}}, %[[MASK]]
// QUADS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}, %[[LAST]])
// QUADS: memref.store {{.*}}, %[[CORRECTIONS]]
func.func @bytes(%x: memref<?x?xi8, strided<[1, ?], offset: ?>>, %w: memref<?xi8>, %ids: memref<16xi64>, %y: memref<16x16xi32>, %count: index, %n: index) {
  %zero = arith.constant 0 : i8
  %zeros = arith.constant dense<0> : tensor<16x16xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %high = arith.subi %c64, %n : index
  %sum = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zeros) -> (tensor<16x16xi32>) {
    %box = memref.subview %x[%i, 0] [16, %n] [1, 1]
        : memref<?x?xi8, strided<[1, ?], offset: ?>> to memref<16x?xi8, strided<[1, ?], offset: ?>>
    %view = memref.cast %box : memref<16x?xi8, strided<[1, ?], offset: ?>> to memref<?x?xi8, strided<[1, ?], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
        : (memref<?x?xi8, strided<[1, ?], offset: ?>>, tensor<16xi64>, i8) -> tensor<16x64xi8>
    %tap = memref.reinterpret_cast %w to offset: [%i], sizes: [64, 16], strides: [16, 1] : memref<?xi8> to memref<64x16xi8, strided<[16, 1], offset: ?>>
    %some = memref.subview %tap[0, 0] [%n, 16] [1, 1] : memref<64x16xi8, strided<[16, 1], offset: ?>> to memref<?x16xi8, strided<[16, 1], offset: ?>>
    %read = bufferization.to_tensor %some : memref<?x16xi8, strided<[16, 1], offset: ?>> to tensor<?x16xi8>
    %r = tensor.pad %read low[0, 0] high[%high, 0] {
    ^bb0(%a: index, %b: index):
      tensor.yield %zero : i8
    } : tensor<?x16xi8> to tensor<64x16xi8>
    %d = linalg.matmul ins(%l, %r : tensor<16x64xi8>, tensor<64x16xi8>) outs(%acc : tensor<16x16xi32>) -> tensor<16x16xi32>
    scf.yield %d : tensor<16x16xi32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xi32>, memref<16x16xi32>) -> ()
  return
}
