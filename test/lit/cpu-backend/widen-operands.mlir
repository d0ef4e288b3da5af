// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-widen-operands))' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-widen-operands{vector-bits=512 bf16-pairs}))' | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-widen-operands{vector-bits=512 bf16-pairs two-fmas}))' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-widen-operands{vector-bits=512 bf16-pairs two-fmas bf16-tiles}))' | FileCheck %s --check-prefixes=CHECK,PAIRS

#id = affine_map<(d0, d1) -> (d0, d1)>

// What is computed is rounded as before, and kept as f32 where that is multiplied.
// CHECK-LABEL: func.func @computed(
// CHECK: %[[ROUNDED:.*]] = linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// WIDE: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[ROUNDED]] : tensor<64x64xbf16>) outs(%{{.*}} : tensor<64x64xf32>)
// WIDE: arith.extf %{{.*}} : bf16 to f32
// WIDE: linalg.matmul {note} ins(%[[WIDE]], %{{.*}} : tensor<64x64xf32>, tensor<64x32xbf16>)
// PAIRS-NOT: arith.extf
// PAIRS: linalg.matmul {note} ins(%[[ROUNDED]], %{{.*}} : tensor<64x64xbf16>, tensor<64x32xbf16>)
func.func @computed(%x: tensor<64x64xf32>, %v: tensor<64x32xbf16>, %sums: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = tensor.empty() : tensor<64x64xbf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%0 : tensor<64x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %3 = arith.truncf %a : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<64x64xbf16>
  %2 = linalg.matmul {note} ins(%1, %v : tensor<64x64xbf16>, tensor<64x32xbf16>) outs(%sums : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Nothing multiplies f16, whatever multiplies bf16. One block for two products, of which one takes its transpose.
// CHECK-LABEL: func.func @halves(
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x64xf16>) outs(%{{.*}} : tensor<64x64xf32>)
// CHECK-NOT: arith.extf {{.*}} arith.extf
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%[[WIDE]] : tensor<64x64xf32>)
// CHECK: linalg.matmul ins(%[[WIDE]], %{{.*}} : tensor<64x64xf32>, tensor<64x32xf16>)
// CHECK: linalg.matmul ins(%[[TURNED]], %{{.*}} : tensor<64x64xf32>, tensor<64x32xf16>)
func.func @halves(%x: tensor<64x64xf32>, %v: tensor<64x32xf16>, %sums: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = tensor.empty() : tensor<64x64xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%0 : tensor<64x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %5 = arith.truncf %a : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<64x64xf16>
  %2 = linalg.transpose ins(%1 : tensor<64x64xf16>) outs(%0 : tensor<64x64xf16>) permutation = [1, 0]
  %3 = linalg.matmul ins(%1, %v : tensor<64x64xf16>, tensor<64x32xf16>) outs(%sums : tensor<64x32xf32>) -> tensor<64x32xf32>
  %4 = linalg.matmul ins(%2, %v : tensor<64x64xf16>, tensor<64x32xf16>) outs(%sums : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %3, %4 : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// What all iterations multiply is widened before the loop; what each of them reads is not.
// CHECK-LABEL: func.func @queries(
// CHECK: %[[Q:.*]] = bufferization.to_tensor %{{.*}} : memref<64x32xf16> to tensor<64x32xf16>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[Q]] : tensor<64x32xf16>)
// CHECK: scf.for
// CHECK: %[[R:.*]] = bufferization.to_tensor
// CHECK: linalg.matmul ins(%[[WIDE]], %{{.*}} : tensor<64x32xf32>, tensor<32x16xf16>)
// CHECK: linalg.matmul ins(%[[R]], %{{.*}} : tensor<64x32xf16>, tensor<32x16xf16>)
func.func @queries(%q: memref<64x32xf16>, %k: tensor<32x16xf16>, %sums: tensor<64x16xf32>, %n: index) -> tensor<64x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = bufferization.to_tensor %q : memref<64x32xf16> to tensor<64x32xf16>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sums) -> (tensor<64x16xf32>) {
    %2 = bufferization.to_tensor %q : memref<64x32xf16> to tensor<64x32xf16>
    %3 = linalg.matmul ins(%0, %k : tensor<64x32xf16>, tensor<32x16xf16>) outs(%sums : tensor<64x16xf32>) -> tensor<64x16xf32>
    %4 = linalg.matmul ins(%2, %k : tensor<64x32xf16>, tensor<32x16xf16>) outs(%3 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %5 = linalg.add ins(%4, %acc : tensor<64x16xf32>, tensor<64x16xf32>) outs(%acc : tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %5 : tensor<64x16xf32>
  }
  return %1 : tensor<64x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A loop that adds products up packs what it multiplies; a column is multiplied as a row; what comes from elsewhere, and
// integers, stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: arith.extf
// CHECK: return
func.func @others(%x: tensor<64x32xf32>, %v: tensor<32x16xf16>, %y: tensor<64x32xf16>, %w: tensor<32x1xf16>, %i: tensor<64x32xi8>, %j: tensor<32x16xi8>,
                  %sums: tensor<64x16xf32>, %column: tensor<64x1xf32>, %whole: tensor<64x16xi32>, %n: index)
    -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x1xf32>, tensor<64x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty() : tensor<64x32xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%0 : tensor<64x32xf16>) {
  ^bb0(%a: f32, %o: f16):
    %9 = arith.truncf %a : f32 to f16
    linalg.yield %9 : f16
  } -> tensor<64x32xf16>
  %2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %sums) -> (tensor<64x16xf32>) {
    %9 = linalg.matmul ins(%1, %v : tensor<64x32xf16>, tensor<32x16xf16>) outs(%acc : tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %9 : tensor<64x16xf32>
  }
  %3 = linalg.matmul ins(%y, %v : tensor<64x32xf16>, tensor<32x16xf16>) outs(%sums : tensor<64x16xf32>) -> tensor<64x16xf32>
  %4 = linalg.matmul ins(%1, %w : tensor<64x32xf16>, tensor<32x1xf16>) outs(%column : tensor<64x1xf32>) -> tensor<64x1xf32>
  %5 = tensor.empty() : tensor<64x32xi8>
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<64x32xi8>) outs(%5 : tensor<64x32xi8>) {
  ^bb0(%a: i8, %o: i8):
    %9 = arith.addi %a, %a : i8
    linalg.yield %9 : i8
  } -> tensor<64x32xi8>
  %7 = linalg.matmul ins(%6, %j : tensor<64x32xi8>, tensor<32x16xi8>) outs(%whole : tensor<64x16xi32>) -> tensor<64x16xi32>
  return %2, %3, %4, %7 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x1xf32>, tensor<64x16xi32>
}
