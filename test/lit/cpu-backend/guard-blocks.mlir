// RUN: tilebridge-opt %s --tilebridge-cpu-guard-blocks -split-input-file | FileCheck %s

// Rows that only programs which wrap around gather by are divided in those only; the sum is no costly block.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @wrapped
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: arith.addi
// CHECK-NOT: arith.remsi
// CHECK: %[[IN:.*]] = arith.cmpi
// CHECK-NEXT: %[[ROWS:.*]] = scf.if %[[IN]] -> (tensor<32xi64>) {
// CHECK-NEXT: %[[NONE:.*]] = tensor.empty() : tensor<32xi64>
// CHECK-NEXT: scf.yield %[[NONE]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[SUM]]
// CHECK: arith.remsi
// CHECK: scf.yield %[[ALL]]
// CHECK: scf.for
// CHECK: scf.if %[[IN]]
// CHECK: linalg_ext.gather_rows %{{.*}}[%[[ROWS]]]
func.func @wrapped(%x: memref<?x64xf32>, %at: tensor<32xi64>, %m: i64, %n: index, %out: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : tensor<32x64xf32>
  %empty = tensor.empty() : tensor<32xi64>
  %sum = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%at : tensor<32xi64>) outs(%empty : tensor<32xi64>) {
  ^bb0(%a: i64, %o: i64):
    %r = arith.addi %a, %m : i64
    linalg.yield %r : i64
  } -> tensor<32xi64>
  %rows = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%sum : tensor<32xi64>) outs(%empty : tensor<32xi64>) {
  ^bb0(%a: i64, %o: i64):
    %r = arith.remsi %a, %m : i64
    linalg.yield %r : i64
  } -> tensor<32xi64>
  %in = arith.cmpi slt, %n, %c1 : index
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<32x64xf32> {
    %v = scf.if %in -> (tensor<32x64xf32>) {
      scf.yield %init : tensor<32x64xf32>
    } else {
      %g = linalg_ext.gather_rows %x[%rows] dim 0 other %zero : (memref<?x64xf32>, tensor<32xi64>, f32) -> tensor<32x64xf32>
      scf.yield %g : tensor<32x64xf32>
    }
    %next = linalg.add ins(%acc, %v : tensor<32x64xf32>, tensor<32x64xf32>) outs(%init : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %next : tensor<32x64xf32>
  }
  bufferization.materialize_in_destination %all in writable %out : (tensor<32x64xf32>, memref<32x64xf32>) -> ()
  return
}

// -----

// Not where both branches use it, where the loop computes the condition, or outside of loops, where it is computed with its use.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @kept
// CHECK: arith.divf
// CHECK: arith.divf
// CHECK: arith.divf
// CHECK: scf.for
func.func @kept(%x: tensor<32xf32>, %s: f32, %in: i1, %n: index, %out: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<32xf32>
  %both = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%empty : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %late = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%empty : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %once = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%empty : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> tensor<32xf32> {
    %first = arith.cmpi eq, %i, %c0 : index
    %u = scf.if %in -> (tensor<32xf32>) {
      %t = linalg.add ins(%acc, %both : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
      scf.yield %t : tensor<32xf32>
    } else {
      %t = linalg.sub ins(%acc, %both : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
      scf.yield %t : tensor<32xf32>
    }
    %v = scf.if %first -> (tensor<32xf32>) {
      %t = linalg.add ins(%u, %late : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
      scf.yield %t : tensor<32xf32>
    } else {
      scf.yield %u : tensor<32xf32>
    }
    scf.yield %v : tensor<32xf32>
  }
  %w = scf.if %in -> (tensor<32xf32>) {
    %t = linalg.add ins(%all, %once : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    scf.yield %t : tensor<32xf32>
  } else {
    scf.yield %all : tensor<32xf32>
  }
  bufferization.materialize_in_destination %w in writable %out : (tensor<32xf32>, memref<32xf32>) -> ()
  return
}
