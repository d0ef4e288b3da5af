// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=1048576 prefetch-bytes=1048576" --canonicalize --cse | FileCheck %s

// Rows of 1 KiB: the one two ahead is asked for, and the one five ahead if the launch reads 1 MiB of them, 64 blocks.
// CHECK-LABEL: func.func @long_rows(
// CHECK: %[[IS_LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c64 : index
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[ROW]], %c2 : index
// CHECK-DAG: arith.minsi %[[NEXT]], %c15
// CHECK-DAG: %[[FURTHER:.*]] = arith.addi %[[ROW]], %c5 : index
// CHECK-DAG: arith.minsi %[[FURTHER]], %c15
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch
// CHECK: scf.if %[[IS_LARGE]] {
// CHECK-COUNT-2: memref.prefetch
// CHECK: }
// CHECK: vector.load
func.func @long_rows(%table: memref<?x?xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>, %out: memref<16x256xf32>,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %zero = arith.constant 0.0 : f32
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %box = memref.subview %table[0, 0] [16, 256] [1, 1]
      : memref<?x?xf32, strided<[1, 1], offset: ?>> to memref<16x256xf32, strided<[1, 1], offset: ?>>
  %view = memref.cast %box : memref<16x256xf32, strided<[1, 1], offset: ?>> to memref<?x?xf32, strided<[1, 1], offset: ?>>
  %t = linalg_ext.gather_rows %view[%rows] dim 0 other %zero
      : (memref<?x?xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>, f32) -> tensor<16x256xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<16x256xf32>, memref<16x256xf32>) -> ()
  return
}
