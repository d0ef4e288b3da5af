// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

tt.func @make_range_mr1() {
  // expected-error @+1 {{(MR1) the result is an i32 tensor of rank 1, not 'tensor<8xi64>'}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi64>
  tt.return
}

// -----

tt.func @make_range_mr2() {
  // expected-error @+1 {{(MR2) 1 to 8 are 7 numbers, the result has 8}}
  %0 = tt.make_range {end = 8 : i32, start = 1 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @make_range_mr2_wide() {
  // expected-error @+1 {{(MR2) -2147483648 to 2147483647 are 4294967295 numbers, the result has 8}}
  %0 = tt.make_range {end = 2147483647 : i32, start = -2147483648 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @splat_sp1(%x: f32) {
  // expected-error @+1 {{(SP1) the source is a scalar of type 'f16', not 'f32'}}
  %0 = tt.splat %x : f32 -> tensor<8xf16>
  tt.return
}

// -----

tt.func @splat_dynamic(%x: f32) {
  // expected-error @+1 {{result #0 must be statically shaped tensor}}
  %0 = tt.splat %x : f32 -> tensor<?xf32>
  tt.return
}

// -----

tt.func @unsplat_us1(%x: tensor<2xf32>) {
  // expected-error @+1 {{(US1) the source has one element, not 2}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

tt.func @expand_dims_ed1(%x: tensor<8xf32>) {
  // expected-error @+1 {{(ED1) axis is in [0, 1], not 2}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_ed1_negative(%x: tensor<8xf32>) {
  // expected-error @+1 {{(ED1) axis is in [0, 1], not -1}}
  %0 = tt.expand_dims %x {axis = -1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_ed2(%x: tensor<8xf32>) {
  // expected-error @+1 {{(ED2) expected the shape [1, 8], got 'tensor<8x1xf32>'}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @broadcast_bc1(%x: tensor<8xf32>) {
  // expected-error @+1 {{(BC1) source and result have one rank, not 1 and 2}}
  %0 = tt.broadcast %x : tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @broadcast_bc2(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{(BC2) dimension 1 of size 2 cannot become 4; only size 1 is repeated}}
  %0 = tt.broadcast %x : tensor<8x2xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @reshape_rs1(%x: tensor<8xf32>) {
  // expected-error @+1 {{(RS1) source and result have one number of elements, not 8 and 16}}
  %0 = tt.reshape %x : tensor<8xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @trans_tr1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(TR1) order is no permutation of the source's 2 dimensions}}
  %0 = tt.trans %x {order = array<i32: 1, 1>} : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @trans_tr2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(TR2) expected the shape [4, 8], got 'tensor<8x4xf32>'}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @cat_ct1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(CT1) expected the shape [16, 4], got 'tensor<8x8xf32>'}}
  %0 = tt.cat %x, %x : tensor<8x4xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @cat_ct1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{(CT1) a tensor without dimensions cannot be concatenated}}
  %0 = tt.cat %x, %x : tensor<f32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @join_jn1(%x: tensor<8xf32>) {
  // expected-error @+1 {{(JN1) expected the shape [8, 2], got 'tensor<2x8xf32>'}}
  %0 = tt.join %x, %x : tensor<8xf32> -> tensor<2x8xf32>
  tt.return
}

// -----

tt.func @split_sl1(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{(SL1) the source's last dimension is 2, not as in 'tensor<2x8xf32>'}}
  %0, %1 = tt.split %x : tensor<2x8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @split_sl2(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{(SL2) expected results of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0, %1 = tt.split %x : tensor<8x2xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_ga1(%x: tensor<8xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{(GA1) source and indices have one rank, here 1 and 2, and axis 0 is a dimension}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @gather_ga1_axis(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{(GA1) source and indices have one rank, here 1 and 1, and axis 1 is a dimension}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_ga2(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{(GA2) expected a result of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_ga3(%x: tensor<8x2xf32>, %i: tensor<8x4xi32>) {
  // expected-error @+1 {{(GA3) dimension 1 of the indices, 4, is larger than the source's, 2}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x2xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  tt.return
}
