// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=1048576 prefetch-bytes=1048576" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s --check-prefix=NEVER
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576" --remarks-filter=tilebridge-cpu --remark-format=emitRemark 2>&1 >%t.mlir | FileCheck %s --check-prefix=REMARK

// REMARK: 8x256, reduced along 1: 32 elements a step along dimension 1, a tree over the lanes behind the loop, 8 rows at once where they lie apart and come from memory
// REMARK-NOT: 8x256, reduced along 1: 64
// REMARK: 8x256, reduced along 1: 32

// Pieces of long rows: if they lie 512 bytes or more apart and come from memory, several rows are summed at once, and the next
// piece of each is asked for; else one after the other.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[STRIDE:[a-z0-9]+]]: index,
// CHECK: scf.for %{{.*}} = %c0 to %[[N]] step %c256
// CHECK: %[[IS_APART:.*]] = arith.cmpi sgt, %[[STRIDE]], %c383
// CHECK: %[[IS_LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c128 : index
// CHECK: %[[AT_ONCE:.*]] = arith.andi %[[IS_APART]], %[[IS_LARGE]] : i1
// CHECK: scf.if %[[AT_ONCE]] {
// WIDE: %[[AHEAD:.*]] = arith.select %{{.*}}, %{{.*}}, %c0 : index
// WIDE: %[[SUMS:.*]]:8 = scf.for %{{.*}} = %c0 to %c256 step %c32
// WIDE-COUNT-8: arith.addf %{{.*}} : vector<32xf32>
// WIDE: }
// One tree for the lanes of all rows.
// WIDE: vector.shuffle %[[SUMS]]#7
// WIDE-COUNT-8: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// WIDE: vector.store {{.*}}[%c0] : {{.*}} vector<8xf32>
// HALF: scf.for %[[ROW:.*]] = %c0 to %c8 step %c4
// HALF-DAG: arith.addi %[[ROW]], %c1 : index
// HALF-DAG: arith.addi %[[ROW]], %c2 : index
// HALF-DAG: arith.addi %[[ROW]], %c3 : index
// HALF: %[[SUMS:.*]]:4 = scf.for %{{.*}} = %c0 to %c256 step %c16
// HALF-COUNT-4: memref.prefetch
// HALF-NOT: memref.prefetch
// HALF: vector.shuffle %[[SUMS]]#3
// HALF: vector.store {{.*}}[%[[ROW]]] : {{.*}} vector<4xf32>
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c256 step {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9_]*}}) -> (vector<{{[0-9]*}}xf32>)
// CHECK: return
// NEVER-LABEL: func.func @rows(
// NEVER-NOT: scf.if
// NEVER: return
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %zero) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x256xf32, strided<[?, 1], offset: ?>> to tensor<8x256xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<8x256xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Where one of the rows is no longer there, all have masks, each its own. They end with the rows that are there, not with the block.
// CHECK-LABEL: func.func @masked(
// CHECK: scf.if
// WIDE: %[[FULL:.*]]:8 = scf.for
// WIDE: scf.for %{{.*}} to %{{[0-9]+}} step %c32 iter_args(%{{.*}} = %[[FULL]]#0, {{.*}} = %[[FULL]]#7)
// WIDE-COUNT-8: vector.maskedload
// CHECK: } else {
// CHECK: return
func.func @masked(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index, %m: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %pad = arith.constant 0.0 : f32
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %zero) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %left = arith.subi %n, %i : index
    %columns = arith.minsi %left, %c256 : index
    %few = arith.minsi %m, %c8 : index
    %no_rows = arith.subi %c8, %few : index
    %no_columns = arith.subi %c256, %columns : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [%few, %columns], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %in : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
    %t = tensor.pad %some low[0, 0] high[%no_rows, %no_columns] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x?xf32> to tensor<8x256xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<8x256xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Of 6 rows two are summed at once.
// CHECK-LABEL: func.func @six(
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c2
// CHECK: } else {
// CHECK: return
func.func @six(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %zero) -> tensor<6xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [6, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<6x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<6x256xf32, strided<[?, 1], offset: ?>> to tensor<6x256xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<6x256xf32>) outs(%zero : tensor<6xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<6xf32>
    scf.yield %y : tensor<6xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [6], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<6xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<6xf32>, memref<6xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Whole rows, of which the next iteration reads others, are left in their order.
// CHECK-LABEL: func.func @whole(
// CHECK: scf.for %{{.*}} step %c8 {
// CHECK-NOT: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
func.func @whole(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c8 iter_args(%acc = %zero) -> tensor<8xf32> {
    %down = arith.muli %i, %stride : index
    %at = arith.addi %start, %down : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 256], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x256xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x256xf32, strided<[?, 1], offset: ?>> to tensor<8x256xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<8x256xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Pieces of 256 bytes are left in their order, too.
// CHECK-LABEL: func.func @short(
// CHECK: scf.for %{{.*}} step %c64 {
// CHECK-NOT: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
func.func @short(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index, %stride: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %id = arith.index_cast %px : i32 to index
  %row = arith.muli %id, %c8 : index
  %start = arith.muli %row, %stride : index
  %sums = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<8xf32> {
    %at = arith.addi %start, %i : index
    %in = memref.reinterpret_cast %x to offset: [%at], sizes: [8, 64], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<8x64xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %in : memref<8x64xf32, strided<[?, 1], offset: ?>> to tensor<8x64xf32>
    %part = linalg.reduce { arith.addf } ins(%t : tensor<8x64xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = arith.addf %acc, %part : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  %out = memref.reinterpret_cast %o to offset: [%row], sizes: [8], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}
