// RUN: tilebridge-opt %s --split-input-file -tilebridge-cpu-exact-quotients | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A row of codes: the quotients are limited by one operation, converted by the next.
// CHECK-LABEL: func.func @codes
// CHECK: arith.divf %{{[a-z_0-9]+}}, %{{[a-z_0-9]+}} : f32
func.func @codes(%x: tensor<64xf32>, %scale: tensor<64xf32>, %out: memref<64xf8E4M3FN>) {
  %most = arith.constant 448.0 : f32
  %f32 = tensor.empty() : tensor<64xf32>
  %f8 = tensor.empty() : tensor<64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %scale : tensor<64xf32>, tensor<64xf32>) outs(%f32 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b fastmath<arcp> : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%q : tensor<64xf32>) outs(%f8 : tensor<64xf8E4M3FN>) {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %less = arith.minnumf %a, %most : f32
    %r = arith.truncf %less : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<64xf8E4M3FN>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64xf8E4M3FN>, memref<64xf8E4M3FN>) -> ()
  return
}

// -----

// Integers, whole numbers, bits, and comparisons with numbers.
// CHECK-LABEL: func.func @kinds
// CHECK-COUNT-6: arith.divf %arg0, %arg1 : f32
// CHECK-NOT: arith.divf
// CHECK: return
func.func @kinds(%x: f32, %s: f32) -> (i8, f32, f32, i32, i1, i8) {
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  %q0 = arith.divf %x, %s fastmath<arcp> : f32
  %shifted = arith.addf %q0, %half : f32
  %r0 = arith.fptosi %shifted : f32 to i8
  %q1 = arith.divf %x, %s fastmath<arcp> : f32
  %r1 = math.roundeven %q1 : f32
  %q2 = arith.divf %x, %s fastmath<arcp> : f32
  %size = math.absf %q2 : f32
  %r2 = math.floor %size : f32
  %q3 = arith.divf %x, %s fastmath<arcp> : f32
  %r3 = arith.bitcast %q3 : f32 to i32
  %q4 = arith.divf %x, %s fastmath<arcp> : f32
  %twice = arith.mulf %two, %q4 : f32
  %r4 = arith.cmpf ogt, %half, %twice : f32
  %q5 = arith.divf %x, %s fastmath<arcp> : f32
  %short = arith.truncf %q5 : f32 to bf16
  %long = arith.extf %short : bf16 to f32
  %r5 = arith.fptoui %long : f32 to i8
  return %r0, %r1, %r2, %r3, %r4, %r5 : i8, f32, f32, i32, i1, i8
}

// -----

// Left alone: results of 16 bits and more, a sign, comparisons with other numbers, and what is computed further.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: arith.divf %arg0, %arg1 fastmath<arcp> : f32
// CHECK-NOT: arith.divf
// CHECK: return
func.func @others(%x: f32, %s: f32) -> (bf16, i1, i1, i32, i32) {
  %zero = arith.constant 0.0 : f32
  %q0 = arith.divf %x, %s fastmath<arcp> : f32
  %r0 = arith.truncf %q0 : f32 to bf16
  %q1 = arith.divf %x, %s fastmath<arcp> : f32
  %r1 = arith.cmpf olt, %q1, %zero : f32
  %q2 = arith.divf %x, %s fastmath<arcp> : f32
  %r2 = arith.cmpf olt, %q2, %x : f32
  %q3 = arith.divf %x, %s fastmath<arcp> : f32
  %e = math.exp %q3 : f32
  %r3 = arith.fptosi %e : f32 to i32
  %q4 = arith.divf %x, %s fastmath<arcp> : f32
  %p = math.sqrt %q4 : f32
  %r4 = arith.fptosi %p : f32 to i32
  return %r0, %r1, %r2, %r3, %r4 : bf16, i1, i1, i32, i32
}

// -----

// By way of what a loop carries.
// CHECK-LABEL: func.func @carried
// CHECK: arith.divf %{{.*}}, %{{[a-z_0-9]+}} : f32
func.func @carried(%x: memref<?xf32>, %s: f32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %most = scf.for %i = %c0 to %n step %c1 iter_args(%best = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.divf %v, %s fastmath<arcp> : f32
    %next = arith.maximumf %best, %q : f32
    scf.yield %next : f32
  }
  %r = arith.fptosi %most : f32 to i32
  return %r : i32
}

// -----

// A scale, and what is divided by it.
// CHECK-LABEL: func.func @scale
// CHECK-COUNT-2: arith.divf %{{[a-z_0-9]+}}, %{{[a-z_0-9]+}} : f32
func.func @scale(%x: f32, %most: f32) -> (f8E5M2, f32) {
  %codes = arith.constant 57344.0 : f32
  %scale = arith.divf %most, %codes fastmath<arcp> : f32
  %q = arith.divf %x, %scale fastmath<arcp> : f32
  %r = arith.truncf %q : f32 to f8E5M2
  return %r, %scale : f8E5M2, f32
}
