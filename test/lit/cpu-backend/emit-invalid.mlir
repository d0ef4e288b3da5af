// RUN: tilebridge-opt %s --split-input-file --verify-diagnostics --tilebridge-cpu-plan --tilebridge-cpu-emit

func.func private @callee() -> tensor<64xf32>

func.func @call(%y: memref<64xf32>) {
  // expected-error @below {{'func.call' is not supported by the CPU backend, or not in this form}}
  %t = func.call @callee() : () -> tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

func.func @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  %t = bufferization.to_tensor %x : memref<?xf32> to tensor<?xf32>
  // expected-error @below {{stores a tensor whose shape is not static}}
  bufferization.materialize_in_destination %t in writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
