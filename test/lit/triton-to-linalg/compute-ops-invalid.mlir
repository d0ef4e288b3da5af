// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1_none() {
  // expected-error@+1 {{expected 1 or more operands, but found 0}}
  "linalg_ext.reduce"() <{dimension = 0 : i64}> ({ "linalg_ext.yield"() : () -> () }) : () -> ()
  return
}

// -----

func.func @reduce_c1_shapes(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{requires the same shape for all operands}}
  %0:2 = linalg_ext.reduce(%a, %b) dimension = 0 {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
    linalg_ext.yield %0, %1 : f32, f32
  } : (tensor<4xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @reduce_c2_dimension(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{has dimension = 2, but 'tensor<4x8xf32>' has dimensions 0 to 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = linalg_ext.reduce(%a) dimension = 2 {
  ^bb0(%0: f32, %1: f32):
    linalg_ext.yield %0 : f32
  } : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c2_empty(%a: tensor<4x0xf32>) {
  // expected-error@+2 {{reduces an empty dimension: there is no initial value}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = linalg_ext.reduce(%a) dimension = 1 {
  ^bb0(%0: f32, %1: f32):
    linalg_ext.yield %0 : f32
  } : (tensor<4x0xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c3_arguments(%a: tensor<4xf32>) {
  // expected-error@+1 {{region takes ('f32', 'f16'), but it must take two scalars for each operand: ('f32', 'f32')}}
  %0 = linalg_ext.reduce(%a) dimension = 0 {
  ^bb0(%0: f32, %1: f16):
    linalg_ext.yield %0 : f32
  } : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c3_yield(%a: tensor<4xf32>) {
  %0 = linalg_ext.reduce(%a) dimension = 0 {
  ^bb0(%0: f32, %1: f32):
    // expected-error@+1 {{yields ('f32', 'f32'), but the operands' elements are ('f32')}}
    linalg_ext.yield %0, %1 : f32, f32
  } : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @scan_c2_dimension(%a: tensor<4xf32>) {
  // expected-error@+2 {{has dimension = -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = linalg_ext.scan(%a) dimension = -1 {
  ^bb0(%0: f32, %1: f32):
    linalg_ext.yield %0 : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scan_c3_terminator(%a: tensor<4xf32>) {
  // expected-error@+1 {{region must end in 'linalg_ext.yield'}}
  %0 = linalg_ext.scan(%a) dimension = 0 {
  ^bb0(%0: f32, %1: f32):
    ub.unreachable
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @yield_outside(%a: f32) {
  // expected-error@+1 {{expects parent op to be one of 'linalg_ext.reduce, linalg_ext.scan'}}
  linalg_ext.yield %a : f32
}

// -----

func.func @histogram_c1(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{mask is 'tensor<4xi1>', but must have the shape of the input, 'tensor<8xi32>'}}
  %0 = linalg_ext.histogram %x, %m : tensor<8xi32>, tensor<4xi1> -> tensor<4xi32>
  return
}

// -----

func.func @histogram_c2(%x: tensor<8xi32>) {
  // expected-error@+1 {{result must have one dimension with at least one bin}}
  %0 = linalg_ext.histogram %x : tensor<8xi32> -> tensor<0xi32>
  return
}

// -----

func.func @gather_along_c1(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{all of {indices, result} have same shape}}
  %0 = linalg_ext.gather_along %x[%i] dimension = 0 : tensor<8xf32>, tensor<4xi32> -> tensor<8xf32>
  return
}

// -----

func.func @gather_along_c2(%x: tensor<8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{source has rank 1, but indices have rank 2}}
  %0 = linalg_ext.gather_along %x[%i] dimension = 0 : tensor<8xf32>, tensor<4x1xi32> -> tensor<4x1xf32>
  return
}

// -----

func.func @gather_along_c3(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{has dimension = 1, but 'tensor<8xf32>' has dimensions 0 to 0}}
  %0 = linalg_ext.gather_along %x[%i] dimension = 1 : tensor<8xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_along_c4(%x: tensor<8x2xf32>, %i: tensor<4x4xi32>) {
  // expected-error@+1 {{indices have 4 elements in dimension 1, but the source has only 2}}
  %0 = linalg_ext.gather_along %x[%i] dimension = 0 : tensor<8x2xf32>, tensor<4x4xi32> -> tensor<4x4xf32>
  return
}

// -----

func.func @print_c1(%x: i32) {
  // expected-error@+1 {{has 2 entries in 'signed' for 1 values}}
  linalg_ext.print "x" programs(%x, %x, %x) values(%x) signed = [true, true] : i32
  return
}

// -----

func.func @block_is_static(%x: tensor<?xi32>) {
  // expected-error@+1 {{must be statically shaped tensor}}
  %0 = linalg_ext.histogram %x : tensor<?xi32> -> tensor<4xi32>
  return
}

// -----

func.func @libm_c1_function(%x: f64) {
  // expected-error@+1 {{(constraint 1) does not know the function 'system'}}
  %0 = linalg_ext.libm "system"(%x) : (f64) -> f64
  return
}

// -----

func.func @libm_c2_count(%x: f64) {
  // expected-error@+1 {{(constraint 2) 'hypot' takes 2 operands f32 or f64 as the result is}}
  %0 = linalg_ext.libm "hypot"(%x) : (f64) -> f64
  return
}

// -----

func.func @libm_c2_order(%x: f64) {
  // expected-error@+1 {{(constraint 2) 'jn' takes 2 operands, the first an i32, the other f32 or f64 as the result is}}
  %0 = linalg_ext.libm "jn"(%x, %x) : (f64, f64) -> f64
  return
}

// -----

func.func @libm_c2_type(%x: f16) {
  // expected-error@+1 {{(constraint 2) 'j0' takes 1 operands f32 or f64 as the result is}}
  %0 = linalg_ext.libm "j0"(%x) : (f16) -> f16
  return
}

// -----

func.func @directed_c1_function(%x: f64) {
  // expected-error@+1 {{(constraint 1) does not know the function 'sin'}}
  %0 = linalg_ext.directed "sin" upward(%x) : (f64) -> f64
  return
}

// -----

func.func @directed_c2_rounding(%x: f64) {
  // expected-error@+1 {{(constraint 2) rounds downward, upward or toward_zero, not to_nearest_even}}
  %0 = linalg_ext.directed "sqrt" to_nearest_even(%x) : (f64) -> f64
  return
}

// -----

func.func @directed_c3_types(%x: f64) {
  // expected-error@+1 {{(constraint 3) 'truncf' cannot take ('f64') and give 'f64'}}
  %0 = linalg_ext.directed "truncf" upward(%x) : (f64) -> f64
  return
}

// -----

func.func @directed_c3_count(%x: f64) {
  // expected-error@+1 {{(constraint 3) 'add' cannot take ('f64') and give 'f64'}}
  %0 = linalg_ext.directed "add" upward(%x) : (f64) -> f64
  return
}

// -----

func.func @assert_of_numbers(%x: tensor<8xi32>) {
  // expected-error@+1 {{operand #0 must be}}
  linalg_ext.assert %x, "no condition" : tensor<8xi32>
  return
}
