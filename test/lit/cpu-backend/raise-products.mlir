// RUN: tilebridge-opt %s -tilebridge-cpu-raise-products -canonicalize -cse | FileCheck %s

#map = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>

// A number by a row whose elements lie apart: the last block is as long as what
// is left.
// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[N:[a-z0-9]*]]: i32
// CHECK: %[[END:.*]] = arith.index_cast %[[N]]
// CHECK: %[[SUMS:.*]] = scf.for %[[K:.*]] = %c0 to %[[END]] step %c8 iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<1x64xf32>)
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[K]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c8
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[K]]], sizes: [8], strides: [1]
// CHECK: memref.subview %{{.*}}[0] [%[[COUNT]]] [1]
// CHECK: %[[A:.*]] = tensor.expand_shape %{{.*}} output_shape [1, 8]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[K]]], sizes: [8, 64], strides: [1, 96]
// CHECK: memref.subview %{{.*}}[0, 0] [%[[COUNT]], 64] [1, 1]
// CHECK: %[[B:.*]] = tensor.pad
// CHECK: linalg.matmul ins(%[[A]], %[[B]] : tensor<1x8xf32>, tensor<8x64xf32>) outs(%[[ACC]]
// CHECK: tensor.collapse_shape %[[SUMS]]
// CHECK-NOT: scf.for
func.func @row(%n: i32, %a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32, strided<[1], offset: ?>>
    %v = memref.reinterpret_cast %b to offset: [%i], sizes: [64], strides: [96] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[96], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[96], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %s = tensor.splat %x : tensor<64xf32>
    %m = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%row, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.mulf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%m, %acc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.addf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  return %t : tensor<64xf32>
}

// Rows that are contiguous stay: one row of sums is in registers.
// CHECK-LABEL: func.func @contiguous_row
// CHECK-NOT: linalg.matmul
// CHECK: scf.for
// CHECK: return
func.func @contiguous_row(%n: i32, %a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32, strided<[1], offset: ?>>
    %o = arith.muli %i, %c64 : index
    %v = memref.reinterpret_cast %b to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %s = tensor.splat %x : tensor<64xf32>
    %m = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%row, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.mulf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%m, %acc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.addf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  return %t : tensor<64xf32>
}

// Columns by rows, 48 of them, by pointers that the loop carries: no block has
// a rest. What is subtracted is negated; the sum of the numbers that the loop
// also carries stays in a loop of its own.
// CHECK-LABEL: func.func @tile
// CHECK: linalg.matmul {{.*}} : tensor<16x48xf32>, tensor<48x64xf32>
// CHECK: scf.for {{.*}} -> (i64, f32)
// CHECK: arith.addf
// CHECK-NOT: linalg
// CHECK: return
func.func @tile(%a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %stride: i64, %init: tensor<16x64xf32>) -> (tensor<16x64xf32>, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c48 = arith.constant 48 : i32
  %none = arith.constant 0 : i64
  %f0 = arith.constant 0.0 : f32
  %t:3 = scf.for %k = %c0 to %c48 step %c1 iter_args(%acc = %init, %at = %none, %numbers = %f0) -> (tensor<16x64xf32>, i64, f32) : i32 {
    %i = arith.index_cast %k : i32 to index
    %va = memref.reinterpret_cast %a to offset: [%i], sizes: [16], strides: [48] : memref<?xf32, strided<[1], offset: ?>> to memref<16xf32, strided<[48], offset: ?>>
    %column = bufferization.to_tensor %va : memref<16xf32, strided<[48], offset: ?>> to tensor<16xf32>
    %j = arith.index_cast %at : i64 to index
    %vb = memref.reinterpret_cast %b to offset: [%j], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %vb : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %columns = linalg.broadcast ins(%column : tensor<16xf32>) outs(%e : tensor<16x64xf32>) dimensions = [1]
    %rows = linalg.broadcast ins(%row : tensor<64xf32>) outs(%e : tensor<16x64xf32>) dimensions = [0]
    %m = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%rows, %columns : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.mulf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<16x64xf32>
    %sum = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%acc, %m : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.subf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<16x64xf32>
    %x = memref.load %a[%i] : memref<?xf32, strided<[1], offset: ?>>
    %more = arith.addf %numbers, %x : f32
    %next = arith.addi %at, %stride : i64
    scf.yield %sum, %next, %more : tensor<16x64xf32>, i64, f32
  }
  return %t#0, %t#2 : tensor<16x64xf32>, f32
}

// What is computed from what is read, and is not zero behind the last step,
// is made so.
// CHECK-LABEL: func.func @computed
// CHECK: math.exp
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[I]]
// CHECK: arith.select %[[THERE]]
// CHECK: linalg.matmul
func.func @computed(%n: i32, %a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xf32, strided<[1], offset: ?>>
    %y = math.exp %x : f32
    %v = memref.reinterpret_cast %b to offset: [%i], sizes: [64], strides: [96] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[96], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[96], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %s = tensor.splat %y : tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%row, %s, %acc : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32, %u: f32):
      %f = math.fma %p, %q, %r : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  return %t : tensor<64xf32>
}

// Left alone: sums of bf16, products that are rounded to it, squares of a row,
// few steps, and loops that write.
// CHECK-LABEL: func.func @others
// CHECK-NOT: linalg.matmul
// CHECK: return
func.func @others(%n: i32, %a: memref<?xbf16, strided<[1], offset: ?>>, %b: memref<64xbf16>, %c: memref<64xf32>) -> (tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %none = arith.constant dense<0.0> : tensor<64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %eb = tensor.empty() : tensor<64xbf16>
  %e = tensor.empty() : tensor<64xf32>
  %row = bufferization.to_tensor %b : memref<64xbf16> to tensor<64xbf16>
  %t:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %none, %wide = %zero) -> (tensor<64xbf16>, tensor<64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %x = memref.load %a[%i] : memref<?xbf16, strided<[1], offset: ?>>
    %m = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%row : tensor<64xbf16>) outs(%eb : tensor<64xbf16>) {
    ^bb0(%p: bf16, %u: bf16):
      %r = arith.mulf %p, %x : bf16
      linalg.yield %r : bf16
    } -> tensor<64xbf16>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %m : tensor<64xbf16>, tensor<64xbf16>) outs(%eb : tensor<64xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %u: bf16):
      %r = arith.addf %p, %q : bf16
      linalg.yield %r : bf16
    } -> tensor<64xbf16>
    %f = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%m : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: bf16, %u: f32):
      %r = arith.extf %p : bf16 to f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    %more = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%wide, %f : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %r = arith.addf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    scf.yield %sum, %more : tensor<64xbf16>, tensor<64xf32>
  }
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %r = bufferization.to_tensor %c : memref<64xf32> to tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %r : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %f = math.fma %q, %q, %p : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %r = bufferization.to_tensor %c : memref<64xf32> to tensor<64xf32>
  %few = scf.for %k = %c0 to %c7 step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %x = arith.sitofp %k : i32 to f32
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %r : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %f = math.fma %x, %q, %p : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %writes = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %x = arith.sitofp %k : i32 to f32
    bufferization.materialize_in_destination %acc in writable %c : (tensor<64xf32>, memref<64xf32>) -> ()
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %r : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %f = math.fma %x, %q, %p : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  return %t#0, %t#1, %s, %few, %writes : tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
