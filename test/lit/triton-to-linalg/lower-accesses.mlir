// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file | FileCheck %s

// A prefix mask: low stays the constant 0, the view's stride the constant 1.
// CHECK-LABEL: tt.func public @prefix
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
// CHECK: %[[PID:.*]] = tt.get_program_id x
// CHECK: %[[START:.*]] = arith.muli %[[PID]]
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %[[X]] : !tt.ptr<f32> to memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[O:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[M]] to offset: [%[[O]]], sizes: [64], strides: [1] : {{.*}} to memref<64xf32, strided<[1], offset: ?>>
// CHECK: %[[NI:.*]] = arith.index_cast %[[N]]
// CHECK: %[[D:.*]] = arith.subi %[[NI]], %[[O]] : index
// CHECK: %[[D0:.*]] = arith.maxsi %[[D]], %c0
// CHECK: %[[K:.*]] = arith.minsi %[[D0]], %c64
// CHECK: %[[BOX:.*]] = memref.subview %[[VIEW]][0] [%[[K]]] [1]
// CHECK: %[[IN:.*]] = bufferization.to_tensor %[[BOX]] : {{.*}} to tensor<?xf32>
// CHECK: %[[HIGH:.*]] = arith.subi %c64, %[[K]]
// CHECK: %[[T:.*]] = tensor.pad %[[IN]] low[0] high[%[[HIGH]]]
// CHECK: tensor.yield %cst
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[T]][0] [%[[K]]] [1]
// CHECK: bufferization.materialize_in_destination %[[PART]] in writable %[[BOX]]
// CHECK-NOT: tt.addptr
tt.func public @prefix(%x: !tt.ptr<f32>, %n: i32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %s = arith.muli %pid, %c64 : i32
  %ss = tt.splat %s : i32 -> tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = arith.addi %ss, %r : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Unmasked: static, no subview and no pad; the scalar part of the pointer joins the offset.
// CHECK-LABEL: tt.func public @unmasked
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16, 8], strides: [%{{.*}}, 1] : {{.*}} to memref<16x8xf16, strided<[?, 1], offset: ?>>
// CHECK-NEXT: %[[T:.*]] = bufferization.to_tensor %[[VIEW]] : {{.*}} to tensor<16x8xf16>
// CHECK-NEXT: bufferization.materialize_in_destination %[[T]] in writable %[[VIEW]]
tt.func public @unmasked(%x: !tt.ptr<f16>, %a: i32, %s: i64) {
  %xa = tt.addptr %x, %a : !tt.ptr<f16>, i32
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r64 = arith.extsi %r : tensor<16xi32> to tensor<16xi64>
  %e = tt.expand_dims %r64 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
  %ss = tt.splat %s : i64 -> tensor<16x1xi64>
  %row = arith.muli %e, %ss : tensor<16x1xi64>
  %ps = tt.splat %xa : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
  %q = tt.addptr %ps, %row : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi64>
  %qb = tt.broadcast %q : tensor<16x1x!tt.ptr<f16>> -> tensor<16x8x!tt.ptr<f16>>
  %f = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %fb = tt.broadcast %f : tensor<1x8xi32> -> tensor<16x8xi32>
  %z = tt.addptr %qb, %fb : tensor<16x8x!tt.ptr<f16>>, tensor<16x8xi32>
  %v = tt.load %z : tensor<16x8x!tt.ptr<f16>>
  tt.store %z, %v : tensor<16x8x!tt.ptr<f16>>
  tt.return
}

// -----

// Bounds on both sides: a box that begins inside the block.
// CHECK-LABEL: tt.func public @two_sided
// CHECK: %[[LOW:.*]] = arith.minsi %{{.*}}, %c64
// CHECK: %[[BEGIN:.*]] = arith.minsi %[[LOW]], %c63
// CHECK: %[[UP:.*]] = arith.minsi %{{.*}}, %c64
// CHECK: %[[D:.*]] = arith.subi %[[UP]], %[[LOW]]
// CHECK: %[[K:.*]] = arith.maxsi %[[D]], %c0
// CHECK: memref.subview %{{.*}}[%[[BEGIN]]] [%[[K]]] [1]
// CHECK: %[[USED:.*]] = arith.addi %[[BEGIN]], %[[K]]
// CHECK: %[[HIGH:.*]] = arith.subi %c64, %[[USED]]
// CHECK: tensor.pad %{{.*}} low[%[[BEGIN]]] high[%[[HIGH]]]
tt.func public @two_sided(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %a: i32, %b: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %as = tt.splat %a : i32 -> tensor<64xi32>
  %bs = tt.splat %b : i32 -> tensor<64xi32>
  %c = arith.cmpi sge, %r, %as : tensor<64xi32>
  %d = arith.cmpi sgt, %bs, %r : tensor<64xi32>
  %m = arith.andi %c, %d : tensor<64xi1>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %z = tt.addptr %os, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %z, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A negative stride; the bound rounds up to whole steps: lanes from ceil((127 - n) / 2) on.
// CHECK-LABEL: tt.func public @backwards
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [126], sizes: [64], strides: [-2]
// CHECK: %[[D:.*]] = arith.subi %c127, %{{.*}}
// CHECK: %[[D0:.*]] = arith.maxsi %[[D]], %c0
// CHECK: %[[Q:.*]] = arith.divui %[[D0]], %c2
// CHECK: %[[R:.*]] = arith.remui %[[D0]], %c2
// CHECK: %[[C:.*]] = arith.addi %[[Q]], %[[R]]
// CHECK: %[[LOW:.*]] = arith.minsi %[[C]], %c64
// CHECK: %[[BEGIN:.*]] = arith.minsi %[[LOW]], %c63
// CHECK: %[[SIZE:.*]] = arith.subi %c64, %[[LOW]]
// CHECK: memref.subview %{{.*}}[%[[BEGIN]]] [%[[SIZE]]] [1]
// CHECK: tensor.pad %{{.*}} low[%[[BEGIN]]]
tt.func public @backwards(%p: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %top = arith.constant dense<63> : tensor<64xi32>
  %x = arith.subi %top, %r : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %y = arith.muli %x, %two : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %y, %ns : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %y : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Scalars: masked ones are in an scf.if; a boolean in memory is a byte; without `other` the value is zero.
// CHECK-LABEL: tt.func public @scalars
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[B:.*]]: !tt.ptr<i1>, %[[MASK:.*]]: i1, %[[I:.*]]: i32)
// CHECK: %[[V:.*]] = scf.if %[[MASK]] -> (f32)
// CHECK: %[[L:.*]] = memref.load
// CHECK: scf.yield %[[L]] : f32
// CHECK: scf.yield %cst : f32
// CHECK: %[[BYTE:.*]] = memref.load %{{.*}}[%c0] : memref<?xi8
// CHECK: %[[X:.*]] = arith.cmpi ne, %[[BYTE]], %c0_i8 : i8
// CHECK: scf.if %[[X]] {
// CHECK: memref.store %[[V]]
// CHECK: arith.extui %[[MASK]] : i1 to i8
// CHECK: memref.store %{{.*}} : memref<?xi8
tt.func public @scalars(%p: !tt.ptr<f32>, %b: !tt.ptr<i1>, %m: i1, %i: i32) {
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %v = tt.load %q, %m : !tt.ptr<f32>
  %x = tt.load %b : !tt.ptr<i1>
  tt.store %q, %v, %x : !tt.ptr<f32>
  tt.store %b, %m : !tt.ptr<i1>
  tt.return
}

// -----

// A mask that is one condition: all or nothing of the first dimension. A mask that is false: no access.
// CHECK-LABEL: tt.func public @conditions
// CHECK-NOT: bufferization.to_tensor
// CHECK: %[[K:.*]] = arith.select %{{.*}}, %c16, %c0 : index
// CHECK: tensor.extract_slice %cst[0] [%[[K]]] [1]
// CHECK: bufferization.materialize_in_destination
// CHECK-NOT: bufferization.materialize_in_destination
tt.func public @conditions(%p: !tt.ptr<f32>, %c: i1) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %z = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %f = arith.constant dense<false> : tensor<16xi1>
  %v = tt.load %z, %f : tensor<16x!tt.ptr<f32>>
  %cs = tt.splat %c : i1 -> tensor<16xi1>
  tt.store %z, %v, %cs : tensor<16x!tt.ptr<f32>>
  tt.store %z, %v, %f : tensor<16x!tt.ptr<f32>>
  tt.return
}

// -----

// What stands before the pointer: MLIR's views have no constant offsets below 0, so it is a sum that no pass knows.
// CHECK-LABEL: tt.func public @before
// CHECK: %{{.*}}, %[[OWN:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata
// CHECK: %[[OFFSET:.*]] = arith.addi %[[OWN]], %c-3 : index
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [16], strides: [1] : {{.*}} to memref<16xf32, strided<[1], offset: ?>>
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [3], sizes: [16], strides: [1]
tt.func public @before(%x: !tt.ptr<f32>) {
  %m = arith.constant dense<-3> : tensor<16xi32>
  %p = arith.constant dense<3> : tensor<16xi32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %i = arith.addi %r, %m : tensor<16xi32>
  %j = arith.addi %r, %p : tensor<16xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %s = tt.addptr %ps, %j : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %q : tensor<16x!tt.ptr<f32>>
  tt.store %s, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}
