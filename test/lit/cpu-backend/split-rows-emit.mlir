// RUN: tilebridge-opt %s --tilebridge-cpu-split-rows | FileCheck %s
// RUN: tilebridge-opt %s --tilebridge-cpu-split-rows | FileCheck %s --check-prefix=PARTS
// RUN: tilebridge-opt %s --pass-pipeline='builtin.module(func.func(tilebridge-cpu-split-rows,tilebridge-cpu-plan),tilebridge-cpu-emit)' \
// RUN:   | FileCheck %s --check-prefix=EMIT

#row = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// Weights of 4 bits along K: shifts come from indices, scales are repeated, one factor a row is in memory, and another operand is a block
// of its own. All of that has the shape that the weights have in memory.
// CHECK-DAG: #[[$ID1:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @packed
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {indexing_maps = [#[[$ID1]]], iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<4x8xi32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[ALL:.*]] = arith.muli %[[I]], %[[EIGHT]]
// CHECK: %[[K:.*]] = arith.addi %[[ALL]], %[[J]]
// CHECK: arith.index_cast %[[K]]
// CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]], #[[$ID]]]
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<4x8x64xi32>) outs(%{{.*}} : tensor<64xi32>) dimensions = [0, 1]
// CHECK-NOT: tensor<32x64xi32>
// CHECK: return
// Each row is read once for the eight that it stands for, and nothing but the sums is written behind the loops.
// EMIT-LABEL: func.func @packed
// EMIT: scf.for
// EMIT: scf.for
// EMIT: vector.load %{{.*}}, vector<32xi32>
// EMIT: scf.for
// EMIT: arith.shrsi %{{.*}} : vector<32xi32>
// EMIT-NOT: vector.store
// EMIT: scf.yield
// EMIT: scf.yield
// EMIT: vector.store
// EMIT: return
// Where the parts are.
// PARTS-LABEL: func.func @packed
// PARTS-DAG: %[[W:.*]] = bufferization.to_tensor %{{.*}} : memref<4x8x64xi32, strided<[256, 0, 1]>>
// PARTS-DAG: ins(%[[W]], %{{.*}} : tensor<4x8x64xi32>, tensor<4x8x64xi32>)
// PARTS-DAG: memref.reinterpret_cast %{{.*}} sizes: [4, 8], strides: [24, 3]
// PARTS-DAG: memref.reinterpret_cast %{{.*}} sizes: [4, 8, 64], strides: [%{{.*}}, %{{.*}}, 1]
// PARTS-DAG: linalg.broadcast ins(%{{.*}} : tensor<4x8xi32>) outs(%{{.*}} : tensor<4x8x64xi32>) dimensions = [2]
// PARTS-DAG: linalg.broadcast ins(%{{.*}} : tensor<64xi32>) outs(%{{.*}} : tensor<4x8x64xi32>) dimensions = [0, 1]
func.func @packed(%w: memref<?xi32, strided<[1], offset: ?>>, %x: memref<?xi32, strided<[1], offset: ?>>, %s: memref<64xi32>,
                  %z: memref<?xi32, strided<[1], offset: ?>>, %stride: index, %y: memref<64xi32>) {
  %c7 = arith.constant 7 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  %view = memref.reinterpret_cast %w to offset: [0], sizes: [4, 8, 64], strides: [256, 0, 1]
      : memref<?xi32, strided<[1], offset: ?>> to memref<4x8x64xi32, strided<[256, 0, 1]>>
  %packed = bufferization.to_tensor %view : memref<4x8x64xi32, strided<[256, 0, 1]>> to tensor<4x8x64xi32>
  %rows = tensor.collapse_shape %packed [[0, 1], [2]] : tensor<4x8x64xi32> into tensor<32x64xi32>
  %er = tensor.empty() : tensor<32xi32>
  %e = tensor.empty() : tensor<32x64xi32>
  %k = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%er : tensor<32xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %m = arith.andi %c, %c7 : i32
    linalg.yield %m : i32
  } -> tensor<32xi32>
  %shift = linalg.broadcast ins(%k : tensor<32xi32>) outs(%e : tensor<32x64xi32>) dimensions = [1]
  %code = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %shift : tensor<32x64xi32>, tensor<32x64xi32>) outs(%e : tensor<32x64xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %r = arith.shrsi %a, %b : i32
    linalg.yield %r : i32
  } -> tensor<32x64xi32>
  %xview = memref.reinterpret_cast %x to offset: [0], sizes: [32], strides: [3]
      : memref<?xi32, strided<[1], offset: ?>> to memref<32xi32, strided<[3]>>
  %xs = bufferization.to_tensor %xview : memref<32xi32, strided<[3]>> to tensor<32xi32>
  %xb = linalg.broadcast ins(%xs : tensor<32xi32>) outs(%e : tensor<32x64xi32>) dimensions = [1]
  %ss = bufferization.to_tensor %s : memref<64xi32> to tensor<64xi32>
  %sb = linalg.broadcast ins(%ss : tensor<64xi32>) outs(%e : tensor<32x64xi32>) dimensions = [0]
  %zview = memref.reinterpret_cast %z to offset: [0], sizes: [32, 64], strides: [%stride, 1]
      : memref<?xi32, strided<[1], offset: ?>> to memref<32x64xi32, strided<[?, 1]>>
  %zs = bufferization.to_tensor %zview : memref<32x64xi32, strided<[?, 1]>> to tensor<32x64xi32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%code, %xb, %sb, %zs : tensor<32x64xi32>, tensor<32x64xi32>, tensor<32x64xi32>, tensor<32x64xi32>) outs(%e : tensor<32x64xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32, %o: i32):
    %1 = arith.subi %a, %d : i32
    %2 = arith.muli %1, %b : i32
    %3 = arith.muli %2, %c : i32
    linalg.yield %3 : i32
  } -> tensor<32x64xi32>
  %sum = linalg.reduce { arith.addi } ins(%p : tensor<32x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  bufferization.materialize_in_destination %sum in restrict writable %y : (tensor<64xi32>, memref<64xi32>) -> ()
  return
}
