// RUN: tilebridge-opt %s -split-input-file -tilebridge-lower-accesses -verify-diagnostics

// The number would read as "not known" in the type of a view.
tt.func @stride_of_a_block_pointer(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  %s = arith.constant -9223372036854775808 : i64
  // expected-error@+1 {{a size or stride of -2^63 elements is in no memory; pass the tensor's own}}
  %0 = tt.make_tensor_ptr %p, [%n, %n], [%n, %s], [%i, %i] {order = array<i32: 1, 0>} : <tensor<8x8xf32>>
  %1 = tt.load %0 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @size_of_a_block_pointer(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  %s = arith.constant -9223372036854775808 : i64
  // expected-error@+1 {{a size or stride of -2^63 elements is in no memory}}
  %0 = tt.make_tensor_ptr %p, [%s], [%n], [%i] {order = array<i32: 0>} : <tensor<8xf32>>
  %1 = tt.load %0 {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @stride_of_a_descriptor(%p: !tt.ptr<f32>, %n: i32, %i: i32) {
  %s = arith.constant -9223372036854775808 : i64
  // expected-error@+1 {{a size or stride of -2^63 elements is in no memory}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <8xf32>
  %1 = tt.descriptor_load %0[%i] : !tt.tensordesc<8xf32> -> tensor<8xf32>
  tt.return
}
