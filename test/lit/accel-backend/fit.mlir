// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-fit | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-fit=depth=2 | FileCheck %s --check-prefix=TWO

// It fits as it is: two buffers for what is loaded in a loop.

// CHECK-LABEL: func.func @small
// CHECK: accel.copy %{{.*}} {accel.depth = 2 : i64}
module attributes {accel.target = "mtia-2i-like"} {
func.func @small(%p: memref<64xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<64xf32, strided<[1], offset: ?>>, %n: index,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %e = tensor.empty() : tensor<64xf32>
  %0 = accel.copy %p to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  accel.copy %0 to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// What somebody else decided stays.

// CHECK-LABEL: func.func @decided
// CHECK: accel.copy %{{.*}} {accel.depth = 3 : i64}
module attributes {accel.target = "mtia-2i-like"} {
func.func @decided(%p: memref<64xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<64xf32, strided<[1], offset: ?>>, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %e = tensor.empty() : tensor<64xf32>
  %0 = accel.copy %p to %e {accel.depth = 3 : i64} : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  accel.copy %0 to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// 32 KB are more than the 16 KB of a PE, whatever the depth: parts of half the size, until they fit.

// CHECK-LABEL: func.func @large
// CHECK: accel.copy %{{.*}} {accel.depth = {{[12]}} : i64, accel.tile = array<i64: {{(2048|4096)}}>}
module attributes {accel.target = "tiny-16kb"} {
func.func @large(%p: memref<8192xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<8192xf32, strided<[1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<8192xf32>
  %0 = accel.copy %p to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
  accel.copy %0 to %q : (tensor<8192xf32>, memref<8192xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// One PE waits 100 cycles for each transfer of 2 cycles: as many buffers as hide that, unless fewer are asked for, and no
// smaller blocks for them.

// CHECK-LABEL: func.func @short_transfers
// CHECK: accel.copy %{{.*}} {accel.depth = {{[0-9][0-9]}} : i64} : (memref<32xf32
// TWO-LABEL: func.func @short_transfers
// TWO: accel.copy %{{.*}} {accel.depth = 2 : i64} : (memref<32xf32
module attributes {accel.target = "grid-1x1"} {
func.func @short_transfers(%p: memref<?xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<32xf32, strided<[1], offset: ?>>,
                           %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %all = arith.constant 8192 : index
  %e = tensor.empty() : tensor<32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %sums = scf.for %i = %c0 to %all step %c32 iter_args(%sum = %init) -> (tensor<32xf32>) {
    %view = memref.reinterpret_cast %p to offset: [%i], sizes: [32], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
    %0 = accel.copy %view to %e : (memref<32xf32, strided<[1], offset: ?>>, tensor<32xf32>) -> tensor<32xf32>
    %next = linalg.add ins(%sum, %0 : tensor<32xf32>, tensor<32xf32>) outs(%sum : tensor<32xf32>) -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  accel.copy %sums to %q : (tensor<32xf32>, memref<32xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// Dimensions of one element that only reshapes have are dimensions, too.

// CHECK-LABEL: func.func @reshaped
// CHECK: accel.copy
module attributes {accel.target = "mtia-2i-like"} {
func.func @reshaped(%p: memref<1x8xf32, strided<[8, 1], offset: ?>> {accel.noalias}, %q: memref<8x1xf32, strided<[1, 1], offset: ?>>,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<1x8xf32>
  %0 = accel.copy %p to %e : (memref<1x8xf32, strided<[8, 1], offset: ?>>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2, 3]] output_shape [1, 2, 2, 2] : tensor<1x8xf32> into tensor<1x2x2x2xf32>
  %2 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<1x2x2x2xf32> into tensor<2x2x2xf32>
  %3 = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [2, 2, 2, 1] : tensor<2x2x2xf32> into tensor<2x2x2x1xf32>
  %4 = tensor.collapse_shape %3 [[0, 1, 2], [3]] : tensor<2x2x2x1xf32> into tensor<8x1xf32>
  accel.copy %4 to %q : (tensor<8x1xf32>, memref<8x1xf32, strided<[1, 1], offset: ?>>) -> ()
  return
}
}
