// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

tt.func @reduce_rd1() {
  // expected-error @+1 {{(RD1) expected at least one operand}}
  "tt.reduce"() <{axis = 1 : i32}> ({
  ^bb0():
    "tt.reduce.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @reduce_rd1_shape(%x: tensor<8x4xf32>, %y: tensor<8xi32>) {
  // expected-error @+1 {{(RD1) all tensors have one shape, which 'tensor<8x4xf32>' and 'tensor<8xi32>' do not}}
  %0:2 = "tt.reduce"(%x, %y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    tt.reduce.return %a, %b : f32, i32
  }) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  tt.return
}

// -----

tt.func @reduce_rd2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(RD2) axis 2 is no dimension of 'tensor<8x4xf32>'}}
  %0 = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @reduce_rd3(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(RD3) expected results ('tensor<8xf32>'), got ('tensor<4xf32>')}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @reduce_rd3_scalar(%x: tensor<8xf32>) {
  // expected-error @+1 {{(RD3) expected results ('f32'), got ('tensor<1xf32>')}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> tensor<1xf32>
  tt.return
}

// -----

tt.func @reduce_rd4(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(RD4) expected region arguments ('f32', 'f32'), got ('f32')}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @scan_sc1() {
  // expected-error @+1 {{(SC1) expected at least one operand}}
  "tt.scan"() <{axis = 1 : i32, reverse = false}> ({
  ^bb0():
    "tt.scan.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @scan_sc2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(SC2) axis -1 is no dimension of 'tensor<8x4xf32>'}}
  %0 = "tt.scan"(%x) <{axis = -1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @scan_sc3(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(SC3) expected results ('tensor<8x4xf32>'), got ('tensor<8xf32>')}}
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @scan_sc4(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(SC4) expected region arguments ('f32', 'f32'), got ('f32', 'i32')}}
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: i32):
    tt.scan.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @map_me1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(ME1) all tensors have one shape, which 'tensor<8x4xf32>' and 'tensor<4x8xf32>' do not}}
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @map_me2(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(ME2) pack is at least 1 and divides 32, which 3 does not}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @map_me3(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{(ME3) expected region arguments ('f32', 'f32'), got ('f32')}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @reduce_rd5_types(%x: tensor<8xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.fptosi %a : f32 to i32
    // expected-error @+1 {{(RD5) expected values ('f32'), got ('i32')}}
    tt.reduce.return %c : i32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_rd5_terminator(%x: tensor<8xf32>) {
  // expected-error @+1 {{(RD5) the region ends with 'tt.reduce.return', not 'llvm.unreachable'}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    llvm.unreachable
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @scan_sc5(%x: tensor<8xf32>) {
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{(SC5) expected values ('f32'), got ('f32', 'f32')}}
    tt.scan.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_me4(%x: tensor<8xf32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    // expected-error @+1 {{(ME4) expected 1 values for each of 1 results, got 2}}
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_me4_types(%x: tensor<8xf32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    // expected-error @+1 {{(ME4) expected values ('i32'), got ('f32')}}
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @return_elsewhere(%x: tensor<8xf32>) {
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{expects parent op 'tt.reduce'}}
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}
