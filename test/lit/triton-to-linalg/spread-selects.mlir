// RUN: tilebridge-opt %s -tilebridge-spread-selects | FileCheck %s

// CHECK-LABEL: func.func @scalar_condition
// CHECK-SAME: %[[C:[a-z0-9]*]]: i1, %[[X:[a-z0-9]*]]: tensor<8xf32>, %[[Y:[a-z0-9]*]]: tensor<8xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[Y]] :
// CHECK: ^bb0(%[[A:[a-z0-9_]*]]: f32, %[[B:[a-z0-9_]*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.select %[[C]], %[[A]], %[[B]] : f32
func.func @scalar_condition(%c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.select %c, %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @block_condition
// CHECK: linalg.generic
// CHECK: ^bb0(%[[A:[a-z0-9_]*]]: i8, %[[B:[a-z0-9_]*]]: i8, %[[C:[a-z0-9_]*]]: i1, %{{.*}}: i8):
// CHECK-NEXT: arith.select %[[C]], %[[A]], %[[B]] : i8
func.func @block_condition(%c: tensor<2x4xi1>, %x: tensor<2x4xi8>, %y: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %0 = arith.select %c, %x, %y : tensor<2x4xi1>, tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// Pointers and numbers are chosen as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: linalg.generic
func.func @others(%c: i1, %x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %n: i32)
    -> (memref<?xf32, strided<[1], offset: ?>>, i32) {
  %0 = arith.select %c, %x, %y : memref<?xf32, strided<[1], offset: ?>>
  %1 = arith.select %c, %n, %n : i32
  return %0, %1 : memref<?xf32, strided<[1], offset: ?>>, i32
}
