// RUN: tilebridge-opt %s -tilebridge-accel-fit -verify-diagnostics

// A row that is reduced as a whole.
module attributes {accel.target = "tiny-16kb"} {
// expected-error @+1 {{'row' needs 32772 bytes of 'local' memory at once, and a PE has 16384; blocks with a dimension of 2048 instead of 8192 would fit}}
func.func @row(%p: memref<8192xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<f32, strided<[], offset: ?>>,
               %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  // expected-note @+1 {{8192xf32: 32768 bytes}}
  %e = tensor.empty() : tensor<8192xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = accel.copy %p to %e : (memref<8192xf32, strided<[1], offset: ?>>, tensor<8192xf32>) -> tensor<8192xf32>
  // expected-note @+1 {{f32: 4 bytes}}
  %r = linalg.reduce { arith.addf } ins(%0 : tensor<8192xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %r to %q : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}
}
