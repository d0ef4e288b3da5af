// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs i16-pairs bf16-tiles i8-tiles" --canonicalize --cse | FileCheck %s

// A tile reads 16 rows, of which fewer may exist. A single row stays in place and is all of them; of several, those that are stored are packed
// alone; only where one of these does not exist, the block is padded.
// CHECK-LABEL: func.func @rows
// CHECK: %[[WANTED:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: scf.for
// CHECK: %[[ISTHERE:.*]] = arith.cmpi sge, %{{.*}}, %[[WANTED]]
// CHECK: %[[ISONE:.*]] = arith.cmpi eq, %[[WANTED]], %c1
// CHECK: %[[STRIDE:.*]] = arith.select %[[ISONE]], %c0, %{{.*}}
// CHECK: %[[ALL:.*]] = arith.cmpi sge, %{{.*}}, %c16
// CHECK: %[[FITS:.*]] = arith.ori %[[ALL]], %[[ISONE]]
// CHECK: %[[INPLACE:.*]] = arith.andi %[[ISTHERE]], %[[FITS]]
// CHECK: memref.reinterpret_cast {{.*}} strides: [%[[STRIDE]], 1]
// CHECK: %[[STAYS:.*]] = arith.andi %[[INPLACE]], %{{.*}}
// CHECK: scf.if %[[STAYS]] {
// CHECK: } else {
// CHECK: scf.if %[[ISTHERE]] {
// CHECK: %[[END:.*]] = arith.minsi %[[WANTED]], %c16
// CHECK: scf.for %[[ROW:.*]] = %c0 to %[[END]] step %c1
// CHECK: %[[PIECE:.*]] = llvm.load {{.*}} -> vector<32xi16>
// CHECK-NEXT: vector.store %[[PIECE]], %{{.*}}[%[[ROW]], %{{.*}}] : memref<16x1056xi16>
// CHECK: } else {
// CHECK: vector.store
func.func @rows(%m: index, %a: memref<?x32xbf16, strided<[?, 1], offset: ?>>, %b: memref<32x16xbf16, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pad = arith.constant 0.0 : bf16
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 32] [1, 1] : memref<?x32xbf16, strided<[?, 1], offset: ?>> to memref<?x32xbf16, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x32xbf16, strided<[?, 1], offset: ?>> to tensor<?x32xbf16>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : bf16
    } : tensor<?x32xbf16> to tensor<16x32xbf16>
    %y = bufferization.to_tensor %b : memref<32x16xbf16, strided<[?, 1], offset: ?>> to tensor<32x16xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %to = memref.subview %out[0, 0] [%size, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x16xf32>, memref<?x16xf32, strided<[16, 1]>>) -> ()
  return
}
