// RUN: tilebridge-opt %s --tilebridge-cpu-share-operands --tilebridge-cpu-guard-blocks --tilebridge-cpu-plan --tilebridge-cpu-emit --canonicalize | FileCheck %s

// Programs still share an operand whose columns are computed under a condition, and nothing is written where it does not hold.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @shared
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: scf.if %[[IN]] {
// CHECK-NEXT: } else {
// CHECK: arith.remsi {{.*}} : vector<4xi64>
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: vector.store
// CHECK: memref.alloc() {{.*}}tilebridge.kept
// CHECK: scf.for
// CHECK: scf.if %[[IN]] {
func.func @shared(%a: memref<16x32xf32>, %b: memref<32x?xf32>, %m: i64, %c: memref<16x16xf32>, %k: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %f0 = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %i0 = arith.constant 0 : index
  %begin = arith.extsi %y : i32 to i64
  %in = arith.cmpi slt, %begin, %m : i64
  %empty = tensor.empty() : tensor<16xi64>
  %columns = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%empty : tensor<16xi64>) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index
    %j64 = arith.index_cast %j : index to i64
    %at = arith.addi %begin, %j64 : i64
    %r = arith.remsi %at, %m : i64
    linalg.yield %r : i64
  } -> tensor<16xi64>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %l = bufferization.to_tensor %a : memref<16x32xf32> to tensor<16x32xf32>
    %r = scf.if %in -> (tensor<32x16xf32>) {
      %box = memref.subview %b[0, 0] [32, 16] [1, 1] : memref<32x?xf32> to memref<32x16xf32, strided<[?, 1]>>
      %t = bufferization.to_tensor %box : memref<32x16xf32, strided<[?, 1]>> to tensor<32x16xf32>
      scf.yield %t : tensor<32x16xf32>
    } else {
      %g = linalg_ext.gather_rows %b[%columns] dim 1 other %f0 : (memref<32x?xf32>, tensor<16xi64>, f32) -> tensor<32x16xf32>
      scf.yield %g : tensor<32x16xf32>
    }
    %d = linalg.matmul ins(%l, %r : tensor<16x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %c : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
