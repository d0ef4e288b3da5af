// RUN: not tilebridge-opt %s -tilebridge-accel-fit 2>&1 | FileCheck %s

// A row that is summed up, and stored as well. Blocks that have a name in the kernel are told by it.
module attributes {accel.target = "tiny-16kb"} {
// CHECK: error: 'row' needs 32772 bytes of 'local' memory at once, and a PE has 16384; blocks with a dimension of 2048 instead of 8192 would fit
// CHECK: k.py:3:7: note: 'x', 8192xf32: 32768 bytes
// CHECK: note: f32: 4 bytes
func.func @row(%p: memref<8192xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<f32, strided<[], offset: ?>>,
               %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<8192xf32> loc("x"("k.py":3:7))
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = accel.copy %p to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%0 : tensor<8192xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %0 to %p : (tensor<8192xf32>, memref<8192xf32, strided<[1], offset: ?>>) -> ()
  accel.copy %r to %q : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}
}
