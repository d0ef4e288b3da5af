// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The first and the last row of the mask are known before the loop along K, as tiles of registers cover them: rows of 4,
// or one. Both the rows of the left operand that are gathered and the sums begin with them. One row of sums says whether
// all rows were multiplied with finite numbers: if not, one of zeros is, for all others. The sums of both loops are one
// buffer.
// CHECK-LABEL: func.func @experts
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<64x64xf32>
// CHECK: scf.for
// CHECK: %[[LOW:.*]] = vector.reduction <minsi>
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[LOW]]
// CHECK: %[[HIGH:.*]] = vector.reduction <maxsi>
// CHECK: %[[END:.*]] = arith.index_cast %[[HIGH]]
// CHECK: %[[BEGIN:.*]] = arith.minsi %[[FIRST]], %[[END]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[DISTANCE]], %c1
// CHECK: %[[MORE:.*]] = arith.addi %[[COUNT]], %c3
// CHECK: %[[TILES:.*]] = arith.divui %[[MORE]], %c4
// CHECK: %[[ALL:.*]] = arith.muli %[[TILES]], %c4
// CHECK: %[[ONE:.*]] = arith.cmpi sle, %[[COUNT]], %c1
// CHECK: %[[COVERED:.*]] = arith.select %[[ONE]], %c1, %[[ALL]]
// CHECK: %[[LAST:.*]] = arith.subi %c64, %[[COVERED]]
// CHECK: %[[FROM:.*]] = arith.minsi %[[BEGIN]], %[[LAST]]
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %[[COVERED]]
// CHECK: %[[LHS:.*]] = memref.alloc() {{.*}} : memref<64x80xf32>
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// CHECK: scf.if
// CHECK: %[[OFFSET:.*]] = arith.muli %[[FROM]], %c64
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[SUMS]] to offset: [%[[OFFSET]]]
// CHECK: %[[ROW:.*]] = memref.alloc() {{.*}} : memref<4x64xf32>
// CHECK: %[[AGAIN:.*]] = scf.while (%[[OFZEROS:.*]] = %false) : (i1) -> i1 {
// CHECK:   %[[ACC:.*]] = arith.select %[[OFZEROS]], %{{.*}}, %[[PART]]
// CHECK:   arith.select %[[OFZEROS]], %c1, %[[COVERED]]
// CHECK:   arith.maxui
// CHECK:   vector.reduction <and>
// CHECK:   scf.condition(%{{.*}}) %[[OFZEROS]]
// CHECK: } do {
// CHECK:   vector.store %{{.*}}, %[[LHS]]
// CHECK:   vector.store %{{.*}}, %[[ROW]]
// CHECK:   scf.yield %true
// CHECK: scf.if %[[AGAIN]] {
// CHECK:   scf.for %{{.*}} = %c0 to %[[FROM]] step %c1
// CHECK:   scf.for %{{.*}} = %[[TO]] to %c64 step %c1
func.func @experts(%x: memref<?x32xf32>, %w: memref<?x32x64xf32>, %numbers: memref<64xi64>, %places: memref<64xi64>,
                   %to: memref<64x64xf32>, %n: index, %k: index) {
  %mine = bufferization.to_tensor %numbers : memref<64xi64> to tensor<64xi64>
  %rows = bufferization.to_tensor %places : memref<64xi64> to tensor<64xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64xi1>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%outer = %zeros) -> tensor<64x64xf32> {
    %number = arith.index_cast %e : index to i64
    %same = tensor.splat %number : tensor<64xi64>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%mine, %same : tensor<64xi64>, tensor<64xi64>) outs(%empty : tensor<64xi1>) {
    ^bb0(%a: i64, %b: i64, %o: i1):
      %is = arith.cmpi eq, %a, %b : i64
      linalg.yield %is : i1
    } -> tensor<64xi1>
    %inner = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %outer) -> tensor<64x64xf32> {
      %left = linalg_ext.gather_rows %x[%rows] dim 0 rowmask %mask other %zero
          : (memref<?x32xf32>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<64x32xf32>
      %block = memref.subview %w[%i, 0, 0] [1, 32, 64] [1, 1, 1] : memref<?x32x64xf32> to memref<32x64xf32, strided<[64, 1], offset: ?>>
      %right = bufferization.to_tensor %block : memref<32x64xf32, strided<[64, 1], offset: ?>> to tensor<32x64xf32>
      %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    scf.yield %inner : tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %sums in writable %to : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// -----

// Integers times zero are zero.
// CHECK-LABEL: func.func @integers
// CHECK: vector.reduction <minsi>
// CHECK: scf.for
// CHECK-NOT: scf.while
func.func @integers(%x: memref<64x32xi8>, %w: memref<32x64xi8>, %masks: memref<?x64xi1>, %to: memref<64x64xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %empty = tensor.empty() : tensor<64x32xi1>
  %right = bufferization.to_tensor %w : memref<32x64xi8> to tensor<32x64xi8>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xi32> {
    %row = memref.subview %masks[%e, 0] [1, 64] [1, 1] : memref<?x64xi1> to memref<64xi1, strided<[1], offset: ?>>
    %mask = bufferization.to_tensor %row : memref<64xi1, strided<[1], offset: ?>> to tensor<64xi1>
    %wide = linalg.broadcast ins(%mask : tensor<64xi1>) outs(%empty : tensor<64x32xi1>) dimensions = [1]
    %left = linalg_ext.masked_load %x, %wide : (memref<64x32xi8>, tensor<64x32xi1>) -> tensor<64x32xi8>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xi8>, tensor<32x64xi8>) outs(%sum : tensor<64x64xi32>) -> tensor<64x64xi32>
    scf.yield %next : tensor<64x64xi32>
  }
  bufferization.materialize_in_destination %sums in writable %to : (tensor<64x64xi32>, memref<64x64xi32>) -> ()
  return
}
