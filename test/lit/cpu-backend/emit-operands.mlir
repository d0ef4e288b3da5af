// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// An operand of a product that may lie partly outside is copied where it does: in one masked loop, in the order in
// which it lies, so that nothing is gathered, and what reads either knows that its columns are contiguous.
// CHECK-LABEL: func.func @padded_columns
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<1024xf32>
// CHECK: scf.if
// CHECK-NEXT: } else {
// CHECK: scf.for
// CHECK: scf.for {{.*}} step %c8 {
// CHECK-NEXT: arith.subi
// CHECK-NEXT: vector.create_mask
// CHECK: vector.maskedload {{.*}} into vector<8xf32>
// CHECK-NEXT: arith.addi
// CHECK-NEXT: vector.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK: arith.select {{.*}} : memref<32x32xf32, strided<[1, ?], offset: ?>>
// CHECK-NOT: vector.gather
// CHECK-NOT: arith.cmpi eq
// CHECK: return
func.func @padded_columns(%a: memref<32x32xf32>, %b: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index) {
  %zero = arith.constant 0.0 : f32
  %c32 = arith.constant 32 : index
  %h = arith.subi %c32, %n : index
  %view = memref.reinterpret_cast %b to offset: [0], sizes: [32, 32], strides: [%stride, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %box = memref.subview %view[0, 0] [%n, 32] [1, 1]
      : memref<32x32xf32, strided<[?, 1], offset: ?>> to memref<?x32xf32, strided<[?, 1], offset: ?>>
  %in = bufferization.to_tensor %box : memref<?x32xf32, strided<[?, 1], offset: ?>> to tensor<?x32xf32>
  %rows = tensor.pad %in low[0, 0] high[%h, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x32xf32> to tensor<32x32xf32>
  %empty = tensor.empty() : tensor<32x32xf32>
  %columns = linalg.transpose ins(%rows : tensor<32x32xf32>) outs(%empty : tensor<32x32xf32>) permutation = [1, 0]
  %left = bufferization.to_tensor %a : memref<32x32xf32> to tensor<32x32xf32>
  %init = tensor.splat %zero : tensor<32x32xf32>
  %c = linalg.matmul ins(%left, %columns : tensor<32x32xf32>, tensor<32x32xf32>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %c in writable %a : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

// What is outside of a descriptor's array is one of two numbers, which only the copy asks for: vectors of it are no
// affair of the loops around it.
// CHECK-LABEL: func.func @either_pad
// CHECK-SAME: %[[PAD:[a-z0-9]*]]: bf16,
// CHECK: scf.if
// CHECK-NEXT: } else {
// CHECK: %[[BITS:.*]] = arith.bitcast %[[PAD]] : bf16 to i16
// CHECK: %[[WORD:.*]] = arith.extui %[[BITS]] : i16 to i64
// CHECK: %[[HIDDEN:.*]] = llvm.inline_asm has_side_effects "", "=r,0" %[[WORD]] : (i64) -> i64
// CHECK: %[[HALF:.*]] = arith.trunci %[[HIDDEN]] : i64 to i16
// CHECK: %[[OWN:.*]] = arith.bitcast %[[HALF]] : i16 to bf16
// CHECK: vector.broadcast %[[OWN]]
// CHECK: vector.maskedload
func.func @either_pad(%a: memref<32x32xbf16>, %b: memref<?xbf16, strided<[1], offset: ?>>, %n: index, %stride: index, %pad: bf16, %out: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c32 = arith.constant 32 : index
  %h = arith.subi %c32, %n : index
  %view = memref.reinterpret_cast %b to offset: [0], sizes: [32, 32], strides: [%stride, 1]
      : memref<?xbf16, strided<[1], offset: ?>> to memref<32x32xbf16, strided<[?, 1], offset: ?>>
  %box = memref.subview %view[0, 0] [%n, 32] [1, 1]
      : memref<32x32xbf16, strided<[?, 1], offset: ?>> to memref<?x32xbf16, strided<[?, 1], offset: ?>>
  %in = bufferization.to_tensor %box : memref<?x32xbf16, strided<[?, 1], offset: ?>> to tensor<?x32xbf16>
  %rows = tensor.pad %in low[0, 0] high[%h, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : bf16
  } : tensor<?x32xbf16> to tensor<32x32xbf16>
  %left = bufferization.to_tensor %a : memref<32x32xbf16> to tensor<32x32xbf16>
  %init = tensor.splat %zero : tensor<32x32xf32>
  %c = linalg.matmul ins(%left, %rows : tensor<32x32xbf16>, tensor<32x32xbf16>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<32x32xf32>, memref<32x32xf32>) -> ()
  return
}
