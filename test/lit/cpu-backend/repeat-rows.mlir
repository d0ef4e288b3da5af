// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-repeat-rows))' | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-repeat-rows,tilebridge-cpu-plan))' | FileCheck %s --check-prefix=PLAN

#map = affine_map<(d0, d1) -> (d0, d1)>

// Zeros that all rows share are unpacked and converted once, and kept for the rows of weights that are packed.
// CHECK-LABEL: func.func @zeros(
// CHECK-SAME: %[[ROW:[^:]*]]: tensor<64xi8>
// CHECK: scf.for
// CHECK: %[[CODE:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[ROW]], %{{.*}} : tensor<64xi8>, tensor<64xi8>) outs(%{{.*}} : tensor<64xi8>)
// CHECK: arith.andi
// CHECK: %[[ZERO:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[CODE]] : tensor<64xi8>) outs(%{{.*}} : tensor<64xf32>)
// CHECK: arith.uitofp
// CHECK: %[[ALL:.*]] = linalg.broadcast ins(%[[ZERO]] : tensor<64xf32>) outs(%{{.*}} : tensor<32x64xf32>) dimensions = [0]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %[[ALL]] : tensor<32x64xf32>, tensor<32x64xf32>)
// CHECK: linalg.matmul
// PLAN-LABEL: func.func @zeros(
// PLAN: arith.uitofp
// PLAN: } -> tensor<64xf32>
// PLAN: linalg.broadcast
// PLAN: tilebridge.direct
func.func @zeros(%row: tensor<64xi8>, %w: memref<32x64xf32>, %x: tensor<16x32xf32>, %n: index, %o: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<16x64xf32>
  %mask = arith.constant dense<15> : tensor<32x64xi8>
  %eb = tensor.empty() : tensor<32x64xi8>
  %e = tensor.empty() : tensor<32x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x64xf32>) {
    %all = linalg.broadcast ins(%row : tensor<64xi8>) outs(%eb : tensor<32x64xi8>) dimensions = [0]
    %code = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%all, %mask : tensor<32x64xi8>, tensor<32x64xi8>) outs(%eb : tensor<32x64xi8>) {
    ^bb0(%a: i8, %b: i8, %out: i8):
      %t = arith.andi %a, %b : i8
      linalg.yield %t : i8
    } -> tensor<32x64xi8>
    %zero = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%code : tensor<32x64xi8>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%a: i8, %out: f32):
      %t = arith.uitofp %a : i8 to f32
      linalg.yield %t : f32
    } -> tensor<32x64xf32>
    %read = bufferization.to_tensor %w : memref<32x64xf32> to tensor<32x64xf32>
    %weight = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%read, %zero : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %t = arith.subf %a, %b : f32
      linalg.yield %t : f32
    } -> tensor<32x64xf32>
    %d = linalg.matmul ins(%x, %weight : tensor<16x32xf32>, tensor<32x64xf32>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %o : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// Numbers of rows, which are repeated along them, stay; so do an element's index, and a sum with what differs from row to row.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @others(%rows: tensor<32xf32>, %row: tensor<64xf32>, %x: tensor<32x64xf32>, %a: tensor<32x32xf32>)
    -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %e = tensor.empty() : tensor<32x64xf32>
  %along = linalg.broadcast ins(%rows : tensor<32xf32>) outs(%e : tensor<32x64xf32>) dimensions = [1]
  %all = linalg.broadcast ins(%row : tensor<64xf32>) outs(%e : tensor<32x64xf32>) dimensions = [0]
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%along : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    %t = arith.negf %v : f32
    linalg.yield %t : f32
  } -> tensor<32x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%all : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %t = arith.addf %v, %f : f32
    linalg.yield %t : f32
  } -> tensor<32x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%all, %x : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %t = arith.addf %v, %w : f32
    linalg.yield %t : f32
  } -> tensor<32x64xf32>
  %3 = linalg.matmul ins(%a, %x : tensor<32x32xf32>, tensor<32x64xf32>) outs(%x : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0, %1, %2, %3 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// Without a product nothing is done.
// CHECK-LABEL: func.func @no_product(
// CHECK: linalg.broadcast
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
func.func @no_product(%row: tensor<64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %all = linalg.broadcast ins(%row : tensor<64xf32>) outs(%e : tensor<32x64xf32>) dimensions = [0]
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%all : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    %t = arith.negf %v : f32
    linalg.yield %t : f32
  } -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
