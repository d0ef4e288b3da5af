// RUN: tilebridge-opt %s --split-input-file -tilebridge-cpu-approximate-functions | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A softmax: the exponential, over the sum of all.
// CHECK-LABEL: func.func @softmax
// CHECK: math.exp %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
func.func @softmax(%x: tensor<64xf32>, %out: memref<64xbf16>) {
  %zero = arith.constant dense<-0.0> : tensor<f32>
  %f32 = tensor.empty() : tensor<64xf32>
  %bf16 = tensor.empty() : tensor<64xbf16>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%f32 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %number = tensor.extract %sum[] : tensor<f32>
  %all = tensor.splat %number : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%e, %all : tensor<64xf32>, tensor<64xf32>) outs(%bf16 : tensor<64xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %q = arith.divf %a, %b : f32
    %r = arith.truncf %q : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64xbf16>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64xbf16>, memref<64xbf16>) -> ()
  return
}

// -----

// A loop adds up exponentials, and multiplies the sum by another one each time: that one's error would grow.
// CHECK-LABEL: func.func @running_sum
// CHECK: scf.for
// CHECK: math.exp2 %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
// CHECK: math.exp2 %{{[a-z0-9]*}} : f32
func.func @running_sum(%x: memref<?xf32>, %out: memref<?xf16>, %bf16: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %weight = math.exp2 %v : f32
    %old = arith.negf %v : f32
    %shrink = math.exp2 %old : f32
    %less = arith.mulf %total, %shrink : f32
    %next = arith.addf %less, %weight : f32
    scf.yield %next : f32
  }
  %r = arith.truncf %sum : f32 to bf16
  memref.store %r, %bf16[%c0] : memref<?xbf16>
  return
}

// -----

// Sigmoids, and products of two; f16 wants more bits.
// CHECK-LABEL: func.func @sigmoids
// CHECK-COUNT-2: math.exp %{{.*}} fastmath<afn> : f32
// CHECK: math.exp %{{[a-z0-9]*}} : f32
func.func @sigmoids(%x: f32, %y: f32, %z: f32, %out: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %ex = math.exp %x : f32
  %dx = arith.addf %ex, %one : f32
  %sx = arith.divf %one, %dx : f32
  %ey = math.exp %y : f32
  %dy = arith.addf %one, %ey : f32
  %sy = arith.divf %y, %dy : f32
  %p = arith.mulf %sx, %sy : f32
  // A third one is one too many.
  %ez = math.exp %z : f32
  %p3 = arith.mulf %p, %ez : f32
  %r = arith.truncf %p3 : f32 to f16
  memref.store %r, %out[%c0] : memref<?xf16>
  return
}

// -----

// f16 and bf16 of one: as many bits as f16 wants.
// CHECK-LABEL: func.func @both
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// A branch, a selection, a maximum, a root and a square of what is rounded to 8 bits.
// CHECK: math.exp %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
func.func @both(%x: f32, %y: f32, %c: i1, %h: memref<?xf16>, %b: memref<?xbf16>, %f8: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %e = math.exp %x : f32
  %eh = arith.truncf %e : f32 to f16
  memref.store %eh, %h[%c0] : memref<?xf16>
  %eb = arith.truncf %e : f32 to bf16
  memref.store %eb, %b[%c0] : memref<?xbf16>

  %e2 = math.exp %y : f32
  %if = scf.if %c -> f32 {
    %s = arith.mulf %e2, %e2 : f32
    scf.yield %s : f32
  } else {
    %m = arith.maximumf %e2, %x : f32
    %s = arith.select %c, %m, %y : f32
    scf.yield %s : f32
  }
  %root = math.sqrt %if : f32
  %r = arith.truncf %root : f32 to f8E4M3FN
  memref.store %r, %f8[%c0] : memref<?xf8E4M3FN>
  return
}

// -----

// What shows the error: none is approximated.
// CHECK-LABEL: func.func @others
// CHECK-NOT: fastmath
// CHECK: return
func.func @others(%x: f32, %y: memref<?xf32>, %out: memref<?xbf16>, %ints: memref<?xi32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  // Kept as f32 as well.
  %stored = math.exp %x : f32
  memref.store %stored, %y[%c0] : memref<?xf32>
  %r0 = arith.truncf %stored : f32 to bf16
  memref.store %r0, %out[%c0] : memref<?xbf16>
  // A difference, and a sum with what may be negative.
  %x1 = arith.addf %x, %one : f32
  %less = math.exp %x1 : f32
  %d = arith.subf %less, %one : f32
  %r1 = arith.truncf %d : f32 to bf16
  memref.store %r1, %out[%c0] : memref<?xbf16>
  %x2 = arith.addf %x1, %one : f32
  %more = math.exp %x2 : f32
  %s = arith.addf %more, %x : f32
  %r2 = arith.truncf %s : f32 to bf16
  memref.store %r2, %out[%c0] : memref<?xbf16>
  // A logarithm, an exponential of it, a comparison, an integer, a result.
  %x3 = arith.addf %x2, %one : f32
  %e3 = math.exp %x3 : f32
  %log = math.log %e3 : f32
  %r3 = arith.truncf %log : f32 to bf16
  memref.store %r3, %out[%c0] : memref<?xbf16>
  %x4 = arith.addf %x3, %one : f32
  %e4 = math.exp %x4 : f32
  %c = arith.cmpf olt, %e4, %one : f32
  %v = arith.select %c, %x, %one : f32
  %r4 = arith.truncf %v : f32 to bf16
  memref.store %r4, %out[%c0] : memref<?xbf16>
  %x5 = arith.addf %x4, %one : f32
  %e5 = math.exp2 %x5 : f32
  %i = arith.fptosi %e5 : f32 to i32
  memref.store %i, %ints[%c0] : memref<?xi32>
  %x6 = arith.addf %x5, %one : f32
  %e6 = math.exp2 %x6 : f32
  // Not to the nearest, or not at all where a product is computed in f32.
  %x7 = arith.addf %x6, %one : f32
  %e7 = math.exp2 %x7 : f32
  %r7 = arith.truncf %e7 to_nearest_away : f32 to bf16
  memref.store %r7, %out[%c0] : memref<?xbf16>
  %x8 = arith.addf %x7, %one : f32
  %e8 = math.exp2 %x8 : f32
  %r8 = arith.truncf %e8 toward_zero : f32 to bf16
  memref.store %r8, %out[%c0] : memref<?xbf16>
  // Of f64, and of an exponential.
  %x9 = arith.addf %x8, %one : f32
  %wide = arith.extf %x9 : f32 to f64
  %e9 = math.exp %wide : f64
  %r9 = arith.truncf %e9 : f64 to bf16
  memref.store %r9, %out[%c0] : memref<?xbf16>
  return %e6 : f32
}

// -----

// Products may be left unrounded where this flag is. Which ops may be approximate is for this pass alone to say.
// CHECK-LABEL: func.func @flags
// CHECK: math.exp %{{[a-z0-9]*}} : f32
// CHECK: math.exp2 %{{[a-z0-9]*}} fastmath<nnan> : f32
func.func @flags(%x: f32, %out: memref<?xbf16>) -> f32 {
  %c0 = arith.constant 0 : index
  %e = math.exp %x : f32
  %r = arith.truncf %e fastmath<contract> : f32 to bf16
  memref.store %r, %out[%c0] : memref<?xbf16>
  %e2 = math.exp2 %x fastmath<nnan, afn> : f32
  return %e2 : f32
}

// -----

#a = affine_map<(d0) -> (d0)>

// Sums of products, as f32: terms may cancel. A product of many has many errors.
// CHECK-LABEL: func.func @products
// CHECK-NOT: fastmath
// CHECK: return
func.func @products(%x: tensor<64x64xf32>, %v: tensor<64x64xf32>, %row: tensor<64xf32>, %out: memref<64x64xbf16>, %one: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<f32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %p = linalg.matmul ins(%e, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zeros : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = tensor.empty() : tensor<64x64xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x64xf32>) outs(%b : tensor<64x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64x64xbf16>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64x64xbf16>, memref<64x64xbf16>) -> ()
  %empty1 = tensor.empty() : tensor<64xf32>
  %e1 = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel"]}
      ins(%row : tensor<64xf32>) outs(%empty1 : tensor<64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = math.exp %s : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %all = linalg.reduce { arith.mulf } ins(%e1 : tensor<64xf32>) outs(%ones : tensor<f32>) dimensions = [0]
  %number = tensor.extract %all[] : tensor<f32>
  %r = arith.truncf %number : f32 to bf16
  memref.store %r, %one[%c0] : memref<?xbf16>
  return
}

// -----

#v = affine_map<(d0) -> (d0)>

// 1 - 1 / (e + 1) is e / (e + 1), whose error is not larger than that of e.
// CHECK-LABEL: func.func @complement
// CHECK: math.exp %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
// 1 - 2 / (e + 1) may be next to zero, and so may 1 - 1 / (d + 1) with any d.
// CHECK: math.exp %{{[a-z0-9]*}} : f32
// CHECK: math.exp2 %{{[a-z0-9]*}} : f32
func.func @complement(%x: tensor<64xf32>, %out: memref<64xbf16>, %a: f32, %b: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  %f32 = tensor.empty() : tensor<64xf32>
  %bf16 = tensor.empty() : tensor<64xbf16>
  %d = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%x, %ones : tensor<64xf32>, tensor<64xf32>) outs(%f32 : tensor<64xf32>) {
  ^bb0(%i: f32, %one: f32, %o: f32):
    %e = math.exp %i : f32
    %s = arith.addf %e, %one : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%ones, %d : tensor<64xf32>, tensor<64xf32>) outs(%f32 : tensor<64xf32>) {
  ^bb0(%one: f32, %i: f32, %o: f32):
    %r = arith.divf %one, %i : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%ones, %q : tensor<64xf32>, tensor<64xf32>) outs(%bf16 : tensor<64xbf16>) {
  ^bb0(%one: f32, %i: f32, %o: bf16):
    %s = arith.subf %one, %i : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64xbf16>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64xbf16>, memref<64xbf16>) -> ()

  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %e2 = math.exp %a : f32
  %d2 = arith.addf %e2, %one : f32
  %q2 = arith.divf %two, %d2 : f32
  %y2 = arith.subf %one, %q2 : f32
  %r2 = arith.truncf %y2 : f32 to bf16
  memref.store %r2, %b[%c0] : memref<?xbf16>
  %e3 = math.exp2 %a : f32
  %p3 = arith.mulf %e3, %a : f32
  %d3 = arith.addf %p3, %one : f32
  %q3 = arith.divf %one, %d3 : f32
  %y3 = arith.subf %one, %q3 : f32
  %r3 = arith.truncf %y3 : f32 to bf16
  memref.store %r3, %b[%c0] : memref<?xbf16>
  return
}

// -----

// Powers of two are exact: of what was an integer, of what was rounded to one, and of what a loop makes of such. Not of a half.
// CHECK-LABEL: func.func @powers_of_two
// CHECK: math.exp2 %{{[a-z0-9]*}} {tilebridge.whole} : f32
// CHECK: math.exp2 %{{[a-z0-9]*}} {tilebridge.whole} : f32
// CHECK: scf.for
// CHECK: math.exp2 %{{[a-z0-9]*}} {tilebridge.whole} : f32
// CHECK: math.exp2 %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
// CHECK: math.exp %{{.*}} fastmath<afn> {tilebridge.for_bf16} : f32
func.func @powers_of_two(%i: i32, %x: f32, %out: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 5.000000e-01 : f32
  %bias = arith.constant 1.270000e+02 : f32
  %number = arith.sitofp %i : i32 to f32
  %e1 = arith.subf %number, %bias : f32
  %p1 = math.exp2 %e1 : f32
  %v1 = arith.mulf %x, %p1 : f32
  %r1 = arith.truncf %v1 : f32 to bf16
  memref.store %r1, %out[%c0] : memref<?xbf16>

  %log = math.log2 %x : f32
  %up = math.ceil %log : f32
  %e2 = arith.negf %up : f32
  %p2 = math.exp2 %e2 : f32
  %v2 = arith.mulf %x, %p2 : f32
  %r2 = arith.truncf %v2 : f32 to f8E4M3FN
  %bits = arith.extf %r2 : f8E4M3FN to bf16
  memref.store %bits, %out[%c0] : memref<?xbf16>

  %e3 = scf.for %k = %c0 to %n step %c1 iter_args(%e = %up) -> f32 {
    %next = arith.addf %e, %number : f32
    scf.yield %next : f32
  }
  %p3 = math.exp2 %e3 : f32
  %v3 = arith.mulf %x, %p3 : f32
  %r3 = arith.truncf %v3 : f32 to bf16
  memref.store %r3, %out[%c0] : memref<?xbf16>

  %e4 = arith.mulf %number, %half : f32
  %p4 = math.exp2 %e4 : f32
  %v4 = arith.mulf %x, %p4 : f32
  %r4 = arith.truncf %v4 : f32 to bf16
  memref.store %r4, %out[%c0] : memref<?xbf16>

  %p5 = math.exp %number : f32
  %v5 = arith.mulf %x, %p5 : f32
  %r5 = arith.truncf %v5 : f32 to bf16
  memref.store %r5, %out[%c0] : memref<?xbf16>
  return
}

// -----

// Whatever becomes of them, and of f64. Not of what may be a half.
// CHECK-LABEL: func.func @whole
// CHECK: math.exp2 %{{[a-z0-9]*}} {tilebridge.whole} : f64
// CHECK: math.exp2 %{{[a-z0-9]*}} {tilebridge.whole} : f32
// CHECK: math.exp2 %{{[a-z0-9]*}} : f64
func.func @whole(%i: i32, %x: f64, %y: f32) -> (f64, f32, f64) {
  %number = arith.sitofp %i : i32 to f64
  %p1 = math.exp2 %number : f64
  %down = math.floor %y : f32
  %p2 = math.exp2 %down : f32
  %p3 = math.exp2 %x {tilebridge.whole} : f64
  return %p1, %p2, %p3 : f64, f32, f64
}
