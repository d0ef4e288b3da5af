// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-number-starts | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The largest one so far of a loop that began with -inf.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<8xf32>
// CHECK: linalg.reduce { arith.maxnumf } ins({{.*}} : tensor<8x64xf32>) outs(%[[LEAST]] : tensor<8xf32>)
func.func @rows(%x: tensor<8x64xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant dense<0xFF800000> : tensor<8xf32>
  %nan = arith.constant dense<0x7FC00000> : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%top = %start) -> (tensor<8xf32>) {
    %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<8x64xf32>) outs(%nan : tensor<8xf32>) dimensions = [1]
    %empty = tensor.empty() : tensor<8xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%m, %top : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %l = arith.maxnumf %a, %b : f32
      linalg.yield %l : f32
    } -> tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A number in two loops, and a minimum: it begins with +inf.
// CHECK-LABEL: func.func @number
// CHECK: %[[MOST:.*]] = arith.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK: linalg.reduce { arith.minnumf } ins({{.*}} : tensor<64xf64>) outs(%[[MOST]] : tensor<f64>)
func.func @number(%x: tensor<64xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 1.0 : f64
  %nan = arith.constant dense<0x7FF8000000000000> : tensor<f64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %start) -> (f64) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%top = %outer) -> (f64) {
      %m = linalg.reduce { arith.minnumf } ins(%x : tensor<64xf64>) outs(%nan : tensor<f64>) dimensions = [0]
      %e = tensor.extract %m[] : tensor<f64>
      %next = arith.minnumf %top, %e : f64
      scf.yield %next : f64
    }
    scf.yield %s : f64
  }
  return %r : f64
}

// -----

// Begins with what may be NaN, and so with NaN.
// CHECK-LABEL: func.func @unknown_start
// CHECK: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<f32>
// CHECK: linalg.reduce { arith.maxnumf } ins({{.*}}) outs(%[[NAN]] : tensor<f32>)
func.func @unknown_start(%x: tensor<64xf32>, %start: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nan = arith.constant dense<0x7FC00000> : tensor<f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%top = %start) -> (f32) {
    %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<64xf32>) outs(%nan : tensor<f32>) dimensions = [0]
    %e = tensor.extract %m[] : tensor<f32>
    %next = arith.maxnumf %top, %e : f32
    scf.yield %next : f32
  }
  return %r : f32
}

// -----

// An iteration may make NaN of it.
// CHECK-LABEL: func.func @unknown_step
// CHECK: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<f32>
// CHECK: linalg.reduce { arith.maxnumf } ins({{.*}}) outs(%[[NAN]] : tensor<f32>)
func.func @unknown_step(%x: tensor<64xf32>, %scale: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 0xFF800000 : f32
  %nan = arith.constant dense<0x7FC00000> : tensor<f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%top = %start) -> (f32) {
    %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<64xf32>) outs(%nan : tensor<f32>) dimensions = [0]
    %e = tensor.extract %m[] : tensor<f32>
    %next = arith.maxnumf %top, %e : f32
    %scaled = arith.mulf %next, %scale : f32
    scf.yield %scaled : f32
  }
  return %r : f32
}

// -----

// Somebody else sees the result; a minimum is compared by a maximum; it is scaled before.
// CHECK-LABEL: func.func @seen
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<f32>
// CHECK-COUNT-3: linalg.reduce {{.*}} outs(%[[NAN]] : tensor<f32>)
func.func @seen(%x: tensor<64xf32>, %scale: f32) -> (f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant dense<0x7FC00000> : tensor<f32>
  %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<64xf32>) outs(%nan : tensor<f32>) dimensions = [0]
  %e = tensor.extract %m[] : tensor<f32>
  %top = arith.maxnumf %zero, %e : f32
  %l = linalg.reduce { arith.minnumf } ins(%x : tensor<64xf32>) outs(%nan : tensor<f32>) dimensions = [0]
  %f = tensor.extract %l[] : tensor<f32>
  %other = arith.maxnumf %zero, %f : f32
  %k = linalg.reduce { arith.maxnumf } ins(%x : tensor<64xf32>) outs(%nan : tensor<f32>) dimensions = [0]
  %g = tensor.extract %k[] : tensor<f32>
  %product = arith.mulf %g, %scale : f32
  %scaled = arith.maxnumf %zero, %product : f32
  return %top, %e, %other, %scaled : f32, f32, f32, f32
}
