// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// Shifts and bits as quotients and remainders: rows and columns. What is shifted with its sign has a check, without one that is not needed.
// CHECK-LABEL: tt.func public @shifts
// CHECK: memref.reinterpret_cast %{{.*}}, sizes: [2, 32], strides: [100, 1]
// CHECK-NOT: linalg_ext.gather
// CHECK: arith.cmpi sge
// CHECK: memref.reinterpret_cast %{{.*}}, sizes: [2, 32], strides: [100, 1]
// CHECK: } else {
// CHECK: linalg_ext.gather
tt.func public @shifts(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %some: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %range : tensor<64xi32>
  %other = arith.muli %some, %c64 : i32
  %others = tt.splat %other : i32 -> tensor<64xi32>
  %j = arith.addi %others, %range : tensor<64xi32>
  %c5 = arith.constant dense<5> : tensor<64xi32>
  %c31 = arith.constant dense<31> : tensor<64xi32>
  %c100 = arith.constant dense<100> : tensor<64xi32>
  %row = arith.shrui %range, %c5 : tensor<64xi32>
  %column = arith.andi %range, %c31 : tensor<64xi32>
  %a = arith.muli %row, %c100 : tensor<64xi32>
  %b = arith.addi %a, %column : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  // expected-note@+1 {{because of this operation}}
  %row1 = arith.shrsi %j, %c5 : tensor<64xi32>
  %column1 = arith.andi %j, %c31 : tensor<64xi32>
  %a1 = arith.muli %row1, %c100 : tensor<64xi32>
  %b1 = arith.addi %a1, %column1 : tensor<64xi32>
  %q1 = tt.addptr %ps, %b1 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element gather: only in programs whose block begins below zero or leaves its integer type; in all others the access is structured}}
  %v1 = tt.load %q1 : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %v, %v1 : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Of a mask of bits that has a hole, and of a shift by more than the number has, nothing is known.
// CHECK-LABEL: tt.func public @others
// CHECK-COUNT-2: linalg_ext.gather
tt.func public @others(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %start: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %range : tensor<64xi32>
  %c5 = arith.constant dense<5> : tensor<64xi32>
  %c31 = arith.constant dense<31> : tensor<64xi32>
  // expected-note@+1 {{because of this operation}}
  %a = arith.andi %i, %c5 : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element gather: the offset is not linear: it depends on '&'}}
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  // expected-note@+1 {{because of this operation}}
  %b = arith.shrsi %i, %c31 : tensor<64xi32>
  %q1 = tt.addptr %ps, %b : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark@+1 {{element gather: the offset is not linear: it depends on '>>'}}
  %v1 = tt.load %q1 : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %v, %v1 : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Numbers that are known, whatever makes them: a table for both halves of a row, at a place that is not known, and neighbours in another order.
// CHECK-LABEL: tt.func public @known
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [2, 32], strides: [0, 1]
// CHECK: memref.reinterpret_cast %{{.*}}, sizes: [16, 4], strides: [4, -1]
// CHECK-NOT: linalg_ext.gather
tt.func public @known(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %at: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c32 = arith.constant dense<32> : tensor<64xi32>
  %c64 = arith.constant dense<64> : tensor<64xi32>
  %c3 = arith.constant dense<3> : tensor<64xi32>
  %low = arith.cmpi sge, %i, %c32 : tensor<64xi32>
  %high = arith.cmpi slt, %i, %c64 : tensor<64xi32>
  %second = arith.andi %low, %high : tensor<64xi1>
  %less = arith.subi %i, %c32 : tensor<64xi32>
  %half = arith.select %second, %less, %i : tensor<64xi1>, tensor<64xi32>
  %ats = tt.splat %at : i32 -> tensor<64xi32>
  %a = arith.addi %ats, %half : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %mixed = arith.xori %i, %c3 : tensor<64xi32>
  %q1 = tt.addptr %ps, %mixed : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v1 = tt.load %q1 : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %v, %v1 : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// The other lanes of a range, of one of two, and of neither of them. Those of both are no range.
// CHECK-LABEL: tt.func public @inverted
// CHECK-COUNT-3: memref.subview
// CHECK-NOT: memref.subview
// CHECK: linalg_ext.masked_load
tt.func public @inverted(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %k: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %true = arith.constant dense<true> : tensor<64xi1>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %a = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %b = arith.cmpi sge, %i, %ks : tensor<64xi32>
  %either = arith.ori %a, %b : tensor<64xi1>
  %both = arith.andi %a, %b : tensor<64xi1>
  %m0 = arith.xori %a, %true : tensor<64xi1>
  %m1 = arith.xori %either, %true : tensor<64xi1>
  %m2 = arith.xori %m0, %true : tensor<64xi1>
  // expected-note@+1 {{because of this operation}}
  %m3 = arith.xori %both, %true : tensor<64xi1>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v0 = tt.load %q, %m0, %zero : tensor<64x!tt.ptr<f32>>
  %v1 = tt.load %q, %m1, %zero : tensor<64x!tt.ptr<f32>>
  %v2 = tt.load %q, %m2, %zero : tensor<64x!tt.ptr<f32>>
  // expected-remark@+1 {{masked load: a mask that depends on '^'}}
  %v3 = tt.load %q, %m3, %zero : tensor<64x!tt.ptr<f32>>
  %s0 = arith.addf %v0, %v1 : tensor<64xf32>
  %s1 = arith.addf %s0, %v2 : tensor<64xf32>
  %s2 = arith.addf %s1, %v3 : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %s2 : tensor<64x!tt.ptr<f32>>
  tt.return
}
