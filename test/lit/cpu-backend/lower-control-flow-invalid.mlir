// RUN: tilebridge-opt %s -tilebridge-cpu-lower-control-flow -verify-diagnostics

// Blocks have no form for results that are tensors put together in parallel.
func.func @tensors(%n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has no form as branches between blocks}}
  %all = scf.forall (%i) in (%n) shared_outs(%out = %init) -> tensor<?xf32> {
    %one = tensor.extract_slice %out[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %all : tensor<?xf32>
}
