// RUN: tilebridge-opt %s --tilebridge-lower-accesses --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// A mask over two dimensions is no box: the view stays, masked off lanes are not touched.
// CHECK-LABEL: tt.func public @causal
// CHECK: %[[M:.*]] = arith.cmpi sge
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [16, 16], strides: [%{{.*}}, 1]
// CHECK: %[[V:.*]] = linalg_ext.masked_load %[[VIEW]], %[[M]] other %arg2
// CHECK: linalg_ext.masked_store %[[V]], %[[VIEW]], %[[M]]
tt.func public @causal(%p: !tt.ptr<f32>, %s: i32, %o: tensor<16x16xf32>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %f = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %row = arith.muli %e, %ss : tensor<16x1xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  %q = tt.addptr %ps, %row : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  %qb = tt.broadcast %q : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
  %fb = tt.broadcast %f : tensor<1x16xi32> -> tensor<16x16xi32>
  %eb = tt.broadcast %e : tensor<16x1xi32> -> tensor<16x16xi32>
  %z = tt.addptr %qb, %fb : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  // expected-note@+1 {{because of this operation}}
  %m = arith.cmpi sge, %eb, %fb : tensor<16x16xi32>
  // expected-remark@+1 {{masked load: a comparison in several dimensions}}
  %v = tt.load %z, %m, %o : tensor<16x16x!tt.ptr<f32>>
  // expected-remark@+1 {{masked store: a comparison in several dimensions}}
  tt.store %z, %v, %m : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// One dimension by loaded indices: rows. Both masks apply, the rows' one as a tensor, the other as the view's size.
// CHECK-LABEL: tt.func public @embedding
// CHECK: %[[ROWS:.*]] = memref.subview %{{.*}}[0, 0] [16, %{{.*}}] [1, 1]
// CHECK: %[[VIEW:.*]] = memref.cast %[[ROWS]] : {{.*}} to memref<?x?xf16, strided<[1, 1]>>
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : tensor<16xi64>
// CHECK: %[[I:.*]] = arith.muli %{{.*}} : tensor<16xi64>
// CHECK: %[[V:.*]] = linalg_ext.gather_rows %[[VIEW]][%[[I]]] dim 0 rowmask %[[MASK]] other %cst
// CHECK: linalg_ext.scatter_rows %[[V]] into %[[VIEW]][%[[I]]] dim 0 rowmask %[[MASK]]
tt.func public @embedding(%p: !tt.ptr<f16>, %ip: !tt.ptr<i64>, %s: i32, %n: i32, %d: i32) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<16xi32>
  %ips = tt.splat %ip : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
  %iq = tt.addptr %ips, %r : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
  // expected-note@+1 {{because of this operation}}
  %i = tt.load %iq, %m : tensor<16x!tt.ptr<i64>>
  %e = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
  %s64 = arith.extsi %s : i32 to i64
  %ss = tt.splat %s64 : i64 -> tensor<16x1xi64>
  %row = arith.muli %e, %ss : tensor<16x1xi64>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
  %q = tt.addptr %ps, %row : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi64>
  %qb = tt.broadcast %q : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
  %f = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %fb = tt.broadcast %f : tensor<1x32xi32> -> tensor<16x32xi32>
  %z = tt.addptr %qb, %fb : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
  %mb = tt.broadcast %me : tensor<16x1xi1> -> tensor<16x32xi1>
  %ds = tt.splat %d : i32 -> tensor<1x32xi32>
  %md = arith.cmpi slt, %f, %ds : tensor<1x32xi32>
  %mdb = tt.broadcast %md : tensor<1x32xi1> -> tensor<16x32xi1>
  %mm = arith.andi %mb, %mdb : tensor<16x32xi1>
  // expected-remark@+1 {{row gather: the offset is not linear}}
  %v = tt.load %z, %mm : tensor<16x32x!tt.ptr<f16>>
  // expected-remark@+1 {{row scatter: the offset is not linear}}
  tt.store %z, %v, %mm : tensor<16x32x!tt.ptr<f16>>
  tt.return
}

// -----

// Elements, with the offsets the program adds up, in 64 bits. Booleans are bytes (hazard 13).
// CHECK-LABEL: tt.func public @xor
// CHECK: %[[X:.*]] = arith.xori
// CHECK: %[[B:.*]] = builtin.unrealized_conversion_cast %arg0 : !tt.ptr<i1> to memref<?xi8, strided<[1], offset: ?>>
// CHECK: %[[S:.*]] = tensor.splat %{{.*}} : tensor<16x16xi64>
// CHECK: %[[W:.*]] = arith.extsi %[[X]]
// CHECK: %[[O:.*]] = arith.addi %[[S]], %[[W]]
// CHECK: %[[BYTES:.*]] = linalg_ext.gather %[[B]][%[[O]]]
// CHECK: arith.cmpi ne, %[[BYTES]]
// CHECK: linalg_ext.scatter %{{.*}} into %[[B]][%[[O]]]
tt.func public @xor(%p: !tt.ptr<i1>, %a: i32) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %f = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %eb = tt.broadcast %e : tensor<16x1xi32> -> tensor<16x16xi32>
  %fb = tt.broadcast %f : tensor<1x16xi32> -> tensor<16x16xi32>
  // expected-note@+1 {{because of this operation}}
  %x = arith.xori %eb, %fb : tensor<16x16xi32>
  %pa = tt.addptr %p, %a : !tt.ptr<i1>, i32
  %ps = tt.splat %pa : !tt.ptr<i1> -> tensor<16x16x!tt.ptr<i1>>
  %z = tt.addptr %ps, %x : tensor<16x16x!tt.ptr<i1>>, tensor<16x16xi32>
  // expected-remark@+1 {{element gather: the offset is not linear: it depends on '^'}}
  %v = tt.load %z : tensor<16x16x!tt.ptr<i1>>
  // expected-remark@+1 {{element scatter: the offset is not linear: it depends on '^'}}
  tt.store %z, %v : tensor<16x16x!tt.ptr<i1>>
  tt.return
}

// -----

// Hazard 11: constants show that the i32 range wraps around inside the block.
// CHECK-LABEL: tt.func public @wraps
// CHECK: %[[X:.*]] = arith.addi %{{.*}} : tensor<16xi32>
// CHECK: %[[W:.*]] = arith.extsi %[[X]] : tensor<16xi32> to tensor<16xi64>
// CHECK: linalg_ext.gather %{{.*}}[%[[W]]]
tt.func public @wraps(%p: !tt.ptr<f32>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = arith.constant dense<2147483640> : tensor<16xi32>
  %x = arith.addi %r, %c : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  // expected-note@+1 {{because of this operation}}
  %z = tt.addptr %ps, %x : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  // expected-remark@+1 {{element gather: the offset is not seen to stay in its integer type}}
  %v = tt.load %z : tensor<16x!tt.ptr<f32>>
  // expected-remark@+1 {{element scatter: the offset is not seen to stay in its integer type}}
  tt.store %z, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// -----

// Hazard 12: pointers of two bases are addresses.
// CHECK-LABEL: tt.func public @bases
// CHECK: %[[A:.*]] = tt.ptr_to_int
// CHECK: %[[E:.*]] = arith.shrsi %[[A]], %cst
// CHECK: %[[ZERO:.*]] = linalg_ext.view_address %c0_i64
// CHECK: linalg_ext.gather %[[ZERO]][%[[E]]]
tt.func public @bases(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %c: tensor<16xi1>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  // expected-note@+1 {{because of this operation}}
  %s = arith.select %c, %ps, %qs : tensor<16xi1>, tensor<16x!tt.ptr<f32>>
  %z = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  // expected-remark@+1 {{element gather by addresses: pointers without a common base: they depend on tl.where}}
  %v = tt.load %z : tensor<16x!tt.ptr<f32>>
  // expected-remark@+1 {{element scatter by addresses: pointers without a common base: they depend on tl.where}}
  tt.store %z, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// -----

// A mask that ranges decide: no row is read, and the result is `other`.
// CHECK-LABEL: tt.func public @no_row
// CHECK-NOT: gather_rows
// CHECK: tt.return %cst
tt.func public @no_row(%p: !tt.ptr<f16>) -> tensor<2x8xf16> {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c7 = arith.constant dense<7> : tensor<8xi32>
  %c0 = arith.constant dense<0> : tensor<2x8xi32>
  %one = arith.constant dense<1.0> : tensor<2x8xf16>
  // expected-note@+1 {{because of this operation}}
  %w = arith.remsi %r, %c7 : tensor<8xi32>
  %e = tt.expand_dims %w {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %o = tt.broadcast %e : tensor<1x8xi32> -> tensor<2x8xi32>
  %i = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %b = tt.broadcast %i : tensor<1x8xi32> -> tensor<2x8xi32>
  %m = arith.cmpi slt, %b, %c0 : tensor<2x8xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2x8x!tt.ptr<f16>>
  %q = tt.addptr %ps, %o : tensor<2x8x!tt.ptr<f16>>, tensor<2x8xi32>
  // expected-remark@+1 {{row gather: the offset is not linear: it depends on '%'}}
  %v = tt.load %q, %m, %one : tensor<2x8x!tt.ptr<f16>>
  tt.return %v : tensor<2x8xf16>
}
