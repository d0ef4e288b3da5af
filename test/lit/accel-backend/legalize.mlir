// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-legalize -canonicalize | FileCheck %s

// One run is one descriptor, as long as it is no longer than the engine's limit; rows with a stride are one each; and with three
// dimensions there is nothing to do.

// CHECK-LABEL: func.func @runs
// CHECK-SAME: accel.legalized
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} : (memref<64x64xf16, strided<[64, 1], offset: ?>>
// CHECK: scf.for %[[I:.*]] = %c0 to %c8192 step %c4096 {
// CHECK-NEXT: memref.subview %{{.*}}[%[[I]]] [4096] [1]
// CHECK-NEXT: memref.subview %{{.*}}[%[[I]]] [4096] [1]
// CHECK-NEXT: accel.copy
// CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c1 {
// CHECK-NEXT: memref.subview %{{.*}}[%[[J]], 0] [1, 64] [1, 1]
// CHECK-NEXT: memref.subview %{{.*}}[%[[J]], 0] [1, 64] [1, 1]
// CHECK-NEXT: accel.copy %{{[^ ]*}} to %{{[^ ]*}} multicast [1]
module attributes {accel.target = "dma-1d"} {
func.func @runs(%p: memref<64x64xf16, strided<[64, 1], offset: ?>>, %q: memref<8192xf32, strided<[1], offset: ?>>, %r: memref<64x64xf16, strided<[?, 1], offset: ?>>)
    attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp32", "*fp16"]} {
  %a = accel.alloc : memref<64x64xf16, #accel.memory<"local">>
  %b = accel.alloc : memref<8192xf32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<64x64xf16, strided<[64, 1], offset: ?>>, memref<64x64xf16, #accel.memory<"local">>) -> ()
  accel.copy %q to %b : (memref<8192xf32, strided<[1], offset: ?>>, memref<8192xf32, #accel.memory<"local">>) -> ()
  accel.copy %r to %a multicast [1] : (memref<64x64xf16, strided<[?, 1], offset: ?>>, memref<64x64xf16, #accel.memory<"local">>) -> ()
  return
}
}

// -----

// A transfer under way has one token: each row waits for the one before.

// CHECK-LABEL: func.func @token
// CHECK: %[[NONE:.*]] = accel.completed
// CHECK: %[[LAST:.*]] = scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %[[NONE]]) -> (!accel.token) {
// CHECK: %[[NEXT:.*]] = accel.copy_start
// CHECK-NEXT: accel.wait %[[BEFORE]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: accel.wait %[[LAST]]
module attributes {accel.target = "dma-1d"} {
func.func @token(%p: memref<64x64xf16, strided<[?, 1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp16"]} {
  %a = accel.alloc : memref<64x64xf16, #accel.memory<"local">>
  %t = accel.copy_start %p to %a : (memref<64x64xf16, strided<[?, 1], offset: ?>>, memref<64x64xf16, #accel.memory<"local">>) -> !accel.token
  accel.wait %t
  return
}
}

// -----

// Padding by a fill that a full box does not need, into the place of the box; with padding in hardware nothing changes, and
// neither does a box that is known to be full.

// CHECK-LABEL: func.func @padded
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[N]], %c64
// CHECK: scf.if %[[LESS]] {
// CHECK-NEXT: linalg.fill
// CHECK: %[[BOX:.*]] = memref.subview %{{.*}}[%{{.*}}] [%{{.*}}] [1]
// CHECK: accel.copy %{{[^ ]*}} to %[[BOX]] :
// CHECK-NOT: linalg.fill
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} :
module attributes {accel.target = "no-padding"} {
func.func @padded(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<64xf32, strided<[1], offset: ?>>, %l: index, %z: f32) attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64", "fp32"]} {
  %a = accel.alloc : memref<64xf32, #accel.memory<"local">>
  accel.copy %p to %a low [%l] pad %z : (memref<?xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"local">>, index, f32) -> ()
  accel.copy %q to %a pad %z : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"local">>, f32) -> ()
  return
}
}

// -----

// A repeated source: one after the other. The extents of a part are bounded by the block.

// CHECK-LABEL: func.func @repeated
// CHECK: scf.for
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} : (memref<1x64xf16, strided<[0, 1], offset: ?>>
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} : (memref<8x?xf16, strided<[64, 1]
module attributes {accel.target = "tiny-16kb"} {
func.func @repeated(%p: memref<8x64xf16, strided<[0, 1], offset: ?>>, %n: index, %q: memref<8x?xf16, strided<[?, 1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp16", "i64", "*fp16"]} {
  %a = accel.alloc : memref<8x64xf16, #accel.memory<"local">>
  accel.copy %p to %a : (memref<8x64xf16, strided<[0, 1], offset: ?>>, memref<8x64xf16, #accel.memory<"local">>) -> ()
  %s = memref.subview %a[0, 0] [8, %n] [1, 1] : memref<8x64xf16, #accel.memory<"local">> to memref<8x?xf16, strided<[64, 1]>, #accel.memory<"local">>
  accel.copy %s to %q : (memref<8x?xf16, strided<[64, 1]>, #accel.memory<"local">>, memref<8x?xf16, strided<[?, 1], offset: ?>>) -> ()
  return
}
}

// -----

// Without indices: the PE reads them, and rows that are masked off have been filled.

// CHECK-LABEL: func.func @rows
// CHECK: linalg.fill
// CHECK: scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK: %[[M:.*]] = memref.load %{{.*}}[%[[I]]] : memref<16xi1
// CHECK: scf.if %[[M]] {
// CHECK: %[[R:.*]] = memref.load %{{.*}}[%[[I]]] : memref<16xi64
// CHECK: %[[X:.*]] = arith.index_cast %[[R]]
// CHECK: memref.subview %{{.*}}[%[[X]], 0] [1, 32] [1, 1]
// CHECK: memref.subview %{{.*}}[%[[I]], 0] [1, 32] [1, 1]
// CHECK: accel.copy
// CHECK: scf.for
// CHECK: memref.subview %{{.*}}[%{{.*}}, 0] [1, 32] [1, 1]
module attributes {accel.target = "dma-1d"} {
func.func @rows(%p: memref<?x32xf16, strided<[?, 1], offset: ?>>, %z: f16) attributes {accel.kernel, tilebridge.signature = ["*fp16", "fp16"]} {
  %a = accel.alloc : memref<16x32xf16, #accel.memory<"local">>
  %r = accel.alloc : memref<16xi64, #accel.memory<"local">>
  %m = accel.alloc : memref<16xi1, #accel.memory<"local">>
  accel.copy %p to %a rows [%r] dim 0 pad %z mask %m
      : (memref<?x32xf16, strided<[?, 1], offset: ?>>, memref<16x32xf16, #accel.memory<"local">>, memref<16xi64, #accel.memory<"local">>, f16, memref<16xi1, #accel.memory<"local">>) -> ()
  accel.copy %a to %p rows [%r] dim 0 scatter
      : (memref<16x32xf16, #accel.memory<"local">>, memref<?x32xf16, strided<[?, 1], offset: ?>>, memref<16xi64, #accel.memory<"local">>) -> ()
  return
}
}

// -----

// Masked elements where the engine pads nothing: all of the block first. The mask is split with what it is for.

// CHECK-LABEL: func.func @masked
// CHECK: linalg.fill
// CHECK: scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK: memref.subview %{{.*}}[%[[I]], 0] [1, 16] [1, 1] : memref<16x16xf32, strided<[?, 1], offset: ?>>
// CHECK: memref.subview %{{.*}}[%[[I]], 0] [1, 16] [1, 1] : memref<16x16xf32,
// CHECK: %[[M:.*]] = memref.subview %{{.*}}[%[[I]], 0] [1, 16] [1, 1] : memref<16x16xi1,
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} mask %[[M]] :
module attributes {accel.target = "dma-1d"} {
func.func @masked(%p: memref<16x16xf32, strided<[?, 1], offset: ?>>, %z: f32) attributes {accel.kernel, tilebridge.signature = ["*fp32", "fp32"]} {
  %a = accel.alloc : memref<16x16xf32, #accel.memory<"local">>
  %m = accel.alloc : memref<16x16xi1, #accel.memory<"local">>
  accel.copy %p to %a pad %z mask %m
      : (memref<16x16xf32, strided<[?, 1], offset: ?>>, memref<16x16xf32, #accel.memory<"local">>, f32, memref<16x16xi1, #accel.memory<"local">>) -> ()
  return
}
}

// -----

// Rows are scattered in their order: of equal ones the last one wins.

// CHECK-LABEL: func.func @ordered
// CHECK: scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (!accel.token) {
// CHECK: accel.wait %[[BEFORE]]
// CHECK-NEXT: %[[NEXT:.*]] = accel.copy_start
// CHECK-NEXT: scf.yield %[[NEXT]]
module attributes {accel.target = "dma-1d"} {
func.func @ordered(%p: memref<?x32xf16, strided<[?, 1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp16"]} {
  %a = accel.alloc : memref<16x32xf16, #accel.memory<"local">>
  %r = accel.alloc : memref<16xi64, #accel.memory<"local">>
  %t = accel.copy_start %a to %p rows [%r] dim 0 scatter
      : (memref<16x32xf16, #accel.memory<"local">>, memref<?x32xf16, strided<[?, 1], offset: ?>>, memref<16xi64, #accel.memory<"local">>) -> !accel.token
  accel.wait %t
  return
}
}

// -----

// Of a box that is known to be empty only the padding is left.

// CHECK-LABEL: func.func @empty
// CHECK: linalg.fill
// CHECK-NOT: accel.copy
// CHECK: return
module attributes {accel.target = "dma-1d"} {
func.func @empty(%p: memref<?x0xf16, strided<[?, 1], offset: ?>>, %z: f16) attributes {accel.kernel, tilebridge.signature = ["*fp16", "fp16"]} {
  %a = accel.alloc : memref<16x32xf16, #accel.memory<"local">>
  %r = accel.alloc : memref<16xi64, #accel.memory<"local">>
  accel.copy %p to %a rows [%r] dim 0 pad %z
      : (memref<?x0xf16, strided<[?, 1], offset: ?>>, memref<16x32xf16, #accel.memory<"local">>, memref<16xi64, #accel.memory<"local">>, f16) -> ()
  return
}
}

// -----

// What is one range, but a long one, is said as two dimensions; with one that is too long it is not.

// CHECK-LABEL: func.func @apart
// CHECK-NOT: scf.for
// CHECK: accel.copy %{{[^ ]*}} to %{{[^ ]*}} : (memref<32x64xf32, strided<[64, 1], offset: ?>>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: accel.copy
module attributes {accel.target = "xdna-like"} {
func.func @apart(%p: memref<32x64xf32, strided<[64, 1], offset: ?>>, %q: memref<4x1024xf32, strided<[1024, 1], offset: ?>>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %a = accel.alloc : memref<32x64xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<4x1024xf32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<32x64xf32, strided<[64, 1], offset: ?>>, memref<32x64xf32, #accel.memory<"local">>) -> ()
  accel.copy %q to %b : (memref<4x1024xf32, strided<[1024, 1], offset: ?>>, memref<4x1024xf32, #accel.memory<"local">>) -> ()
  return
}
}
