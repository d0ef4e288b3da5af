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

// -----

func.func @resource(%y: memref<4xf32>) {
  // expected-error @below {{a constant of this form is not supported by the CPU backend: its elements are not in the program; write them out, as dense<...>}}
  %c = arith.constant dense_resource<somewhere> : tensor<4xf32>
  bufferization.materialize_in_destination %c in writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// expected-error @below {{has several blocks; the CPU backend expects structured control flow}}
func.func @blocks(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>) {
  %t = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  cf.cond_br %c, ^bb1, ^bb1
^bb1:
  return
}

// -----

func.func @result(%x: memref<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  // expected-error @below {{returns a tensor; functions that do must be inlined before}}
  return %t : tensor<4xf32>
}

// -----

func.func @slice(%x: memref<4xf32>, %o: index, %z: f32, %y: memref<8xf32>) {
  %s = tensor.splat %z : tensor<4xf32>
  %d = tensor.splat %z : tensor<8xf32>
  // expected-error @below {{a slice of dynamic place or size that is not a load is not supported by the CPU backend}}
  %t = tensor.insert_slice %s into %d[%o] [4] [1] : tensor<4xf32> into tensor<8xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @product(%a: memref<8xf32>, %b: memref<8x8xf32>, %y: memref<8x8xf32>, %z: f32) {
  %l = bufferization.to_tensor %a : memref<8xf32> to tensor<8xf32>
  %r = bufferization.to_tensor %b : memref<8x8xf32> to tensor<8x8xf32>
  %c = tensor.splat %z : tensor<8x8xf32>
  // expected-error @below {{the operands of a matrix product may be transposed, but not broadcast: expected an operand for each element}}
  %t = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%l, %r : tensor<8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// -----

func.func @vector(%a: memref<8x8xf32>, %x: memref<8xf32>, %y: memref<8xf32>, %z: f32) {
  %l = bufferization.to_tensor %a : memref<8x8xf32> to tensor<8x8xf32>
  %r = bufferization.to_tensor %x : memref<8xf32> to tensor<8xf32>
  %c = tensor.splat %z : tensor<8xf32>
  // expected-error @below {{is no matrix product that a CPU has loops for: expected linalg.matmul or linalg.batch_matmul}}
  %t = linalg.matvec ins(%l, %r : tensor<8x8xf32>, tensor<8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @argument(%t: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error @-1 {{tensors as arguments of a function are not supported here}}
  bufferization.materialize_in_destination %t in writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @loop(%n: index, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{is not supported by the CPU backend}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = bufferization.to_tensor %y : memref<4xf32> to tensor<4xf32>
    bufferization.materialize_in_destination %t in writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
    scf.reduce
  }
  return
}
