// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What is costly and needed twice is kept; its sum is computed by the same loops.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: memref<1024xf32>, %y: memref<1024xf32>, %max: f32) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x : memref<1024xf32> to tensor<1024xf32>
  %m = tensor.splat %max : tensor<1024xf32>
  %empty = tensor.empty() : tensor<1024xf32>
  // CHECK: linalg.generic {{.*}} attrs =  {tilebridge.plan = "inline"}
  // CHECK: linalg.generic {{.*}} attrs =  {tilebridge.nest = 0 : i64, tilebridge.plan = "buffer"}
  // CHECK: linalg.reduce {{.*}} {tilebridge.nest = 0 : i64}
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%t, %m : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%d : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %init = tensor.splat %zero : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %s0 = tensor.extract %sum[] : tensor<f32>
  %ss = tensor.splat %s0 : tensor<1024xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%e, %ss : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  bufferization.materialize_in_destination %q in writable %y : (tensor<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

// Both loads are read in place by one nest, which is guarded against overlaps.
// CHECK-LABEL: func.func @swap
func.func @swap(%x: memref<64xf32>, %y: memref<64xf32>) {
  // CHECK: to_tensor %{{.*}} {tilebridge.plan = "inline"}
  // CHECK: to_tensor %{{.*}} {tilebridge.plan = "inline"}
  // CHECK: materialize_in_destination {{.*}} {tilebridge.nest = 0 : i64}
  // CHECK: materialize_in_destination {{.*}} {tilebridge.nest = 0 : i64}
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %b = bufferization.to_tensor %y : memref<64xf32> to tensor<64xf32>
  bufferization.materialize_in_destination %b in writable %x : (tensor<64xf32>, memref<64xf32>) -> ()
  bufferization.materialize_in_destination %a in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// A scalar store to the same memory stands between the load and its use: the load happens where it stands.
// CHECK-LABEL: func.func @clobbered
func.func @clobbered(%x: memref<64xf32>, %y: memref<64xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  // CHECK: to_tensor %{{.*}} {tilebridge.plan = "buffer"}
  // CHECK-NOT: tilebridge.guards
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  memref.store %v, %x[%c0] : memref<64xf32>
  bufferization.materialize_in_destination %a in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// The memory of another argument: the block is read where it lies, and the stores are guarded, each for what is read
// after it.
// CHECK-LABEL: func.func @guarded_read
func.func @guarded_read(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>, %r: memref<?xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  // CHECK: to_tensor %arg0 {tilebridge.plan = "inline", tilebridge.read = 0 : i64}
  // CHECK: to_tensor %arg1 {tilebridge.plan = "inline", tilebridge.read = 1 : i64}
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %b = bufferization.to_tensor %y : memref<64xf32> to tensor<64xf32>
  // CHECK: memref.store {{.*}} {tilebridge.guards = array<i64: 0, 1>}
  memref.store %v, %r[%c0] : memref<?xf32>
  // CHECK: materialize_in_destination {{.*}} {tilebridge.guards = array<i64: 1>}
  bufferization.materialize_in_destination %a in writable %z : (tensor<64xf32>, memref<64xf32>) -> ()
  // CHECK: memref.store {{.*}} {tilebridge.guards = array<i64: 1>}
  memref.store %v, %x[%c0] : memref<64xf32>
  bufferization.materialize_in_destination %b in writable %z : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Not in a loop, not where a store is in one, not backwards, not read by what takes whole memrefs.
// CHECK-LABEL: func.func @unguarded_reads
func.func @unguarded_reads(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<?xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK-COUNT-3: to_tensor %{{.*}} {{.*}}tilebridge.plan = "buffer"
  // CHECK-NOT: tilebridge.guards
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  memref.store %v, %r[%c0] : memref<?xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    bufferization.materialize_in_destination %a in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  }
  %b = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %r[%i] : memref<?xf32>
  }
  bufferization.materialize_in_destination %b in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  %c = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  memref.store %v, %r[%c0] : memref<?xf32>
  %f = tensor.extract %c[%c1] : tensor<64xf32>
  memref.store %f, %y[%c0] : memref<64xf32>
  return
}

// -----

// Loads and stores that are too many to be guarded: what is left is kept.
// CHECK-LABEL: func.func @many_reads
func.func @many_reads(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>, %r: memref<?xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  // CHECK: to_tensor %arg0 {tilebridge.plan = "inline", tilebridge.read = 0 : i64}
  // CHECK: to_tensor %arg1 {{.*}}tilebridge.plan = "buffer"
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %b = bufferization.to_tensor %y : memref<64xf32> to tensor<64xf32>
  // CHECK-COUNT-5: memref.store {{.*}} {tilebridge.guards = array<i64: 0>}
  memref.store %v, %r[%c0] : memref<?xf32>
  memref.store %v, %r[%c1] : memref<?xf32>
  memref.store %v, %r[%c2] : memref<?xf32>
  memref.store %v, %r[%c3] : memref<?xf32>
  memref.store %v, %r[%c4] : memref<?xf32>
  bufferization.materialize_in_destination %a in writable %z : (tensor<64xf32>, memref<64xf32>) -> ()
  bufferization.materialize_in_destination %b in writable %z : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// The mean is not needed before the second sum: both sums, and what they share, are one nest. So is the scalar loaded between
// them no reason to begin another one.
// CHECK-LABEL: func.func @two_sums
// CHECK: linalg.reduce {{.*}} {tilebridge.nest = 0 : i64}
// CHECK-NOT: tensor.extract
// CHECK: memref.load
// CHECK: linalg.reduce {{.*}} {tilebridge.nest = 0 : i64}
// CHECK: tensor.extract
// CHECK: arith.divf
// CHECK: memref.store
func.func @two_sums(%x: memref<256xf32>, %y: memref<256xf32>, %p: memref<4xf32>, %n: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<-0.0> : tensor<f32>
  %a = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %b = bufferization.to_tensor %y : memref<256xf32> to tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<256xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %e = tensor.extract %r[] : tensor<f32>
  %mean = arith.divf %e, %n : f32
  %scale = memref.load %p[%c1] : memref<4xf32>
  %splat = tensor.splat %scale : tensor<256xf32>
  %empty = tensor.empty() : tensor<256xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b, %splat : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) outs(%empty : tensor<256xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    %s = arith.mulf %m, %w : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %q = linalg.reduce { arith.addf } ins(%d : tensor<256xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %f = tensor.extract %q[] : tensor<f32>
  %result = arith.addf %mean, %f : f32
  memref.store %result, %p[%c0] : memref<4xf32>
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// What is masked by places is read and widened twice: most steps of the loops are inside of the mask, and leave it out.
// CHECK-LABEL: func.func @masked_row
// CHECK: linalg.generic {{.*}} : tensor<1024xi1>, tensor<1024xf32>) {{.*}}tilebridge.plan = "inline"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.select
func.func @masked_row(%x: memref<?xbf16>, %n: index, %end: i32) -> (f32, f32) {
  %c1024 = arith.constant 1024 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : bf16
  %init = arith.constant dense<0.0> : tensor<f32>
  %t = bufferization.to_tensor %x : memref<?xbf16> to tensor<?xbf16>
  %rest = arith.subi %c1024, %n : index
  %row = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : bf16
  } : tensor<?xbf16> to tensor<1024xbf16>
  %floats = tensor.empty() : tensor<1024xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%row : tensor<1024xbf16>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<1024xf32>
  %numbers = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%numbers : tensor<1024xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    linalg.yield %j : i32
  } -> tensor<1024xi32>
  %ends = tensor.splat %end : tensor<1024xi32>
  %bits = tensor.empty() : tensor<1024xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%range, %ends : tensor<1024xi32>, tensor<1024xi32>) outs(%bits : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %m = arith.cmpi slt, %a, %b : i32
    linalg.yield %m : i1
  } -> tensor<1024xi1>
  %value = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%mask, %wide : tensor<1024xi1>, tensor<1024xf32>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%m: i1, %a: f32, %o: f32):
    %s = arith.select %m, %a, %low : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%value : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %max = tensor.extract %top[] : tensor<f32>
  %maxes = tensor.splat %max : tensor<1024xf32>
  %less = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%value, %maxes : tensor<1024xf32>, tensor<1024xf32>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %sums = linalg.reduce { arith.addf } ins(%less : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %sums[] : tensor<f32>
  return %max, %sum : f32, f32
}

// -----

#id = affine_map<(d0) -> (d0)>

// A mask that takes a division is not computed twice.
// CHECK-LABEL: func.func @costly_mask
// CHECK: linalg.generic {{.*}} : tensor<1024xi1>, tensor<1024xf32>) {{.*}}tilebridge.plan = "buffer"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.select
func.func @costly_mask(%x: memref<?xbf16>, %n: index, %end: i32) -> (f32, f32) {
  %c1024 = arith.constant 1024 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : bf16
  %init = arith.constant dense<0.0> : tensor<f32>
  %t = bufferization.to_tensor %x : memref<?xbf16> to tensor<?xbf16>
  %rest = arith.subi %c1024, %n : index
  %row = tensor.pad %t low[0] high[%rest] {
  ^bb0(%i: index):
    tensor.yield %zero : bf16
  } : tensor<?xbf16> to tensor<1024xbf16>
  %floats = tensor.empty() : tensor<1024xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%row : tensor<1024xbf16>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<1024xf32>
  %numbers = tensor.empty() : tensor<1024xi32>
  %range = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%numbers : tensor<1024xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    linalg.yield %j : i32
  } -> tensor<1024xi32>
  %ends = tensor.splat %end : tensor<1024xi32>
  %bits = tensor.empty() : tensor<1024xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%range, %ends : tensor<1024xi32>, tensor<1024xi32>) outs(%bits : tensor<1024xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %r = arith.remsi %a, %b : i32
    %m = arith.cmpi slt, %r, %b : i32
    linalg.yield %m : i1
  } -> tensor<1024xi1>
  %value = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%mask, %wide : tensor<1024xi1>, tensor<1024xf32>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%m: i1, %a: f32, %o: f32):
    %s = arith.select %m, %a, %low : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%value : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %max = tensor.extract %top[] : tensor<f32>
  %maxes = tensor.splat %max : tensor<1024xf32>
  %less = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%value, %maxes : tensor<1024xf32>, tensor<1024xf32>) outs(%floats : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %sums = linalg.reduce { arith.addf } ins(%less : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %sums[] : tensor<f32>
  return %max, %sum : f32, f32
}

// -----

// Each iteration uses the products: what is broadcast is kept, not a block of copies of it.
// CHECK-LABEL: func.func @broadcast_before_a_loop(
// CHECK: arith.mulf {{.*}}tilebridge.plan = "buffer"{{.*}} : tensor<128xf32>
// CHECK: linalg.broadcast {{.*}}tilebridge.plan = "inline"
// CHECK: scf.for
func.func @broadcast_before_a_loop(%x: memref<128xf32>, %k: memref<?xf32>, %n: index, %o: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<128xf32> to tensor<128xf32>
  %a = arith.addf %t, %t : tensor<128xf32>
  %b = arith.subf %a, %t : tensor<128xf32>
  %q = arith.mulf %b, %a : tensor<128xf32>
  %e = tensor.empty() : tensor<16x128xf32>
  %all = linalg.broadcast ins(%q : tensor<128xf32>) outs(%e : tensor<16x128xf32>) dimensions = [0]
  %sum = scf.for %i = %c0 to %n step %c2048 iter_args(%acc = %zero) -> tensor<16xf32> {
    %km = memref.reinterpret_cast %k to offset: [%i], sizes: [16, 128], strides: [128, 1] : memref<?xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
    %kt = bufferization.to_tensor %km : memref<16x128xf32, strided<[128, 1], offset: ?>> to tensor<16x128xf32>
    %w = arith.mulf %kt, %all : tensor<16x128xf32>
    %part = linalg.reduce { arith.addf } ins(%w : tensor<16x128xf32>) outs(%zero : tensor<16xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<16xf32>
    scf.yield %y : tensor<16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// Each block is computed from the one before, and searched: the sixth is costly enough to be kept, and so is the seventh behind that, as those
// between the two are not kept.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-5: arith.subf {{.*}}tilebridge.plan = "inline"
// CHECK: arith.subf {{.*}}tilebridge.plan = "buffer"
// CHECK-COUNT-6: arith.subf {{.*}}tilebridge.plan = "inline"
// CHECK: arith.subf {{.*}}tilebridge.plan = "buffer"
// CHECK-COUNT-2: arith.subf {{.*}}tilebridge.plan = "inline"
func.func @chain(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %init = arith.constant dense<0xFF800000> : tensor<f32>
  %t = bufferization.to_tensor %x : memref<1024xf32> to tensor<1024xf32>
  %r1 = linalg.reduce { arith.maximumf } ins(%t : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m1 = tensor.extract %r1[] : tensor<f32>
  %s1 = tensor.splat %m1 : tensor<1024xf32>
  %d1 = arith.subf %t, %s1 : tensor<1024xf32>
  %r2 = linalg.reduce { arith.maximumf } ins(%d1 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m2 = tensor.extract %r2[] : tensor<f32>
  %s2 = tensor.splat %m2 : tensor<1024xf32>
  %d2 = arith.subf %d1, %s2 : tensor<1024xf32>
  %r3 = linalg.reduce { arith.maximumf } ins(%d2 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m3 = tensor.extract %r3[] : tensor<f32>
  %s3 = tensor.splat %m3 : tensor<1024xf32>
  %d3 = arith.subf %d2, %s3 : tensor<1024xf32>
  %r4 = linalg.reduce { arith.maximumf } ins(%d3 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m4 = tensor.extract %r4[] : tensor<f32>
  %s4 = tensor.splat %m4 : tensor<1024xf32>
  %d4 = arith.subf %d3, %s4 : tensor<1024xf32>
  %r5 = linalg.reduce { arith.maximumf } ins(%d4 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m5 = tensor.extract %r5[] : tensor<f32>
  %s5 = tensor.splat %m5 : tensor<1024xf32>
  %d5 = arith.subf %d4, %s5 : tensor<1024xf32>
  %r6 = linalg.reduce { arith.maximumf } ins(%d5 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m6 = tensor.extract %r6[] : tensor<f32>
  %s6 = tensor.splat %m6 : tensor<1024xf32>
  %d6 = arith.subf %d5, %s6 : tensor<1024xf32>
  %r7 = linalg.reduce { arith.maximumf } ins(%d6 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m7 = tensor.extract %r7[] : tensor<f32>
  %s7 = tensor.splat %m7 : tensor<1024xf32>
  %d7 = arith.subf %d6, %s7 : tensor<1024xf32>
  %r8 = linalg.reduce { arith.maximumf } ins(%d7 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m8 = tensor.extract %r8[] : tensor<f32>
  %s8 = tensor.splat %m8 : tensor<1024xf32>
  %d8 = arith.subf %d7, %s8 : tensor<1024xf32>
  %r9 = linalg.reduce { arith.maximumf } ins(%d8 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m9 = tensor.extract %r9[] : tensor<f32>
  %s9 = tensor.splat %m9 : tensor<1024xf32>
  %d9 = arith.subf %d8, %s9 : tensor<1024xf32>
  %r10 = linalg.reduce { arith.maximumf } ins(%d9 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m10 = tensor.extract %r10[] : tensor<f32>
  %s10 = tensor.splat %m10 : tensor<1024xf32>
  %d10 = arith.subf %d9, %s10 : tensor<1024xf32>
  %r11 = linalg.reduce { arith.maximumf } ins(%d10 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m11 = tensor.extract %r11[] : tensor<f32>
  %s11 = tensor.splat %m11 : tensor<1024xf32>
  %d11 = arith.subf %d10, %s11 : tensor<1024xf32>
  %r12 = linalg.reduce { arith.maximumf } ins(%d11 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m12 = tensor.extract %r12[] : tensor<f32>
  %s12 = tensor.splat %m12 : tensor<1024xf32>
  %d12 = arith.subf %d11, %s12 : tensor<1024xf32>
  %r13 = linalg.reduce { arith.maximumf } ins(%d12 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m13 = tensor.extract %r13[] : tensor<f32>
  %s13 = tensor.splat %m13 : tensor<1024xf32>
  %d13 = arith.subf %d12, %s13 : tensor<1024xf32>
  %r14 = linalg.reduce { arith.maximumf } ins(%d13 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m14 = tensor.extract %r14[] : tensor<f32>
  %s14 = tensor.splat %m14 : tensor<1024xf32>
  %d14 = arith.subf %d13, %s14 : tensor<1024xf32>
  %r15 = linalg.reduce { arith.maximumf } ins(%d14 : tensor<1024xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %m15 = tensor.extract %r15[] : tensor<f32>
  %s15 = tensor.splat %m15 : tensor<1024xf32>
  %d15 = arith.subf %d14, %s15 : tensor<1024xf32>
  bufferization.materialize_in_destination %d15 in writable %y : (tensor<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

// The product of a column and a row is used by two loops: what it is made of is kept, as it is smaller, and what only costs a load is not.
// CHECK-LABEL: func.func @outer_product(
// CHECK: to_tensor %{{.*}} {tilebridge.plan = "inline"} : memref<32xf32>
// CHECK: arith.extf {{.*}}tilebridge.plan = "inline"{{.*}} : tensor<64xbf16> to tensor<64xf32>
// CHECK: arith.mulf {{.*}}tilebridge.plan = "buffer"{{.*}} : tensor<64xf32>
// CHECK: linalg.broadcast {{.*}}tilebridge.plan = "inline"
// CHECK: linalg.broadcast {{.*}}tilebridge.plan = "inline"
// CHECK: arith.mulf {{.*}}tilebridge.plan = "inline"{{.*}} : tensor<64x32xf32>
// CHECK: linalg.reduce
func.func @outer_product(%x: memref<64xbf16>, %y: memref<32xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
  %row = arith.constant dense<0.0> : tensor<32xf32>
  %column = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x32xf32>
  %b = bufferization.to_tensor %y : memref<32xf32> to tensor<32xf32>
  %t = bufferization.to_tensor %x : memref<64xbf16> to tensor<64xbf16>
  %w = arith.extf %t : tensor<64xbf16> to tensor<64xf32>
  %w2 = arith.addf %w, %w : tensor<64xf32>
  %a = arith.mulf %w2, %w : tensor<64xf32>
  %as = linalg.broadcast ins(%a : tensor<64xf32>) outs(%e : tensor<64x32xf32>) dimensions = [1]
  %bs = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<64x32xf32>) dimensions = [0]
  %outer = arith.mulf %as, %bs : tensor<64x32xf32>
  %s0 = linalg.reduce { arith.maximumf } ins(%outer : tensor<64x32xf32>) outs(%column : tensor<64xf32>) dimensions = [1]
  %s1 = linalg.reduce { arith.addf } ins(%outer : tensor<64x32xf32>) outs(%row : tensor<32xf32>) dimensions = [0]
  return %s0, %s1 : tensor<64xf32>, tensor<32xf32>
}

// -----

// Where elements are picked from what was loaded with others behind an end, both are in memory.
// CHECK-LABEL: func.func @picked_of_two(
// CHECK: tensor.insert_slice {{.*}} {tilebridge.plan = "buffer"}
func.func @picked_of_two(%x: memref<8xf32, strided<[0]>>, %y: memref<16xf32>, %ids: memref<16xi32>, %o: memref<16xf32>) {
  %other = bufferization.to_tensor %y : memref<16xf32> to tensor<16xf32>
  %t = bufferization.to_tensor %x : memref<8xf32, strided<[0]>> to tensor<8xf32>
  %both = tensor.insert_slice %t into %other[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %i = bufferization.to_tensor %ids : memref<16xi32> to tensor<16xi32>
  %picked = linalg_ext.gather_along %both[%i] dimension = 0 : tensor<16xf32>, tensor<16xi32> -> tensor<16xf32>
  bufferization.materialize_in_destination %picked in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
