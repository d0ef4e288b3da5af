// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge -verify-diagnostics
// RUN: not tilebridge-opt %s -split-input-file -tilebridge-to-bridge -o %t 2>/dev/null
// RUN: not ls %t

// Hazard 14: what has no lowering is an error at its place, and nothing is written.

tt.func public @inline_asm(%x: tensor<64xi32>) {
  // expected-error@+1 {{'tt.elementwise_inline_asm' is not supported: no assembly may be left here; run tilebridge-translate-assembly before this pass}}
  %0 = tt.elementwise_inline_asm "shf.l.wrap.b32 $0, $1, $1, 7;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<64xi32> -> tensor<64xi32>
  tt.return
}

// -----

tt.func public @extern(%x: f32) {
  // expected-error@+1 {{no meaning is known for the external function 'my_function' with operands of these types; use a function of tl.math or of tl.extra.libdevice}}
  %0 = tt.extern_elementwise %x {libname = "my", libpath = "/my.bc", pure = true, symbol = "my_function"} : (f32) -> f32
  tt.return
}

// -----

tt.func public @extern_operands(%x: f32) {
  // expected-error@+1 {{no meaning is known for the external function '__nv_powf'}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (f32) -> f32
  tt.return
}

// -----

tt.func public @extern_types(%x: i32) {
  // expected-error@+1 {{no meaning is known for the external function '__nv_sinf'}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (i32) -> i32
  tt.return
}

// -----

tt.func public @extern_result(%x: f32) {
  // expected-error@+1 {{no meaning is known for the external function '__nv_isnanf'}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_isnanf"} : (f32) -> f32
  tt.return
}

// -----

tt.func public @map_call(%x: tensor<64xi32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    // expected-error@+1 {{'tt.print' is not supported: it is in the function that is mapped over elements, and does more than compute; do it on the block}}
    tt.print " a: " {hex = false, isSigned = array<i32: 1>} : %a : i32
    tt.map_elementwise.return %a : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  tt.return
}

// -----

tt.func public @map_pointers(%x: tensor<64x!tt.ptr<f32>>) {
  // expected-error@+1 {{'tt.map_elementwise' is not supported: its elements are pointers; pass offsets}}
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: !tt.ptr<f32>):
    tt.map_elementwise.return %a : !tt.ptr<f32>
  }) : (tensor<64x!tt.ptr<f32>>) -> tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Only the first: the others may follow from it.
tt.func public @access(%p: !tt.ptr<f32>) {
  // expected-error@+1 {{'tt.load' is not supported: no access to memory may be left here; run tilebridge-lower-accesses before this pass}}
  %0 = tt.load %p : !tt.ptr<f32>
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @control_flow(%c: i1) {
  // expected-error@+1 {{'cf.cond_br' is not supported: control flow must be structured (scf) here}}
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.return
}

// -----

// expected-error@+1 {{'tt.func' is not supported: the function has no body}}
tt.func private @declared(i32)

// -----

// expected-error@+1 {{'tt.func' is not supported: a kernel returns values, and nobody receives them}}
tt.func public @result(%x: i32) -> i32 {
  tt.return %x : i32
}

// -----

tt.func public @dialect(%x: vector<4xf32>) {
  // expected-error@+1 {{'vector.extract' is not supported: its dialect is not one of Triton's portable IR}}
  %0 = vector.extract %x[0] : f32 from vector<4xf32>
  tt.return
}

// -----

tt.func public @dot_scaled(%a: tensor<16x32xi8>, %s: tensor<16x64xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{the two elements of a byte have different scales, one for 1 elements of K; give each scale an even number of elements}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false}
      : tensor<16x32xi8>, tensor<16x64xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  tt.return
}
