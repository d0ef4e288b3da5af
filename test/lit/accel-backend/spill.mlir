// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-spill -canonicalize 2>&1 | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline="from=spill to=verify-schedule" | FileCheck %s --check-prefix=LOWERED

// 32 KB in a memory of 16 KB: it goes to the chip's memory, and what uses it takes pieces. Sums stay where they are.

// CHECK: k.py:3:7: remark: 'x' of 32768 bytes is in 'dram' and copied in pieces where it is needed: the buffers that are needed at once take 32772 bytes, and 'local' has 16384
// CHECK-LABEL: func.func @sum
// CHECK: %[[FAR:.*]] = accel.alloc {accel.spilled = "the buffers {{.*}}"} : memref<8192xf32, #accel.memory<"dram">>
// CHECK-NEXT: %[[SUM:.*]] = accel.alloc : memref<f32, #accel.memory<"local">>
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[SOURCE:.*]] = memref.subview %arg0[%[[I]]] [1024] [1]
// CHECK: %[[TO:.*]] = memref.subview %[[FAR]][%[[I]]] [1024] [1]
// CHECK: %[[PIECE:.*]] = accel.alloc : memref<1024xf32, #accel.memory<"local">>
// CHECK: accel.copy %[[SOURCE]] to %[[PIECE]] {accel.depth = 1 : i64}
// CHECK: accel.copy %[[PIECE]] to %[[TO]]
// CHECK: linalg.fill {{.*}} outs(%[[SUM]]
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[FROM:.*]] = memref.subview %[[FAR]][%[[J]]] [1024] [1]
// CHECK: %[[OTHER:.*]] = accel.alloc : memref<1024xf32, #accel.memory<"local">>
// CHECK: accel.copy %[[FROM]] to %[[OTHER]]
// CHECK: linalg.reduce { arith.addf } ins(%[[OTHER]] : {{.*}}) outs(%[[SUM]] :
// CHECK: scf.for
// CHECK: accel.copy {{.*}} : (memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, strided<[1], offset: ?>>) -> ()

// LOWERED-LABEL: func.func @sum
// LOWERED: accel.alloc {{{.*}}offset = 0 : i64} : memref<8192xf32, #accel.memory<"dram">>
module attributes {accel.target = "tiny-16kb"} {
func.func @sum(%p: memref<8192xf32, strided<[1], offset: ?>>, %q: memref<f32, strided<[], offset: ?>>)
    attributes {accel.kernel, accel.spill, tilebridge.signature = ["*fp32", "*fp32"]} {
  %zero = arith.constant 0.0 : f32
  %a = accel.alloc : memref<8192xf32, #accel.memory<"local">> loc("x"("k.py":3:7))
  %s = accel.alloc : memref<f32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<8192xf32, strided<[1], offset: ?>>, memref<8192xf32, #accel.memory<"local">>) -> ()
  linalg.fill ins(%zero : f32) outs(%s : memref<f32, #accel.memory<"local">>)
  linalg.reduce { arith.addf } ins(%a : memref<8192xf32, #accel.memory<"local">>) outs(%s : memref<f32, #accel.memory<"local">>) dimensions = [0]
  accel.copy %s to %q : (memref<f32, #accel.memory<"local">>, memref<f32, strided<[], offset: ?>>) -> ()
  accel.copy %a to %p : (memref<8192xf32, #accel.memory<"local">>, memref<8192xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// A box that is loaded into a block with padding, a mask that is far away as well, and one element.

// CHECK-LABEL: func.func @box
// CHECK: scf.for %[[I:.*]] =
// CHECK: arith.subi
// CHECK: accel.copy {{.*}} to {{.*}} low[{{.*}}] pad
// CHECK: memref.load {{.*}} : memref<1xf32, #accel.memory<"local">>

// LOWERED-LABEL: func.func @box
module attributes {accel.target = "grid-1x8"} {
func.func @box(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<f32, strided<[], offset: ?>>, %low: index)
    attributes {accel.kernel, accel.spill, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %zero = arith.constant 0.0 : f32
  %c5 = arith.constant 5 : index
  %a = accel.alloc : memref<131072xf32, #accel.memory<"local">>
  accel.copy %p to %a low [%low] pad %zero : (memref<?xf32, strided<[1], offset: ?>>, memref<131072xf32, #accel.memory<"local">>, index, f32) -> ()
  %x = memref.load %a[%c5] : memref<131072xf32, #accel.memory<"local">>
  memref.store %x, %q[] : memref<f32, strided<[], offset: ?>>
  return
}
}

// -----

// Where everything fits nothing moves, and without the attribute neither.

// CHECK-LABEL: func.func @fits
// CHECK-NOT: dram
// CHECK-LABEL: func.func @not_asked
// CHECK-NOT: dram

// LOWERED-LABEL: func.func @fits
module attributes {accel.target = "tiny-16kb"} {
func.func @fits(%p: memref<64xf32, strided<[1], offset: ?>>) attributes {accel.kernel, accel.spill, tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc : memref<64xf32, #accel.memory<"local">>
  accel.copy %p to %a : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"local">>) -> ()
  return
}
func.func @not_asked(%p: memref<64xf32, strided<[1], offset: ?>>) attributes {tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc : memref<8192xf32, #accel.memory<"local">>
  %b = memref.subview %a[0] [64] [1] : memref<8192xf32, #accel.memory<"local">> to memref<64xf32, strided<[1]>, #accel.memory<"local">>
  accel.copy %p to %b : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1]>, #accel.memory<"local">>) -> ()
  return
}
}

// -----

// Positions in a piece are those in the block, as sums of integers: the lowered form has no affine ops.

// CHECK-LABEL: func.func @positions
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[AT:.*]] = linalg.index 0 : index
// CHECK-NEXT: arith.addi %[[AT]], %[[I]] : index
// CHECK-NOT: affine.apply

// LOWERED-LABEL: func.func @positions
// LOWERED-NOT: affine.apply
module attributes {accel.target = "tiny-16kb"} {
func.func @positions(%p: memref<8192xi32, strided<[1], offset: ?>>)
    attributes {accel.kernel, accel.spill, tilebridge.signature = ["*i32"]} {
  %a = accel.alloc : memref<8192xi32, #accel.memory<"local">>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<8192xi32, #accel.memory<"local">>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i32
    linalg.yield %x : i32
  }
  accel.copy %a to %p : (memref<8192xi32, #accel.memory<"local">>, memref<8192xi32, strided<[1], offset: ?>>) -> ()
  return
}
}
