// What the simulator finds wrong with lowered kernels, each where it is.
// RUN: split-file %s %t
// RUN: not tilebridge run %t/poison.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=POISON
// POISON: poison.mlir:[[#]]:[[#]]: error: {{.*}}reads elements of a buffer in 'local' that were never written
// RUN: not tilebridge run %t/arriving.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=ARRIVING
// ARRIVING: arriving.mlir:[[#]]:[[#]]: error: {{.*}}touches elements of a buffer in 'local' that a transfer is writing; wait for its token first
// RUN: not tilebridge run %t/leaving.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=LEAVING
// LEAVING: leaving.mlir:[[#]]:[[#]]: error: {{.*}}writes elements of a buffer in 'local' that a transfer is reading; wait for its token first
// RUN: not tilebridge run %t/twice-written.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=TWICE-WRITTEN
// TWICE-WRITTEN: twice-written.mlir:[[#]]:[[#]]: error: {{.*}}touches elements of a buffer in 'local' that a transfer is writing; wait for its token first
// RUN: not tilebridge run %t/reused.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=REUSED
// REUSED: reused.mlir:[[#]]:[[#]]: error: {{.*}}that another buffer in the same place has overwritten
// RUN: not tilebridge run %t/no-wait.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-WAIT
// NO-WAIT: no-wait.mlir:[[#]]:[[#]]: error: {{.*}}starts a transfer that is never waited for
// RUN: not tilebridge run %t/two-waits.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=TWO-WAITS
// TWO-WAITS: two-waits.mlir:[[#]]:[[#]]: error: {{.*}}waits for a transfer that was waited for before
// RUN: not tilebridge run %t/bounds.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: bounds.mlir:[[#]]:[[#]]: error: {{.*}}reads bytes 96 to 159 of the array of argument 0, which has 128
// RUN: not tilebridge run %t/local-bounds.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=LOCAL-BOUNDS
// LOCAL-BOUNDS: local-bounds.mlir:[[#]]:[[#]]: error: {{.*}}leaves a buffer of 64 bytes in 'local'
// RUN: not tilebridge run %t/box.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=BOX
// BOX: box.mlir:[[#]]:[[#]]: error: {{.*}}copies a box of 16 from {{[0-9]+}} in dimension 0 of a destination of 16
// RUN: not tilebridge run %t/deadlock.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// DEADLOCK: deadlock.mlir:[[#]]:[[#]]: error: {{.*}}deadlock: 1 of 8 PEs wait for what never comes; PE (0, {{[0-9]}}) waits here for accel.barrier, at which 8 PEs meet
// RUN: not tilebridge run %t/multicast-missing.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=MULTICAST-MISSING
// MULTICAST-MISSING: multicast-missing.mlir:[[#]]:[[#]]: error: {{.*}}deadlock: 1 of 8 PEs wait for what never comes; PE (0, {{[0-9]}}) waits here for a multicast that not all PEs of the line take part in
// RUN: not tilebridge run %t/multicast-source.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=MULTICAST-SOURCE
// MULTICAST-SOURCE: multicast-source.mlir:[[#]]:[[#]]: error: {{.*}}takes part in a multicast with another source than PE (0, {{[0-9]}}) does
// RUN: not tilebridge run %t/multicast-order.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=MULTICAST-ORDER
// MULTICAST-ORDER: multicast-order.mlir:[[#]]:[[#]]: error: {{.*}}does not do what the other PEs of its line do as number 1 in turn
// RUN: not tilebridge run %t/no-engine.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-ENGINE
// NO-ENGINE: no-engine.mlir:[[#]]:[[#]]: error: {{.*}}copies from 'dram' to 'dram', which no engine of the target does
// RUN: not tilebridge run %t/too-large.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=TOO-LARGE
// TOO-LARGE: too-large.mlir:[[#]]:[[#]]: error: {{.*}}takes 400000 bytes from byte 0 of the memory 'local', which has 262144
// RUN: not tilebridge run %t/no-memory.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=NO-MEMORY
// NO-MEMORY: no-memory.mlir:[[#]]:[[#]]: error: {{.*}}is in the memory 'near', but the target 'grid-1x8' has no memory of this name
// RUN: not tilebridge run %t/strides.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=STRIDES
// STRIDES: strides.mlir:[[#]]:[[#]]: error: {{.*}}needs more than a descriptor of the engine 'dma' says: 4 dimensions, it has 3
// RUN: not tilebridge run %t/stride-zero.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=STRIDE-ZERO
// STRIDE-ZERO: stride-zero.mlir:[[#]]:[[#]]: error: {{.*}}needs more than a descriptor of the engine 'dma' says: a stride of 0
// RUN: not tilebridge run %t/recursion-limit.mlir --target=accel:grid-1x8 --grid 1 --arg f32[32] 2>&1 | FileCheck %s --check-prefix=RECURSION-LIMIT
// RECURSION-LIMIT: recursion-limit.mlir:[[#]]:[[#]]: error: {{.*}}runs a loop with step 0

//--- poison.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  accel.copy %a to %out : (!local, !view) -> ()
  return
}
//--- arriving.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %t = accel.copy_start %in to %a : (!view, !local) -> !accel.token
  %v = memref.load %a[%c0] : !local
  accel.wait %t
  return
}
//--- leaving.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  linalg.fill ins(%zero : f32) outs(%a : !local)
  %t = accel.copy_start %a to %out : (!local, !view) -> !accel.token
  linalg.fill ins(%zero : f32) outs(%a : !local)
  accel.wait %t
  return
}
//--- twice-written.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %t = accel.copy_start %in to %a : (!view, !local) -> !accel.token
  %u = accel.copy_start %in to %a : (!view, !local) -> !accel.token
  accel.wait %t, %u
  return
}
//--- reused.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc {offset = 64 : i64} : !local
  %b = accel.alloc {offset = 64 : i64} : !local
  linalg.fill ins(%zero : f32) outs(%a : !local)
  linalg.fill ins(%zero : f32) outs(%b : !local)
  accel.copy %a to %out : (!local, !view) -> ()
  return
}
//--- no-wait.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %t = accel.copy_start %in to %a : (!view, !local) -> !accel.token
  return
}
//--- two-waits.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %t = accel.copy_start %in to %a : (!view, !local) -> !accel.token
  accel.wait %t
  accel.wait %t
  return
}
//--- bounds.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %far = memref.reinterpret_cast %x to offset: [24], sizes: [16], strides: [1] : !chip to !view
  accel.copy %far to %a : (!view, !local) -> ()
  return
}
//--- local-bounds.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  linalg.fill ins(%zero : f32) outs(%a : !local)
  %c20 = arith.constant 20 : index
  %v = memref.load %a[%c20] : !local
  return
}
//--- box.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %id = accel.pe_id 1 : index
  %c4 = arith.constant 4 : index
  %low = arith.addi %id, %c4 : index
  accel.copy %in to %a low [%low] pad %zero : (!view, !local, index, f32) -> ()
  return
}
//--- deadlock.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %id = accel.pe_id 1 : index
  %first = arith.cmpi eq, %id, %c0 : index
  scf.if %first {
    accel.barrier [1]
  }
  return
}
//--- multicast-missing.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %id = accel.pe_id 1 : index
  %first = arith.cmpi eq, %id, %c0 : index
  scf.if %first {
    accel.copy %in to %a multicast [1] : (!view, !local) -> ()
  }
  return
}
//--- multicast-source.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %id = accel.pe_id 1 : index
  %mine = memref.reinterpret_cast %x to offset: [%id], sizes: [16], strides: [1] : !chip to !view
  accel.copy %mine to %a multicast [1] : (!view, !local) -> ()
  return
}
//--- multicast-order.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %id = accel.pe_id 1 : index
  %first = arith.cmpi eq, %id, %c0 : index
  scf.if %first {
    accel.copy %in to %a multicast [1] : (!view, !local) -> ()
  } else {
    accel.copy %in to %a multicast [1] : (!view, !local) -> ()
  }
  return
}
//--- no-engine.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  accel.copy %in to %out : (!view, !view) -> ()
  return
}
//--- too-large.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : memref<100000xf32, #accel.memory<"local">>
  return
}
//--- no-memory.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : memref<16xf32, #accel.memory<"near">>
  return
}
//--- strides.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.legalized, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : memref<2x2x2x2xf32, #accel.memory<"local">>
  %box = memref.reinterpret_cast %x to offset: [0], sizes: [2, 2, 2, 2], strides: [9, 5, 3, 1] : !chip to memref<2x2x2x2xf32, strided<[9, 5, 3, 1], offset: ?>>
  accel.copy %box to %a : (memref<2x2x2x2xf32, strided<[9, 5, 3, 1], offset: ?>>, memref<2x2x2x2xf32, #accel.memory<"local">>) -> ()
  return
}
//--- stride-zero.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.legalized, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  %a = accel.alloc : !local
  %box = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [0] : !chip to memref<16xf32, strided<[0], offset: ?>>
  accel.copy %box to %a : (memref<16xf32, strided<[0], offset: ?>>, !local) -> ()
  return
}
//--- recursion-limit.mlir
!chip = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16xf32, strided<[1], offset: ?>>
!local = memref<16xf32, #accel.memory<"local">>
func.func @f(%x: !chip, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : !chip to !view
  %out = memref.reinterpret_cast %x to offset: [16], sizes: [16], strides: [1] : !chip to !view
  scf.for %i = %c0 to %c1 step %c0 {
  }
  return
}
