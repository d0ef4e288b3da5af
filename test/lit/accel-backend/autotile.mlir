// RUN: tilebridge-opt %s -tilebridge-accel-autotile | FileCheck %s

// CHECK-LABEL: func.func @copy
// CHECK: accel.copy %{{.*}} {accel.depth = {{[123]}} : i64
module attributes {accel.target = "mtia-2i-like"} {
func.func @copy(%p: memref<?xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<?xf32, strided<[1], offset: ?>>,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 256, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c4096 = arith.constant 4096 : i32
  %o = arith.muli %px, %c4096 : i32
  %i = arith.index_cast %o : i32 to index
  %v = memref.reinterpret_cast %p to offset: [%i], sizes: [4096], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<4096xf32, strided<[1], offset: ?>>
  %w = memref.reinterpret_cast %q to offset: [%i], sizes: [4096], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<4096xf32, strided<[1], offset: ?>>
  %e = tensor.empty() : tensor<4096xf32>
  %0 = accel.copy %v to %e : (memref<4096xf32, strided<[1], offset: ?>>, tensor<4096xf32>) -> tensor<4096xf32>
  accel.copy %0 to %w : (tensor<4096xf32>, memref<4096xf32, strided<[1], offset: ?>>) -> ()
  return
}
}
