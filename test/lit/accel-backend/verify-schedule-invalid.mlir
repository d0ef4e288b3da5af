// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics -tilebridge-accel-verify-schedule

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @never(%p: !view) attributes {accel.kernel} {
  %a = accel.alloc : !local
  // expected-error@+1 {{starts a transfer that nothing waits for}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @sometimes(%p: !view, %c: i1) attributes {accel.kernel} {
  %a = accel.alloc : !local
  // expected-error@+1 {{starts a transfer that is not waited for on every path}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  scf.if %c {
    // expected-note@+1 {{the token goes here}}
    accel.wait %t
  }
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @twice(%p: !view, %c: i1) attributes {accel.kernel} {
  %a = accel.alloc : !local
  // expected-error@+1 {{starts a transfer that is waited for more than once on a path}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  scf.if %c {
    // expected-note@+1 {{the token goes here}}
    accel.wait %t
  }
  // expected-note@+1 {{the token goes here}}
  accel.wait %t
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @again(%p: !view, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc : !local
  // expected-error@+1 {{starts a transfer that each iteration of a loop waits for}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  // expected-note@+1 {{this loop}}
  scf.for %i = %c0 to %n step %c1 {
    accel.wait %t
  }
  return
}

// -----

// A loop that hands on a token drops it in the end.

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @dropped(%p: !view, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc : !local
  %none = accel.completed : !accel.token
  // expected-error@+1 {{hands on the token of a transfer that nothing waits for}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> !accel.token {
    accel.wait %before
    %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
    scf.yield %t : !accel.token
  }
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @read(%p: !view {accel.noalias}, %q: !view) attributes {accel.kernel} {
  %a = accel.alloc : !local
  // expected-note@+1 {{the transfer starts here}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  // expected-error@+1 {{reads what a transfer under way writes}}
  accel.copy %a to %q : (!local, !view) -> ()
  accel.wait %t
  return
}

// -----

// The token is carried into the next iteration, which writes what is being stored.

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @written(%p: !view, %n: index, %z: f32) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc : !local
  %none = accel.completed : !accel.token
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> !accel.token {
    // expected-error@+1 {{writes what a transfer under way reads}}
    linalg.fill ins(%z : f32) outs(%a : !local)
    accel.wait %before
    // expected-note@+1 {{the transfer starts here}}
    %t = accel.copy_start %a to %p : (!local, !view) -> !accel.token
    scf.yield %t : !accel.token
  }
  accel.wait %last
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @chip(%p: !view, %q: !view, %x: f32, %i: index) attributes {accel.kernel} {
  %a = accel.alloc : !local
  // expected-note@+1 {{the transfer starts here}}
  %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
  // expected-error@+1 {{writes what a transfer under way reads}}
  memref.store %x, %q[%i] : !view
  accel.wait %t
  return
}

// -----

// The store is waited for two iterations later, and there are two buffers.

!view = memref<64xf32, strided<[1], offset: ?>>
!slots = memref<2x64xf32, #accel.memory<"local">>
!slot = memref<64xf32, strided<[1], offset: ?>, #accel.memory<"local">>
func.func @depth(%p: !view, %n: index, %z: f32) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-note@+1 {{this buffer}}
  %a = accel.alloc : !slots
  %none = accel.completed : !accel.token
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %none, %y = %none) -> (!accel.token, !accel.token) {
    %number = arith.remui %i, %c2 : index
    %s = memref.subview %a[%number, 0] [1, 64] [1, 1] : !slots to !slot
    linalg.fill ins(%z : f32) outs(%s : !slot)
    accel.wait %x
    // expected-error@+1 {{starts a transfer that is waited for 2 iterations later, which takes 3 buffers; it has 2}}
    %t = accel.copy_start %s to %p : (!slot, !view) -> !accel.token
    scf.yield %y, %t : !accel.token, !accel.token
  }
  accel.wait %last#0, %last#1
  return
}

// -----

!local = memref<64xf32, #accel.memory<"local">>
module attributes {accel.target = "grid-1x1"} {
func.func @nowhere(%z: f32) attributes {accel.kernel} {
  // expected-error@+1 {{has no place in its memory}}
  %a = accel.alloc : !local
  linalg.fill ins(%z : f32) outs(%a : !local)
  return
}
}

// -----

!local = memref<64xf32, #accel.memory<"local">>
module attributes {accel.target = "grid-1x1"} {
// expected-error@+1 {{has buffers at wrong places in 'local': 64xf32 at 0 and 64xf32 at 128 overlap while both are needed}}
func.func @together(%z: f32) attributes {accel.kernel} {
  %a = accel.alloc {offset = 0 : i64} : !local
  %b = accel.alloc {offset = 128 : i64} : !local
  linalg.fill ins(%z : f32) outs(%a : !local)
  linalg.fill ins(%z : f32) outs(%b : !local)
  linalg.copy ins(%a : !local) outs(%b : !local)
  return
}
}

// -----

!local = memref<64xf32, #accel.memory<"other">>
module attributes {accel.target = "grid-1x1"} {
func.func @unknown(%z: f32) attributes {accel.kernel} {
  // expected-error@+1 {{target 'grid-1x1' has no memory "other"}}
  %a = accel.alloc {offset = 0 : i64} : !local
  linalg.fill ins(%z : f32) outs(%a : !local)
  return
}
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
module attributes {accel.target = "mtia-2i-like"} {
func.func @alone(%p: !view) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %a = accel.alloc {offset = 0 : i64} : !local
  %column = accel.pe_id 1 : index
  %first = arith.cmpi eq, %column, %c0 : index
  // expected-note@+1 {{PEs of the line go different ways here}}
  scf.if %first {
    // expected-error@+1 {{is done by PEs of a line together, but not by all of them}}
    accel.copy %p to %a multicast [1] : (!view, !local) -> ()
    // Of a column, all are here.
    accel.copy %p to %a multicast [0] : (!view, !local) -> ()
  }
  return
}
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
module attributes {accel.target = "mtia-2i-like"} {
func.func @different(%p: !ptr) attributes {accel.kernel} {
  %a = accel.alloc {offset = 0 : i64} : !local
  %column = accel.pe_id 1 : index
  %v = memref.reinterpret_cast %p to offset: [%column], sizes: [64], strides: [1] : !ptr to !view
  // expected-error@+1 {{is a multicast of what differs between PEs of the line}}
  accel.copy %v to %a multicast [1] : (!view, !local) -> ()
  accel.copy %v to %a multicast [0] : (!view, !local) -> ()
  return
}
}

// -----

!view = memref<8x64xf32, strided<[?, 1], offset: ?>>
!local = memref<8x64xf32, #accel.memory<"local">>
module attributes {accel.target = "dma-1d"} {
func.func @large(%p: !view) attributes {accel.kernel, accel.legalized} {
  %a = accel.alloc {offset = 0 : i64} : !local
  // expected-error@+1 {{is more than one descriptor of engine 'dma'}}
  accel.copy %p to %a : (!view, !local) -> ()
  return
}
}

// -----

!view = memref<8192xf32, strided<[1], offset: ?>>
!local = memref<8192xf32, #accel.memory<"local">>
module attributes {accel.target = "dma-1d"} {
func.func @long(%p: !view) attributes {accel.kernel, accel.legalized} {
  %a = accel.alloc {offset = 0 : i64} : !local
  // expected-error@+1 {{is more than one descriptor of engine 'dma'}}
  accel.copy %p to %a : (!view, !local) -> ()
  return
}
}

// -----

// However few there are of the outer dimension, they are more than one run.

!view = memref<?x64xf32, strided<[?, 1], offset: ?>>
!local = memref<8x64xf32, #accel.memory<"local">>
module attributes {accel.target = "dma-1d"} {
func.func @unknown(%p: !view) attributes {accel.kernel, accel.legalized} {
  %a = accel.alloc {offset = 0 : i64} : !local
  // expected-error@+1 {{is more than one descriptor of engine 'dma'}}
  accel.copy %p to %a : (!view, !local) -> ()
  return
}
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "dma-1d"} {
func.func @across(%a: !view, %b: !view) attributes {accel.kernel, accel.legalized} {
  // expected-error@+1 {{no engine of target 'dma-1d' copies from 'dram' to 'dram'}}
  accel.copy %a to %b : (!view, !view) -> ()
  return
}
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
module attributes {accel.target = "dma-1d"} {
func.func @adds(%p: !view) attributes {accel.kernel, accel.legalized} {
  %a = accel.alloc {offset = 0 : i64} : !local
  // expected-error@+1 {{the engine 'dma' does not accumulate 'add'}}
  accel.copy %a to %p accumulate add : (!local, !view) -> ()
  return
}
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @handed_on_sometimes(%p: !view, %n: index, %c: i1) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc : !local
  %none = accel.completed : !accel.token
  // expected-error@+1 {{hands on the token of a transfer that is not waited for on every path}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (!accel.token) {
    accel.wait %before
    %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
    scf.yield %t : !accel.token
  }
  scf.if %c {
    // expected-note@+1 {{the token goes here}}
    accel.wait %last
  }
  return
}

// -----

!view = memref<64xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
func.func @handed_on_again(%p: !view, %n: index) attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc : !local
  %none = accel.completed : !accel.token
  // expected-error@+1 {{hands on the token of a transfer that is waited for more than once on a path}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (!accel.token) {
    accel.wait %before
    %t = accel.copy_start %p to %a : (!view, !local) -> !accel.token
    scf.yield %t : !accel.token
  }
  // expected-note@+1 {{the token goes here}}
  accel.wait %last
  // expected-note@+1 {{the token goes here}}
  accel.wait %last
  return
}
