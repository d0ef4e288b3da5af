// RUN: tilebridge-opt %s -allow-unregistered-dialect -tilebridge-accel-bufferize -split-input-file -verify-diagnostics

func.func @not_lowered(%x: memref<8xi32>, %y: memref<4xi32>) {
  %e = tensor.empty() : tensor<8xi32>
  %0 = accel.copy %x to %e : (memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // expected-error@+1 {{op was not bufferized}}
  %1 = "plugin.op"(%0) : (tensor<8xi32>) -> tensor<4xi32>
  accel.copy %1 to %y : (tensor<4xi32>, memref<4xi32>) -> ()
  return
}

// -----

func.func @unknown_size(%x: memref<?xi32>, %n: index) {
  // expected-error@+1 {{a buffer's size is not known}}
  %e = tensor.empty(%n) : tensor<?xi32>
  %0 = accel.copy %x to %e : (memref<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  accel.copy %0 to %x : (tensor<?xi32>, memref<?xi32>) -> ()
  return
}
