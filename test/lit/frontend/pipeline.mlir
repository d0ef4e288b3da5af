// RUN: tilebridge-opt %s -tilebridge-frontend | FileCheck %s

// A helper with an early return, called in a loop: it becomes scf before it is inlined.
// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
// CHECK: scf.for
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f32)
// CHECK: tt.store %[[P]], %[[R]] {cachePolicy
// CHECK-NOT: tt.call
// CHECK-NOT: tt.func private
tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %v = tt.call @helper(%p, %i) : (!tt.ptr<f32>, i32) -> f32
    tt.store %p, %v cacheModifier = wb : !tt.ptr<f32>
  }
  tt.return
}

tt.func private @helper(%p: !tt.ptr<f32>, %i: i32) -> f32 attributes {noinline = false} {
  %three = arith.constant 3 : i32
  %cst = arith.constant 1.0 : f32
  %c = arith.cmpi sgt, %i, %three : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %cst : f32
^bb2:
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}

// What touches memory stays, in its order; what does not is computed once, or not at all.
// CHECK-LABEL: tt.func public @effects
tt.func public @effects(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %x: tensor<8xf32>, %one: i32) {
  // CHECK: %[[A:.*]] = tt.load %[[P:.*]] : !tt.ptr<f32>
  %a = tt.load %p : !tt.ptr<f32>
  // CHECK-NEXT: tt.store
  tt.store %p, %a : !tt.ptr<f32>
  // CHECK-NEXT: %[[B:.*]] = tt.load
  %b = tt.load %p : !tt.ptr<f32>
  %b2 = tt.load %p : !tt.ptr<f32>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[B]], %[[B]]
  %s = arith.addf %b, %b2 : f32
  // CHECK-NEXT: tt.store %[[P]], %[[S]]
  tt.store %p, %s : !tt.ptr<f32>
  // CHECK-NEXT: tt.load %[[P]] {isVolatile = true}
  %c = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  // CHECK-NEXT: tt.load %[[P]] {isVolatile = true}
  %d = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  // CHECK-NEXT: tt.atomic_rmw
  %e = tt.atomic_rmw add, relaxed, gpu, %q, %one : (!tt.ptr<i32>, i32) -> i32
  // CHECK-NEXT: tt.atomic_load
  %f = tt.atomic_load acquire, gpu, %q : (!tt.ptr<i32>) -> i32
  // CHECK-NEXT: tt.elementwise_inline_asm
  %g = tt.elementwise_inline_asm "nop" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  // CHECK-NOT: pure = true
  %h = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %one : i32 -> i32
  // The first of these asserts, the second does nothing that is used.
  // CHECK-NEXT: "tt.reduce"
  // CHECK: tt.assert
  // CHECK-NOT: "tt.reduce"
  %i = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %less = arith.cmpf olt, %l, %r : f32
    tt.assert %less, "sorted" : i1
    tt.reduce.return %l : f32
  }) : (tensor<8xf32>) -> f32
  %j = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    tt.reduce.return %l : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// CHECK-LABEL: tt.func public @folds
tt.func public @folds(%p: !tt.ptr<f32>, %t: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xi32>, !tt.ptr<f32>, f32, f32) {
  %zero = arith.constant 0 : i32
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<3> : tensor<8x4xi32>
  // CHECK-DAG: %[[F:.*]] = arith.constant 2.000000e+00 : f32
  %three = arith.constant 3 : i32
  %0 = tt.splat %three : i32 -> tensor<4xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %2 = tt.broadcast %1 : tensor<4x1xi32> -> tensor<4x8xi32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %4 = tt.reshape %t : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = tt.trans %4 {order = array<i32: 0, 1>} : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = tt.bitcast %5 : tensor<4x8xf32> -> tensor<4x8xi32>
  %7 = tt.bitcast %6 : tensor<4x8xi32> -> tensor<4x8xf32>
  %8 = tt.addptr %p, %zero : !tt.ptr<f32>, i32
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %9 = tt.unsplat %two : tensor<1xf32>
  %v = tt.load %p : !tt.ptr<f32>
  %10 = tt.splat %v : f32 -> tensor<1xf32>
  %11 = tt.unsplat %10 : tensor<1xf32>
  // CHECK: %[[V:.*]] = tt.load
  // CHECK-NEXT: tt.return %{{.*}}, %[[C]], %{{.*}}, %[[F]], %[[V]]
  tt.return %7, %3, %8, %9, %11 : tensor<4x8xf32>, tensor<8x4xi32>, !tt.ptr<f32>, f32, f32
}
