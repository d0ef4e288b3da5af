// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs bf16-tiles two-fmas" --canonicalize --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Channels lie apart, and pixels are stored so: the transposed product. Two channels of 16 pixels are put into words: of pixels that
// follow one another, of every other one of these, whose words are loaded, and of any. The sums are stored along the rows.
// CHECK-LABEL: func.func @planes(
// CHECK-DAG: %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16x32xf32>
// CHECK-DAG: %[[PIXELS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x256x64xi16>
// CHECK-DAG: %[[WEIGHTS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16x544xi16>
// CHECK: scf.for
// CHECK: scf.for {{.*}} to %c32 step %c16
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c32 step %c2
// CHECK: memref.prefetch
// CHECK: vector.load {{.*}} vector<16xbf16>
// CHECK: arith.extui {{.*}} vector<16xi16> to vector<16xi32>
// CHECK: vector.load {{.*}} vector<16xbf16>
// CHECK: arith.shli {{.*}} vector<16xi32>
// CHECK: arith.ori {{.*}} vector<16xi32>
// CHECK: vector.store {{.*}}, %[[PIXELS]]
// CHECK: } else {
// CHECK: scf.if
// CHECK: vector.maskedload {{.*}} into vector<32xbf16>
// CHECK-NOT: vector.shuffle
// CHECK: vector.store {{.*}}, %[[PIXELS]]
// CHECK: } else {
// CHECK: vector.gather
// CHECK: memref.subview %[[WEIGHTS]][0, %{{.*}}] [16, 32] [1, 1]
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: arith.truncf {{.*}} vector<16xf32> to vector<16xbf16>
// CHECK: memref.prefetch {{.*}}, write
// CHECK: vector.store {{.*}} vector<16xbf16>
func.func @planes(%x: memref<?x?xbf16, strided<[1, ?], offset: ?>>, %w: memref<?xbf16>, %ids: memref<32xi64>, %y: memref<?x?xbf16, strided<[1, ?], offset: ?>>, %n: index) {
  %zero = arith.constant 0.0 : bf16
  %zeros = arith.constant dense<0.0> : tensor<32x16xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %rows = bufferization.to_tensor %ids : memref<32xi64> to tensor<32xi64>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<32x16xf32>) {
    %box = memref.subview %x[0, %i] [32, 32] [1, 1]
        : memref<?x?xbf16, strided<[1, ?], offset: ?>> to memref<32x32xbf16, strided<[1, ?], offset: ?>>
    %view = memref.cast %box : memref<32x32xbf16, strided<[1, ?], offset: ?>> to memref<?x32xbf16, strided<[1, ?], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
        : (memref<?x32xbf16, strided<[1, ?], offset: ?>>, tensor<32xi64>, bf16) -> tensor<32x32xbf16>
    %right = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xbf16> to memref<32x16xbf16, strided<[16, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x16xbf16, strided<[16, 1], offset: ?>> to tensor<32x16xbf16>
    %d = linalg.matmul ins(%l, %r : tensor<32x32xbf16>, tensor<32x16xbf16>) outs(%acc : tensor<32x16xf32>) -> tensor<32x16xf32>
    scf.yield %d : tensor<32x16xf32>
  }
  %empty = tensor.empty() : tensor<32x16xbf16>
  %short = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<32x16xf32>) outs(%empty : tensor<32x16xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x16xbf16>
  linalg_ext.scatter_rows %short into %y[%rows] dim 0 : (tensor<32x16xbf16>, memref<?x?xbf16, strided<[1, ?], offset: ?>>, tensor<32xi64>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Channels lie beside each other: 16 rows that are evenly apart, all of which are there, stay where they are; others are packed. The
// micro-kernel is told where they are.
// CHECK-LABEL: func.func @channels_last(
// CHECK-DAG: %[[PACKED:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x1056xi16>
// CHECK-DAG: %[[TILES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x32x2xi64>
// CHECK: scf.for
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c32 step %c16
// CHECK: %[[EVEN:.*]] = vector.reduction <and>
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: %[[STAYS:.*]] = arith.andi %[[EVEN]], %[[ALL]]
// CHECK: scf.if %[[STAYS]] {
// CHECK: memref.store %{{.*}}, %[[TILES]][%{{.*}}, %{{.*}}, %c0]
// CHECK: memref.store %{{.*}}, %[[TILES]][%{{.*}}, %{{.*}}, %c1]
// CHECK: } else {
// CHECK: vector.store {{.*}}, %[[PACKED]]
// CHECK: memref.store %{{.*}}, %[[TILES]][%{{.*}}, %{{.*}}, %c0]
// CHECK: memref.load %[[TILES]][%{{.*}}, %{{.*}}, %c0]
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
func.func @channels_last(%x: memref<?x?xbf16, strided<[?, 1], offset: ?>>, %w: memref<?xbf16>, %y: memref<32x16xf32>, %width: index, %n: index) {
  %zero = arith.constant 0.0 : bf16
  %zeros = arith.constant dense<0.0> : tensor<32x16xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<32xi64>
  %rows = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<32xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %column = arith.remui %i, %width : index
    %place = arith.addi %i, %column : index
    %long = arith.index_cast %place : index to i64
    linalg.yield %long : i64
  } -> tensor<32xi64>
  %none = tensor.empty() : tensor<32xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%rows : tensor<32xi64>) outs(%none : tensor<32xi1>) {
  ^bb0(%row: i64, %o: i1):
    %c7 = arith.constant 7 : i64
    %known = arith.cmpi ne, %row, %c7 : i64
    linalg.yield %known : i1
  } -> tensor<32xi1>
  %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (tensor<32x16xf32>) {
    %box = memref.subview %x[0, %i] [32, 32] [1, 1]
        : memref<?x?xbf16, strided<[?, 1], offset: ?>> to memref<32x32xbf16, strided<[?, 1], offset: ?>>
    %view = memref.cast %box : memref<32x32xbf16, strided<[?, 1], offset: ?>> to memref<?x32xbf16, strided<[?, 1], offset: ?>>
    %l = linalg_ext.gather_rows %view[%rows] dim 0 rowmask %mask other %zero
        : (memref<?x32xbf16, strided<[?, 1], offset: ?>>, tensor<32xi64>, tensor<32xi1>, bf16) -> tensor<32x32xbf16>
    %right = memref.reinterpret_cast %w to offset: [%i], sizes: [32, 16], strides: [16, 1] : memref<?xbf16> to memref<32x16xbf16, strided<[16, 1], offset: ?>>
    %r = bufferization.to_tensor %right : memref<32x16xbf16, strided<[16, 1], offset: ?>> to tensor<32x16xbf16>
    %d = linalg.matmul ins(%l, %r : tensor<32x32xbf16>, tensor<32x16xbf16>) outs(%acc : tensor<32x16xf32>) -> tensor<32x16xf32>
    scf.yield %d : tensor<32x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<32x16xf32>, memref<32x16xf32>) -> ()
  return
}
