// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

tt.func @make_mtd1(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  // expected-error @+1 {{(MTD1) expected a shape and a stride for each of 2 dimensions, got 2 values in all}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f16>, <8x16xf16>
  tt.return
}

// -----

tt.func @make_mtd2(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @+1 {{(MTD2) base points to 'f32', the block has elements of 'f16'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <8xf16>
  tt.return
}

// -----

tt.func @make_mtd3(%p: !tt.ptr<i32>, %n: i32, %s: i64) {
  // expected-error @+1 {{(MTD3) padding with NaN needs float elements, not 'i32'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] {padding = 2 : i32} : <i32>, <8xsi32>
  tt.return
}

// -----

tt.func @load_dl1(%d: !tt.tensordesc<8x16xf16>, %i: i32) {
  // expected-error @+1 {{(DL1) expected an index for each of 2 dimensions, got 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<8x16xf16> -> tensor<8x16xf16>
  tt.return
}

// -----

tt.func @load_dl2(%d: !tt.tensordesc<8x16xf16>, %i: i32) {
  // expected-error @+1 {{(DL2) the descriptor's block is 'tensor<8x16xf16>', which 'tensor<16x8xf16>' is not a form of}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xf16> -> tensor<16x8xf16>
  tt.return
}

// -----

tt.func @load_dl2_element(%d: !tt.tensordesc<8x16xf16>, %i: i32) {
  // expected-error @+1 {{(DL2) the descriptor's block is 'tensor<8x16xf16>', which 'tensor<8x16xf32>' is not a form of}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xf16> -> tensor<8x16xf32>
  tt.return
}

// -----

tt.func @store_ds1(%d: !tt.tensordesc<8x16xf16>, %i: i32, %v: tensor<8x16xf16>) {
  // expected-error @+1 {{(DS1) expected an index for each of 2 dimensions, got 3}}
  tt.descriptor_store %d[%i, %i, %i], %v : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
  tt.return
}

// -----

tt.func @store_ds2(%d: !tt.tensordesc<8x16xf16>, %i: i32, %v: tensor<8xf16>) {
  // expected-error @+1 {{(DS2) the descriptor's block is 'tensor<8x16xf16>', which 'tensor<8xf16>' is not a form of}}
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<8x16xf16>, tensor<8xf16>
  tt.return
}

// -----

tt.func @reduce_dr1(%d: !tt.tensordesc<8x16xf16>, %i: i32, %v: tensor<8x16xf16>) {
  // expected-error @+1 {{(DR1) expected an index for each of 2 dimensions, got 1}}
  tt.descriptor_reduce add, %d[%i], %v : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
  tt.return
}

// -----

tt.func @reduce_dr2(%d: !tt.tensordesc<8x16xf16>, %i: i32, %v: tensor<8x8xf16>) {
  // expected-error @+1 {{(DR2) the descriptor's block is}}
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<8x16xf16>, tensor<8x8xf16>
  tt.return
}

// -----

tt.func @reduce_dr3(%d: !tt.tensordesc<8x16xf16>, %i: i32, %v: tensor<8x16xf16>) {
  // expected-error @+1 {{(DR3) 'xor' needs integers, not 'f16'}}
  tt.descriptor_reduce xor, %d[%i, %i], %v : !tt.tensordesc<8x16xf16>, tensor<8x16xf16>
  tt.return
}

// -----

tt.func @gather_dg1(%d: !tt.tensordesc<8x16xf16>, %i: i32, %x: tensor<4xi32>) {
  // expected-error @+1 {{(DG1) the descriptor's block is one row of rank 2, not 'tensor<8x16xf16>'}}
  %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<8x16xf16>, tensor<4xi32>, i32) -> tensor<4x16xf16>
  tt.return
}

// -----

tt.func @gather_dg2(%d: !tt.tensordesc<1x16xf16>, %i: i32, %x: tensor<4x1xi32>) {
  // expected-error @+1 {{(DG2) the row offsets have rank 1, not 2}}
  %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<1x16xf16>, tensor<4x1xi32>, i32) -> tensor<4x16xf16>
  tt.return
}

// -----

tt.func @gather_dg3(%d: !tt.tensordesc<1x16xf16>, %i: i32, %x: tensor<4xi32>) {
  // expected-error @+1 {{(DG3) expected a tensor of type 'tensor<4x16xf16>', got 'tensor<8x16xf16>'}}
  %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<1x16xf16>, tensor<4xi32>, i32) -> tensor<8x16xf16>
  tt.return
}

// -----

tt.func @scatter_dg3(%d: !tt.tensordesc<1x16xf16>, %i: i32, %x: tensor<4xi32>, %v: tensor<4x8xf16>) {
  // expected-error @+1 {{(DG3) expected a tensor of type 'tensor<4x16xf16>', got 'tensor<4x8xf16>'}}
  tt.descriptor_scatter %d[%x, %i], %v : !tt.tensordesc<1x16xf16>, tensor<4xi32>, i32, tensor<4x8xf16>
  tt.return
}
