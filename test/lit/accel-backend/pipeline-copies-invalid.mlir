// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline-copies -verify-diagnostics

// The bridge IR's blocks have no place yet that a transfer could be under way to.
func.func @tensors(%p: memref<64xf32, strided<[1], offset: ?>>, %q: memref<64xf32, strided<[1], offset: ?>>, %n: index)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{is a copy of tensors, which cannot be started before it is waited for: run tilebridge-accel-bufferize first}}
    %0 = accel.copy %p to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    accel.copy %0 to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}
