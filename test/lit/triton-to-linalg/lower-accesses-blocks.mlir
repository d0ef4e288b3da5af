// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file | FileCheck %s

// Hazard 5: only checked dimensions are clamped, on both sides, and what is outside is the padding. In others the view begins at
// the block, which may lie outside of the pointer's sizes.
// CHECK-LABEL: tt.func public @block
// CHECK: %[[B:.*]]:3 = builtin.unrealized_conversion_cast %arg0 : !tt.ptr<tensor<32x64xf16>> to memref<?x?xf16, strided<[?, ?], offset: ?>>, index, index
// CHECK: %{{.*}}, %[[AT:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[B]]#0
// CHECK: %[[ROW:.*]] = arith.muli %[[B]]#1, %[[STRIDES]]#0
// CHECK: %[[FROM:.*]] = arith.addi %[[AT]], %[[ROW]]
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[B]]#0 to offset: [%[[FROM]]], sizes: [32, %[[SIZES]]#1], strides: [%[[STRIDES]]#0, %[[STRIDES]]#1]
// CHECK: %[[D:.*]] = memref.dim %[[VIEW]], %c1
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[B]]#2, %c0
// CHECK: %[[BEFORE:.*]] = arith.subi %[[FIRST]], %[[B]]#2
// CHECK: %[[LOW:.*]] = arith.minsi %[[BEFORE]], %c63
// CHECK: %[[END:.*]] = arith.addi %[[B]]#2, %c64
// CHECK: %[[STOP:.*]] = arith.minsi %[[END]], %[[D]]
// CHECK: %[[PART:.*]] = arith.subi %[[STOP]], %[[FIRST]]
// CHECK: %[[LAST:.*]] = arith.subi %[[D]], %c1
// CHECK: %[[BEGIN:.*]] = arith.minsi %[[FIRST]], %[[LAST]]
// CHECK: %[[N:.*]] = arith.maxsi %[[PART]], %c0
// CHECK: memref.subview %[[VIEW]][0, %[[BEGIN]]] [32, %[[N]]] [1, 1]
// CHECK: %[[USED:.*]] = arith.addi %[[LOW]], %[[N]]
// CHECK: %[[HIGH:.*]] = arith.subi %c64, %[[USED]]
// CHECK: tensor.pad %{{.*}} low[0, %[[LOW]]] high[0, %[[HIGH]]]
// CHECK: tensor.yield %cst
// CHECK: %[[COLUMN:.*]] = arith.muli %[[B]]#2, %[[STRIDES]]#1
// CHECK: %[[BOTH:.*]] = arith.addi %[[FROM]], %[[COLUMN]]
// CHECK: %[[WHOLE:.*]] = memref.reinterpret_cast %[[B]]#0 to offset: [%[[BOTH]]], sizes: [32, 64]
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[WHOLE]]
tt.func public @block(%b: !tt.ptr<tensor<32x64xf16>>) {
  %v = tt.load %b {boundaryCheck = array<i32: 1>, padding = 2 : i32} : !tt.ptr<tensor<32x64xf16>>
  tt.store %b, %v : !tt.ptr<tensor<32x64xf16>>
  tt.return
}

// -----

// A descriptor of one row gives a vector; whether padding is NaN is a value.
// CHECK-LABEL: tt.func public @descriptor
// CHECK: %[[D:.*]]:2 = builtin.unrealized_conversion_cast %arg0 : !tt.tensordesc<1x64xf16> to memref<?x?xf16, strided<[?, ?], offset: ?>>, i1
// CHECK: %[[PAD:.*]] = arith.select %[[D]]#1, %{{.*}}, %{{.*}} : f16
// CHECK: tensor.pad
// CHECK: tensor.yield %[[PAD]]
// CHECK: tt.reshape %{{.*}} : tensor<1x64xf16> -> tensor<64xf16>
// CHECK: tt.reshape %{{.*}} : tensor<64xf16> -> tensor<1x64xf16>
// CHECK: tensor.extract_slice
// CHECK: bufferization.materialize_in_destination
tt.func public @descriptor(%d: !tt.tensordesc<1x64xf16>, %i: i32, %j: i32) {
  %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<1x64xf16> -> tensor<64xf16>
  tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<1x64xf16>, tensor<64xf16>
  tt.return
}

// -----

// A block that begins at a multiple of its size lies behind the tensor's begin or wholly before it: no part of it is moved to the
// right. One of half of that does not.
// CHECK-LABEL: tt.func public @multiple
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[AT]], %c0
// CHECK: %[[END:.*]] = arith.addi %[[AT]], %c64
// CHECK: %[[STOP:.*]] = arith.minsi %[[END]], %{{.*}}
// CHECK: arith.subi %[[STOP]], %[[FIRST]]
// CHECK: tensor.pad %{{.*}} low[0] high[%{{.*}}]
// CHECK: tensor.extract_slice %{{.*}}[0] [%{{.*}}] [1]
// CHECK: %[[LOW:.*]] = arith.minsi %{{.*}}, %c63
// CHECK: tensor.extract_slice %{{.*}}[%[[LOW]]] [%{{.*}}] [1]
tt.func public @multiple(%d: !tt.tensordesc<64xf16>, %i: i32) {
  %c64 = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %from = arith.muli %i, %c64 : i32
  %half = arith.muli %i, %c32 : i32
  %v = tt.descriptor_load %d[%from] : !tt.tensordesc<64xf16> -> tensor<64xf16>
  tt.descriptor_store %d[%from], %v : !tt.tensordesc<64xf16>, tensor<64xf16>
  tt.descriptor_store %d[%half], %v : !tt.tensordesc<64xf16>, tensor<64xf16>
  tt.return
}

// -----

// Rows of a descriptor: those outside are masked off; a column before the tensor shifts what is read.
// CHECK-LABEL: tt.func public @rows
// CHECK: %[[ROWS:.*]] = arith.extsi %arg1
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[ROWS]]
// CHECK: %[[V:.*]] = linalg_ext.gather_rows %{{.*}}[%[[ROWS]]] dim 0 rowmask %[[IN]] other
// CHECK: scf.if
// CHECK: linalg_ext.gather_along %[[V]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[V]]
// CHECK: linalg_ext.scatter_rows %{{.*}} into %{{.*}} dim 0 rowmask
tt.func public @rows(%d: !tt.tensordesc<1x64xf16>, %r: tensor<32xi32>, %j: i32) {
  %v = tt.descriptor_gather %d[%r, %j] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.descriptor_scatter %d[%r, %j], %v : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.return
}

// -----

// A minimum of unsigned elements; one of floats is two of integers.
// CHECK-LABEL: tt.func public @reduce
// CHECK: linalg_ext.atomic_rmw umin relaxed gpu
// CHECK: linalg_ext.atomic_rmw min relaxed gpu
// CHECK: linalg_ext.atomic_rmw umax relaxed gpu
tt.func public @reduce(%d: !tt.tensordesc<8x8xui32>, %f: !tt.tensordesc<8x8xf32>, %i: i32, %v: tensor<8x8xi32>, %w: tensor<8x8xf32>) {
  tt.descriptor_reduce min, %d[%i, %i], %v : !tt.tensordesc<8x8xui32>, tensor<8x8xi32>
  tt.descriptor_reduce min, %f[%i, %i], %w : !tt.tensordesc<8x8xf32>, tensor<8x8xf32>
  tt.return
}

// -----

// Other writers of TTIR have descriptors whose last dimension is not contiguous, seen here or through a branch.
// CHECK-LABEL: tt.func public @strided
// CHECK-NOT: strided<[?, 1]
// CHECK: bufferization.to_tensor %{{.*}} : memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %{{.*}} memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK: tt.return
tt.func public @strided(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i32, %s: i64, %c: i1) {
  %d = tt.make_tensor_descriptor %x, [%m, %m], [%s, %s] : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>
  %e = tt.make_tensor_descriptor %y, [%m, %m], [%s, %s] : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>
  %v = tt.descriptor_load %d[%m, %m] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  %f = arith.select %c, %d, %e : !tt.tensordesc<4x8xf32>
  tt.descriptor_store %f[%m, %m], %v : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>
  tt.return
}
