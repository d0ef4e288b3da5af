// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-allocate | FileCheck %s

// The second buffer is needed after the first one was read last, and takes its place; what is used together is apart.

// CHECK-LABEL: func.func @reuse
// CHECK: accel.alloc {offset = 8192 : i64} : memref<2048xf32
// CHECK: accel.alloc {offset = 0 : i64} : memref<2048xf32
// CHECK: accel.alloc {offset = 8192 : i64} : memref<2048xf32
module attributes {accel.target = "tiny-16kb"} {
func.func @reuse(%p: memref<2048xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  %c = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
  linalg.exp ins(%a : memref<2048xf32, #accel.memory<"local">>) outs(%b : memref<2048xf32, #accel.memory<"local">>)
  linalg.exp ins(%b : memref<2048xf32, #accel.memory<"local">>) outs(%c : memref<2048xf32, #accel.memory<"local">>)
  accel.copy %c to %p : (memref<2048xf32, #accel.memory<"local">>, memref<2048xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// A transfer goes on until it is waited for, through a view and a token that a branch yields: %b is not on top of %a.

// CHECK-LABEL: func.func @under_way
// CHECK: accel.alloc {offset = 0 : i64} : memref<2048xf32
// CHECK: accel.alloc {offset = 8192 : i64} : memref<1024xf32
module attributes {accel.target = "tiny-16kb"} {
func.func @under_way(%p: memref<1024xf32, strided<[1], offset: ?>>, %c: i1) attributes {accel.kernel, tilebridge.signature = ["*fp32", "i1"]} {
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  %half = memref.subview %a[1024] [1024] [1] : memref<2048xf32, #accel.memory<"local">> to memref<1024xf32, strided<[1], offset: 1024>, #accel.memory<"local">>
  %t = scf.if %c -> !accel.token {
    %s = accel.copy_start %p to %half : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, strided<[1], offset: 1024>, #accel.memory<"local">>) -> !accel.token
    scf.yield %s : !accel.token
  } else {
    %s = accel.completed : !accel.token
    scf.yield %s : !accel.token
  }
  accel.copy %p to %b : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> ()
  accel.wait %t
  return
}
}

// -----

// Two buffers in turn: both, and the sum, are needed in all of the loop although each is only used in a part of it. What
// is behind the loop may lie on top.

// CHECK-LABEL: func.func @in_turn
// CHECK: accel.alloc {offset = 4096 : i64} : memref<1024xf32
// CHECK: accel.alloc {offset = 8192 : i64} : memref<1024xf32
// CHECK: accel.alloc {offset = 0 : i64} : memref<1024xf32
// CHECK: accel.alloc {offset = 0 : i64} : memref<2048xf32
module attributes {accel.target = "tiny-16kb"} {
func.func @in_turn(%p: memref<1024xf32, strided<[1], offset: ?>>, %q: memref<2048xf32, strided<[1], offset: ?>>, %n: index) attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  %sum = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32, #accel.memory<"local">>)
  %t = accel.copy_start %p to %a : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> !accel.token
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %u = %t)
      -> (memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, #accel.memory<"local">>, !accel.token) {
    %v = accel.copy_start %p to %y : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> !accel.token
    accel.wait %u
    linalg.add ins(%x, %sum : memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, #accel.memory<"local">>) outs(%sum : memref<1024xf32, #accel.memory<"local">>)
    scf.yield %y, %x, %v : memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, #accel.memory<"local">>, !accel.token
  }
  accel.wait %r#2
  accel.copy %sum to %p : (memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  %late = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  accel.copy %q to %late : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
  return
}
}

// -----

// In each step the sum begins anew, and the result is on top of the operands: their allocations go into the loop.
// 256 x 256 x 64: A and B twice, C, and nothing is left.

// CHECK-LABEL: func.func @full
// CHECK: scf.for
// CHECK: accel.alloc {offset = 0 : i64} : memref<256x256xf32
// CHECK: accel.alloc {offset = 262144 : i64} : memref<4x256x64xf16
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: accel.alloc {offset = 262144 : i64} : memref<256x256xf16
// CHECK: linalg.generic
module attributes {accel.target = "mtia-2i-like"} {
func.func @full(%p: memref<4x256x64xf16, strided<[16384, 64, 1], offset: ?>>, %q: memref<256x256xf16, strided<[256, 1], offset: ?>>, %n: index) attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp16", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %c = accel.alloc : memref<256x256xf32, #accel.memory<"local">>
  %ab = accel.alloc : memref<4x256x64xf16, #accel.memory<"local">>
  %r = accel.alloc : memref<256x256xf16, #accel.memory<"local">>
  scf.for %step = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%c : memref<256x256xf32, #accel.memory<"local">>)
    accel.copy %p to %ab : (memref<4x256x64xf16, strided<[16384, 64, 1], offset: ?>>, memref<4x256x64xf16, #accel.memory<"local">>) -> ()
    scf.for %k = %c0 to %n step %c1 {
      %a = memref.subview %ab[0, 0, 0] [1, 256, 64] [1, 1, 1] : memref<4x256x64xf16, #accel.memory<"local">> to memref<256x64xf16, strided<[64, 1]>, #accel.memory<"local">>
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %a : memref<256x64xf16, strided<[64, 1]>, #accel.memory<"local">>, memref<256x64xf16, strided<[64, 1]>, #accel.memory<"local">>)
          outs(%c : memref<256x256xf32, #accel.memory<"local">>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %0 = arith.extf %x : f16 to f32
        %1 = arith.addf %0, %z : f32
        linalg.yield %1 : f32
      }
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%c : memref<256x256xf32, #accel.memory<"local">>) outs(%r : memref<256x256xf16, #accel.memory<"local">>) {
    ^bb0(%x: f32, %y: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    }
    accel.copy %r to %q : (memref<256x256xf16, #accel.memory<"local">>, memref<256x256xf16, strided<[256, 1], offset: ?>>) -> ()
  }
  return
}
}

// -----

// A buffer that is read through a view made in a loop is needed until the loop ends: what the loop writes is elsewhere.

// CHECK-LABEL: func.func @view_in_loop
// CHECK: accel.alloc {offset = 0 : i64} : memref<1024xf32
// CHECK: accel.alloc {offset = 4096 : i64} : memref<1024xf32
module attributes {accel.target = "tiny-16kb"} {
func.func @view_in_loop(%p: memref<1024xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %a = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  %b = accel.alloc : memref<1024xf32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> ()
  scf.for %i = %c0 to %c1024 step %c64 {
    %x = memref.subview %a[%i] [64] [1] : memref<1024xf32, #accel.memory<"local">> to memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>
    %y = memref.subview %b[%i] [64] [1] : memref<1024xf32, #accel.memory<"local">> to memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>
    linalg.exp ins(%x : memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>) outs(%y : memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>)
  }
  accel.copy %b to %p : (memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}
}
