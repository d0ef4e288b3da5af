// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @gather_c1(%b: !ptr, %o: tensor<8xi64>) {
  // expected-error@+1 {{expects operands and result of one shape, got 'tensor<8xi64>' and 'tensor<4xf32>'}}
  %0 = linalg_ext.gather %b[%o] : (!ptr, tensor<8xi64>) -> tensor<4xf32>
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @gather_c2(%b: !ptr, %o: tensor<8xi64>) {
  // expected-error@+1 {{expects elements of type 'f32', as the memory has, got 'tensor<8xf16>'}}
  %0 = linalg_ext.gather %b[%o] : (!ptr, tensor<8xi64>) -> tensor<8xf16>
  return
}

// -----

!view = memref<?x?xf32, strided<[?, 1], offset: ?>>
func.func @gather_rows_c3(%v: !view, %o: tensor<8xi64>) {
  // expected-error@+1 {{expects 16 rows, got 'tensor<8xi64>'}}
  %0 = linalg_ext.gather_rows %v[%o] dim 0 : (!view, tensor<8xi64>) -> tensor<16x8xf32>
  return
}

// -----

!view = memref<16x?xf32, strided<[?, 1], offset: ?>>
func.func @scatter_rows_c2(%v: !view, %o: tensor<16xi64>, %x: tensor<16x8xf32>) {
  // expected-error@+1 {{expects 'dim' to be a dimension of the view with a dynamic size, got 0}}
  linalg_ext.scatter_rows %x into %v[%o] dim 0 : (tensor<16x8xf32>, !view, tensor<16xi64>) -> ()
  return
}

// -----

!view = memref<?x8xf32, strided<[?, 1], offset: ?>>
func.func @gather_rows_c4(%v: !view, %o: tensor<16xi64>) {
  // expected-error@+1 {{expects a view not larger than the block in dimension 1}}
  %0 = linalg_ext.gather_rows %v[%o] dim 0 : (!view, tensor<16xi64>) -> tensor<16x4xf32>
  return
}

// -----

!view = memref<16xf32, strided<[1], offset: ?>>
func.func @masked_load_c1(%v: !view, %m: tensor<8xi1>) {
  // expected-error@+1 {{expects a view of the block's shape}}
  %0 = linalg_ext.masked_load %v, %m : (!view, tensor<8xi1>) -> tensor<8xf32>
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @atomic_rmw_c3(%b: !ptr, %o: i64, %x: f32) {
  // expected-error@+1 {{of kind max does not work on 'f32'}}
  %0 = linalg_ext.atomic_rmw max relaxed gpu %b[%o], %x : (!ptr, i64, f32) -> f32
  return
}
