// RUN: not tilebridge-opt %s -tilebridge-accel-fit 2>&1 | FileCheck %s

// A lookup takes all of its block at once. Blocks that have a name in the kernel are told by it.
module attributes {accel.target = "tiny-16kb"} {
// CHECK: error: 'lookup' needs 40960 bytes of 'local' memory at once, and a PE has 16384; blocks with a dimension of 2048 instead of 8192 would fit
// CHECK: k.py:3:7: note: 'x', 8192xf32: 32768 bytes
// CHECK: note: 1024xi32: 4096 bytes
// CHECK: note: 1024xf32: 4096 bytes
func.func @lookup(%p: memref<8192xf32, strided<[1], offset: ?>> {accel.noalias}, %i: memref<1024xi32, strided<[1], offset: ?>>,
                  %q: memref<1024xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*i32", "*fp32"]} {
  %e = tensor.empty() : tensor<8192xf32> loc("x"("k.py":3:7))
  %f = tensor.empty() : tensor<1024xi32>
  %g = tensor.empty() : tensor<1024xf32>
  %0 = accel.copy %p to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
  %1 = accel.copy %i to %f : (memref<1024xi32, strided<[1], offset: ?>>, tensor<1024xi32>) -> tensor<1024xi32>
  %r = accel.compute vector ins(%0, %1 : tensor<8192xf32>, tensor<1024xi32>) outs(%g : tensor<1024xf32>) {
  ^bb0(%x: tensor<8192xf32>, %y: tensor<1024xi32>, %out: tensor<1024xf32>):
    %2 = linalg_ext.gather_along %x[%y] dimension = 0 : tensor<8192xf32>, tensor<1024xi32> -> tensor<1024xf32>
    accel.yield %2 : tensor<1024xf32>
  } -> tensor<1024xf32>
  accel.copy %r to %q : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}
}
