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

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @gather_other(%b: !ptr, %o: tensor<8xi64>, %m: tensor<8xi1>, %x: f64) {
  // expected-error@+1 {{expects 'other' to be a scalar of type 'f32', got 'f64'}}
  %0 = linalg_ext.gather %b[%o] mask %m other %x : (!ptr, tensor<8xi64>, tensor<8xi1>, f64) -> tensor<8xf32>
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @scatter_c1(%b: !ptr, %o: tensor<8xi64>, %m: tensor<4xi1>, %x: tensor<8xf32>) {
  // expected-error@+1 {{expects operands and result of one shape, got 'tensor<4xi1>' and 'tensor<8xf32>'}}
  linalg_ext.scatter %x into %b[%o] mask %m : (tensor<8xf32>, !ptr, tensor<8xi64>, tensor<4xi1>) -> ()
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @scatter_c2(%b: !ptr, %o: tensor<8xi64>, %x: tensor<8xi32>) {
  // expected-error@+1 {{expects elements of type 'f32', as the memory has, got 'tensor<8xi32>'}}
  linalg_ext.scatter %x into %b[%o] : (tensor<8xi32>, !ptr, tensor<8xi64>) -> ()
  return
}

// -----

!view = memref<?x?xf32, strided<[?, 1], offset: ?>>
func.func @gather_rows_c1(%v: !view, %o: tensor<8xi64>) {
  // expected-error@+1 {{expects a view of rank 3}}
  %0 = linalg_ext.gather_rows %v[%o] dim 0 : (!view, tensor<8xi64>) -> tensor<8x4x2xf32>
  return
}

// -----

!view = memref<?x?xf32, strided<[?, 1], offset: ?>>
func.func @gather_rows_c5(%v: !view, %o: tensor<8xi64>, %x: tensor<8x4xf32>) {
  // expected-error@+1 {{expects 'other' to be a scalar of type 'f32'}}
  %0 = linalg_ext.gather_rows %v[%o] dim 0 other %x : (!view, tensor<8xi64>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!view = memref<8xf32, strided<[1], offset: ?>>
func.func @masked_load_c2(%v: !view, %m: tensor<8xi1>) {
  // expected-error@+1 {{expects elements of type 'f32', as the memory has, got 'tensor<8xf16>'}}
  %0 = linalg_ext.masked_load %v, %m : (!view, tensor<8xi1>) -> tensor<8xf16>
  return
}

// -----

!view = memref<8xf32, strided<[1], offset: ?>>
func.func @masked_store_c1(%v: !view, %m: tensor<4xi1>, %x: tensor<8xf32>) {
  // expected-error@+1 {{expects operands and result of one shape, got 'tensor<4xi1>' and 'tensor<8xf32>'}}
  linalg_ext.masked_store %x, %v, %m : (tensor<8xf32>, !view, tensor<4xi1>) -> ()
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @atomic_rmw_c1(%b: !ptr, %o: tensor<8xi64>, %x: f32) {
  // expected-error@+1 {{expects operands and result of one shape}}
  %0 = linalg_ext.atomic_rmw fadd relaxed gpu %b[%o], %x : (!ptr, tensor<8xi64>, f32) -> f32
  return
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
func.func @atomic_rmw_c2(%b: !ptr, %o: i64, %x: i32) {
  // expected-error@+1 {{expects elements of type 'f32', as the memory has, got 'i32'}}
  %0 = linalg_ext.atomic_rmw add relaxed gpu %b[%o], %x : (!ptr, i64, i32) -> i32
  return
}

// -----

!ptr = memref<?xi32, strided<[1], offset: ?>>
func.func @atomic_cas_c1(%b: !ptr, %o: i64, %x: tensor<4xi32>, %y: i32) {
  // expected-error@+1 {{expects operands and result of one shape, got 'tensor<4xi32>' and 'i32'}}
  %0 = linalg_ext.atomic_cas acq_rel gpu %b[%o], %x, %y : (!ptr, i64, tensor<4xi32>, i32) -> i32
  return
}

// -----

!ptr = memref<?xi32, strided<[1], offset: ?>>
func.func @atomic_cas_c2(%b: !ptr, %o: i64, %x: i64, %y: i32) {
  // expected-error@+1 {{expects elements of type 'i32', as the memory has, got 'i64'}}
  %0 = linalg_ext.atomic_cas acq_rel gpu %b[%o], %x, %y : (!ptr, i64, i64, i32) -> i32
  return
}

// -----

!ptr = memref<?xi32, strided<[1], offset: ?>>
func.func @atomic_load_c1(%b: !ptr, %o: i64, %m: tensor<4xi1>) {
  // expected-error@+1 {{expects operands and result of one shape, got 'tensor<4xi1>' and 'i32'}}
  %0 = linalg_ext.atomic_load acquire gpu %b[%o] mask %m : (!ptr, i64, tensor<4xi1>) -> i32
  return
}

// -----

!ptr = memref<?xi32, strided<[1], offset: ?>>
func.func @atomic_store_c2(%b: !ptr, %o: i64, %x: f32) {
  // expected-error@+1 {{expects elements of type 'i32', as the memory has, got 'f32'}}
  linalg_ext.atomic_store release gpu %x into %b[%o] : (f32, !ptr, i64) -> ()
  return
}

// -----

func.func @view_address(%a: i64) {
  // expected-error@+1 {{expects a result like memref<?xf32, strided<[1], offset: ?>>, got 'memref<?xf32, strided<[2], offset: ?>>'}}
  %0 = linalg_ext.view_address %a : (i64) -> memref<?xf32, strided<[2], offset: ?>>
  return
}
