// RUN: tilebridge-opt %s --tilebridge-mask-wraps --split-input-file | FileCheck %s

// A load whose own mask has the end reads nothing there, so that all may see what it gives: here a sum.
// CHECK-LABEL: tt.func public @own_mask
// CHECK: %[[J:.*]] = arith.subi
// CHECK-NOT: arith.maxsi
// CHECK: %[[M:.*]] = arith.cmpi sge, %[[J]]
// CHECK: tt.addptr %{{.*}}, %[[J]]
// CHECK: tt.load %{{.*}}, %[[M]], %{{.*}} :
// The bound may be a tighter constant, as may that of a selection the other way round.
// CHECK-LABEL: tt.func public @constants
// CHECK: %[[J:.*]] = arith.addi
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.select
// CHECK: %[[M:.*]] = arith.cmpi sge, %[[J]]
// CHECK: tt.addptr %{{.*}}, %[[J]]
// CHECK: tt.load %{{.*}}, %[[M]], %{{.*}} :
// CHECK: tt.addptr %{{.*}}, %[[J]]
// CHECK: tt.load %{{.*}}, %[[M]], %{{.*}} :
// A looser one leaves lanes that read the first element.
// CHECK-LABEL: tt.func public @looser
// CHECK: arith.maxsi
tt.func public @own_mask(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %k: i32) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %j = arith.subi %i, %ks : tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %m = arith.cmpi sge, %j, %zero : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m, %other : tensor<64x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tt.reduce.return %d : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
tt.func public @constants(%x: !tt.ptr<f32>, %q: tensor<64x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %eight = arith.constant dense<8> : tensor<64xi32>
  %less = arith.constant dense<-16> : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = arith.addi %i, %less : tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %n = arith.cmpi slt, %j, %zero : tensor<64xi32>
  %d = arith.select %n, %zero, %j : tensor<64xi1>, tensor<64xi32>
  %m = arith.cmpi sge, %j, %eight : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m, %other : tensor<64x!tt.ptr<f32>>
  %o = tt.addptr %ps, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %w = tt.load %o, %m, %other : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %v, %w : tensor<64xf32>
  tt.store %q, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @looser(%x: !tt.ptr<f32>, %q: tensor<64x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %minus = arith.constant dense<-4> : tensor<64xi32>
  %less = arith.constant dense<-16> : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = arith.addi %i, %less : tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %m = arith.cmpi sge, %j, %minus : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m, %other : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Both ends, one within the other; the store has both. With one of them the other stays.
// CHECK-LABEL: tt.func public @both
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: tt.store
// CHECK-LABEL: tt.func public @one
// CHECK: arith.maxsi
// CHECK: tt.store
tt.func public @both(%x: !tt.ptr<f32>, %q: tensor<64x!tt.ptr<f32>>, %k: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %j = arith.subi %i, %ks : tensor<64xi32>
  %last = arith.subi %n, %one : i32
  %lasts = tt.splat %last : i32 -> tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %d = arith.minsi %c, %lasts : tensor<64xi32>
  %low = arith.cmpi sge, %j, %zero : tensor<64xi32>
  %high = arith.cmpi slt, %j, %ns : tensor<64xi32>
  %m = arith.andi %low, %high : tensor<64xi1>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @one(%x: !tt.ptr<f32>, %q: tensor<64x!tt.ptr<f32>>, %k: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %j = arith.subi %i, %ks : tensor<64xi32>
  %last = arith.subi %n, %one : i32
  %lasts = tt.splat %last : i32 -> tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %d = arith.minsi %c, %lasts : tensor<64xi32>
  %high = arith.cmpi slt, %j, %ns : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %ps, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v, %high : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A condition from memory, for rows: the load has it as its own mask. Rows that come from memory are looked up either way.
// CHECK-LABEL: tt.func public @condition
// CHECK: %[[I:.*]] = tt.make_range
// CHECK-NOT: arith.select
// CHECK: tt.expand_dims %[[I]]
// CHECK: tt.store
// CHECK-LABEL: tt.func public @looked_up
// CHECK: arith.select
// CHECK: tt.store
// Another condition is not that one.
// CHECK-LABEL: tt.func public @another
// CHECK: arith.select
// CHECK: tt.store
tt.func public @condition(%x: tensor<64x16x!tt.ptr<f32>>, %q: tensor<64x16x!tt.ptr<f32>>, %valid: tensor<64x!tt.ptr<i1>>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %other = arith.constant dense<0.0> : tensor<64x16xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.load %valid : tensor<64x!tt.ptr<i1>>
  %c = arith.select %b, %i, %zero : tensor<64xi1>, tensor<64xi32>
  %e = tt.expand_dims %c {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %o = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x16xi32>
  %me = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
  %m = tt.broadcast %me : tensor<64x1xi1> -> tensor<64x16xi1>
  %p = tt.addptr %x, %o : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  %v = tt.load %p, %m, %other : tensor<64x16x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x16x!tt.ptr<f32>>
  tt.return
}
tt.func public @looked_up(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %valid: tensor<64x!tt.ptr<i1>>, %rows: tensor<64x!tt.ptr<i32>>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %b = tt.load %valid : tensor<64x!tt.ptr<i1>>
  %i = tt.load %rows : tensor<64x!tt.ptr<i32>>
  %c = arith.select %b, %i, %zero : tensor<64xi1>, tensor<64xi32>
  %p = tt.addptr %x, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %b : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func public @another(%x: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %valid: tensor<64x!tt.ptr<i1>>, %others: tensor<64x!tt.ptr<i1>>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.load %valid : tensor<64x!tt.ptr<i1>>
  %m = tt.load %others : tensor<64x!tt.ptr<i1>>
  %c = arith.select %b, %i, %zero : tensor<64xi1>, tensor<64xi32>
  %p = tt.addptr %x, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// What a load reads where its mask is false may be seen: the index is a value there, not only a place.
// CHECK-LABEL: tt.func public @other
// CHECK: arith.maxsi
// CHECK: tt.store
// A load whose mask is made of the index, at another place, gets the end: a lane that the mask had not could be read.
// CHECK-LABEL: tt.func public @masks
// CHECK-DAG: %[[M:.*]] = arith.cmpi slt, %[[I:.*]], %[[N:.*]] : tensor<64xi32>
// CHECK-DAG: %[[G:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK-DAG: %[[B:.*]] = arith.andi %[[G]], %[[M]]
// CHECK: tt.load %{{.*}}, %[[B]] :
tt.func public @other(%x: tensor<64x!tt.ptr<i32>>, %q: tensor<64x!tt.ptr<i32>>, %k: i32) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %j = arith.subi %i, %ks : tensor<64xi32>
  %c = arith.maxsi %j, %zero : tensor<64xi32>
  %m = arith.cmpi sge, %j, %zero : tensor<64xi32>
  %p = tt.addptr %x, %c : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %p, %m, %c : tensor<64x!tt.ptr<i32>>
  tt.store %q, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}
tt.func public @masks(%x: tensor<64x!tt.ptr<f32>>, %y: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %k: i32, %size: i32) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %n = tt.splat %size : i32 -> tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %r = arith.remsi %i, %n : tensor<64xi32>
  %p = tt.addptr %y, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %w = tt.load %p : tensor<64x!tt.ptr<f32>>
  %g = arith.cmpi sgt, %r, %ks : tensor<64xi32>
  %v = tt.load %x, %g : tensor<64x!tt.ptr<f32>>
  %m = arith.cmpi slt, %i, %n : tensor<64xi32>
  %s = arith.addf %v, %w : tensor<64xf32>
  tt.store %q, %s, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
