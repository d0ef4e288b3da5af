// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-hoist-copies -cse -canonicalize | FileCheck %s

// Weights before the loop, with their view; not what changes, not what is written, not what a loop that may not run loads.

// CHECK-LABEL: func.func @loops
// CHECK: accel.copy %[[W:.*]] to %{{.*}} : (memref<64xf32, strided<[1], offset: 64>>
// CHECK-NEXT: scf.for %[[I:.*]] = %c0 to %c4
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[I]]]
// CHECK: accel.copy
// CHECK: accel.copy
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step
// CHECK-NEXT: accel.copy
func.func @loops(%w: memref<?xf32, strided<[1], offset: ?>> {accel.noalias}, %p: memref<?xf32, strided<[1], offset: ?>>, %n: index)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<64xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %vw = memref.reinterpret_cast %w to offset: [64], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: 64>>
    %t = accel.copy %vw to %e : (memref<64xf32, strided<[1], offset: 64>>, tensor<64xf32>) -> tensor<64xf32>
    %vi = memref.reinterpret_cast %w to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %u = accel.copy %vi to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %vp = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1]>>
    %q = accel.copy %vp to %e : (memref<64xf32, strided<[1]>>, tensor<64xf32>) -> tensor<64xf32>
    scf.for %j = %c0 to %n step %c1 {
      %v = accel.copy %vw to %e {a} : (memref<64xf32, strided<[1], offset: 64>>, tensor<64xf32>) -> tensor<64xf32>
      %0 = linalg.add ins(%t, %u : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      %1 = linalg.add ins(%0, %v : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      %2 = linalg.add ins(%1, %q : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      accel.copy %2 to %vp : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    }
  }
  return
}

// -----

// Equal loads are one, unless something is written between them; other bounds are another load.

// CHECK-LABEL: func.func @twice
// CHECK: %[[A:.*]] = accel.copy
// CHECK: linalg.add ins(%[[A]], %[[A]]
// CHECK: accel.copy
// CHECK: %[[B:.*]] = accel.copy
// CHECK: %[[C:.*]] = accel.copy %{{.*}} pad
// CHECK: linalg.add ins(%[[B]], %[[C]]
func.func @twice(%p: memref<?xf32, strided<[1], offset: ?>>, %n: index, %z: f32) attributes {accel.kernel, tilebridge.signature = ["*fp32", "i64", "fp32"]} {
  %e = tensor.empty() : tensor<64xf32>
  %v = memref.reinterpret_cast %p to offset: [%n], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %0 = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  %1 = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.add ins(%0, %1 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  accel.copy %2 to %v : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  %3 = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  %4 = accel.copy %v to %e pad %z : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>, f32) -> tensor<64xf32>
  %5 = linalg.add ins(%3, %4 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  accel.copy %5 to %v : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
