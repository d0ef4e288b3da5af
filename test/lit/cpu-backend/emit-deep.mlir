// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan | FileCheck %s --check-prefix=PLAN
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// The loop packs the operands of several iterations; 16 KiB of b, two vectors of 8 lanes a row, are 256 steps along K.
// PLAN-LABEL: func.func @deep
// PLAN: linalg.matmul {tilebridge.deep}
// CHECK-LABEL: func.func @deep
// CHECK-SAME: (%[[A:.*]]: memref<16x32xf32, {{.*}}, %[[B:.*]]: memref<32x16xf32
// CHECK: %[[LEFT:.*]] = memref.alloc() {{.*}} : memref<16x272xf32>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<1x256x16xf32>
// CHECK: %[[PLACE:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// CHECK: scf.for %[[I:.*]] = {{.*}} to %[[END:.*]] step %[[STEP:.*]] iter_args(%[[TOTAL:.*]] = %c0) -> (index)
// CHECK: %[[LEFTOVER:.*]] = arith.subi %[[END]], %[[I]] : i32
// CHECK: %[[LAST:.*]] = arith.cmpi ule, %[[LEFTOVER]], %[[STEP]] : i32
// CHECK: %[[FILLED:.*]] = arith.remui %[[TOTAL]], %c256 : index
// As long as a goes on in memory where it ended, it stays there.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[FILLED]], %c0 : index
// CHECK: %[[IN_PLACE:.*]] = memref.load %[[PLACE]][%c2]
// CHECK: %[[START:.*]] = memref.load %[[PLACE]][%c0]
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: %[[FITS:.*]] = arith.ori %[[FIRST]], {{.*}} : i1
// CHECK: scf.if %[[FITS]] {
// CHECK-NOT: vector.load
// CHECK: memref.store {{.*}}, %[[PLACE]][%c2]
// CHECK: } else {
// If not, what has stayed is multiplied where it is.
// CHECK: scf.if
// CHECK: memref.store {{.*}}, %[[PLACE]][%c3]
// CHECK: memref.store {{.*}}, %[[PLACE]][%c4]
// CHECK: memref.store {{.*}}, %[[PLACE]][%c5]
// CHECK: memref.subview %[[LEFT]][0, %[[FILLED]]]
// CHECK: memref.prefetch %[[A]]
// CHECK: memref.prefetch %[[B]]
// CHECK: vector.store {{.*}}, %[[RIGHT]]
// CHECK: %[[NOW:.*]] = arith.addi %[[FILLED]], %c32 : index
// CHECK: %[[FULL:.*]] = arith.cmpi uge, %[[NOW]], %c256 : index
// CHECK: %[[DUE:.*]] = arith.ori %[[FULL]], %[[LAST]] : i1
// CHECK: %[[NEXT:.*]] = arith.addi %[[TOTAL]], %c32 : index
// CHECK: scf.if %[[DUE]] {
// CHECK: %[[IS_NEW:.*]] = arith.cmpi ult, %[[TOTAL]], %c256 : index
// CHECK: %[[WORD:.*]] = memref.load %[[PLACE]][%c3]
// CHECK: %[[BEFORE:.*]] = arith.index_cast %[[WORD]] : i64 to index
// CHECK: %[[GOES_ON:.*]] = arith.cmpi eq, %[[BEFORE]], %c0 : index
// CHECK: %[[PART:.*]] = arith.select %[[GOES_ON]], %c1, %c0 : index
// CHECK: scf.for %[[NUMBER:.*]] = %[[PART]] to %c2 step %c1 {
// CHECK: %[[IS_END:.*]] = arith.cmpi eq, %[[NUMBER]], %c1 : index
// CHECK: %[[BEGIN:.*]] = arith.select %[[IS_END]], %[[BEFORE]], %c0 : index
// CHECK: %[[STEPS:.*]] = arith.select %[[IS_END]], %[[NOW]], %[[BEFORE]] : index
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[BEGIN]], %c0 : index
// CHECK: %[[NOTHING:.*]] = arith.andi %[[IS_NEW]], %[[IS_FIRST]] : i1
// CHECK: %[[SUMS:.*]]:{{[0-9]+}} = scf.for {{.*}} = %[[BEGIN]] to %[[STEPS]] step %c4 iter_args(%{{.*}} = %[[ZERO:[a-z0-9_]+]],
// These sums are added to those of earlier products, if there are any: nobody has written zeros.
// CHECK: scf.if %[[NOTHING]] {
// CHECK-NEXT: vector.store %[[SUMS]]#0
// CHECK: } else {
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0
// CHECK: scf.yield %[[NEXT]] : index
func.func @deep(%a: memref<16x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x16xf32, strided<[?, 1], offset: ?>>, %from: i32, %to: i32, %step: i32,
                %out: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<16x16xf32>
  %sum = scf.for %i = %from to %to step %step iter_args(%acc = %init) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// What a branch chooses is packed in the branch, and kept nowhere else.
// CHECK-LABEL: func.func @branch
// CHECK: %[[LEFT:.*]] = memref.alloc() {{.*}} : memref<16x272xf32>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<1x256x16xf32>
// CHECK: memref.alloc() {{.*}} : memref<6xi64>
// CHECK: memref.alloc() {{.*}} : memref<1xi64>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: scf.if %{{.*}} {
// CHECK: memref.subview %[[LEFT]]
// CHECK: memref.subview %[[LEFT]]
// CHECK: vector.store {{.*}}, %[[RIGHT]]
func.func @branch(%a: memref<16x32xf32>, %other: memref<16x32xf32, strided<[64, 1]>>, %b: memref<32x16xf32>, %which: i1, %n: index, %out: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tensor.splat %zero : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = scf.if %which -> tensor<16x32xf32> {
      %t = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
      scf.yield %t : tensor<16x32xf32>
    } else {
      %t = bufferization.to_tensor %other : memref<16x32xf32, strided<[64, 1]>> to tensor<16x32xf32>
      scf.yield %t : tensor<16x32xf32>
    }
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// A loop that writes may change what it has read: a is packed.
// CHECK-LABEL: func.func @writes
// CHECK-NOT: memref<6xi64>
// CHECK: return
func.func @writes(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %n: index, %out: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tensor.splat %zero : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x16xf32>) {
    %x = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x16xf32> to tensor<32x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    bufferization.materialize_in_destination %init in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

// Somebody sees the sums in between, or they are rounded in between.
// PLAN-LABEL: func.func @others
// PLAN-NOT: tilebridge.deep
func.func @others(%a: memref<16x32xf16>, %b: memref<32x16xf16>, %n: index, %out: memref<16x16xf32>, %narrow: memref<16x16xf16>) {
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tensor.splat %zero : tensor<16x16xf32>
  %init16 = tensor.splat %zero16 : tensor<16x16xf16>
  %x = bufferization.to_tensor %a : memref<16x32xf16> to tensor<16x32xf16>
  %y = bufferization.to_tensor %b : memref<32x16xf16> to tensor<32x16xf16>
  %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%seen = %init, %swapped = %init, %rounded = %init16)
      -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf16>) {
    %c = linalg.matmul ins(%x, %y : tensor<16x32xf16>, tensor<32x16xf16>) outs(%seen : tensor<16x16xf32>) -> tensor<16x16xf32>
    bufferization.materialize_in_destination %c in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf16>, tensor<32x16xf16>) outs(%swapped : tensor<16x16xf32>) -> tensor<16x16xf32>
    %e = linalg.matmul ins(%x, %y : tensor<16x32xf16>, tensor<32x16xf16>) outs(%rounded : tensor<16x16xf16>) -> tensor<16x16xf16>
    scf.yield %d, %c, %e : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf16>
  }
  bufferization.materialize_in_destination %sum#0 in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  bufferization.materialize_in_destination %sum#1 in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  bufferization.materialize_in_destination %sum#2 in writable %narrow : (tensor<16x16xf16>, memref<16x16xf16>) -> ()
  return
}

// -----

// Sums that begin at zero are written only where there is no iteration; the first product reads none.
// PLAN-LABEL: func.func @zero
// PLAN: linalg.matmul {tilebridge.deep}
// CHECK-LABEL: func.func @zero
// CHECK-NOT: vector.store
// CHECK: %[[EMPTY:.*]] = arith.cmpi sge, %[[FROM:.*]], %[[END:.*]] : i32
// CHECK: scf.if %[[EMPTY]] {
// CHECK: vector.store
// CHECK: scf.for {{.*}} = %[[FROM]] to %[[END]] {{.*}} iter_args(%[[TOTAL:.*]] = %c0) -> (index)
// CHECK: %[[FILLED:.*]] = arith.remui %[[TOTAL]], %c256 : index
// CHECK: %[[NOW:.*]] = arith.addi %[[FILLED]], %c16 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[TOTAL]], %c16 : index
// CHECK: %[[IS_NEW:.*]] = arith.cmpi ult, %[[TOTAL]], %c256 : index
// CHECK: %[[STEPS:.*]] = arith.select %{{.*}}, %[[NOW]], %{{.*}} : index
// CHECK: %[[NOTHING:.*]] = arith.andi %[[IS_NEW]], {{.*}} : i1
// CHECK: scf.if %[[NOTHING]] -> (vector<8xf32>, {{.*}}) {
// CHECK-NEXT: scf.yield %[[ZERO:[a-z0-9_]*]], %[[ZERO]],
// CHECK-NEXT: } else {
// CHECK: vector.load
// CHECK: scf.for {{.*}} to %[[STEPS]] step %c4
// CHECK: scf.yield %[[NEXT]] : index
func.func @zero(%a: memref<16x16xf32, strided<[?, 1], offset: ?>>, %b: memref<16x16xf32, strided<[?, 1], offset: ?>>, %from: i32, %to: i32, %step: i32,
                %out: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<16x16xf32>
  %sum = scf.for %i = %from to %to step %step iter_args(%acc = %init) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x16xf32, strided<[?, 1], offset: ?>> to tensor<16x16xf32>
    %y = bufferization.to_tensor %b : memref<16x16xf32, strided<[?, 1], offset: ?>> to tensor<16x16xf32>
    %c = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %c : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
