// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-verify-schedule | FileCheck %s
// What pipelines and legalization make is right: slots in turn, parts that wait for the part before, branches that start nothing.

!ptr = memref<?xf32, strided<[1], offset: ?>>
!view = memref<64xf32, strided<[1], offset: ?>>
!slots = memref<2x64xf32, #accel.memory<"local">>
!slot = memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>
// CHECK-LABEL: @slots
func.func @slots(%p: !view {accel.noalias}, %q: !view, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = accel.alloc : !slots
  %zero = memref.subview %a[0, 0] [1, 64] [1, 1] : !slots to memref<64xf32, strided<[1]>, #accel.memory<"local">>
  %any = arith.cmpi slt, %c0, %n : index
  %begin = scf.if %any -> !accel.token {
    %t = accel.copy_start %p to %zero : (!view, memref<64xf32, strided<[1]>, #accel.memory<"local">>) -> !accel.token
    scf.yield %t : !accel.token
  } else {
    %t = accel.completed : !accel.token
    scf.yield %t : !accel.token
  }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%now = %begin) -> !accel.token {
    %own = arith.remui %i, %c2 : index
    %next = arith.addi %i, %c1 : index
    %other = arith.remui %next, %c2 : index
    %s = memref.subview %a[%own, 0] [1, 64] [1, 1] : !slots to !slot
    %o = memref.subview %a[%other, 0] [1, 64] [1, 1] : !slots to !slot
    %more = arith.cmpi slt, %next, %n : index
    %ahead = scf.if %more -> !accel.token {
      %t = accel.copy_start %p to %o : (!view, !slot) -> !accel.token
      scf.yield %t : !accel.token
    } else {
      %t = accel.completed : !accel.token
      scf.yield %t : !accel.token
    }
    accel.wait %now
    accel.copy %s to %q : (!slot, !view) -> ()
    scf.yield %ahead : !accel.token
  }
  accel.wait %last
  return
}

// -----

!rows = memref<8x64xf32, strided<[?, 1], offset: ?>>
!row = memref<1x64xf32, strided<[?, 1], offset: ?>>
!local = memref<8x64xf32, #accel.memory<"local">>
!part = memref<1x64xf32, strided<[64, 1], offset: ?>, #accel.memory<"local">>
// CHECK-LABEL: @parts
module attributes {accel.target = "dma-1d"} {
func.func @parts(%p: !rows) attributes {accel.kernel, accel.legalized} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = accel.alloc {offset = 0 : i64} : !local
  // Not needed at the same time as the other one.
  %b = accel.alloc {offset = 0 : i64} : !local
  %none = accel.completed : !accel.token
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %none) -> !accel.token {
    %from = memref.subview %p[%i, 0] [1, 64] [1, 1] : !rows to !row
    %to = memref.subview %a[%i, 0] [1, 64] [1, 1] : !local to !part
    %t = accel.copy_start %from to %to : (!row, !part) -> !accel.token
    accel.wait %before
    scf.yield %t : !accel.token
  }
  accel.wait %last
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%b : !local)
  return
}
}

// -----

// A part whose size is only known at run time, of a buffer that is too long for one descriptor.

!view = memref<10000xf32, strided<[1], offset: ?>>
!local = memref<10000xf32, #accel.memory<"local">>
!from = memref<?xf32, strided<[1], offset: ?>>
!to = memref<?xf32, strided<[1], offset: ?>, #accel.memory<"local">>
// CHECK-LABEL: @rest
module attributes {accel.target = "dma-1d"} {
func.func @rest(%p: !view) attributes {accel.kernel, accel.legalized} {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %c10000 = arith.constant 10000 : index
  %a = accel.alloc {offset = 0 : i64} : !local
  scf.for %i = %c0 to %c10000 step %c4096 {
    %left = arith.subi %c10000, %i : index
    %size = arith.minsi %left, %c4096 : index
    %s = memref.subview %p[%i] [%size] [1] : !view to !from
    %d = memref.subview %a[%i] [%size] [1] : !local to !to
    accel.copy %s to %d : (!from, !to) -> ()
  }
  return
}
}

// -----

// What is one range is also two dimensions, of which none is too long.

!view = memref<32x64xf32, strided<[64, 1], offset: ?>>
!local = memref<32x64xf32, #accel.memory<"local">>
// CHECK-LABEL: @apart
module attributes {accel.target = "xdna-like"} {
func.func @apart(%p: !view) attributes {accel.kernel, accel.legalized} {
  %a = accel.alloc {offset = 0 : i64} : !local
  accel.copy %p to %a : (!view, !local) -> ()
  return
}
}
