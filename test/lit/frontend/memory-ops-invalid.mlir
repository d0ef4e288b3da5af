// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

tt.func @load_ld1(%p: !tt.ptr<f32>, %z: f32) {
  // expected-error @+1 {{(LD1) 'other' needs a mask that says where it is used}}
  %0 = "tt.load"(%p, %z) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @load_ld2(%p: !tt.ptr<tensor<8xf32>>, %m: tensor<8xi1>) {
  // expected-error @+1 {{(LD2) a load through a block pointer has no mask; use boundaryCheck}}
  %0 = tt.load %p, %m : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_ld3_range(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+1 {{(LD3) boundaryCheck names dimension 1 of a block of rank 1}}
  %0 = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_ld3_negative(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+1 {{(LD3) boundaryCheck names dimension -1 of a block of rank 1}}
  %0 = tt.load %p {boundaryCheck = array<i32: -1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_ld3_twice(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+1 {{(LD3) boundaryCheck names dimension 0 twice}}
  %0 = tt.load %p {boundaryCheck = array<i32: 0, 0>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_ld4_check(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{(LD4) boundaryCheck and padding need a block pointer, not '!tt.ptr<f32>'}}
  %0 = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_ld4_padding(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{(LD4) boundaryCheck and padding need a block pointer, not '!tt.ptr<f32>'}}
  %0 = tt.load %p {padding = 1 : i32} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_ld5(%p: !tt.ptr<tensor<8xi32>>) {
  // expected-error @+1 {{(LD5) padding with NaN needs float elements, not 'i32'}}
  %0 = tt.load %p {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<8xi32>>
  tt.return
}

// -----

tt.func @load_result(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{type of 'result' is what 'ptr' points to}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f16
  tt.return
}

// -----

tt.func @load_mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'mask' is an i1 for each element of 'ptr'}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_other(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: f32) {
  // expected-error @+1 {{type of 'other' is what 'ptr' points to}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, f32) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_no_pointer(%p: i64) {
  // expected-error @+1 {{'ptr' must be}}
  %0 = tt.load %p : i64
  tt.return
}

// -----

tt.func @load_segments(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>) -> f32
  tt.return
}

// -----

tt.func @store_st1(%p: !tt.ptr<tensor<8xf32>>, %v: tensor<8xf32>, %m: tensor<8xi1>) {
  // expected-error @+1 {{(ST1) a store through a block pointer has no mask; use boundaryCheck}}
  tt.store %p, %v, %m : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @store_st2(%p: !tt.ptr<tensor<8xf32>>, %v: tensor<8xf32>) {
  // expected-error @+1 {{(ST2) boundaryCheck names dimension 2 of a block of rank 1}}
  tt.store %p, %v {boundaryCheck = array<i32: 2>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @store_st3(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{(ST3) boundaryCheck needs a block pointer, not '!tt.ptr<f32>'}}
  tt.store %p, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @store_value(%p: !tt.ptr<f32>, %v: f16) {
  // expected-error @+1 {{type of 'value' is what 'ptr' points to}}
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f16) -> ()
  tt.return
}

// -----

tt.func @atomic_rmw_rmw1_float(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{(RMW1) 'add' does not combine elements of type 'f32'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @atomic_rmw_rmw1_integer(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{(RMW1) 'fadd' does not combine elements of type 'i32'}}
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @atomic_rmw_value(%p: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{type of 'val' is what 'ptr' points to}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i64) -> i32
  tt.return
}

// -----

tt.func @atomic_cas_compare(%p: !tt.ptr<i32>, %v: i64, %w: i32) {
  // expected-error @+1 {{type of 'cmp' is what 'ptr' points to}}
  %0 = tt.atomic_cas relaxed, gpu, %p, %v, %w : (!tt.ptr<i32>, i64, i32) -> i32
  tt.return
}

// -----

tt.func @atomic_load_al1(%p: !tt.ptr<i32>) {
  // expected-error @+1 {{(AL1) memory order is relaxed or acquire, not release}}
  %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
  tt.return
}

// -----

tt.func @atomic_store_as1(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{(AS1) memory order is relaxed or release, not acquire}}
  tt.atomic_store acquire, gpu, %p, %v : !tt.ptr<i32>
  tt.return
}

// -----

tt.func @atomic_poll_ap1(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{(AP1) memory order is relaxed or acquire, not acq_rel}}
  %0 = tt.atomic_poll acq_rel, gpu, %p, %v : !tt.ptr<i32>, i32 -> i1
  tt.return
}

// -----

tt.func @addptr_shape(%p: tensor<8x!tt.ptr<f32>>, %o: i32) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = tt.addptr %p, %o : tensor<8x!tt.ptr<f32>>, i32
  tt.return
}

// -----

tt.func @make_tensor_ptr_mtp1(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{(MTP1) expected a shape, a stride and an offset for each of 2 dimensions, got 3 values in all}}
  %0 = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 1, 0>} : <tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @make_tensor_ptr_mtp1_lists(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{(MTP1) expected a shape, a stride and an offset for each of 1 dimensions, got 4 values in all}}
  %0 = tt.make_tensor_ptr %p, [%n], [%n], [%i, %i] {order = array<i32: 0>} : <tensor<8xf32>>
  tt.return
}

// -----

tt.func @make_tensor_ptr_mtp2(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{(MTP2) order is no permutation of the block's 2 dimensions}}
  %0 = tt.make_tensor_ptr %p, [%n, %n], [%n, %n], [%i, %i] {order = array<i32: 0, 0>} : <tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @advance_adv1(%p: !tt.ptr<tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{(ADV1) expected an offset for each of 1 dimensions, got 2}}
  %0 = tt.advance %p, [%i, %i] : <tensor<8xf32>>
  tt.return
}
