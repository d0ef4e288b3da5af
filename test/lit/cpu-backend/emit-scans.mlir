// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=128" --canonicalize --cse | FileCheck %s

// Lanes without a neighbour take -0.0, which changes no number, in place of one: there is no selection. A vector waits for one
// sum of the vector before, not for its own.
// CHECK-LABEL: func.func @sums(
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK-NOT: arith.select {{.*}}vector
// CHECK: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = {{.*}}) -> (vector<4xf32>)
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[ONE:.*]] = vector.shuffle %[[X]], %[[NONE]] [7, 0, 1, 2]
// CHECK: %[[S1:.*]] = arith.addf %[[ONE]], %[[X]]
// CHECK: %[[TWO:.*]] = vector.shuffle %[[S1]], %[[NONE]] [6, 7, 0, 1]
// CHECK: %[[S2:.*]] = arith.addf %[[TWO]], %[[S1]]
// CHECK: %[[SUMS:.*]] = arith.addf %[[BEFORE]], %[[S2]]
// CHECK: %[[LAST:.*]] = vector.shuffle %[[S2]], %[[S2]] [3, 3, 3, 3]
// CHECK: %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[LAST]]
// CHECK: vector.store %[[SUMS]]
// CHECK: scf.yield %[[NEXT]]
func.func @sums(%x: memref<64xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  %s = linalg_ext.scan(%t) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// The least number is neutral.
// CHECK-LABEL: func.func @largest(
// CHECK-DAG: arith.constant dense<-128> : vector<4xi8>
// CHECK-NOT: arith.select {{.*}}vector
// CHECK: return
func.func @largest(%x: memref<64xi8, strided<[1], offset: ?>>, %o: memref<64xi8, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64xi8, strided<[1], offset: ?>> to tensor<64xi8>
  %s = linalg_ext.scan(%t) dimension = 0 {
  ^bb0(%a: i8, %b: i8):
    %most = arith.maxsi %a, %b : i8
    linalg_ext.yield %most : i8
  } : (tensor<64xi8>) -> tensor<64xi8>
  bufferization.materialize_in_destination %s in writable %o : (tensor<64xi8>, memref<64xi8, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Nothing is known of other regions, nor of one operation whose operands stand the other way round. Lanes that are left out
// are numbers of the operand, too.
// CHECK-LABEL: func.func @other(
// CHECK: scf.for
// CHECK: %[[ONE:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 0, 1, 2]
// CHECK: llvm.call_intrinsic "llvm.arithmetic.fence"(%[[ONE]])
// CHECK: arith.select
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 0, 1]
// CHECK: arith.select
// CHECK: scf.for
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 0, 1, 2]
// CHECK: arith.select
func.func @other(%x: memref<64xf32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  %s = linalg_ext.scan(%t) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %square = arith.mulf %b, %b : f32
    %sum = arith.addf %a, %square : f32
    linalg_ext.yield %sum : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  %r = linalg_ext.scan(%s) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %b, %a : f32
    linalg_ext.yield %sum : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  bufferization.materialize_in_destination %r in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Two rows of two in a vector of four, each for itself; and backwards.
// CHECK-LABEL: func.func @short_rows(
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[ONE:.*]] = vector.shuffle %[[X]], %[[NONE]] [7, 0, 5, 2]
// CHECK: %[[S:.*]] = arith.addf %[[ONE]], %[[X]]
// CHECK-NEXT: vector.store %[[S]]
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK: %[[Y:.*]] = vector.load
// CHECK: %[[BACK:.*]] = vector.shuffle %[[Y]], %[[NONE]] [1, 6, 3, 4]
// CHECK: %[[T:.*]] = arith.addf %[[BACK]], %[[Y]]
// CHECK-NEXT: vector.store %[[T]]
func.func @short_rows(%x: memref<32x2xf32, strided<[2, 1], offset: ?>>, %o: memref<32x2xf32, strided<[2, 1], offset: ?>>,
                      %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<32x2xf32, strided<[2, 1], offset: ?>> to tensor<32x2xf32>
  %s = linalg_ext.scan(%t) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<32x2xf32>) -> tensor<32x2xf32>
  %r = linalg_ext.scan(%s) dimension = 1 reverse {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<32x2xf32>) -> tensor<32x2xf32>
  bufferization.materialize_in_destination %r in writable %o : (tensor<32x2xf32>, memref<32x2xf32, strided<[2, 1], offset: ?>>) -> ()
  return
}

// -----

// Down columns of two: two rows a vector, whose last row is put in front of the next two. Backwards it is the first row.
// CHECK-LABEL: func.func @short_columns(
// CHECK: %[[FIRST:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 3, 2, 3]
// CHECK: scf.for %{{.*}} = %c4 to %c64 step %c4 iter_args(%[[BEFORE:.*]] = %[[FIRST]])
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [6, 7, 0, 1]
// CHECK: arith.addf %[[BEFORE]], %{{.*}}
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 3, 4, 5]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 0, 1]
// CHECK: scf.for
func.func @short_columns(%x: memref<32x2xf32, strided<[2, 1], offset: ?>>, %o: memref<32x2xf32, strided<[2, 1], offset: ?>>,
                         %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<32x2xf32, strided<[2, 1], offset: ?>> to tensor<32x2xf32>
  %s = linalg_ext.scan(%t) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<32x2xf32>) -> tensor<32x2xf32>
  %r = linalg_ext.scan(%s) dimension = 0 reverse {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<32x2xf32>) -> tensor<32x2xf32>
  bufferization.materialize_in_destination %r in writable %o : (tensor<32x2xf32>, memref<32x2xf32, strided<[2, 1], offset: ?>>) -> ()
  return
}

// -----

// What only chooses is not changed by itself: no lane is masked. A vector in which nothing is chosen is what was before; one of which
// all is chosen is itself.
// CHECK-LABEL: func.func @choice(
// CHECK-NOT: arithmetic.fence
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = {{.*}}, %[[BI:.*]] = {{.*}}) -> (vector<4xf32>, vector<4xi32>)
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[I:.*]] = vector.load
// CHECK: %[[KEPT:.*]] = arith.cmpf ogt, %[[B]], %[[X]]
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[KEPT]]
// CHECK: %[[NEXT:.*]]:2 = scf.if %[[ALL]]
// CHECK-DAG: vector.store %[[B]]
// CHECK-DAG: vector.store %[[BI]]
// CHECK: scf.yield %[[B]], %[[BI]]
// CHECK: vector.shuffle %[[B]], %[[X]] [3, 4, 5, 6]
// CHECK: vector.shuffle %[[BI]], %[[I]] [3, 4, 5, 6]
// CHECK: %[[TAKEN:.*]] = vector.reduction <or>
// CHECK: scf.if %[[TAKEN]]
// CHECK: vector.shuffle {{.*}} [0, 1, 0, 1]
// CHECK-NOT: vector.shuffle {{.*}} [0, 0, 1, 2]
// CHECK: vector.store %[[X]]
// CHECK: scf.yield %[[NEXT]]#0, %[[NEXT]]#1
func.func @choice(%x: memref<64xf32, strided<[1], offset: ?>>, %i: memref<64xi32, strided<[1], offset: ?>>, %o: memref<64xf32, strided<[1], offset: ?>>,
                  %oi: memref<64xi32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  %n = bufferization.to_tensor %i : memref<64xi32, strided<[1], offset: ?>> to tensor<64xi32>
  %s:2 = linalg_ext.scan(%t, %n) dimension = 0 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %c, %a, %b : f32
    %w = arith.select %c, %ai, %bi : i32
    linalg_ext.yield %v, %w : f32, i32
  } : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  bufferization.materialize_in_destination %s#0 in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  bufferization.materialize_in_destination %s#1 in writable %oi : (tensor<64xi32>, memref<64xi32, strided<[1], offset: ?>>) -> ()
  return
}
