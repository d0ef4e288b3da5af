// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @one
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xi32>, %[[Y:.*]]: tensor<8x4xf32>, %[[K:[a-z0-9]*]]: i32
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[Y]] : {{.*}}) outs({{.*}} : tensor<8x4xf32>, tensor<8x4xi32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK-NEXT: %[[C:.*]] = arith.addi %[[A]], %[[K]]
// CHECK-NEXT: linalg.yield %[[B]], %[[C]] : f32, i32
tt.func private @one(%x: tensor<8x4xi32>, %y: tensor<8x4xf32>, %k: i32) -> (tensor<8x4xf32>, tensor<8x4xi32>) {
  %0:2 = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
  ^bb0(%a: i32, %b: f32):
    %c = arith.addi %a, %k : i32
    tt.map_elementwise.return %b, %c : f32, i32
  }) : (tensor<8x4xi32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  tt.return %0#0, %0#1 : tensor<8x4xf32>, tensor<8x4xi32>
}

// -----

// Neighbours are operands beside each other, and results are put back in turns.
// CHECK-LABEL: func.func private @pairs
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} into tensor<16x2xi32>
// CHECK: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [16, 1] [1, 1] : tensor<16x2xi32> to tensor<16xi32>
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 1] [16, 1] [1, 1]
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%[[X0]], %[[X1]] :
// CHECK: %[[P:.*]] = tensor.insert_slice %[[R]]#0 into %{{.*}}[0, 0] [16, 1] [1, 1]
// CHECK: %[[Q:.*]] = tensor.insert_slice %[[R]]#1 into %[[P]][0, 1] [16, 1] [1, 1]
// CHECK: tensor.expand_shape
tt.func private @pairs(%x: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<8x4xi32>) -> tensor<8x4xi32>
  tt.return %0 : tensor<8x4xi32>
}

// -----

// CHECK-LABEL: func.func private @loop
// CHECK: linalg.generic
// CHECK: scf.while
// CHECK: linalg.yield
tt.func private @loop(%x: tensor<8xi32>, %k: i32) -> tensor<8xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %r = scf.while (%i = %a) : (i32) -> i32 {
      %more = arith.cmpi sgt, %i, %k : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %j = arith.subi %i, %k : i32
      scf.yield %j : i32
    }
    tt.map_elementwise.return %r : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}
