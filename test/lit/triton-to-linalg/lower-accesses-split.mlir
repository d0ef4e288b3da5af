// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// A flat index that is taken apart: rows and columns of memory. The mask ends at whole rows, and the two reshapes cancel out.
// CHECK-LABEL: tt.func public @known
// CHECK: %[[IN:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 16], strides: [1, 100]
// CHECK: %[[BOX:.*]] = memref.subview %[[IN]][0, 0] [3, 16] [1, 1]
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[BOX]]
// CHECK: %[[P:.*]] = tensor.pad %[[T]] low[0, 0] high[1, 0]
// CHECK: %[[OUT:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 16], strides: [200, 1]
// CHECK: tensor.extract_slice %[[P]][0, 0] [3, 16] [1, 1]
// CHECK: %[[TO:.*]] = memref.subview %[[OUT]][0, 0] [3, 16] [1, 1]
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[TO]]
tt.func public @known(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c16 = arith.constant dense<16> : tensor<64xi32>
  %c48 = arith.constant dense<48> : tensor<64xi32>
  %c100 = arith.constant dense<100> : tensor<64xi32>
  %c200 = arith.constant dense<200> : tensor<64xi32>
  %row = arith.divsi %i, %c16 : tensor<64xi32>
  %col = arith.remsi %i, %c16 : tensor<64xi32>
  %m = arith.cmpi slt, %i, %c48 : tensor<64xi32>
  %a = arith.muli %col, %c100 : tensor<64xi32>
  %b = arith.addi %a, %row : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  %c = arith.muli %row, %c200 : tensor<64xi32>
  %d = arith.addi %c, %col : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Where the block begins is seen when the program runs. An end within a row makes a mask of the box.
// CHECK-LABEL: tt.func public @unknown
// CHECK: %[[C:.*]] = arith.cmpi sge
// CHECK: scf.if
// CHECK: %[[M:.*]] = tensor.expand_shape %{{.*}} {{.*}} : tensor<64xi1> into tensor<4x16xi1>
// CHECK: %[[L:.*]] = linalg_ext.masked_load {{.*}} tensor<4x16xf32>
// CHECK: tensor.collapse_shape %[[L]]
// CHECK: } else {
// CHECK: linalg_ext.gather
// CHECK: scf.if
// CHECK: linalg_ext.masked_store
// CHECK: } else {
// CHECK: linalg_ext.scatter
tt.func public @unknown(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %pid = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %lanes = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %lanes : tensor<64xi32>
  %c16 = arith.constant dense<16> : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %c100 = arith.constant dense<100> : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %row = arith.divsi %i, %c16 : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %col = arith.remsi %i, %c16 : tensor<64xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %a = arith.muli %col, %c100 : tensor<64xi32>
  %b = arith.addi %a, %row : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element gather: only in programs whose block begins below zero or leaves its integer type; in all others the access is structured}}
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  %c = arith.muli %row, %c100 : tensor<64xi32>
  %d = arith.addi %c, %col : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element scatter: only in programs whose block begins below zero or leaves its integer type; in all others the access is structured}}
  tt.store %r, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// What does not divide the block, and two ways to take one index apart: rows of what all of them are multiples of.
// CHECK-LABEL: tt.func public @shared
// CHECK: linalg_ext.gather_rows {{.*}} -> tensor<8x8xf32>
// CHECK: linalg_ext.gather_rows {{.*}} -> tensor<8x8xf32>
tt.func public @shared(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c8 = arith.constant dense<8> : tensor<64xi32>
  %c16 = arith.constant dense<16> : tensor<64xi32>
  %c24 = arith.constant dense<24> : tensor<64xi32>
  %c100 = arith.constant dense<100> : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %r24 = arith.remsi %i, %c24 : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %r24 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{row gather: the offset is not linear}}
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  // expected-note@+1 {{because of this operation}}
  %r16 = arith.remsi %i, %c16 : tensor<64xi32>
  %d8 = arith.divsi %i, %c8 : tensor<64xi32>
  %a = arith.muli %d8, %c100 : tensor<64xi32>
  %b = arith.addi %r16, %a : tensor<64xi32>
  %q2 = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{row gather: the offset is not linear}}
  %w = tt.load %q2 : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %v, %w : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// 48 is a multiple of 16, and 64 no multiple of 48: rows of 16 begin anywhere. The mask ends at a multiple of 16.
// CHECK-LABEL: tt.func public @runs
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0] [4] [16] : tensor<64xi64> to tensor<4xi64>
// CHECK: %[[R:.*]] = linalg_ext.gather_rows %{{.*}}[%[[S]]] dim 0 rowmask {{.*}} -> tensor<4x16xf32>
// CHECK: tensor.collapse_shape %[[R]] {{.*}} into tensor<64xf32>
tt.func public @runs(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c48 = arith.constant dense<48> : tensor<64xi32>
  %c32 = arith.constant dense<32> : tensor<64xi32>
  %c100 = arith.constant dense<100> : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %row = arith.divsi %i, %c48 : tensor<64xi32>
  %col = arith.remsi %i, %c48 : tensor<64xi32>
  %m = arith.cmpi slt, %i, %c32 : tensor<64xi32>
  %a = arith.muli %row, %c100 : tensor<64xi32>
  %b = arith.addi %a, %col : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{row gather: the offset is not linear: it depends on}}
  %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// The quotient of a quotient is one number where the block lies between two multiples, and so is its remainder; a quotient
// of few lanes each has rows.
// CHECK-LABEL: tt.func public @three_dimensions
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %c128_i32 : i32
// CHECK: %[[Q2:.*]] = arith.divsi %[[Q]], %c4_i32 : i32
// CHECK: %[[S:.*]] = arith.divsi %{{.*}}, %c16_i32 : i32
// CHECK: %[[R:.*]] = arith.remsi %[[S]], %c8_i32 : i32
// CHECK: scf.if
// CHECK: %[[AT:.*]] = arith.index_cast %[[Q2]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[AT]]], sizes: [64], strides: [0]
// The first quotient of a block is a multiple of 4, so that its 4 quotients lie between multiples of 8.
// CHECK-NOT: slt
// CHECK: scf.if
// CHECK: %[[FROM:.*]] = arith.index_cast %[[R]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[FROM]]], sizes: [4, 16], strides: [1, 0]
tt.func public @three_dimensions(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %pid = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %lanes = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %lanes : tensor<64xi32>
  %c16 = arith.constant dense<16> : tensor<64xi32>
  %c8 = arith.constant dense<8> : tensor<64xi32>
  %c4 = arith.constant dense<4> : tensor<64xi32>
  %c128 = arith.constant dense<128> : tensor<64xi32>
  %q = arith.divsi %i, %c128 : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %q2 = arith.divsi %q, %c4 : tensor<64xi32>
  %s = arith.divsi %i, %c16 : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %r = arith.remsi %s, %c8 : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %a = tt.addptr %ps, %q2 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{only in programs whose block wraps around at the modulo}}
  %v = tt.load %a : tensor<64x!tt.ptr<f32>>
  %b = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{only in programs}}
  %w = tt.load %b : tensor<64x!tt.ptr<f32>>
  %x = arith.addf %v, %w : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %z = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %z, %x : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// The other one of each pair, runs of 16 in turn, and what is neither.
// CHECK-LABEL: tt.func public @exchanged
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [1], sizes: [32, 2], strides: [2, -1]
// CHECK: tensor.collapse_shape {{.*}} : tensor<32x2xf32> into tensor<64xf32>
tt.func public @exchanged(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %other = arith.xori %i, %one : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %ps, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %from : tensor<64x!tt.ptr<f32>>
  tt.store %to, %x : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @runs_exchanged
// CHECK: tensor.extract_slice %{{.*}}[0] [4] [64] : tensor<256xi64> to tensor<4xi64>
// CHECK: linalg_ext.gather_rows {{.*}} -> tensor<4x64xf32>
tt.func public @runs_exchanged(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %bit = arith.constant dense<64> : tensor<256xi32>
  // expected-note @+1 {{because of this operation}}
  %other = arith.xori %i, %bit : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %from = tt.addptr %ps, %other : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %to = tt.addptr %os, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  // expected-remark @+1 {{row gather: the offset is not linear: it depends on '^'}}
  %x = tt.load %from : tensor<256x!tt.ptr<f32>>
  tt.store %to, %x : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @bits_exchanged
// CHECK: linalg_ext.gather {{.*}} -> tensor<64xf32>
tt.func public @bits_exchanged(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bits = arith.constant dense<5> : tensor<64xi32>
  // expected-note @+1 {{because of this operation}}
  %other = arith.xori %i, %bits : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %ps, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @+1 {{element gather: the offset is not linear: it depends on '^'}}
  %x = tt.load %from : tensor<64x!tt.ptr<f32>>
  tt.store %to, %x : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Halves of four lanes, as far as a mask that ends behind whole groups; scaled, and added to what does not change places.
// CHECK-LABEL: tt.func public @halves_exchanged
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16, 2, 2], strides: [4, -2, 1]
// CHECK: memref.subview %{{.*}}[0, 0, 0] [%{{.*}}, 2, 2] [1, 1, 1]
// CHECK: tensor.collapse_shape {{.*}} : tensor<16x2x2xf32> into tensor<64xf32>
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16, 2, 2], strides: [12, -6, 3]
// CHECK: linalg_ext.gather
tt.func public @halves_exchanged(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
  %pid = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %first = arith.muli %pid, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %firsts = tt.splat %first : i32 -> tensor<64xi32>
  %i = arith.addi %firsts, %range : tensor<64xi32>
  %bit = arith.constant dense<2> : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  // expected-note @+1 {{because of this operation}}
  %other = arith.xori %i, %bit : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %other, %ns : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %ps, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %from, %inside, %zero : tensor<64x!tt.ptr<f32>>
  %scaled = arith.muli %other, %three : tensor<64xi32>
  %far = tt.addptr %ps, %scaled : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %y = tt.load %far : tensor<64x!tt.ptr<f32>>
  %mixed = arith.addi %other, %i : tensor<64xi32>
  %mixedp = tt.addptr %ps, %mixed : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @+1 {{element gather: the offset is not linear: it depends on '^'}}
  %z = tt.load %mixedp : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %x, %y : tensor<64xf32>
  %t = arith.addf %s, %z : tensor<64xf32>
  tt.store %to, %t : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A mask that may end within a group: what was read before, element by element.
// CHECK-LABEL: tt.func public @part_of_halves
// CHECK: linalg_ext.gather {{.*}} -> tensor<64xf32>
tt.func public @part_of_halves(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bit = arith.constant dense<4> : tensor<64xi32>
  // expected-note @+1 {{because of this operation}}
  %other = arith.xori %i, %bit : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %ps, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @+1 {{element gather: the offset is not linear: it depends on '^'}}
  %x = tt.load %from, %inside, %zero : tensor<64x!tt.ptr<f32>>
  tt.store %to, %x : tensor<64x!tt.ptr<f32>>
  tt.return
}
