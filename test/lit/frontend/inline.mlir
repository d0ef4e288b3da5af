// RUN: tilebridge-opt %s -tilebridge-inline | FileCheck %s

// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[X:.*]]: tensor<8xf32>)
tt.func public @kernel(%p: !tt.ptr<f32>, %x: tensor<8xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %i = %zero to %one step %one : i32 {
    // CHECK: %[[SUM:.*]] = "tt.reduce"
    // CHECK: tt.store %[[P]], %[[SUM]]
    // CHECK-NOT: tt.call @twice
    tt.call @twice(%p, %x) : (!tt.ptr<f32>, tensor<8xf32>) -> ()
  }
  // CHECK: tt.call @kept(%[[P]]) : (!tt.ptr<f32>) -> f32
  %0 = tt.call @kept(%p) : (!tt.ptr<f32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// CHECK-NOT: @twice
tt.func private @twice(%p: !tt.ptr<f32>, %x: tensor<8xf32>) attributes {noinline = false} {
  %0 = tt.call @sum(%x) : (tensor<8xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// CHECK-NOT: @sum
tt.func private @sum(%x: tensor<8xf32>) -> f32 {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = tt.call @add(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %1 : f32
  }) : (tensor<8xf32>) -> f32
  tt.return %0 : f32
}

// CHECK-NOT: @add
tt.func private @add(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  tt.return %0 : f32
}

// CHECK: tt.func private @kept
tt.func private @kept(%p: !tt.ptr<f32>) -> f32 attributes {noinline = true} {
  // CHECK-NEXT: tt.load
  // CHECK-NOT: tt.call
  %0 = tt.call @one_more(%p) : (!tt.ptr<f32>) -> f32
  tt.return %0 : f32
}

// CHECK-NOT: @one_more
tt.func private @one_more(%p: !tt.ptr<f32>) -> f32 {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return %0 : f32
}

// CHECK-NOT: @never_called
tt.func private @never_called() attributes {noinline = true} {
  tt.return
}

// What the caller promises of a result holds for the value that replaces it.
// CHECK-LABEL: tt.func public @hints
tt.func public @hints(%x: i32, %y: i32) -> (i32, i32) {
  // CHECK: %[[A:.*]] = arith.addi %{{.*}}, %{{.*}} {tt.contiguity = dense<1> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : i32
  %0 = tt.call @offset(%x) {tt.contiguity = dense<1> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : (i32) -> i32
  // CHECK: %[[B:.*]] = arith.addi %{{[^{]*}} : i32
  %z = arith.addi %y, %y : i32
  %1 = tt.call @same(%z) {tt.divisibility = dense<8> : tensor<1xi32>} : (i32) -> i32
  // CHECK: tt.return %[[A]], %[[B]]
  tt.return %0, %1 : i32, i32
}
tt.func private @offset(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  tt.return %0 : i32
}
tt.func private @same(%x: i32) -> i32 {
  tt.return %x : i32
}
