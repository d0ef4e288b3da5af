// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-share-operands | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-share-operands --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s --check-prefix=EMIT

// What only b needs is in a branch; the number of the column decides what b is.
// CHECK-LABEL: func.func @column
// CHECK: scf.for
// CHECK: %[[A:.*]] = bufferization.to_tensor
// CHECK: %[[B:.*]] = scf.if %true
// CHECK: memref.reinterpret_cast %arg1
// CHECK: bufferization.to_tensor
// CHECK: } else {
// CHECK: tensor.empty
// CHECK: {tilebridge.shared}
// CHECK: linalg.matmul {tilebridge.deep} ins(%[[A]], %[[B]] :
// EMIT-LABEL: func.func @column
// EMIT-SAME: %[[Y:[a-z0-9]*]]: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32)
// EMIT-DAG: %[[STATE:.*]] = memref.alloc() {alignment = 64 : i64, tilebridge.zeroed} : memref<32xi64>
// EMIT-DAG: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64, tilebridge.kept} : memref<257x1x256x16xf32>
// EMIT: %[[FLAGS:.*]] = memref.load %[[STATE]][%c0]
// EMIT: %[[KEY:.*]] = arith.extui %[[Y]] : i32 to i64
// EMIT: %[[LAST:.*]] = memref.load %[[STATE]][%c1]
// EMIT: arith.cmpi eq, %[[KEY]], %[[LAST]]
// EMIT: memref.store %[[KEY]], %[[STATE]][%c1]
// EMIT: memref.store {{.*}}, %[[STATE]][%c0]
// EMIT: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %c0)
// EMIT: %[[CHUNK:.*]] = arith.divui %[[TOTAL]], %c256
// EMIT: arith.cmpi ult, %[[CHUNK]], %c256
// EMIT: %[[SLOT:.*]] = arith.select %{{.*}}, %[[CHUNK]], %c256
// EMIT: %[[PANEL:.*]] = memref.subview %[[KEPT]][%[[SLOT]], 0, 0, 0]
// EMIT: scf.if
// EMIT: } else {
// EMIT: vector.store %{{.*}}, %[[PANEL]]
// The panels are there when the loop has ended.
// EMIT: memref.load %[[STATE]][%c0]
// EMIT: memref.store {{.*}}, %[[STATE]][%c0]
func.func @column(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<16x16xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %row = arith.addi %i, %x : i32
    %at = arith.index_cast %row : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%at], sizes: [16, 32], strides: [32, 1] : memref<?xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<16x32xf32, strided<[32, 1], offset: ?>> to tensor<16x32xf32>
    %column = arith.addi %i, %y : i32
    %from = arith.index_cast %column : i32 to index
    %right = memref.reinterpret_cast %b to offset: [%from], sizes: [32, 16], strides: [16, 1] : memref<?xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x16xf32, strided<[16, 1], offset: ?>> to tensor<32x16xf32>
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// A program that has written something may have written b.
// CHECK-LABEL: func.func @written
// CHECK-NOT: tilebridge.shared
func.func @written(%b: memref<32x16xf32>, %c: memref<16x16xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  bufferization.materialize_in_destination %zero in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %r = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%one, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// So may the tile before, in a program that computes several.
// CHECK-LABEL: func.func @tiles
// CHECK-NOT: tilebridge.shared
func.func @tiles(%b: memref<32x16xf32>, %c: memref<16x16xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %tile = %c0 to %k step %c1 : i32 {
    %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %r = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
      %d = linalg.matmul ins(%one, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    bufferization.materialize_in_destination %sum in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  }
  return
}

// -----

// Programs that wait for one another by atomics may read what others wrote.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: tilebridge.shared
func.func @ordered(%b: memref<32x16xf32>, %c: memref<16x16xf32>, %lock: memref<1xi32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %r = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %d = linalg.matmul ins(%one, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  func.call @wait(%lock) : (memref<1xi32>) -> ()
  bufferization.materialize_in_destination %sum in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
func.func private @wait(memref<1xi32>)
