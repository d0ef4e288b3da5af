// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-turn-blocks))' | FileCheck %s

// A product with a transposed matrix: its blocks, the mask's ends, what is repeated for them and the places that they are computed from are
// turned, and so is the block that the loop carries.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: memref<16xf32>, %[[ROWS:[a-z0-9]*]]: index, %[[LEFT:[a-z0-9]*]]: index
// CHECK: arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK: scf.for {{.*}} -> (tensor<64x16xf32>)
// CHECK-NOT: sizes: [16, 64]
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} sizes: [64, 16], strides: [%{{.*}}, 1]
// CHECK: memref.subview %[[VIEW]][0, 0] [64, %[[ROWS]]] [1, 1]
// CHECK: %[[BLOCK:.*]] = tensor.pad %{{.*}} low[0, 0] high[0, %[[LEFT]]]
// CHECK: tensor<64x?xf32> to tensor<64x16xf32>
// CHECK: linalg.broadcast ins(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<64x16xf32>) dimensions = [1]
// CHECK: linalg.generic
// CHECK: linalg.index 1
// CHECK: -> tensor<64x16xf32>
// CHECK: linalg.reduce {{.*}} dimensions = [0]
func.func @product(%x: memref<?xf32>, %v: memref<64xf32>, %y: memref<16xf32>, %rows: index, %left: index, %n: index, %stride: index) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sums = arith.constant dense<0.0> : tensor<16xf32>
  %all = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %at = arith.muli %i, %stride : index
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [16, 64], strides: [1, %stride] : memref<?xf32> to memref<16x64xf32, strided<[1, ?], offset: ?>>
    %some = memref.subview %view[0, 0] [%rows, 64] [1, 1] : memref<16x64xf32, strided<[1, ?], offset: ?>> to memref<?x64xf32, strided<[1, ?], offset: ?>>
    %part = bufferization.to_tensor %some : memref<?x64xf32, strided<[1, ?], offset: ?>> to tensor<?x64xf32>
    %block = tensor.pad %part low[0, 0] high[%left, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %none : f32
    } : tensor<?x64xf32> to tensor<16x64xf32>
    %vector = bufferization.to_tensor %v : memref<64xf32> to tensor<64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %wide = linalg.broadcast ins(%vector : tensor<64xf32>) outs(%e : tensor<16x64xf32>) dimensions = [0]
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%block, %wide, %acc : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %row = linalg.index 0 : index
      %is = arith.cmpi slt, %row, %rows : index
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %p, %c : f32
      %s = arith.select %is, %q, %c : f32
      linalg.yield %s : f32
    } -> tensor<16x64xf32>
    scf.yield %sum : tensor<16x64xf32>
  }
  %total = linalg.reduce { arith.addf } ins(%all : tensor<16x64xf32>) outs(%sums : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %total in writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// Left alone: rows that are contiguous as they are.
// CHECK-LABEL: func.func @rows(
// CHECK: sizes: [16, 64], strides: [%{{.*}}, 1]
// CHECK: dimensions = [1]
func.func @rows(%x: memref<?xf32>, %y: memref<16xf32>, %n: index, %stride: index) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %all = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<16xf32>) {
    %view = memref.reinterpret_cast %x to offset: [%i], sizes: [16, 64], strides: [%stride, 1] : memref<?xf32> to memref<16x64xf32, strided<[?, 1], offset: ?>>
    %block = bufferization.to_tensor %view : memref<16x64xf32, strided<[?, 1], offset: ?>> to tensor<16x64xf32>
    %sum = linalg.reduce { arith.addf } ins(%block : tensor<16x64xf32>) outs(%acc : tensor<16xf32>) dimensions = [1]
    scf.yield %sum : tensor<16xf32>
  }
  bufferization.materialize_in_destination %all in writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// And blocks of which one is stored.
// CHECK-LABEL: func.func @stored(
// CHECK: sizes: [16, 64], strides: [1, %{{.*}}]
// CHECK: dimensions = [1]
func.func @stored(%x: memref<?xf32>, %y: memref<16xf32>, %z: memref<16x64xf32>, %n: index, %stride: index) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %all:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %last = %none) -> (tensor<16xf32>, tensor<16x64xf32>) {
    %at = arith.muli %i, %stride : index
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [16, 64], strides: [1, %stride] : memref<?xf32> to memref<16x64xf32, strided<[1, ?], offset: ?>>
    %block = bufferization.to_tensor %view : memref<16x64xf32, strided<[1, ?], offset: ?>> to tensor<16x64xf32>
    %sum = linalg.reduce { arith.addf } ins(%block : tensor<16x64xf32>) outs(%acc : tensor<16xf32>) dimensions = [1]
    scf.yield %sum, %block : tensor<16xf32>, tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %all#0 in writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
  bufferization.materialize_in_destination %all#1 in writable %z : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}
