// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-trim-blocks))' | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-trim-blocks{tiles=true}))' | FileCheck %s --check-prefix=TILES

// Columns that are stored, steps that are added up, and what a loop carries.
// CHECK-LABEL: func.func @attention(
// CHECK: arith.constant dense<0.000000e+00> : tensor<16x80xf32>
// CHECK: tensor.pad {{.*}} low[0, 0] high[0, 0]
// CHECK: tensor<16x80xf32> to tensor<16x80xf32>
// CHECK: scf.for {{.*}} -> (tensor<16x80xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x80xf32>, tensor<80x32xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<32x80xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [16, 80] [1, 1] : tensor<16x80xf32>
// TILES-LABEL: func.func @attention(
// TILES: scf.for {{.*}} -> (tensor<16x80xf32>)
func.func @attention(%q: memref<16x80xf32>, %k: memref<32x80xf32>, %out: memref<16x80xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
  %scores = arith.constant dense<0.0> : tensor<16x32xf32>
  %0 = bufferization.to_tensor %q : memref<16x80xf32> to tensor<16x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> tensor<16x128xf32> {
    %2 = bufferization.to_tensor %k : memref<32x80xf32> to tensor<32x80xf32>
    %3 = tensor.pad %2 low[0, 0] high[0, 48] {
    ^bb0(%r: index, %s: index):
      tensor.yield %zero : f32
    } : tensor<32x80xf32> to tensor<32x128xf32>
    %empty = tensor.empty() : tensor<128x32xf32>
    %turned = linalg.transpose ins(%3 : tensor<32x128xf32>) outs(%empty : tensor<128x32xf32>) permutation = [1, 0]
    %4 = linalg.matmul ins(%1, %turned : tensor<16x128xf32>, tensor<128x32xf32>) outs(%scores : tensor<16x32xf32>) -> tensor<16x32xf32>
    %5 = linalg.matmul ins(%4, %3 : tensor<16x32xf32>, tensor<32x128xf32>) outs(%acc : tensor<16x128xf32>) -> tensor<16x128xf32>
    scf.yield %5 : tensor<16x128xf32>
  }
  %part = tensor.extract_slice %sums[0, 0] [16, 80] [1, 1] : tensor<16x128xf32> to tensor<16x80xf32>
  bufferization.materialize_in_destination %part in restrict writable %out : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
  return
}

// -----

// Whole vectors, with a padding of their own; tiles of bf16 have 32 steps.
// CHECK-LABEL: func.func @rest(
// CHECK: tensor.pad {{.*}} high[0, 8]
// CHECK: tensor<16x72xbf16> to tensor<16x80xbf16>
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x80xbf16>, tensor<80x32xbf16>)
// TILES-LABEL: func.func @rest(
// TILES: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x96xbf16>, tensor<96x32xbf16>)
func.func @rest(%q: memref<16x72xbf16>, %k: memref<72x32xbf16>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %0 = bufferization.to_tensor %q : memref<16x72xbf16> to tensor<16x72xbf16>
  %1 = tensor.pad %0 low[0, 0] high[0, 56] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : bf16
  } : tensor<16x72xbf16> to tensor<16x128xbf16>
  %2 = bufferization.to_tensor %k : memref<72x32xbf16> to tensor<72x32xbf16>
  %3 = tensor.pad %2 low[0, 0] high[56, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : bf16
  } : tensor<72x32xbf16> to tensor<128x32xbf16>
  %4 = linalg.matmul ins(%1, %3 : tensor<16x128xbf16>, tensor<128x32xbf16>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

// -----

// Zero times what the other operand has may be NaN.
// CHECK-LABEL: func.func @one_operand(
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x128xf32>, tensor<128x32xf32>)
func.func @one_operand(%q: memref<16x80xf32>, %k: memref<128x32xf32>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %q : memref<16x80xf32> to tensor<16x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %2 = bufferization.to_tensor %k : memref<128x32xf32> to tensor<128x32xf32>
  %3 = linalg.matmul ins(%1, %2 : tensor<16x128xf32>, tensor<128x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

// -----

// What is padded is 1, and so is one more than it was.
// CHECK-LABEL: func.func @ones(
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x128xf32>, tensor<128x32xf32>)
func.func @ones(%q: memref<16x80xf32>, %k: memref<80x32xf32>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ones = arith.constant dense<1.0> : tensor<16x128xf32>
  %0 = bufferization.to_tensor %q : memref<16x80xf32> to tensor<16x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %more = arith.addf %1, %ones : tensor<16x128xf32>
  %2 = bufferization.to_tensor %k : memref<80x32xf32> to tensor<80x32xf32>
  %3 = tensor.pad %2 low[0, 0] high[48, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<80x32xf32> to tensor<128x32xf32>
  %4 = linalg.matmul ins(%more, %3 : tensor<16x128xf32>, tensor<128x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

// -----

// Masks that are no boxes: false from some index on, through broadcasts and reshapes. Equal masks of rows and columns do not tie them.
// CHECK-LABEL: func.func @masks(
// CHECK: %[[X:.*]] = memref.subview %arg0[0, 0, 0] [32, 4, 80] [1, 1, 1]
// CHECK: linalg_ext.masked_load %[[X]], {{.*}} -> tensor<32x4x80xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<128x80xf32>, tensor<80x32xf32>) {{.*}} -> tensor<128x32xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<128x32xf32>, tensor<32x80xf32>) {{.*}} -> tensor<128x80xf32>
// CHECK: %[[OUT:.*]] = memref.subview %arg2[0, 0, 0] [32, 4, 80] [1, 1, 1]
// CHECK: linalg_ext.masked_store %{{.*}}, %[[OUT]], %{{.*}} : (tensor<32x4x80xf32>
func.func @masks(%q: memref<32x4x128xf32>, %k: memref<?x80xf32>, %out: memref<32x4x128xf32>, %rows: tensor<32xi64>, %some: tensor<32x4xi1>) {
  %zero = arith.constant 0.0 : f32
  %c80 = arith.constant 80 : i32
  %long = arith.constant dense<0.0> : tensor<128x128xf32>
  %short = arith.constant dense<0.0> : tensor<128x32xf32>
  %e0 = tensor.empty() : tensor<128xi32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e0 : tensor<128xi32>) {
  ^bb0(%o: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    linalg.yield %1 : i32
  } -> tensor<128xi32>
  %e1 = tensor.empty() : tensor<128xi1>
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<128xi32>) outs(%e1 : tensor<128xi1>) {
  ^bb0(%x: i32, %o: i1):
    %0 = arith.cmpi slt, %x, %c80 : i32
    linalg.yield %0 : i1
  } -> tensor<128xi1>
  %e2 = tensor.empty() : tensor<32x4x128xi1>
  %rowsOf = linalg.broadcast ins(%some : tensor<32x4xi1>) outs(%e2 : tensor<32x4x128xi1>) dimensions = [2]
  %columnsOf = linalg.broadcast ins(%d : tensor<128xi1>) outs(%e2 : tensor<32x4x128xi1>) dimensions = [0, 1]
  %mask = arith.andi %columnsOf, %rowsOf : tensor<32x4x128xi1>
  %x = linalg_ext.masked_load %q, %mask other %zero : (memref<32x4x128xf32>, tensor<32x4x128xi1>, f32) -> tensor<32x4x128xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<32x4x128xf32> into tensor<128x128xf32>
  %y = linalg_ext.gather_rows %k[%rows] dim 0 other %zero : (memref<?x80xf32>, tensor<32xi64>, f32) -> tensor<32x128xf32>
  %e3 = tensor.empty() : tensor<128x32xf32>
  %turned = linalg.transpose ins(%y : tensor<32x128xf32>) outs(%e3 : tensor<128x32xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%flat, %turned : tensor<128x128xf32>, tensor<128x32xf32>) outs(%short : tensor<128x32xf32>) -> tensor<128x32xf32>
  %t = linalg.matmul ins(%s, %y : tensor<128x32xf32>, tensor<32x128xf32>) outs(%long : tensor<128x128xf32>) -> tensor<128x128xf32>
  %wide = tensor.expand_shape %t [[0, 1], [2]] output_shape [32, 4, 128] : tensor<128x128xf32> into tensor<32x4x128xf32>
  linalg_ext.masked_store %wide, %out, %mask : (tensor<32x4x128xf32>, memref<32x4x128xf32>, tensor<32x4x128xi1>) -> ()
  return
}

// -----

// The larger one of two stores, and a dimension that a scan goes along.
// CHECK-LABEL: func.func @seen(
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<16x112xf32>)
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<16x128xf32>)
func.func @seen(%p: tensor<16x32xf32>, %v: memref<32x80xf32>, %w: memref<32x80xf32>, %out: memref<16x80xf32>, %more: memref<16x100xf32>) -> tensor<16x128xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
  %0 = bufferization.to_tensor %v : memref<32x80xf32> to tensor<32x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<32x80xf32> to tensor<32x128xf32>
  %2 = linalg.matmul ins(%p, %1 : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
  %3 = tensor.extract_slice %2[0, 0] [16, 80] [1, 1] : tensor<16x128xf32> to tensor<16x80xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
  %4 = tensor.extract_slice %2[0, 0] [16, 100] [1, 1] : tensor<16x128xf32> to tensor<16x100xf32>
  bufferization.materialize_in_destination %4 in restrict writable %more : (tensor<16x100xf32>, memref<16x100xf32>) -> ()
  %5 = bufferization.to_tensor %w : memref<32x80xf32> to tensor<32x80xf32>
  %6 = tensor.pad %5 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<32x80xf32> to tensor<32x128xf32>
  %7 = linalg.matmul ins(%p, %6 : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
  %8 = linalg_ext.scan(%7) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %9 = arith.addf %a, %b : f32
    linalg_ext.yield %9 : f32
  } : (tensor<16x128xf32>) -> tensor<16x128xf32>
  return %8 : tensor<16x128xf32>
}

// -----

// Sums of squares get zeros, a maximum does not. Without a product nothing changes, and equal blocks stay one.
// CHECK-LABEL: func.func @reduced(
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<16x80xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x80xf32>, tensor<80x16xf32>)
// CHECK: linalg.reduce { arith.maxnumf } ins(%{{.*}} : tensor<16x128xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x128xf32>, tensor<128x16xf32>)
func.func @reduced(%x: memref<16x80xf32>) -> (tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = arith.constant dense<0.0> : tensor<16xf32>
  %sums = arith.constant dense<0.0> : tensor<16x16xf32>
  %e = tensor.empty() : tensor<128x16xf32>
  %0 = bufferization.to_tensor %x : memref<16x80xf32> to tensor<16x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %2 = arith.mulf %1, %1 : tensor<16x128xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<16x128xf32>) outs(%row : tensor<16xf32>) dimensions = [1]
  %4 = linalg.transpose ins(%1 : tensor<16x128xf32>) outs(%e : tensor<128x16xf32>) permutation = [1, 0]
  %5 = linalg.matmul ins(%1, %4 : tensor<16x128xf32>, tensor<128x16xf32>) outs(%sums : tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = bufferization.to_tensor %x : memref<16x80xf32> to tensor<16x80xf32>
  %7 = tensor.pad %6 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %8 = linalg.reduce { arith.maxnumf } ins(%7 : tensor<16x128xf32>) outs(%row : tensor<16xf32>) dimensions = [1]
  %9 = linalg.transpose ins(%7 : tensor<16x128xf32>) outs(%e : tensor<128x16xf32>) permutation = [1, 0]
  %10 = linalg.matmul ins(%7, %9 : tensor<16x128xf32>, tensor<128x16xf32>) outs(%sums : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %3, %5, %8, %10 : tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>
}

// -----

// CHECK-LABEL: func.func @no_product(
// CHECK-COUNT-1: arith.constant dense
// CHECK: tensor.pad
// CHECK: tensor<16x80xf32> to tensor<16x128xf32>
func.func @no_product(%x: memref<16x80xf32>, %y: memref<16x80xf32>) {
  %zero = arith.constant 0.0 : f32
  %twos = arith.constant dense<2.0> : tensor<16x128xf32>
  %0 = bufferization.to_tensor %x : memref<16x80xf32> to tensor<16x80xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 48] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x80xf32> to tensor<16x128xf32>
  %2 = arith.mulf %1, %twos : tensor<16x128xf32>
  %3 = arith.addf %2, %twos : tensor<16x128xf32>
  %4 = tensor.extract_slice %3[0, 0] [16, 80] [1, 1] : tensor<16x128xf32> to tensor<16x80xf32>
  bufferization.materialize_in_destination %4 in restrict writable %y : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
  return
}
