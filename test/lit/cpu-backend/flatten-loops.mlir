// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-flatten-loops | FileCheck %s

// Three loops are one: the numbers of their iterations are digits of its own. What is computed between them is computed in each.
// CHECK-LABEL: func.func @three
// CHECK-SAME: %{{.*}}: memref<{{[^>]*>[^>]*}}>, %{{.*}}: memref<32x16xf32>, %{{.*}}, %{{.*}}, %[[N:[a-z0-9]*]]: i32
// CHECK: %[[LONG:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: %[[LENGTH:.*]] = arith.subi %[[LONG]]
// CHECK: arith.divsi
// CHECK: %[[INNER:.*]] = arith.maxsi
// CHECK: %[[COUNT:.*]] = arith.muli %{{.*}}, %[[INNER]] : i64
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<16x16xf32>) : i64
// CHECK: arith.remsi %[[I]], %[[INNER]]
// CHECK: %[[REST:.*]] = arith.divsi %[[I]], %[[INNER]]
// CHECK: arith.remsi %[[REST]]
// CHECK: arith.divsi %[[REST]]
// CHECK: linalg_ext.gather_rows
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[ACC]] :
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @three(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<32x16xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %n: i32) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c32 = arith.constant 32 : i32
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %sum = scf.for %h = %c0 to %c3 step %c1 iter_args(%a0 = %zeros) -> (tensor<16x16xf32>) : i32 {
    %s1 = scf.for %v = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (tensor<16x16xf32>) : i32 {
      %both = arith.addi %h, %v : i32
      %s2 = scf.for %c = %c0 to %n step %c32 iter_args(%a2 = %a1) -> (tensor<16x16xf32>) : i32 {
        %at = arith.addi %both, %c : i32
        %from = arith.index_cast %at : i32 to index
        %box = memref.subview %x[0, %from] [16, 32] [1, 1]
            : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<16x32xf32, strided<[1, ?], offset: ?>>
        %view = memref.cast %box : memref<16x32xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
        %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
            : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
        %r = bufferization.to_tensor %w : memref<32x16xf32> to tensor<32x16xf32>
        %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%a2 : tensor<16x16xf32>) -> tensor<16x16xf32>
        scf.yield %d : tensor<16x16xf32>
      }
      scf.yield %s2 : tensor<16x16xf32>
    }
    scf.yield %s1 : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// As many iterations as the outer loop says: two loops stay two. So they do where something is stored in between, and where sums are
// used there.
// CHECK-LABEL: func.func @triangle
// CHECK: scf.for
// CHECK: scf.for
// CHECK-LABEL: func.func @stored
func.func @triangle(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<32x16xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %n: i32) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %sum = scf.for %h = %c0 to %n step %c1 iter_args(%a0 = %zeros) -> (tensor<16x16xf32>) : i32 {
    %s1 = scf.for %c = %c0 to %h step %c1 iter_args(%a1 = %a0) -> (tensor<16x16xf32>) : i32 {
      %l = linalg_ext.gather_rows %x[%rows] dim 0 other %zero
          : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
      %r = bufferization.to_tensor %w : memref<32x16xf32> to tensor<32x16xf32>
      %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%a1 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    scf.yield %s1 : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

func.func @stored(%x: memref<?x?xf32, strided<[1, ?], offset: ?>>, %w: memref<32x16xf32>, %ids: memref<16xi64>, %y: memref<16x16xf32>, %n: i32, %log: memref<1xi32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i0 = arith.constant 0 : index
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  // CHECK: scf.for
  // CHECK: memref.store
  // CHECK: scf.for
  %sum = scf.for %h = %c0 to %n step %c1 iter_args(%a0 = %zeros) -> (tensor<16x16xf32>) : i32 {
    memref.store %h, %log[%i0] : memref<1xi32>
    %s1 = scf.for %c = %c0 to %n step %c1 iter_args(%a1 = %a0) -> (tensor<16x16xf32>) : i32 {
      %l = linalg_ext.gather_rows %x[%rows] dim 0 other %zero
          : (memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x32xf32>
      %r = bufferization.to_tensor %w : memref<32x16xf32> to tensor<32x16xf32>
      %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%a1 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    scf.yield %s1 : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
