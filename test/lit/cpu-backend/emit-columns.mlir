// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas" --canonicalize --cse | FileCheck %s

// Up to 4 rows of bf16 are multiplied with columns where they lie: lanes run along K, two rows share what is converted, and
// the lanes of 8 columns are added up in one tree. More rows are worth a transposed copy.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %{{.*}}, %[[B:[a-z0-9]*]]: memref<64x32xbf16, strided<[1, ?], offset: ?>>
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[M]], %c4
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK: %[[REST:.*]] = arith.remui %[[M]], %c2
// CHECK: %[[WHOLE:.*]] = arith.subi %[[M]], %[[REST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c2
// CHECK: %[[DOTS:.*]]:16 = scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.load {{.*}} -> vector<16xbf16>
// CHECK: arith.extf
// CHECK-NOT: llvm.load
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: vector.shuffle %[[DOTS]]#0, %[[DOTS]]#1
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %[[M]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: } else {
// CHECK: vector.store {{.*}} : memref<1x64x32xf32>
func.func @single(%m: index, %a: memref<16x64xbf16>, %b: memref<64x32xbf16, strided<[1, ?], offset: ?>>, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = bufferization.to_tensor %a : memref<16x64xbf16> to tensor<16x64xbf16>
  %y = bufferization.to_tensor %b : memref<64x32xbf16, strided<[1, ?], offset: ?>> to tensor<64x32xbf16>
  %c = linalg.matmul ins(%x, %y : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = math.exp %c : tensor<16x32xf32>
  %slice = tensor.extract_slice %e[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// A loop that only adds products up leaves columns that go on in the next iteration where they lie, until there are 4 KiB of each. Up to
// 8 rows are multiplied as well if they do not.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[LEFT:.*]] = memref.alloc() {{.*}} : memref<16x1040xf32>
// CHECK: %[[PLACE:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// CHECK: %[[MAY:.*]] = arith.cmpi sle, %[[M]], %c16
// CHECK: arith.select %[[MAY]], %c1, %c0
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[M]], %c8
// CHECK: %[[BEHIND:.*]] = arith.select %[[FEW]], %c2, %c0
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %c0) -> (index)
// CHECK: %[[MODE_WORD:.*]] = memref.load %[[RIGHT]][%c5]
// CHECK: %[[MODE:.*]] = arith.index_cast %[[MODE_WORD]]
// CHECK: %[[ALONE:.*]] = arith.cmpi ne, %[[MODE]], %c0
// CHECK: %[[WAITS:.*]] = arith.cmpi eq, %[[MODE]], %c1
// Rows of a that are packed and wait are longer than others.
// CHECK: %[[DISTANCE:.*]] = arith.select %[[ALONE]], %c1040, %c144 : index
// CHECK: memref.reinterpret_cast %[[LEFT]] to offset: [0], sizes: [16, 128], strides: [%[[DISTANCE]], 1]
// CHECK: %[[FILLED:.*]] = arith.subi %[[TOTAL]], %{{.*}}
// Steps before a jump of a are packed if b stays, and multiplied apart if not.
// CHECK: memref.store {{.*}}, %[[PLACE]][%c3]
// CHECK: scf.if %[[ALONE]] {
// CHECK: memref.store %c0_i64, %[[PLACE]][%c3]
// b goes on: nothing asks whether it will.
// CHECK: scf.if %[[ALONE]] {
// CHECK-NEXT: arith.index_cast %[[OWN_ADDRESS:.*]] : index to i64
// CHECK-NEXT: memref.store {{.*}}, %[[RIGHT]][%c2]
// CHECK: memref.store {{.*}}, %[[RIGHT]][%c3]
// CHECK: } else {
// CHECK: memref.store %c0_i64, %[[RIGHT]][%c2]
// CHECK: arith.addi %[[FILLED]], {{.*}} : index
// CHECK: %[[END:.*]] = arith.addi %[[FILLED]], %c64
// CHECK: %[[IS_NEXT:.*]] = arith.cmpi eq, %[[OWN:[0-9]*]], %{{[0-9]*}} : index
// CHECK: %[[IS_PACKED:.*]] = arith.cmpi eq, %[[OWN]], %c0
// CHECK: %[[GOES_ON:.*]] = arith.andi
// CHECK: %[[WAITING:.*]] = arith.select %{{.*}}, %[[END]], %[[FILLED]]
// CHECK: arith.select %{{.*}}, %[[BEHIND]], %{{.*}}
// CHECK: arith.cmpi uge, %[[END]], %c1024
// CHECK: %[[DUE:.*]] = arith.select %[[ALONE]], %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %[[DUE]] {
// What waits, and then what does not go on.
// CHECK: scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: %[[IS_WAITING:.*]] = arith.cmpi eq, %[[PART]], %c0
// CHECK: %[[STEPS:.*]] = arith.select %[[IS_WAITING]], %[[WAITING]], %c64
// CHECK: arith.select %[[IS_WAITING]], %c0, %[[FILLED]]
// 4 rows with 4 columns; the next ones are asked for meanwhile.
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c4
// CHECK: %[[REST:.*]] = arith.remui %[[M]], %c4
// CHECK: %[[FOURS:.*]] = arith.subi %[[M]], %[[REST]]
// Three rows are four, the last one twice.
// CHECK: %[[IS_THREE:.*]] = arith.cmpi eq, %[[REST]], %c3
// CHECK: %[[DONE:.*]] = arith.select %[[IS_THREE]], %[[M]], %[[FOURS]]
// CHECK: %[[ONE_MORE:.*]] = arith.addi %[[M]], %c1
// CHECK: %[[END:.*]] = arith.select %[[IS_THREE]], %[[ONE_MORE]], %[[FOURS]]
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c4
// CHECK-COUNT-4: arith.minsi
// CHECK: %[[DOTS:.*]]:16 = scf.for %{{.*}} = %c0 to %[[STEPS]] step %c16
// CHECK-COUNT-4: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle %[[DOTS]]#0, %[[DOTS]]#1
// CHECK: vector.store {{.*}} vector<4xf32>
// CHECK: scf.for %{{.*}} = %[[DONE]] to %[[TWOS:.*]] step %c2
// CHECK: scf.for %{{.*}} = %c0 to %[[STEPS]] step %c16
// CHECK: scf.for %{{.*}} = %[[TWOS]] to %[[M]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[STEPS]] step %c32
// CHECK: scf.if
// CHECK: vector.load %{{.*}} : memref<1x128x32xf32>
func.func @loop(%m: index, %a: memref<16x4096xf32>, %b: memref<?xf32>, %n: index, %k: index, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %rows = memref.subview %a[0, %i] [16, 64] [1, 1] : memref<16x4096xf32> to memref<16x64xf32, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%i], sizes: [64, 32], strides: [1, %n] : memref<?xf32> to memref<64x32xf32, strided<[1, ?], offset: ?>>
    %x = bufferization.to_tensor %rows : memref<16x64xf32, strided<[4096, 1], offset: ?>> to tensor<16x64xf32>
    %y = bufferization.to_tensor %columns : memref<64x32xf32, strided<[1, ?], offset: ?>> to tensor<64x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// Columns at which each iteration begins anew stay where they lie for few rows only.
// CHECK-LABEL: func.func @same(
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c8
// CHECK: %[[BEHIND:.*]] = arith.select %[[FEW]], %c2, %c0
// CHECK: scf.for
// CHECK: %[[ALONE:.*]] = arith.cmpi ne
// CHECK: %[[MAY_STAY:.*]] = arith.cmpi eq, %[[BEHIND]], %c2
// CHECK: %[[FITS:.*]] = arith.andi %[[ALONE]], %[[MAY_STAY]]
// CHECK: scf.if %[[FITS]] {
func.func @same(%m: index, %a: memref<16x64xf32>, %b: memref<64x32xf32, strided<[1, ?], offset: ?>>, %n: index, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %x = bufferization.to_tensor %a : memref<16x64xf32> to tensor<16x64xf32>
    %y = bufferization.to_tensor %b : memref<64x32xf32, strided<[1, ?], offset: ?>> to tensor<64x32xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// A loop that writes memory copies b when the program reads it.
// CHECK-LABEL: func.func @writes(
// CHECK-NOT: memref<6xi64>
// CHECK-NOT: memref<6xi64>
// CHECK-NOT: arith.cmpi sle, %{{.*}}, %c8
// CHECK: return
func.func @writes(%m: index, %a: memref<16x64xf32>, %b: memref<64x32xf32, strided<[1, ?], offset: ?>>, %n: index, %o: memref<16x32xf32>, %p: memref<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %x = bufferization.to_tensor %a : memref<16x64xf32> to tensor<16x64xf32>
    %y = bufferization.to_tensor %b : memref<64x32xf32, strided<[1, ?], offset: ?>> to tensor<64x32xf32>
    memref.store %one, %p[] : memref<f32>
    %d = linalg.matmul ins(%x, %y : tensor<16x64xf32>, tensor<64x32xf32>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// Columns of one vector, such as the values of a page, are sooner transposed from three rows on.
// CHECK-LABEL: func.func @short(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: arith.cmpi sle, %[[M]], %c2
func.func @short(%m: index, %a: memref<16x16xf32>, %b: memref<16x32xf32, strided<[1, ?], offset: ?>>, %o: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = bufferization.to_tensor %a : memref<16x16xf32> to tensor<16x16xf32>
  %y = bufferization.to_tensor %b : memref<16x32xf32, strided<[1, ?], offset: ?>> to tensor<16x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x32xf32>) outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = math.exp %c : tensor<16x32xf32>
  %slice = tensor.extract_slice %e[0, 0] [%m, 32] [1, 1] : tensor<16x32xf32> to tensor<?x32xf32>
  %to = memref.subview %o[0, 0] [%m, 32] [1, 1] : memref<16x32xf32> to memref<?x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x32xf32>, memref<?x32xf32, strided<[32, 1]>>) -> ()
  return
}
