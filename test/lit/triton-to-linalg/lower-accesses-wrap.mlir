// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// Hazards 3, 4 and 10: a row index that wraps by a modulo, columns with a stride, the offset added up in any order. Where the block
// does not wrap it is a box; where it does rows are gathered. The masks of both dimensions apply in both.
// CHECK-LABEL: tt.func public @rows
// CHECK: %[[REM:.*]] = arith.remsi %{{.*}}, %arg2 : i32
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c16 : index
// CHECK: %[[COLS:.*]] = arith.minsi %{{.*}}, %c8 : index
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[REM]]
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %c15
// CHECK: %[[FITS:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}}
// CHECK: %[[C:.*]] = arith.andi %{{.*}}, %[[FITS]]
// CHECK: %[[V:.*]] = scf.if %[[C]]
// CHECK: %[[O:.*]] = arith.muli %[[REM]], %arg4 : i32
// CHECK: %[[OI:.*]] = arith.index_cast %[[O]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[OI]]], sizes: [16, 8], strides: [%{{.*}}, %{{.*}}]
// CHECK: memref.subview %{{.*}}[0, 0] [%[[ROWS]], %[[COLS]]] [1, 1]
// CHECK: tensor.pad
// CHECK: } else {
// CHECK: memref.subview %{{.*}}[0, 0] [16, %[[COLS]]] [1, 1]
// CHECK: %[[M:.*]] = arith.cmpi slt, %{{.*}} : tensor<16xi64>
// CHECK: linalg_ext.gather_rows %{{.*}}[%{{.*}}] dim 0 rowmask %[[M]] other %cst
// CHECK: scf.if %[[C]] {
// CHECK: bufferization.materialize_in_destination
// CHECK: } else {
// CHECK: linalg_ext.scatter_rows %[[V]] into %{{.*}} dim 0 rowmask
tt.func public @rows(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i32, %k: i32, %s: i32, %t: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %pid = tt.get_program_id x : i32
  %st = arith.muli %pid, %c16 : i32
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %sts = tt.splat %st : i32 -> tensor<16xi32>
  %i = arith.addi %sts, %r : tensor<16xi32>
  %ms = tt.splat %m : i32 -> tensor<16xi32>
  // expected-note@+1 {{because of this operation}}
  %w = arith.remsi %i, %ms : tensor<16xi32>
  %e = tt.expand_dims %w {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %row = arith.muli %e, %ss : tensor<16x1xi32>
  %f = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %ts = tt.splat %t : i32 -> tensor<1x8xi32>
  %col = arith.muli %f, %ts : tensor<1x8xi32>
  %rb = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x8xi32>
  %cb = tt.broadcast %col : tensor<1x8xi32> -> tensor<16x8xi32>
  %off = arith.addi %cb, %rb : tensor<16x8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %off : tensor<16x8x!tt.ptr<f32>>, tensor<16x8xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %me = tt.splat %m : i32 -> tensor<16x1xi32>
  %mr = arith.cmpi slt, %ie, %me : tensor<16x1xi32>
  %ks = tt.splat %k : i32 -> tensor<1x8xi32>
  %mk = arith.cmpi slt, %f, %ks : tensor<1x8xi32>
  %mrb = tt.broadcast %mr : tensor<16x1xi1> -> tensor<16x8xi1>
  %mkb = tt.broadcast %mk : tensor<1x8xi1> -> tensor<16x8xi1>
  %mask = arith.andi %mrb, %mkb : tensor<16x8xi1>
  // expected-remark@+1 {{row gather: only in programs whose block wraps around at the modulo; in all others the access is structured}}
  %v = tt.load %q, %mask : tensor<16x8x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x8x!tt.ptr<f32>>
  %z = tt.addptr %os, %off : tensor<16x8x!tt.ptr<f32>>, tensor<16x8xi32>
  // expected-remark@+1 {{row scatter: only in programs whose block wraps around at the modulo; in all others the access is structured}}
  tt.store %z, %v, %mask : tensor<16x8x!tt.ptr<f32>>
  tt.return
}

// -----

// What mask-wraps writes for `i % n` of columns that no store has: a box that ends at n where the block does not begin below zero,
// nor runs over its type. Both are known of the second block, which has no branch.
// CHECK-LABEL: tt.func public @ends
// CHECK: %[[COLS:.*]] = arith.minsi %{{.*}}, %c64 : index
// CHECK: %[[LOW:.*]] = arith.cmpi sge, %[[AT:.*]], %c0 : index
// CHECK: %[[LAST:.*]] = arith.addi %[[AT]], %c63 : index
// CHECK: %[[HIGH:.*]] = arith.cmpi slt, %[[LAST]], %c2147483648 : index
// CHECK: %[[C:.*]] = arith.andi %[[LOW]], %[[HIGH]] : i1
// CHECK: scf.if %[[C]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[AT]]], sizes: [64], strides: [1]
// CHECK: memref.subview %{{.*}}[0] [%[[COLS]]] [1]
// CHECK: } else {
// CHECK: linalg_ext.gather %{{.*}} mask
// CHECK-LABEL: tt.func public @first
// CHECK-NOT: scf.if
// CHECK: tensor.pad
tt.func public @ends(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %size: i32, %start: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %range : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %j = arith.maxsi %i, %r : tensor<64xi32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element gather: only in programs whose block begins below zero or leaves its integer type; in all others the access is structured}}
  %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  %qs = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %qs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @first(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %j = arith.maxsi %i, %r : tensor<64xi32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  %qs = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %qs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows that are kept inside, tl.where(i < m, i, 0): a box where the last one is inside.
// CHECK-LABEL: tt.func public @kept_inside
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c16 : index
// CHECK: %[[C:.*]] = arith.cmpi sge, %[[ROWS]], %c16 : index
// CHECK: scf.if %[[C]]
// CHECK: memref.reinterpret_cast %{{.*}} sizes: [16, 8], strides: [%{{.*}}, 1]
// CHECK: bufferization.to_tensor
// CHECK: } else {
// CHECK: linalg_ext.gather_rows
tt.func public @kept_inside(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i32, %s: i32) {
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0> : tensor<16xi32>
  %pid = tt.get_program_id x : i32
  %st = arith.muli %pid, %c16 : i32
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %sts = tt.splat %st : i32 -> tensor<16xi32>
  %i = arith.addi %sts, %r : tensor<16xi32>
  %ms = tt.splat %m : i32 -> tensor<16xi32>
  %is = arith.cmpi slt, %i, %ms : tensor<16xi32>
  // expected-note@+1 {{because of this operation}}
  %w = arith.select %is, %i, %zero : tensor<16xi1>, tensor<16xi32>
  %e = tt.expand_dims %w {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %row = arith.muli %e, %ss : tensor<16x1xi32>
  %f = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %rb = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x8xi32>
  %cb = tt.broadcast %f : tensor<1x8xi32> -> tensor<16x8xi32>
  %off = arith.addi %rb, %cb : tensor<16x8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x8x!tt.ptr<f32>>
  %q = tt.addptr %ps, %off : tensor<16x8x!tt.ptr<f32>>, tensor<16x8xi32>
  // expected-remark@+1 {{row gather: only in programs whose block is not inside as a whole; in all others the access is structured}}
  %v = tt.load %q : tensor<16x8x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x8x!tt.ptr<f32>>
  %oo = tt.addptr %os, %cb : tensor<16x8x!tt.ptr<f32>>, tensor<16x8xi32>
  tt.store %oo, %v : tensor<16x8x!tt.ptr<f32>>
  tt.return
}
