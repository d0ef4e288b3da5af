// RUN: tilebridge-opt %s -tilebridge-cpu-raise-products -canonicalize -cse | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
!whole = memref<?xf32, strided<[1], offset: ?>>
!part = memref<?xf32, strided<[1], offset: ?>>

// The column is read in steps before an end, the row behind a begin: of a block these are fewer than it has.
// CHECK-LABEL: func.func @other_ends
// CHECK-SAME: %[[N:[a-z0-9]*]]: i32, %[[LOW:[a-z0-9]*]]: i32, %[[HIGH:[a-z0-9]*]]: i32
// CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8
// CHECK: %[[COUNT:.*]] = arith.minsi %{{.*}}, %c8
// CHECK: %[[END:.*]] = arith.index_cast %[[HIGH]]
// CHECK: %[[FAR:.*]] = arith.subi %[[END]]
// CHECK: %[[LEFT:.*]] = arith.maxsi %[[FAR]], %c0
// CHECK: %[[UNTIL:.*]] = arith.minsi %[[LEFT]], %[[COUNT]]
// CHECK: memref.subview %{{.*}}[0, 0] [16, %[[UNTIL]]] [1, 1]
// CHECK: tensor.pad %{{.*}} low[0, 0] high[0, %{{.*}}]
// CHECK: arith.index_cast %[[LOW]]
// CHECK: %[[FIRST:.*]] = arith.minsi %{{.*}}, %[[COUNT]]
// CHECK: %[[AT:.*]] = arith.minsi %[[FIRST]], %[[COUNT]]
// CHECK: %[[LENGTH:.*]] = arith.subi %[[COUNT]], %[[AT]]
// CHECK: memref.subview %{{.*}}[%[[AT]], 0] [%[[LENGTH]], 64] [1, 1]
// CHECK: tensor.pad %{{.*}} low[%[[AT]], 0]
// CHECK: linalg.matmul
func.func @other_ends(%n: i32, %low: i32, %high: i32, %a: !whole, %b: !whole) -> tensor<16x64xf32> {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %t = scf.for %k = %c0_i32 to %n step %c1_i32 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %i = arith.index_cast %k : i32 to index
    %isBefore = arith.cmpi slt, %k, %high : i32
    %m = arith.select %isBefore, %c16, %c0 : index
    %va = memref.reinterpret_cast %a to offset: [%i], sizes: [16], strides: [512] : !whole to memref<16xf32, strided<[512], offset: ?>>
    %ba = memref.subview %va[0] [%m] [1] : memref<16xf32, strided<[512], offset: ?>> to memref<?xf32, strided<[512], offset: ?>>
    %ta = bufferization.to_tensor %ba : memref<?xf32, strided<[512], offset: ?>> to tensor<?xf32>
    %restOfColumn = arith.subi %c16, %m : index
    %x = tensor.pad %ta low[0] high[%restOfColumn] {
    ^bb0(%p: index):
      tensor.yield %cst : f32
    } : tensor<?xf32> to tensor<16xf32>
    %isBehind = arith.cmpi sge, %k, %low : i32
    %w = arith.select %isBehind, %c64, %c0 : index
    %at = arith.muli %i, %c64 : index
    %vb = memref.reinterpret_cast %b to offset: [%at], sizes: [64], strides: [1] : !whole to memref<64xf32, strided<[1], offset: ?>>
    %bb = memref.subview %vb[0] [%w] [1] : memref<64xf32, strided<[1], offset: ?>> to !part
    %tb = bufferization.to_tensor %bb : !part to tensor<?xf32>
    %restOfRow = arith.subi %c64, %w : index
    %y = tensor.pad %tb low[0] high[%restOfRow] {
    ^bb0(%p: index):
      tensor.yield %cst : f32
    } : tensor<?xf32> to tensor<64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %xs = linalg.broadcast ins(%x : tensor<16xf32>) outs(%e : tensor<16x64xf32>) dimensions = [1]
    %ys = linalg.broadcast ins(%y : tensor<64xf32>) outs(%e : tensor<16x64xf32>) dimensions = [0]
    %sum = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%xs, %ys, %acc : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32, %u: f32):
      %r = math.fma %p, %q, %s : f32
      linalg.yield %r : f32
    } -> tensor<16x64xf32>
    scf.yield %sum : tensor<16x64xf32>
  }
  return %t : tensor<16x64xf32>
}

// A descriptor's row is nothing before the first row of the array and behind the last one.
// CHECK-LABEL: func.func @rows_of_arrays
// CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8
// CHECK: %[[BEGIN:.*]] = arith.muli %[[K]], %c512
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[BEGIN]]], sizes: [16, 8], strides: [1, 512]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[BEGIN]]], sizes: [8, 64], strides: [512, 1]
// CHECK: memref.subview %{{.*}}[0, 0] [%{{.*}}, 64] [1, 1]
// CHECK: linalg.matmul
func.func @rows_of_arrays(%n: index, %rows: index, %others: index, %a: !whole, %b: !whole) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %last = arith.subi %rows, %c1 : index
  %va = memref.reinterpret_cast %a to offset: [0], sizes: [%rows, 512], strides: [512, 1] : !whole to memref<?x512xf32, strided<[512, 1]>>
  %vb = memref.reinterpret_cast %b to offset: [0], sizes: [%rows, 512], strides: [512, 1] : !whole to memref<?x512xf32, strided<[512, 1]>>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %from = arith.maxsi %k, %c0 : index
    %next = arith.addi %k, %c1 : index
    %until = arith.minsi %next, %rows : index
    %length = arith.subi %until, %from : index
    %at = arith.minsi %from, %last : index
    %inside = arith.maxsi %length, %c0 : index
    %rest = arith.subi %c1, %inside : index
    %ba = memref.subview %va[%at, 0] [%inside, 16] [1, 1] : memref<?x512xf32, strided<[512, 1]>> to memref<?x16xf32, strided<[512, 1], offset: ?>>
    %ta = bufferization.to_tensor %ba : memref<?x16xf32, strided<[512, 1], offset: ?>> to tensor<?x16xf32>
    %pa = tensor.pad %ta low[0, 0] high[%rest, 0] {
    ^bb0(%p: index, %q: index):
      tensor.yield %cst : f32
    } : tensor<?x16xf32> to tensor<1x16xf32>
    %ea = tensor.empty() : tensor<16x1xf32>
    %column = linalg.transpose ins(%pa : tensor<1x16xf32>) outs(%ea : tensor<16x1xf32>) permutation = [1, 0]
    %x = tensor.collapse_shape %column [[0, 1]] : tensor<16x1xf32> into tensor<16xf32>
    %bb = memref.subview %vb[%at, 0] [%inside, 64] [1, 1] : memref<?x512xf32, strided<[512, 1]>> to memref<?x64xf32, strided<[512, 1], offset: ?>>
    %tb = bufferization.to_tensor %bb : memref<?x64xf32, strided<[512, 1], offset: ?>> to tensor<?x64xf32>
    %pb = tensor.pad %tb low[0, 0] high[%rest, 0] {
    ^bb0(%p: index, %q: index):
      tensor.yield %cst : f32
    } : tensor<?x64xf32> to tensor<1x64xf32>
    %y = tensor.collapse_shape %pb [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %xs = linalg.broadcast ins(%x : tensor<16xf32>) outs(%e : tensor<16x64xf32>) dimensions = [1]
    %ys = linalg.broadcast ins(%y : tensor<64xf32>) outs(%e : tensor<16x64xf32>) dimensions = [0]
    %sum = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%xs, %ys, %acc : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32, %u: f32):
      %r = math.fma %p, %q, %s : f32
      linalg.yield %r : f32
    } -> tensor<16x64xf32>
    scf.yield %sum : tensor<16x64xf32>
  }
  return %t : tensor<16x64xf32>
}

// One whose rows are of another size than what is cut off is none of these.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: linalg.matmul
// CHECK: return
func.func @other_rows(%n: index, %rows: index, %others: index, %a: !whole, %b: !whole) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %last = arith.subi %rows, %c1 : index
  %va = memref.reinterpret_cast %a to offset: [0], sizes: [%rows, 512], strides: [512, 1] : !whole to memref<?x512xf32, strided<[512, 1]>>
  %vb = memref.reinterpret_cast %b to offset: [0], sizes: [%rows, 512], strides: [512, 1] : !whole to memref<?x512xf32, strided<[512, 1]>>
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %from = arith.maxsi %k, %c0 : index
    %next = arith.addi %k, %c1 : index
    %until = arith.minsi %next, %others : index
    %length = arith.subi %until, %from : index
    %at = arith.minsi %from, %last : index
    %inside = arith.maxsi %length, %c0 : index
    %rest = arith.subi %c1, %inside : index
    %ba = memref.subview %va[%at, 0] [%inside, 16] [1, 1] : memref<?x512xf32, strided<[512, 1]>> to memref<?x16xf32, strided<[512, 1], offset: ?>>
    %ta = bufferization.to_tensor %ba : memref<?x16xf32, strided<[512, 1], offset: ?>> to tensor<?x16xf32>
    %pa = tensor.pad %ta low[0, 0] high[%rest, 0] {
    ^bb0(%p: index, %q: index):
      tensor.yield %cst : f32
    } : tensor<?x16xf32> to tensor<1x16xf32>
    %ea = tensor.empty() : tensor<16x1xf32>
    %column = linalg.transpose ins(%pa : tensor<1x16xf32>) outs(%ea : tensor<16x1xf32>) permutation = [1, 0]
    %x = tensor.collapse_shape %column [[0, 1]] : tensor<16x1xf32> into tensor<16xf32>
    %bb = memref.subview %vb[%at, 0] [%inside, 64] [1, 1] : memref<?x512xf32, strided<[512, 1]>> to memref<?x64xf32, strided<[512, 1], offset: ?>>
    %tb = bufferization.to_tensor %bb : memref<?x64xf32, strided<[512, 1], offset: ?>> to tensor<?x64xf32>
    %pb = tensor.pad %tb low[0, 0] high[%rest, 0] {
    ^bb0(%p: index, %q: index):
      tensor.yield %cst : f32
    } : tensor<?x64xf32> to tensor<1x64xf32>
    %y = tensor.collapse_shape %pb [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %xs = linalg.broadcast ins(%x : tensor<16xf32>) outs(%e : tensor<16x64xf32>) dimensions = [1]
    %ys = linalg.broadcast ins(%y : tensor<64xf32>) outs(%e : tensor<16x64xf32>) dimensions = [0]
    %sum = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%xs, %ys, %acc : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32, %u: f32):
      %r = math.fma %p, %q, %s : f32
      linalg.yield %r : f32
    } -> tensor<16x64xf32>
    scf.yield %sum : tensor<16x64xf32>
  }
  return %t : tensor<16x64xf32>
}
