// RUN: tilebridge-opt %s -split-input-file -tilebridge-translate-assembly -verify-diagnostics

tt.func private @instruction(%x: tensor<8xi32>) {
  // expected-error@+1 {{'tt.elementwise_inline_asm' is not supported: the instruction 'bar.sync 0' has no translation; write the same with operations of tl, chosen by tl.target_info or a constexpr}}
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $1; bar.sync 0;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @memory(%x: tensor<8xi64>) {
  // expected-error@+1 {{'[$1]' is not understood in its assembly}}
  %0 = tt.elementwise_inline_asm "ld.global.b32 $0, [$1];" {constraints = "=r,l", packed_element = 1 : i32, pure = false} %x : tensor<8xi64> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @pointers(%x: tensor<8x!tt.ptr<i8>>) {
  // expected-error@+1 {{it works on pointers}}
  %0 = tt.elementwise_inline_asm "mov.b64 $0, $1;" {constraints = "=l,l", packed_element = 1 : i32, pure = true} %x : tensor<8x!tt.ptr<i8>> -> tensor<8xi64>
  tt.return
}

// -----

tt.func private @constraint(%x: tensor<8xi32>) {
  // expected-error@+1 {{its constraint 'v' is not known}}
  %0 = tt.elementwise_inline_asm "v_mov_b32 $0, $1" {constraints = "=v,v", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @count(%x: tensor<8xi32>) {
  // expected-error@+1 {{its values take 1 registers, and its constraints name 2}}
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @pack(%x: tensor<2xi32>) {
  // expected-error@+1 {{its groups of 4 elements do not fit blocks of 2}}
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $4;" {constraints = "=r,=r,=r,=r,r,r,r,r", packed_element = 4 : i32, pure = true} %x : tensor<2xi32> -> tensor<2xi32>
  tt.return
}

// -----

tt.func private @unwritten(%x: tensor<8xi32>) {
  // expected-error@+1 {{it does not write $0}}
  %0 = tt.elementwise_inline_asm ".reg .b32 t; mov.b32 t, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @unread(%x: tensor<8xi32>) {
  // expected-error@+1 {{the instruction 'mov.b32 $0, t' has no translation}}
  %0 = tt.elementwise_inline_asm ".reg .b32 t; mov.b32 $0, t;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @narrow(%x: tensor<8xi64>) {
  // expected-error@+1 {{a register is too narrow for its elements}}
  %0 = tt.elementwise_inline_asm "mov.b64 $0, $1;" {constraints = "=r,l", packed_element = 1 : i32, pure = true} %x : tensor<8xi64> -> tensor<8xi64>
  tt.return
}

// -----

// Only scales of blocks are rounded up.
tt.func private @rounds_up(%x: tensor<8xf32>) {
  // expected-error@+1 {{the instruction 'cvt.rp.f16.f32 $0, $1' has no translation}}
  %0 = tt.elementwise_inline_asm "cvt.rp.f16.f32 $0, $1;" {constraints = "=h,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf16>
  tt.return
}

// -----

// Floats of 4 bits are rounded to the nearest.
tt.func private @cuts(%x: tensor<8xf32>) {
  // expected-error@+1 {{the instruction 'cvt.rz.satfinite.e2m1x2.f32 a, $1, $1' has no translation}}
  %0 = tt.elementwise_inline_asm ".reg .b8 a; cvt.rz.satfinite.e2m1x2.f32 a, $1, $1; mov.b32 $0, {a, a, a, a};" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xi32>
  tt.return
}
