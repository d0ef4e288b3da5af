// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576 two-fmas" --canonicalize --cse | FileCheck %s

// Keys and values: while one nest computes, the CPU does not look ahead along the other's rows. The sums over rows that follow one
// another ask for what comes 3 KiB later, as always, the other nest for the next block.
// CHECK-LABEL: func.func @decode(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[K:[a-z0-9]+]]: memref<?xf32, strided<[1], offset: ?>>, %[[V:[a-z0-9]+]]: memref<?xf32, strided<[1], offset: ?>>
// CHECK: scf.for %{{.*}} = %c0 to %[[N]] step %c16
// CHECK: %[[KEYS:.*]] = memref.reinterpret_cast %[[K]]
// CHECK: %[[VALUES:.*]] = memref.reinterpret_cast %[[V]]
// CHECK: memref.prefetch %[[KEYS]][%{{.*}}], read, locality<2>, data
// CHECK: vector.store
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c2048
// CHECK: memref.prefetch %[[VALUES]][%[[NEXT]]], read, locality<2>, data
// CHECK: return
func.func @decode(%n: index, %k: memref<?xf32, strided<[1], offset: ?>>, %v: memref<?xf32, strided<[1], offset: ?>>, %o: memref<128xf32>,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %e = tensor.empty() : tensor<16x128xf32>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %none) -> tensor<128xf32> {
    %at = arith.muli %i, %c128 : index
    %km = memref.reinterpret_cast %k to offset: [%at], sizes: [16, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x128xf32, strided<[128, 1], offset: ?>>
    %vm = memref.reinterpret_cast %v to offset: [%at], sizes: [16, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x128xf32, strided<[128, 1], offset: ?>>
    %kt = bufferization.to_tensor %km : memref<16x128xf32, strided<[128, 1], offset: ?>> to tensor<16x128xf32>
    %vt = bufferization.to_tensor %vm : memref<16x128xf32, strided<[128, 1], offset: ?>> to tensor<16x128xf32>
    %score = linalg.reduce { arith.addf } ins(%kt : tensor<16x128xf32>) outs(%zero : tensor<16xf32>) dimensions = [1]
    %all = linalg.broadcast ins(%score : tensor<16xf32>) outs(%e : tensor<16x128xf32>) dimensions = [1]
    %w = arith.mulf %all, %vt : tensor<16x128xf32>
    %part = linalg.reduce { arith.addf } ins(%w : tensor<16x128xf32>) outs(%none : tensor<128xf32>) dimensions = [0]
    %y = arith.addf %acc, %part : tensor<128xf32>
    scf.yield %y : tensor<128xf32>
  }
  bufferization.materialize_in_destination %sum in writable %o : (tensor<128xf32>, memref<128xf32>) -> ()
  return
}

// -----

// What one nest reads side by side the CPU follows by itself.
// CHECK-LABEL: func.func @side_by_side(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @side_by_side(%n: index, %k: memref<?xf32, strided<[1], offset: ?>>, %v: memref<?xf32, strided<[1], offset: ?>>, %o: memref<128xf32>,
                        %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %none = arith.constant dense<0.0> : tensor<128xf32>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %none) -> tensor<128xf32> {
    %at = arith.muli %i, %c128 : index
    %km = memref.reinterpret_cast %k to offset: [%at], sizes: [16, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x128xf32, strided<[128, 1], offset: ?>>
    %vm = memref.reinterpret_cast %v to offset: [%at], sizes: [16, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x128xf32, strided<[128, 1], offset: ?>>
    %kt = bufferization.to_tensor %km : memref<16x128xf32, strided<[128, 1], offset: ?>> to tensor<16x128xf32>
    %vt = bufferization.to_tensor %vm : memref<16x128xf32, strided<[128, 1], offset: ?>> to tensor<16x128xf32>
    %w = arith.mulf %kt, %vt : tensor<16x128xf32>
    %part = linalg.reduce { arith.addf } ins(%w : tensor<16x128xf32>) outs(%none : tensor<128xf32>) dimensions = [0]
    %y = arith.addf %acc, %part : tensor<128xf32>
    scf.yield %y : tensor<128xf32>
  }
  bufferization.materialize_in_destination %sum in writable %o : (tensor<128xf32>, memref<128xf32>) -> ()
  return
}
