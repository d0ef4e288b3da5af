// RUN: tilebridge-opt %s --tilebridge-mask-wraps --split-input-file | FileCheck %s

// The example of the pass's description.
// CHECK-LABEL: tt.func public @remainder
// CHECK: %[[I:.*]] = arith.addi
// CHECK: %[[M:.*]] = arith.cmpi slt, %[[I]], %[[N:.*]] : tensor<64xi32>
// CHECK: %[[R:.*]] = arith.remsi %[[I]], %[[N]]
// CHECK: %[[J:.*]] = arith.maxsi %[[I]], %[[R]]
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[J]]
// CHECK: tt.load %[[P]], %[[M]] :
tt.func public @remainder(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %size: i32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %range : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %qs = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %qs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// The other spellings, for columns: the index is the one that there was. A mask that there is still holds, a bound may be written
// in another way.
// CHECK-LABEL: tt.func public @spellings
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[SIZE:.*]]: i32, %{{.*}}: i1
// CHECK: %[[I:.*]] = arith.addi
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[I]],
// CHECK-NOT: arith.select
// CHECK: %[[SPLAT:.*]] = tt.splat %[[SIZE]]
// CHECK: %[[D:.*]] = arith.cmpi slt, %[[I]], %[[SPLAT]]
// CHECK-NOT: arith.minsi
// CHECK: tt.addptr %{{.*}}, %[[I]]
// CHECK: %[[B:.*]] = arith.andi %{{.*}}, %[[C]]
// CHECK: tt.load %{{.*}}, %[[B]], %{{.*}} :
// CHECK: tt.addptr %{{.*}}, %[[I]]
// CHECK: tt.load %{{.*}}, %[[D]] :
tt.func public @spellings(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %size: i32, %flag: i1) {
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64xf32>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %range : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %c = arith.cmpi slt, %i, %n : tensor<64xi32>
  %r = arith.select %c, %i, %zero : tensor<64xi1>, tensor<64xi32>
  %last = arith.subi %size, %one : i32
  %lasts = tt.splat %last : i32 -> tensor<64xi32>
  %s = arith.minsi %i, %lasts : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %flags = tt.splat %flag : i1 -> tensor<64xi1>
  %v = tt.load %p, %flags, %other : tensor<64x!tt.ptr<f32>>
  %o = tt.addptr %ps, %s : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %w = tt.load %o : tensor<64x!tt.ptr<f32>>
  %sum = arith.addf %v, %w : tensor<64xf32>
  %m = arith.cmpi sgt, %n, %i : tensor<64xi32>
  %qs = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %qs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %q, %sum, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows and columns of a product in a loop, whose pointers the loop carries. Columns are read as words for eight rows, converted and scaled.
// CHECK-LABEL: tt.func public @product
// CHECK-DAG: %[[MR:.*]] = arith.cmpi slt, %{{.*}} : tensor<16xi32>
// CHECK-DAG: %[[MC:.*]] = arith.cmpi slt, %{{.*}} : tensor<32xi32>
// CHECK: scf.for
// CHECK: %[[R:.*]] = tt.reshape %[[MR]] : tensor<16xi1> -> tensor<16x1xi1>
// CHECK: %[[RB:.*]] = tt.broadcast %[[R]] : tensor<16x1xi1> -> tensor<16x64xi1>
// CHECK: tt.load %{{.*}}, %[[RB]] : tensor<16x64x!tt.ptr<bf16>>
// CHECK: %[[C:.*]] = tt.reshape %[[MC]] : tensor<32xi1> -> tensor<1x32xi1>
// CHECK: %[[CB:.*]] = tt.broadcast %[[C]] : tensor<1x32xi1> -> tensor<64x32xi1>
// CHECK: tt.load %{{.*}}, %[[CB]] : tensor<64x32x!tt.ptr<i8>>
tt.func public @product(%a: !tt.ptr<bf16>, %b: !tt.ptr<i8>, %out: !tt.ptr<f32>, %rows: i32, %cols: i32, %depth: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %px = tt.get_program_id x : i32
  %py = tt.get_program_id y : i32
  %r0 = arith.muli %px, %c16 : i32
  %n0 = arith.muli %py, %c32 : i32
  %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rs = tt.splat %r0 : i32 -> tensor<16xi32>
  %ns = tt.splat %n0 : i32 -> tensor<32xi32>
  %m = arith.addi %rs, %r16 : tensor<16xi32>
  %n = arith.addi %ns, %r32 : tensor<32xi32>
  %ms = tt.splat %rows : i32 -> tensor<16xi32>
  %nn = tt.splat %cols : i32 -> tensor<32xi32>
  %mw = arith.remsi %m, %ms {tt.contiguity = dense<16> : tensor<1xi32>} : tensor<16xi32>
  %nw = arith.remsi %n, %nn : tensor<32xi32>
  %me = tt.expand_dims %mw {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ds = tt.splat %depth : i32 -> tensor<16x1xi32>
  %ml = arith.muli %me, %ds : tensor<16x1xi32>
  %mb = tt.broadcast %ml : tensor<16x1xi32> -> tensor<16x64xi32>
  %ke = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kb = tt.broadcast %ke : tensor<1x64xi32> -> tensor<16x64xi32>
  %ao = arith.addi %mb, %kb : tensor<16x64xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<16x64x!tt.ptr<bf16>>
  %ap = tt.addptr %as, %ao : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
  %kc = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cs = tt.splat %cols : i32 -> tensor<64x1xi32>
  %kl = arith.muli %kc, %cs : tensor<64x1xi32>
  %klb = tt.broadcast %kl : tensor<64x1xi32> -> tensor<64x32xi32>
  %ne = tt.expand_dims %nw {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %nb = tt.broadcast %ne : tensor<1x32xi32> -> tensor<64x32xi32>
  %bo = arith.addi %klb, %nb : tensor<64x32xi32>
  %bs = tt.splat %b : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %bp = tt.addptr %bs, %bo : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
  %step = arith.muli %cols, %c64 : i32
  %steps = tt.splat %step : i32 -> tensor<64x32xi32>
  %c64s = arith.constant dense<64> : tensor<16x64xi32>
  %sum:3 = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero, %p = %ap, %q = %bp)
      -> (tensor<16x32xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>) : i32 {
    %x = tt.load %p : tensor<16x64x!tt.ptr<bf16>>
    %w = tt.load %q : tensor<64x32x!tt.ptr<i8>>
    %y = arith.sitofp %w : tensor<64x32xi8> to tensor<64x32xbf16>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<16x64xbf16> * tensor<64x32xbf16> -> tensor<16x32xf32>
    %p1 = tt.addptr %p, %c64s : tensor<16x64x!tt.ptr<bf16>>, tensor<16x64xi32>
    %q1 = tt.addptr %q, %steps : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    scf.yield %d, %p1, %q1 : tensor<16x32xf32>, tensor<16x64x!tt.ptr<bf16>>, tensor<64x32x!tt.ptr<i8>>
  }
  %m2 = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %n2 = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %mm = tt.splat %rows : i32 -> tensor<16x1xi32>
  %nm = tt.splat %cols : i32 -> tensor<1x32xi32>
  %mk = arith.cmpi slt, %m2, %mm : tensor<16x1xi32>
  %nk = arith.cmpi slt, %n2, %nm : tensor<1x32xi32>
  %mkb = tt.broadcast %mk : tensor<16x1xi1> -> tensor<16x32xi1>
  %nkb = tt.broadcast %nk : tensor<1x32xi1> -> tensor<16x32xi1>
  %mask = arith.andi %mkb, %nkb : tensor<16x32xi1>
  %ol = arith.muli %m2, %mm : tensor<16x1xi32>
  %olb = tt.broadcast %ol : tensor<16x1xi32> -> tensor<16x32xi32>
  %n2b = tt.broadcast %n2 : tensor<1x32xi32> -> tensor<16x32xi32>
  %oo = arith.addi %olb, %n2b : tensor<16x32xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %oo : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  tt.store %op, %sum#0, %mask : tensor<16x32x!tt.ptr<f32>>
  tt.return
}

// -----

// A sum over the lanes sees all of them; so does a store without the mask, one with another bound, and an atomic.
// CHECK-LABEL: tt.func public @seen
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// CHECK-LABEL: tt.func public @stored
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// CHECK-LABEL: tt.func public @bound
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// CHECK-LABEL: tt.func public @atomic
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// The program would end where what is not read is a divisor.
// CHECK-LABEL: tt.func public @divisor
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// The next iteration stores other lanes of what this one reads.
// CHECK-LABEL: tt.func public @carried
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
// A word that is read is printed, whatever is stored.
// CHECK-LABEL: tt.func public @printed
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
tt.func public @seen(%x: tensor<64x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
tt.func public @stored(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @bound(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32, %more: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  %o = tt.splat %more : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %i, %o : tensor<64xi32>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @atomic(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  tt.return
}
tt.func public @divisor(%x: tensor<64x!tt.ptr<i32>>, %q: tensor<64x!tt.ptr<i32>>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<i32>>
  %d = arith.divsi %n, %v : tensor<64xi32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  tt.store %q, %d, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}
tt.func public @carried(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %last = scf.for %k = %c0 to %size step %c1 iter_args(%before = %zero) -> (tensor<64xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<64xi32>
    %i = arith.addi %ks, %range : tensor<64xi32>
    %r = arith.remsi %i, %n : tensor<64xi32>
    %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %m = arith.cmpi slt, %i, %n : tensor<64xi32>
    tt.store %q, %before, %m : tensor<64x!tt.ptr<f32>>
    scf.yield %v : tensor<64xf32>
  }
  tt.return
}
tt.func public @printed(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %x, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.print "v" {hex = false, isSigned = array<i32: 0>} : %v : tensor<64xf32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows of what is loaded, as columns, in both parts of what is split, chosen in a branch and summed along the other axis.
// CHECK-LABEL: tt.func public @shapes
// CHECK: arith.maxsi
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<f32>>
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<64x16x!tt.ptr<f32>>
// What is added up along those rows, as a product does with its operands' inner dimension, is seen.
// CHECK-LABEL: tt.func public @inner
// CHECK-NOT: arith.maxsi
// CHECK: tt.load %{{[a-z0-9_]*}} :
tt.func public @shapes(%x: tensor<64x16x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %size: i32, %flag: i1) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %b = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x16xi32>
  %p = tt.addptr %x, %b : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  %v = scf.if %flag -> (tensor<64x16xf32>) {
    %t = tt.load %p : tensor<64x16x!tt.ptr<f32>>
    scf.yield %t : tensor<64x16xf32>
  } else {
    %t = tt.load %p : tensor<64x16x!tt.ptr<f32>>
    %s = arith.mulf %t, %t : tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  %c = tt.reshape %v : tensor<64x16xf32> -> tensor<64x8x2xf32>
  %h:2 = tt.split %c : tensor<64x8x2xf32> -> tensor<64x8xf32>
  %j = tt.join %h#1, %h#0 : tensor<64x8xf32> -> tensor<64x8x2xf32>
  %w = tt.reshape %j : tensor<64x8x2xf32> -> tensor<64x16xf32>
  %t = tt.trans %w {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
  %s = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%f: f32, %g: f32):
    %d = arith.addf %f, %g : f32
    tt.reduce.return %d : f32
  }) : (tensor<16x64xf32>) -> tensor<64xf32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  tt.store %q, %s, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @inner(%x: tensor<64x64x!tt.ptr<f32>>, %q: tensor<64x64x!tt.ptr<f32>>, %a: tensor<64x64xf32>, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %b = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x64xi32>
  %p = tt.addptr %x, %b : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %v = tt.load %p : tensor<64x64x!tt.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.dot %a, %v, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
  %mb = tt.broadcast %me : tensor<64x1xi1> -> tensor<64x64xi1>
  tt.store %q, %d, %mb : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
