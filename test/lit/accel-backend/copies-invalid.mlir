// RUN: tilebridge-opt %s -tilebridge-accel-copies -split-input-file -verify-diagnostics

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @remark(%p: !ptr, %o: tensor<5x3xi32>) -> tensor<5x3xf32> {
  // expected-remark@+1 {{is done element by element (15 a program)}}
  %0 = linalg_ext.gather %p[%o] : (!ptr, tensor<5x3xi32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// The padding is what the store has written: it is not known where the load stands.
!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @padding_from_behind(%p: !ptr, %x: f32, %h: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{memory is written between the load and the place where its masked elements get their value}}
  %0 = bufferization.to_tensor %p : !ptr to tensor<?xf32>
  memref.store %x, %p[%c0] : !ptr
  %y = memref.load %p[%h] : !ptr
  %1 = tensor.pad %0 low[0] high[%h] {
  ^bb0(%i: index):
    tensor.yield %y : f32
  } : tensor<?xf32> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @unknown_size(%p: !ptr, %i: index) -> f32 {
  // expected-error@+1 {{a box of a size that is not known is used without being padded to a block}}
  %0 = bufferization.to_tensor %p : !ptr to tensor<?xf32>
  // expected-note@+1 {{used here}}
  %1 = tensor.extract %0[%i] : tensor<?xf32>
  return %1 : f32
}
