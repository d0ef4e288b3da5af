// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-narrow-operands{small-floats}))' | FileCheck %s --check-prefixes=CHECK,UNITS
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-narrow-operands))' | FileCheck %s --check-prefixes=CHECK,NONE

#id = affine_map<(d0, d1) -> (d0, d1)>

// Contiguous along K, in f32.
// CHECK-LABEL: func.func @columns(
// CHECK: %[[W:.*]] = bufferization.to_tensor
// CHECK: linalg.matmul {note} ins(%{{.*}}, %[[W]] : tensor<16x64xf32>, tensor<64x32xi8>)
func.func @columns(%x: tensor<16x64xf32>, %w: memref<64x32xi8, strided<[1, 64]>>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = bufferization.to_tensor %w : memref<64x32xi8, strided<[1, 64]>> to tensor<64x32xi8>
  %1 = tensor.empty() : tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x32xi8>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: i8, %o: f32):
    %4 = arith.sitofp %a : i8 to f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  %3 = linalg.matmul {note} ins(%x, %2 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Bytes are widened exactly to halves, whoever multiplies those.
// CHECK-LABEL: func.func @halves(
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x64xbf16>, tensor<64x32xi8>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x64xf16>, tensor<64x32xi8>)
func.func @halves(%x: tensor<16x64xbf16>, %y: tensor<16x64xf16>, %w: memref<64x32xi8, strided<[1, 64]>>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = bufferization.to_tensor %w : memref<64x32xi8, strided<[1, 64]>> to tensor<64x32xi8>
  %1 = tensor.empty() : tensor<64x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x32xi8>) outs(%1 : tensor<64x32xbf16>) {
  ^bb0(%a: i8, %o: bf16):
    %8 = arith.sitofp %a : i8 to bf16
    linalg.yield %8 : bf16
  } -> tensor<64x32xbf16>
  %3 = linalg.matmul ins(%x, %2 : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  %4 = bufferization.to_tensor %w : memref<64x32xi8, strided<[1, 64]>> to tensor<64x32xi8>
  %5 = tensor.empty() : tensor<64x32xf16>
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<64x32xi8>) outs(%5 : tensor<64x32xf16>) {
  ^bb0(%a: i8, %o: f16):
    %8 = arith.sitofp %a : i8 to f16
    linalg.yield %8 : f16
  } -> tensor<64x32xf16>
  %7 = linalg.matmul ins(%y, %6 : tensor<16x64xf16>, tensor<64x32xf16>) outs(%3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %7 : tensor<16x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Floats of 8 bits, padded; only for units that multiply bf16.
// CHECK-LABEL: func.func @padded(
// UNITS: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x64xbf16>, tensor<64x32xf8E4M3FN>)
// NONE: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x64xbf16>, tensor<64x32xbf16>)
func.func @padded(%x: tensor<16x64xbf16>, %w: memref<?x32xf8E4M3FN, strided<[1, ?]>>, %more: index, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f8E4M3FN
  %0 = bufferization.to_tensor %w : memref<?x32xf8E4M3FN, strided<[1, ?]>> to tensor<?x32xf8E4M3FN>
  %p = tensor.pad %0 low[0, 0] high[%more, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f8E4M3FN
  } : tensor<?x32xf8E4M3FN> to tensor<64x32xf8E4M3FN>
  %1 = tensor.empty() : tensor<64x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x32xf8E4M3FN>) outs(%1 : tensor<64x32xbf16>) {
  ^bb0(%a: f8E4M3FN, %o: bf16):
    %4 = arith.extf %a : f8E4M3FN to bf16
    linalg.yield %4 : bf16
  } -> tensor<64x32xbf16>
  %3 = linalg.matmul ins(%x, %2 : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Gathered rows that are transposed.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[ROWS:.*]] = linalg_ext.gather_rows
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%[[ROWS]] : tensor<32x64xbf16>)
// CHECK: linalg.matmul ins(%{{.*}}, %[[TURNED]] : tensor<16x64xf32>, tensor<64x32xbf16>)
func.func @rows(%x: tensor<16x64xf32>, %w: memref<?x64xbf16>, %rows: tensor<32xi64>, %sums: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = linalg_ext.gather_rows %w[%rows] dim 0 : (memref<?x64xbf16>, tensor<32xi64>) -> tensor<32x64xbf16>
  %1 = tensor.empty() : tensor<32x64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<32x64xbf16>) outs(%1 : tensor<32x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %5 = arith.extf %a : bf16 to f32
    linalg.yield %5 : f32
  } -> tensor<32x64xf32>
  %3 = tensor.empty() : tensor<64x32xf32>
  %turned = linalg.transpose ins(%2 : tensor<32x64xf32>) outs(%3 : tensor<64x32xf32>) permutation = [1, 0]
  %4 = linalg.matmul ins(%x, %turned : tensor<16x64xf32>, tensor<64x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Rows that are contiguous are widened where they are packed anyway; more than a widening stays, and so does what others see.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-3: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x64xf32>, tensor<64x32xf32>)
func.func @stays(%x: tensor<16x64xf32>, %w: memref<64x32xi8>, %v: memref<64x32xi8, strided<[1, 64]>>, %sums: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<64x32xf32>) {
  %half = arith.constant 0.5 : f32
  %1 = tensor.empty() : tensor<64x32xf32>
  %0 = bufferization.to_tensor %w : memref<64x32xi8> to tensor<64x32xi8>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x32xi8>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: i8, %o: f32):
    %9 = arith.sitofp %a : i8 to f32
    linalg.yield %9 : f32
  } -> tensor<64x32xf32>
  %3 = linalg.matmul ins(%x, %2 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%sums : tensor<16x32xf32>) -> tensor<16x32xf32>
  %4 = bufferization.to_tensor %v : memref<64x32xi8, strided<[1, 64]>> to tensor<64x32xi8>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<64x32xi8>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: i8, %o: f32):
    %9 = arith.sitofp %a : i8 to f32
    %10 = arith.mulf %9, %half : f32
    linalg.yield %10 : f32
  } -> tensor<64x32xf32>
  %6 = linalg.matmul ins(%x, %5 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %7 = bufferization.to_tensor %v : memref<64x32xi8, strided<[1, 64]>> to tensor<64x32xi8>
  %8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<64x32xi8>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: i8, %o: f32):
    %9 = arith.sitofp %a : i8 to f32
    linalg.yield %9 : f32
  } -> tensor<64x32xf32>
  %11 = linalg.matmul ins(%x, %8 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%6 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %11, %8 : tensor<16x32xf32>, tensor<64x32xf32>
}
