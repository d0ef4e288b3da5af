// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// Hazard 12: pointers through every kind of control flow.
// CHECK-LABEL: func.func private @pointers
// CHECK-SAME: (%[[P:.*]]: memref<?xf32, strided<[1], offset: ?>>, %{{.*}}: i64
// CHECK: %[[A:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[P]]) -> (memref<?xf32, strided<[1], offset: ?>>) : i64
// CHECK: memref.reinterpret_cast
// CHECK: %[[B:.*]] = scf.while (%{{.*}} = %[[A]]) : (memref<?xf32, strided<[1], offset: ?>>) -> memref<?xf32, strided<[1], offset: ?>>
// CHECK: scf.condition(%{{.*}}) %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[C:.*]] = scf.if %{{.*}} -> (memref<?xf32, strided<[1], offset: ?>>)
// CHECK: ub.poison : memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[D:.*]] = scf.index_switch %{{.*}} -> memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[E:.*]] = arith.select %{{.*}}, %[[D]], %[[P]] : memref<?xf32, strided<[1], offset: ?>>
// CHECK: return %[[E]]
tt.func private @pointers(%p: !tt.ptr<f32>, %n: i64, %c: i1, %s: index) -> !tt.ptr<f32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tt.ptr<f32>) : i64 {
    %1 = tt.addptr %a, %i : !tt.ptr<f32>, i64
    scf.yield %1 : !tt.ptr<f32>
  } {tt.num_stages = 3 : i32}
  %2 = scf.while (%a = %0) : (!tt.ptr<f32>) -> !tt.ptr<f32> {
    scf.condition(%c) %a : !tt.ptr<f32>
  } do {
  ^bb0(%a: !tt.ptr<f32>):
    scf.yield %a : !tt.ptr<f32>
  }
  %3 = scf.if %c -> (!tt.ptr<f32>) {
    scf.yield %2 : !tt.ptr<f32>
  } else {
    %4 = ub.poison : !tt.ptr<f32>
    scf.yield %4 : !tt.ptr<f32>
  }
  %5 = scf.index_switch %s -> !tt.ptr<f32>
  case 7 {
    scf.yield %3 : !tt.ptr<f32>
  }
  default {
    scf.yield %p : !tt.ptr<f32>
  }
  %6 = arith.select %c, %5, %p : !tt.ptr<f32>
  tt.return %6 : !tt.ptr<f32>
}

// -----

// A descriptor is two values, a block pointer a memref and its offsets.
// CHECK-LABEL: func.func private @parts
// CHECK-SAME: (%[[D:.*]]: memref<?x?xf16, strided<[?, ?], offset: ?>>, %[[NAN:.*]]: i1, %[[B:.*]]: memref<?x?xf16, strided<[?, ?], offset: ?>>, %[[I:.*]]: index, %[[J:.*]]: index, %[[C:.*]]: i1
// CHECK: %[[R:.*]]:5 = scf.if %[[C]] -> (memref<?x?xf16, strided<[?, ?], offset: ?>>, i1, memref<?x?xf16, strided<[?, ?], offset: ?>>, index, index)
// CHECK-NEXT: scf.yield %[[D]], %[[NAN]], %[[B]], %[[I]], %[[J]]
// CHECK: arith.select %[[C]], %[[R]]#0, %[[D]]
// CHECK: arith.select %[[C]], %[[R]]#1, %[[NAN]]
// CHECK: arith.select %[[C]], %[[R]]#2, %[[B]]
// CHECK: arith.select %[[C]], %[[R]]#3, %[[I]]
// CHECK: arith.select %[[C]], %[[R]]#4, %[[J]]
tt.func private @parts(%d: !tt.tensordesc<8x16xf16>, %b: !tt.ptr<tensor<8x16xf16>>, %c: i1)
    -> (!tt.tensordesc<8x16xf16>, !tt.ptr<tensor<8x16xf16>>) {
  %0:2 = scf.if %c -> (!tt.tensordesc<8x16xf16>, !tt.ptr<tensor<8x16xf16>>) {
    scf.yield %d, %b : !tt.tensordesc<8x16xf16>, !tt.ptr<tensor<8x16xf16>>
  } else {
    %1 = ub.poison : !tt.tensordesc<8x16xf16>
    %2 = ub.poison : !tt.ptr<tensor<8x16xf16>>
    scf.yield %1, %2 : !tt.tensordesc<8x16xf16>, !tt.ptr<tensor<8x16xf16>>
  }
  %3 = arith.select %c, %0#0, %d : !tt.tensordesc<8x16xf16>
  %4 = arith.select %c, %0#1, %b : !tt.ptr<tensor<8x16xf16>>
  tt.return %3, %4 : !tt.tensordesc<8x16xf16>, !tt.ptr<tensor<8x16xf16>>
}

// -----

// Tensors of booleans, of addresses and of 64 bits through a loop.
// CHECK-LABEL: func.func private @tensors
// CHECK: scf.for {{.*}} -> (tensor<64xi1>, tensor<64xi64>, tensor<64xi64>) : i32
// CHECK-NOT: num_stages
tt.func private @tensors(%m: tensor<64xi1>, %p: tensor<64x!tt.ptr<f16>>, %l: tensor<64xi64>, %n: i32)
    -> tensor<64x!tt.ptr<f16>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m, %b = %p, %c = %l)
      -> (tensor<64xi1>, tensor<64x!tt.ptr<f16>>, tensor<64xi64>) : i32 {
    %1 = tt.addptr %b, %c : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
    scf.yield %a, %1, %c : tensor<64xi1>, tensor<64x!tt.ptr<f16>>, tensor<64xi64>
  } {tt.num_stages = 2 : i32}
  tt.return %0#1 : tensor<64x!tt.ptr<f16>>
}
