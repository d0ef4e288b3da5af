// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize -cse | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 -canonicalize | FileCheck %s --check-prefix=NARROW

#id = affine_map<(d0) -> (d0)>

// A row of biases is added where it lies: no block is kept. What is read begins
// at the first bias and ends with the row, or with the block: is that not
// written? In a loop over pieces, whole vectors are loads; the one in which a row
// ends has lanes of two rows; and where rows are shorter, places are computed.
// CHECK-LABEL: func.func @bias
// CHECK: arith.minsi {{.*}}, %c255{{.*}} : i64
// CHECK: %[[UNKNOWN:.*]] = arith.xori {{.*}}, %true
// CHECK: %[[OUT:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : memref<?xf32, strided<[1]>>
// CHECK: scf.while
// CHECK: arith.remsi {{.*}} : i32
// CHECK-NOT: arith.remsi
// CHECK: %[[FIRST:.*]] = vector.create_mask
// CHECK: scf.for {{.*}} step %c16
// CHECK: vector.load
// CHECK: vector.load
// CHECK: arith.addf
// CHECK: vector.store {{.*}}, %[[OUT]]
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.gather
// CHECK: } else {
// CHECK: scf.for {{.*}} step %c16
// CHECK: %[[NEXT:.*]] = arith.xori %[[FIRST]]
// CHECK: %[[LANES:.*]] = vector.maskedload {{.*}}, %[[FIRST]]
// CHECK: vector.maskedload {{.*}}, %[[NEXT]], %[[LANES]]
// CHECK: arith.addf
// CHECK: vector.store {{.*}}, %[[OUT]]
// CHECK: scf.yield
// CHECK: return
// Masks are jumps: the places of both rows are gathered.
// NARROW-LABEL: func.func @bias
// NARROW: scf.while
// NARROW: } else {
// NARROW: scf.for {{.*}} step %c8
// NARROW: arith.select {{.*}} : vector<8xi1>, vector<8xindex>
// NARROW-NOT: vector.maskedload
// NARROW: vector.gather
// NARROW: return
func.func @bias(%x: memref<256xf32>, %b: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %f = tensor.empty() : tensor<256xf32>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %bias = linalg_ext.gather %b[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  %0 = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %bias : tensor<256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// The scale of a row is read once for its piece, under the row's mask: it is
// nowhere else.
// CHECK-LABEL: func.func @scale
// CHECK: scf.while
// CHECK: arith.divsi {{.*}} : i32
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, {{.*}} : i32
// CHECK: scf.if %[[EXISTS]] -> (f32)
// CHECK: vector.load {{.*}} vector<1xf32>
// CHECK: scf.for {{.*}} step %c16
// CHECK-NOT: vector.gather
// CHECK: vector.store
// CHECK: } else {
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: vector.store
// CHECK: return
func.func @scale(%c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %f = tensor.empty() : tensor<256xi1>
  %one = arith.constant 1.0 : f32
  %places, %mask = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} outs(%e, %f : tensor<256xi64>, tensor<256xi1>) {
  ^bb0(%o: i64, %p: i1):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    %q = arith.cmpi slt, %k, %m : i32
    linalg.yield %l, %q : i64, i1
  } -> (tensor<256xi64>, tensor<256xi1>)
  %t = linalg_ext.gather %c[%places] mask %mask other %one : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>, f32) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Where squares are, places grow by more each time: a block is gathered, and its
// loop is the usual one.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: scf.while
// CHECK: vector.gather
// CHECK-NOT: scf.while
// CHECK: return
func.func @uneven(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %s = arith.muli %k, %k : i32
    %l = arith.extsi %s : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Half of a column's number grows by 1 every second element: vectors of half as
// many elements are read, each of them for two lanes. Where the row ends within
// a vector, the first row has the elements up to the half of its lanes, rounded
// up, and the next one those from there on, rounded down.
// CHECK-LABEL: func.func @larger
// CHECK: scf.while
// CHECK: scf.for {{.*}} step %c16
// CHECK: %[[FEW:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: vector.shuffle %[[FEW]], %[[FEW]] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: } else {
// CHECK: scf.for {{.*}} step %c16
// CHECK: arith.shrui
// CHECK: %[[FIRST:.*]] = vector.create_mask {{.*}} : vector<8xi1>
// CHECK: vector.maskedload {{.*}}, %[[FIRST]], {{.*}} into vector<8xf32>
// CHECK: %[[NEXT:.*]] = arith.xori {{.*}} : vector<8xi1>
// CHECK: vector.maskedload {{.*}}, %[[NEXT]], {{.*}} into vector<8xf32>
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: return
// NARROW-LABEL: func.func @larger
// NARROW: scf.while
// NARROW: vector.load {{.*}} vector<4xf32>
// NARROW: } else {
// NARROW: arith.shrui {{.*}} : vector<8xindex>
// NARROW: vector.gather
// NARROW: return
func.func @larger(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c2 = arith.constant 2 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %h = arith.divsi %k, %c2 : i32
    %l = arith.extsi %h : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %pixels = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %pixels in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Twice the half: no neighbours in memory, so that places are computed.
// CHECK-LABEL: func.func @every_second
// CHECK-NOT: scf.while
// CHECK: vector.gather
// CHECK: return
func.func @every_second(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %h = arith.divsi %k, %c2 : i32
    %m = arith.muli %h, %c3 : i32
    %l = arith.extsi %m : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %pixels = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %pixels in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// A row of 48 ends where one of 96 does, or before: one end is asked for.
// CHECK-LABEL: func.func @rows_of_rows
// CHECK: arith.remsi
// CHECK-NOT: arith.remsi
// CHECK: scf.while
// CHECK: return
func.func @rows_of_rows(%x: memref<?xf32, strided<[1], offset: ?>>, %start: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c48 = arith.constant 48 : i32
    %c96 = arith.constant 96 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.addi %j, %start : i32
    %k = arith.remsi %s, %c48 : i32
    %q = arith.divsi %s, %c96 : i32
    %m = arith.muli %q, %c48 : i32
    %t = arith.addi %k, %m : i32
    %l = arith.extsi %t : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// The margin of a row, `column < 3` and `column >= 40`, ends no piece: that is a row
// of 50 elements, of which a range is read, in whole vectors and where two rows meet.
// Where masks are jumps, it does.
// CHECK-LABEL: func.func @margin
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: arith.remsi {{.*}} : i32
// CHECK: %[[COUNT:.*]] = arith.maxsi {{.*}}, %c0
// CHECK: scf.for {{.*}} step %c16
// CHECK: %[[RANGE:.*]] = arith.cmpi ult, {{.*}} : vector<16xi32>
// CHECK: vector.maskedload {{.*}}, %[[RANGE]]
// CHECK: scf.if
// CHECK: vector.gather
// CHECK: } else {
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, {{.*}} : vector<16xi32>
// CHECK: %[[LANES:.*]] = vector.maskedload {{.*}}, %[[FIRST]]
// CHECK: %[[NEXT:.*]] = arith.cmpi ult, {{.*}} : vector<16xi32>
// CHECK: vector.maskedload {{.*}}, %[[NEXT]], %[[LANES]]
// CHECK: return
// NARROW-LABEL: func.func @margin
// NARROW-NOT: arith.cmpi ult, {{.*}} : vector<8xi32>
// NARROW: return
func.func @margin(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %m = tensor.empty() : tensor<256xi1>
  %n = arith.constant 50 : i32
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %r = arith.remsi %c, %n : i32
    %w = arith.extsi %r : i32 to i64
    linalg.yield %w : i64
  } -> tensor<256xi64>
  %mask = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%m : tensor<256xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %r = arith.remsi %c, %n : i32
    %low = arith.constant 3 : i32
    %high = arith.constant 40 : i32
    %a = arith.cmpi sge, %r, %low : i32
    %b = arith.cmpi sgt, %high, %r : i32
    %and = arith.andi %a, %b : i1
    linalg.yield %and : i1
  } -> tensor<256xi1>
  %other = arith.constant 7.0 : f32
  %g = linalg_ext.gather %x[%places] mask %mask other %other
      : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>, f32) -> tensor<256xf32>
  bufferization.materialize_in_destination %g in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// What is kept within a row grows by 1, or by 0: vectors of pieces that grow by 1 are loads.
// CHECK-LABEL: func.func @kept
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: %[[UNIT:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[UNIT]]
// CHECK: scf.for {{.*}} step %c16
// CHECK-NOT: gather
// CHECK: vector.load
// CHECK: } else {
// CHECK: return
func.func @kept(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c50 = arith.constant 50 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %c50 : i32
    %m = arith.minsi %k, %n : i32
    %l = arith.extsi %m : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// What is mirrored at a row's edge grows by 1, or comes back by 1, until zero is
// passed: a piece ends there. Vectors of pieces that grow by 1 are loads.
// CHECK-LABEL: func.func @mirrored
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: math.absi {{.*}} : i32
// CHECK: %[[SHRINKS:.*]] = arith.cmpi eq, %{{.*}}, %c-1{{.*}} : i64
// CHECK: %[[DISTANCE:.*]] = arith.addi %{{.*}}, %c1{{.*}} : i64
// CHECK: %[[STEPS:.*]] = arith.select %[[SHRINKS]], %[[DISTANCE]]
// CHECK: arith.minui {{.*}}, %[[STEPS]]
// CHECK: %[[UNIT:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[UNIT]]
// CHECK: scf.for {{.*}} step %c16
// CHECK-NOT: gather
// CHECK: vector.load
// CHECK: } else {
// CHECK: return
func.func @mirrored(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c70 = arith.constant 70 : i32
    %c5 = arith.constant 5 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %c70 : i32
    %m = arith.subi %k, %c5 : i32
    %a = math.absi %m : i32
    %l = arith.extsi %a : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// What grows by 2 may pass zero between two elements: no piece is asked for.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: scf.while
// CHECK: math.absi {{.*}} : vector<{{.*}}xi32>
// CHECK: return
func.func @twice(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %c70 = arith.constant 70 : i32
    %c2 = arith.constant 2 : i32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %c70 : i32
    %d = arith.muli %k, %c2 : i32
    %m = arith.subi %d, %c70 : i32
    %a = math.absi %m : i32
    %l = arith.extsi %a : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// A divisor that may be 1 is asked for once: where it is, a quotient grows by 1, and no piece ends at it. A multiple of 16 is not 1.
// CHECK-LABEL: func.func @divided
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %{{.*}}, %c1_i32 : i32
// CHECK: scf.if %[[MORE]]
// CHECK: scf.while
// CHECK: } else {
// CHECK: scf.while
// CHECK: return
func.func @divided(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @multiple
// CHECK-NOT: arith.cmpi ne, %{{.*}}, %c1_i32 : i32
// CHECK: scf.while
// CHECK-NOT: scf.while
// CHECK: return
func.func @multiple(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32 {tilebridge.divisibility = 16 : i32}, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
