// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// Rows at loaded numbers, of columns that wrap around at a modulo: rows where a block's do not, else elements.
// CHECK-LABEL: tt.func public @rows_of_wrapped_columns
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK-NEXT: %[[STRAIGHT:.*]] = arith.andi %{{.*}}, %[[BELOW]] : i1
// CHECK-NEXT: scf.if %[[STRAIGHT]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [4, 32], strides: [1, 1]
// CHECK: memref.subview %{{.*}}[0, 0] [4, %{{.*}}] [1, 1]
// CHECK: %[[NUMBERS:.*]] = arith.muli %{{.*}} : tensor<4xi64>
// CHECK: linalg_ext.gather_rows %{{.*}}[%[[NUMBERS]]] dim 0 other
// CHECK: } else {
// CHECK: linalg_ext.gather %{{.*}} mask
// CHECK: scf.if %[[STRAIGHT]]
// CHECK: linalg_ext.scatter_rows %{{.*}} dim 0 :
// CHECK: } else {
// CHECK: linalg_ext.scatter %{{.*}} mask
tt.func public @rows_of_wrapped_columns(%x: !tt.ptr<f32>, %ip: !tt.ptr<i64>, %columns: i32, %stride: i32, %n: i32) {
  %c32 = arith.constant 32 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c32 : i32
  %r4 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ips = tt.splat %ip : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>
  %iq = tt.addptr %ips, %r4 : tensor<4x!tt.ptr<i64>>, tensor<4xi32>
  %i = tt.load %iq : tensor<4x!tt.ptr<i64>>
  %s64 = arith.extsi %stride : i32 to i64
  %ss = tt.splat %s64 : i64 -> tensor<4xi64>
  %row = arith.muli %i, %ss : tensor<4xi64>
  %rowe = tt.expand_dims %row {axis = 1 : i32} : tensor<4xi64> -> tensor<4x1xi64>
  %rowb = tt.broadcast %rowe : tensor<4x1xi64> -> tensor<4x32xi64>
  %starts = tt.splat %start : i32 -> tensor<32xi32>
  %at = arith.addi %starts, %r32 : tensor<32xi32>
  %cs = tt.splat %columns : i32 -> tensor<32xi32>
  // expected-note@+1 {{because of this operation}}
  %col = arith.remsi %at, %cs : tensor<32xi32>
  %col64 = arith.extsi %col : tensor<32xi32> to tensor<32xi64>
  %cole = tt.expand_dims %col64 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
  %colb = tt.broadcast %cole : tensor<1x32xi64> -> tensor<4x32xi64>
  %off = arith.addi %rowb, %colb : tensor<4x32xi64>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
  %mb = tt.broadcast %me : tensor<1x32xi1> -> tensor<4x32xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<4x32x!tt.ptr<f32>>, tensor<4x32xi64>
  // expected-remark@+1 {{element gather: only in programs whose block wraps around at the modulo; in all others rows are structured}}
  %v = tt.load %p, %mb : tensor<4x32x!tt.ptr<f32>>
  // expected-remark@+1 {{element scatter: only in programs whose block wraps around at the modulo; in all others rows are structured}}
  tt.store %p, %v, %mb : tensor<4x32x!tt.ptr<f32>>
  tt.return
}

// -----

// Of two dimensions that lie anywhere none is a row.
// CHECK-LABEL: tt.func public @both_anywhere
// CHECK-NOT: gather_rows
// CHECK: linalg_ext.gather
tt.func public @both_anywhere(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %j: tensor<32xi32>, %out: !tt.ptr<f32>) -> tensor<4x32xf32> {
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ib = tt.broadcast %ie : tensor<4x1xi32> -> tensor<4x32xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %jb = tt.broadcast %je : tensor<1x32xi32> -> tensor<4x32xi32>
  %off = arith.addi %ib, %jb : tensor<4x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<4x32x!tt.ptr<f32>>, tensor<4x32xi32>
  // expected-remark@+1 {{element gather: the offset is not linear}}
  %v = tt.load %p : tensor<4x32x!tt.ptr<f32>>
  tt.return %v : tensor<4x32xf32>
}

// -----

// Rows that lie evenly, of which a mask that is no range chooses some: rows, not elements with a mask each. The columns' mask is
// their end.
// CHECK-LABEL: tt.func public @chosen_rows
// CHECK-SAME: %[[X:[^:]*]]: !tt.ptr<f32>, %[[CHOSEN:[^:]*]]: tensor<8xi1>
// CHECK: %[[VIEW:.*]] = memref.cast %{{.*}} : {{.*}} to memref<?x?xf32, strided<[1, 1]>>
// CHECK: %[[PLACES:.*]] = arith.muli %{{.*}} : tensor<8xi64>
// CHECK: %[[V:.*]] = linalg_ext.gather_rows %[[VIEW]][%[[PLACES]]] dim 0 rowmask %[[CHOSEN]] other %{{.*}} : {{.*}} -> tensor<8x16xf32>
// CHECK: linalg_ext.scatter_rows %[[V]] into %[[VIEW]][%[[PLACES]]] dim 0 rowmask %[[CHOSEN]]
tt.func public @chosen_rows(%x: !tt.ptr<f32>, %chosen: tensor<8xi1>, %stride: i32, %columns: i32) {
  %r8 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %e = tt.expand_dims %r8 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %f = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ss = tt.splat %stride : i32 -> tensor<8x1xi32>
  %row = arith.muli %e, %ss : tensor<8x1xi32>
  %rb = tt.broadcast %row : tensor<8x1xi32> -> tensor<8x16xi32>
  %fb = tt.broadcast %f : tensor<1x16xi32> -> tensor<8x16xi32>
  %off = arith.addi %rb, %fb : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %me = tt.expand_dims %chosen {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %mb = tt.broadcast %me : tensor<8x1xi1> -> tensor<8x16xi1>
  %cs = tt.splat %columns : i32 -> tensor<1x16xi32>
  %mc = arith.cmpi slt, %f, %cs : tensor<1x16xi32>
  %mcb = tt.broadcast %mc : tensor<1x16xi1> -> tensor<8x16xi1>
  %m = arith.andi %mb, %mcb : tensor<8x16xi1>
  // expected-remark@+1 {{row gather: a mask that a loop or a branch carries}}
  %v = tt.load %p, %m : tensor<8x16x!tt.ptr<f32>>
  // expected-remark@+1 {{row scatter: a mask that a loop or a branch carries}}
  tt.store %p, %v, %m : tensor<8x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Not where it chooses columns, which are next to each other, nor where rows are of a few elements.
// CHECK-LABEL: tt.func public @chosen_columns
// CHECK-NOT: gather_rows
// CHECK: linalg_ext.masked_load
// CHECK: linalg_ext.masked_load
tt.func public @chosen_columns(%x: !tt.ptr<f32>, %chosen: tensor<16xi1>, %stride: i32) -> (tensor<8x16xf32>, tensor<16x4xf32>) {
  %r8 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r4 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %e = tt.expand_dims %r8 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %f = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ss = tt.splat %stride : i32 -> tensor<8x1xi32>
  %row = arith.muli %e, %ss : tensor<8x1xi32>
  %rb = tt.broadcast %row : tensor<8x1xi32> -> tensor<8x16xi32>
  %fb = tt.broadcast %f : tensor<1x16xi32> -> tensor<8x16xi32>
  %off = arith.addi %rb, %fb : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %me = tt.expand_dims %chosen {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %mb = tt.broadcast %me : tensor<1x16xi1> -> tensor<8x16xi1>
  // expected-remark@+1 {{masked load: a mask that a loop or a branch carries}}
  %v = tt.load %p, %mb : tensor<8x16x!tt.ptr<f32>>
  %g = tt.expand_dims %r16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %sg = tt.splat %stride : i32 -> tensor<16x1xi32>
  %short = arith.muli %g, %sg : tensor<16x1xi32>
  %sb = tt.broadcast %short : tensor<16x1xi32> -> tensor<16x4xi32>
  %h = tt.expand_dims %r4 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %hb = tt.broadcast %h : tensor<1x4xi32> -> tensor<16x4xi32>
  %few = arith.addi %sb, %hb : tensor<16x4xi32>
  %ys = tt.splat %x : !tt.ptr<f32> -> tensor<16x4x!tt.ptr<f32>>
  %q = tt.addptr %ys, %few : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
  %ne = tt.expand_dims %chosen {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
  %nb = tt.broadcast %ne : tensor<16x1xi1> -> tensor<16x4xi1>
  // expected-remark@+1 {{masked load: a mask that a loop or a branch carries}}
  %w = tt.load %q, %nb : tensor<16x4x!tt.ptr<f32>>
  tt.return %v, %w : tensor<8x16xf32>, tensor<16x4xf32>
}

// -----

// The remainder of the block's start is met first in `%block`, which comes later than `%row`, where it is part of a quotient.
// CHECK-LABEL: tt.func public @remainder_within_an_earlier_quotient
// CHECK: %[[START:.*]] = arith.muli
// CHECK: %[[REST:.*]] = arith.remsi %[[START]], %{{.*}} : i32
// CHECK: arith.divsi %[[REST]], %{{.*}} : i32
// CHECK: arith.divsi %{{.*}} : tensor<256xi32>
// CHECK: memref.reinterpret_cast {{.*}} sizes: [16, 16]
tt.func public @remainder_within_an_earlier_quotient(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c256 = arith.constant dense<256> : tensor<256xi32>
  %c16 = arith.constant dense<16> : tensor<256xi32>
  %c256_s = arith.constant 256 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c256_s : i32
  %lanes = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %begin = tt.splat %start : i32 -> tensor<256xi32>
  %i = arith.addi %begin, %lanes : tensor<256xi32>
  %in = arith.remsi %i, %c256 : tensor<256xi32>
  %row = arith.divsi %in, %c16 : tensor<256xi32>
  %col = arith.remsi %in, %c16 : tensor<256xi32>
  // expected-note @+1 {{because of this operation}}
  %block = arith.divsi %i, %c256 : tensor<256xi32>
  %stride = tt.splat %n : i32 -> tensor<256xi32>
  %b = arith.muli %block, %c16 : tensor<256xi32>
  %y = arith.addi %b, %row : tensor<256xi32>
  %yo = arith.muli %y, %stride : tensor<256xi32>
  %offset = arith.addi %yo, %col : tensor<256xi32>
  %p0 = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p = tt.addptr %p0, %offset : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  // expected-remark @+1 {{only in programs whose block begins below zero}}
  %v = tt.load %p : tensor<256x!tt.ptr<f32>>
  %q0 = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %q = tt.addptr %q0, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %q, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows at loaded numbers, of words that eight columns have: rows of the words. Stores stay, as columns share what they write.
// CHECK-LABEL: tt.func public @rows_of_words
// CHECK: %[[WORDS:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 4, 8], strides: [1, 1, 0]
// CHECK: %[[CAST:.*]] = memref.cast %[[WORDS]] {{.*}} to memref<?x4x8xi32, strided<[1, 1, 0]
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows %[[CAST]][%{{.*}}] dim 0 other {{.*}} -> tensor<4x4x8xi32>
// CHECK: tensor.collapse_shape %[[ROWS]] {{\[\[}}0], [1, 2]]
// CHECK: linalg_ext.scatter %
tt.func public @rows_of_words(%x: !tt.ptr<i32>, %i: tensor<4xi32>, %out: !tt.ptr<i32>) {
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c8 = arith.constant dense<8> : tensor<32xi32>
  %word = arith.divsi %r32, %c8 : tensor<32xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ib = tt.broadcast %ie : tensor<4x1xi32> -> tensor<4x32xi32>
  %we = tt.expand_dims %word {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %wb = tt.broadcast %we : tensor<1x32xi32> -> tensor<4x32xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x32x!tt.ptr<i32>>
  %pi = tt.addptr %xs, %ib : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  %p = tt.addptr %pi, %wb : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  // expected-remark@+1 {{row gather: the offset is not linear}}
  %v = tt.load %p : tensor<4x32x!tt.ptr<i32>>
  %os = tt.splat %out : !tt.ptr<i32> -> tensor<4x32x!tt.ptr<i32>>
  %qi = tt.addptr %os, %ib : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  %q = tt.addptr %qi, %wb : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  // expected-remark@+1 {{element scatter: the offset is not linear}}
  tt.store %q, %v : tensor<4x32x!tt.ptr<i32>>
  tt.return
}

// -----

// A mask that may end within a word chooses elements.
// CHECK-LABEL: tt.func public @rows_of_parts
// CHECK-NOT: gather_rows
// CHECK: linalg_ext.gather %
tt.func public @rows_of_parts(%x: !tt.ptr<i32>, %i: tensor<4xi32>, %n: i32) -> tensor<4x32xi32> {
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c8 = arith.constant dense<8> : tensor<32xi32>
  %word = arith.divsi %r32, %c8 : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %r32, %ns : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
  %mb = tt.broadcast %me : tensor<1x32xi1> -> tensor<4x32xi1>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ib = tt.broadcast %ie : tensor<4x1xi32> -> tensor<4x32xi32>
  %we = tt.expand_dims %word {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %wb = tt.broadcast %we : tensor<1x32xi32> -> tensor<4x32xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x32x!tt.ptr<i32>>
  %pi = tt.addptr %xs, %ib : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  %p = tt.addptr %pi, %wb : tensor<4x32x!tt.ptr<i32>>, tensor<4x32xi32>
  // expected-remark@+1 {{element gather: the offset is not linear}}
  %v = tt.load %p, %mb : tensor<4x32x!tt.ptr<i32>>
  tt.return %v : tensor<4x32xi32>
}
