// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{(PT1) a pointer points to an integer, a float, a pointer or a statically shaped tensor of these, not to 'index'}}
tt.func private @pointer_pt1(!tt.ptr<index>)

// -----

// expected-error @+1 {{(PT1) a pointer points to}}
tt.func private @pointer_pt1_dynamic(!tt.ptr<tensor<?xf32>>)

// -----

// expected-error @+1 {{expected an address space: "global" or 1, "descriptor" or 0, "constant" or 4}}
tt.func private @pointer_space(!tt.ptr<f32, 3>)

// -----

// expected-error @+1 {{expected an address space}}
tt.func private @pointer_space_name(!tt.ptr<f32, "shared">)

// -----

// expected-error @+1 {{(TD1) a descriptor's block has at least one dimension, every one positive}}
tt.func private @descriptor_td1(!tt.tensordesc<f32>)

// -----

// expected-error @+1 {{(TD1) a descriptor's block has at least one dimension, every one positive}}
tt.func private @descriptor_td1_dynamic(!tt.tensordesc<tensor<4x?xf32>>)

// -----

// expected-error @+1 {{(TD2) a descriptor's element is an integer or a float, not '!tt.ptr<f32>'}}
tt.func private @descriptor_td2(!tt.tensordesc<4x!tt.ptr<f32>>)

// -----

tt.func @call_cl1() {
  // expected-error @+1 {{(CL1) 'nowhere' is no tt.func of this module}}
  tt.call @nowhere() : () -> ()
  tt.return
}

// -----

tt.func @call_cl2(%x: f32) {
  // expected-error @+1 {{(CL2) expected the callee's type '(i32) -> f32', got '(f32) -> f32'}}
  %0 = tt.call @callee(%x) : (f32) -> f32
  tt.return
}
// expected-note @+1 {{the callee is here}}
tt.func private @callee(%x: i32) -> f32

// -----

tt.func @return_rt1(%x: f32) -> (f32, i32) {
  // expected-error @+1 {{(RT1) expected values of types ('f32', 'i32') as the function's results, got ('f32')}}
  tt.return %x : f32
}

// -----

tt.func @print_pr1(%x: f32) {
  // expected-error @+1 {{(PR1) isSigned has 1 entries for 2 values}}
  tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x, %x : f32, f32
  tt.return
}

// -----

tt.func @assert_condition(%x: i32) {
  // expected-error @+1 {{operand #0 must be 1-bit signless integer}}
  tt.assert %x, "message" : i32
  tt.return
}

// -----

tt.func @barrier_spaces() {
  // expected-error @+1 {{expected all, none, local, global_read, global_write, tensor_read or tensor_write}}
  ttg.barrier local|shared
  tt.return
}

// -----

func.func @nested() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  tt.func @inner() {
    tt.return
  }
  return
}
