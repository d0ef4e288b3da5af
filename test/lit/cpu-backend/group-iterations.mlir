// RUN: tilebridge-opt %s -tilebridge-cpu-group-iterations | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[N:[a-z0-9]*]]: i32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[C0]], %[[N]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[N]], %c3_i32
// CHECK: %[[END:.*]] = arith.select %[[ANY]], %[[BEFORE]], %[[C0]]
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[K:.*]] = %[[C0]] to %[[END]] step %c4_i32 iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %[[C0]])
// CHECK-COUNT-4: arith.mulf
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<64xf32>, i32
// CHECK: scf.for %{{.*}} = %[[SUMS]]#1 to %[[N]] step %c1_i32 iter_args(%{{.*}} = %[[SUMS]]#0)
// CHECK: arith.mulf
// CHECK-NOT: arith.mulf
func.func @row(%n: i32, %a: memref<?xf32>, %b: memref<?x64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32>
    %v = memref.subview %b[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %row : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %x, %q : f32
      %r = arith.addf %p, %m : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  return %t : tensor<64xf32>
}

// Sums of rows, loops that begin anywhere, and stores in the loop are left alone.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
func.func @others(%n: i32, %first: i32, %a: memref<?xf32>, %b: memref<?x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %v = memref.subview %b[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %row : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.addf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  %u = scf.for %k = %first to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32>
    %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%acc : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = arith.mulf %p, %x : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  %w = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
    %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%acc : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = arith.mulf %p, %x : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  return %t, %u, %w : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
