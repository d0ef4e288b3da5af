// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

tt.func @bitcast_bt1(%x: f32) {
  // expected-error @+1 {{(BT1) both types are pointers or have one width, which 'f32' and 'i16' do not}}
  %0 = tt.bitcast %x : f32 -> i16
  tt.return
}

// -----

tt.func @bitcast_bt1_pointer(%x: i64) {
  // expected-error @+1 {{(BT1) both types are pointers or have one width, which 'i64' and '!tt.ptr<f32>' do not}}
  %0 = tt.bitcast %x : i64 -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @fp_to_fp_ff1_narrow(%x: f32) {
  // expected-error @+1 {{(FF1) a cast from 32 to 8 bits needs a rounding}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @approx_divf_type(%x: f64) {
  // expected-error @+1 {{operand #0 must be 32-bit float}}
  %0 = tt.approx_divf %x, %x : f64
  tt.return
}

// -----

tt.func @dot_dt1(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<1x8x8xf32>) {
  // expected-error @+1 {{(DT1) all operands have rank 2, or all rank 3, not 2, 2, 3}}
  %0 = tt.dot %a, %b, %c : tensor<8x8xf32> * tensor<8x8xf32> -> tensor<1x8x8xf32>
  tt.return
}

// -----

tt.func @dot_dt1_rank(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{(DT1) all operands have rank 2, or all rank 3, not 1, 1, 1}}
  %0 = tt.dot %a, %b, %c : tensor<8xf32> * tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @dot_dt2(%a: tensor<2x8x8xf32>, %b: tensor<4x8x8xf32>, %c: tensor<2x8x8xf32>) {
  // expected-error @+1 {{(DT2) all operands have one batch size, here 2}}
  %0 = tt.dot %a, %b, %c : tensor<2x8x8xf32> * tensor<4x8x8xf32> -> tensor<2x8x8xf32>
  tt.return
}

// -----

tt.func @dot_dt3(%a: tensor<8x4xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(DT3) shapes are MxK, KxN and MxN, not 8x4, 8x8 and 8x8}}
  %0 = tt.dot %a, %b, %c : tensor<8x4xf32> * tensor<8x8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_dt4(%a: tensor<8x8xi8>, %b: tensor<8x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(DT4) operands and accumulator are all floats, or integers with an i32 accumulator, not 'i8', 'i8' and 'f32'}}
  %0 = tt.dot %a, %b, %c : tensor<8x8xi8> * tensor<8x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_dt4_wide(%a: tensor<8x8xi8>, %b: tensor<8x8xi8>, %c: tensor<8x8xi64>) {
  // expected-error @+1 {{(DT4) operands and accumulator are all floats, or integers with an i32 accumulator, not 'i8', 'i8' and 'i64'}}
  %0 = tt.dot %a, %b, %c : tensor<8x8xi8> * tensor<8x8xi8> -> tensor<8x8xi64>
  tt.return
}

// -----

tt.func @dot_scaled_sd1(%a: tensor<8x32xi8>, %b: tensor<1x32x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD1) all operands have rank 2, or all rank 3, not 2, 3, 2}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<8x32xi8> * tensor<1x32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd2(%a: tensor<8x32xi8>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD2) shapes are MxK, KxN and MxN, not 8x64, 32x8 and 8x8}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<8x32xi8> * tensor<32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd3(%a: tensor<8x32xf8E5M2>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD3) elements of type 'f8E5M2' do not hold e4m3}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<8x32xf8E5M2> * tensor<32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd3_right(%a: tensor<8x32xi8>, %b: tensor<32x8xf16>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD3) elements of type 'f16' do not hold bf16}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<8x32xi8> * tensor<32x8xf16> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd4_rows(%a: tensor<8x32xi8>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>, %s: tensor<4x1xi8>) {
  // expected-error @+1 {{(SD4) the scale of a has 8 rows and a divisor of 32 columns, not 'tensor<4x1xi8>'}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<8x32xi8>, tensor<4x1xi8> * tensor<32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd4_columns(%a: tensor<8x32xi8>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>, %t: tensor<8x3xi8>) {
  // expected-error @+1 {{(SD4) the scale of b has 8 rows and a divisor of 32 columns, not 'tensor<8x3xi8>'}}
  %0 = tt.dot_scaled %a, %b scale %t, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<8x32xi8> * tensor<32x8xi8>, tensor<8x3xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd5(%a: tensor<8x32xi8>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD5) only e2m1 is packed along M, not e4m3}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false, lhs_k_pack = false} : tensor<8x32xi8> * tensor<32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_scaled_sd5_right(%a: tensor<8x32xi8>, %b: tensor<32x8xi8>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{(SD5) only e2m1 is packed along N, not e5m2}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false, rhs_k_pack = false} : tensor<8x32xi8> * tensor<32x8xi8> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @histogram_hg1(%x: tensor<8x8xi32>) {
  // expected-error @+1 {{(HG1) source and result have rank 1, not 2 and 1}}
  %0 = tt.histogram %x : tensor<8x8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'mask' is an i1 for each element of 'src'}}
  %0 = "tt.histogram"(%x, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @extern_elementwise_ex1(%x: f32) {
  // expected-error @+1 {{(EX1) symbol names no function}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = ""} : (f32) -> f32
  tt.return
}

// -----

tt.func @inline_asm_ia1(%x: i32) {
  // expected-error @+1 {{(IA1) packed_element is at least 1, not 0}}
  %0 = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : i32 -> i32
  tt.return
}
