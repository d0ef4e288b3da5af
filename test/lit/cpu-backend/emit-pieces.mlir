// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 | FileCheck %s --check-prefix=NARROW

#id = affine_map<(d0) -> (d0)>

// A column's number grows by 1 until the row ends: so far goes a piece. What is
// not only stored is copied by vectors, the last of which ends with the piece.
// What is left to short pieces is gathered.
// CHECK-LABEL: func.func @column
// CHECK: scf.while
// CHECK: arith.remsi {{.*}} : i32
// CHECK: %[[LENGTH:.*]] = arith.index_cast {{.*}} : i64 to index
// CHECK: arith.cmpi uge, %[[LENGTH]], %c16
// CHECK: scf.if
// CHECK: %[[LAST:.*]] = arith.subi %[[LENGTH]], %c16
// CHECK: scf.for {{.*}} to %[[LAST]] step %c16
// CHECK-NEXT: arith.addi
// CHECK-NEXT: vector.load
// CHECK: vector.store
// CHECK: vector.load
// CHECK: vector.store
// CHECK: } else {
// CHECK: arith.muli {{.*}}, %c8
// CHECK: scf.for
// CHECK: vector.gather
// CHECK: return
// NARROW-LABEL: func.func @column
// NARROW: vector.load {{.*}}vector<8xf32>
func.func @column(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>, %other: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  %none = arith.constant dense<-0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<256xf32>) outs(%none : tensor<f32>) dimensions = [0]
  %number = tensor.extract %sum[] : tensor<f32>
  memref.store %number, %other[%c0] : memref<256xf32>
  return
}

// A row's number stays, but where each row is one element; so do a mask's
// comparisons, up to where they turn.
// CHECK-LABEL: func.func @row
// CHECK: scf.while
// CHECK: arith.divsi {{.*}} : i32
// CHECK: arith.minui {{.*}} : i64
// CHECK: scf.if
// CHECK: scf.if
// CHECK: vector.load {{.*}}vector<1xf32>
// CHECK: vector.store
// CHECK: return
func.func @row(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: i32, %out: memref<256xf32>, %other: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<256xi64>
  %f = tensor.empty() : tensor<256xi1>
  %places, %mask = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} outs(%e, %f : tensor<256xi64>, tensor<256xi1>) {
  ^bb0(%o: i64, %p: i1):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    %q = arith.cmpi slt, %j, %m : i32
    linalg.yield %l, %q : i64, i1
  } -> (tensor<256xi64>, tensor<256xi1>)
  %zero = arith.constant 0.0 : f32
  %t = linalg_ext.gather %x[%places] mask %mask other %zero : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>, f32) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  %none = arith.constant dense<-0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<256xf32>) outs(%none : tensor<f32>) dimensions = [0]
  %number = tensor.extract %sum[] : tensor<f32>
  memref.store %number, %other[%c0] : memref<256xf32>
  return
}

// Squares grow by more each time: nothing is left of the try.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: scf.while
// CHECK: vector.gather
// CHECK-NOT: scf.while
// CHECK: return
func.func @uneven(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>, %other: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %s = arith.muli %k, %j : i32
    %l = arith.extsi %s : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  bufferization.materialize_in_destination %t in writable %other : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Elements are stored by vectors where places grow by one, and in their order
// where not.
// CHECK-LABEL: func.func @stored
// CHECK: scf.while
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.load
// CHECK: vector.store
// CHECK: } else {
// CHECK: scf.for
// CHECK: vector.scatter
// CHECK: return
func.func @stored(%x: memref<256xf32>, %n: i32, %out: memref<?xf32, strided<[1], offset: ?>>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  linalg_ext.scatter %t into %out[%places] : (tensor<256xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> ()
  return
}

// Rows of a product's operand are too short to ask for pieces.
// CHECK-LABEL: func.func @short
// CHECK-NOT: scf.while
// CHECK: return
func.func @short(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<64xf32>, %other: memref<64xf32>) {
  %e = tensor.empty() : tensor<64xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<64xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  bufferization.materialize_in_destination %t in writable %other : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Of a sum with what is read, the other part grows: a piece is gathered from
// places that are its first one, the lanes' numbers, and what is read; without
// a mask, which holds for all of it. Where one number is read in all lanes, as
// the row of a table, they are neighbours: a load.
// CHECK-LABEL: func.func @read
// CHECK: scf.while
// CHECK: arith.remsi {{.*}} : i32
// CHECK: scf.if
// CHECK: %[[LAST:.*]] = arith.subi {{.*}}, %c16
// CHECK: scf.for {{.*}} to %[[LAST]] step %c16
// CHECK: %[[READ:.*]] = vector.load {{.*}} vector<16xi64>
// CHECK: %[[PLACES:.*]] = arith.addi {{.*}} : vector<16xi64>
// CHECK: %[[FIRST:.*]] = vector.extract %[[PLACES]][0]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[PLACES]]
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[SAME]]
// CHECK: %[[X:.*]] = scf.if %[[ALL]] -> (vector<16xf32>) {
// CHECK: vector.load
// CHECK: } else {
// CHECK: vector.gather {{.*}} [%[[PLACES]]], %cst{{[_0-9]*}}, {{.*}} into vector<16xf32>
// CHECK: vector.store %[[X]]
// CHECK: } else {
// CHECK: return
func.func @read(%x: memref<?xf32, strided<[1], offset: ?>>, %index: memref<256xi64>, %n: i32, %m: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %f = tensor.empty() : tensor<256xi1>
  %columns, %mask = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} outs(%e, %f : tensor<256xi64>, tensor<256xi1>) {
  ^bb0(%o: i64, %p: i1):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    %q = arith.cmpi slt, %j, %m : i32
    linalg.yield %l, %q : i64, i1
  } -> (tensor<256xi64>, tensor<256xi1>)
  %read = bufferization.to_tensor %index : memref<256xi64> to tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%columns, %read : tensor<256xi64>, tensor<256xi64>) outs(%e : tensor<256xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %s = arith.addi %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<256xi64>
  %zero = arith.constant 0.0 : f32
  %t = linalg_ext.gather %x[%places] mask %mask other %zero : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>, f32) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
