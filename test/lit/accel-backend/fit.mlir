// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-fit | FileCheck %s

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
