// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{(c1) blocked: expects one value, above 0}}
func.func private @assignment_c1() attributes {a = #accel.assignment<blocked : [0]>}

// -----

// expected-error@+1 {{(c2) grid: expects two values, different, each a dimension of the launch grid or -1}}
func.func private @assignment_c2() attributes {a = #accel.assignment<grid : [1, 1]>}

// -----

// expected-error@+1 {{(c3) expects a table with the kind 'table', and only there}}
func.func private @assignment_c3() attributes {a = #accel.assignment<table>}

// -----

// expected-error@+1 {{(c3) expects a table of i32 of rank 3, got 'tensor<2x2xi32>'}}
func.func private @assignment_c3_rank() attributes {a = #accel.assignment<table = dense<1> : tensor<2x2xi32>>}

// -----

// expected-error@+1 {{(c4) expects no values with the kind 'interleaved'}}
func.func private @assignment_c4() attributes {a = #accel.assignment<interleaved : [2]>}

// -----

// expected-error@+1 {{'accel.target' is the name of a target, on modules}}
func.func private @target() attributes {accel.target = "x"}

// -----

// expected-error@+1 {{'accel.noalias' is for arguments that are memory}}
func.func private @noalias(i32 {accel.noalias})

// -----

func.func @coordinate() {
  // expected-error@+1 {{whose maximum value is 1}}
  %0 = accel.pe_id 2 : index
  return
}

// -----

func.func @alloc_c1() {
  // expected-error@+1 {{(c1) expects a static shape and no layout}}
  %0 = accel.alloc : memref<?xf32, #accel.memory<"local">>
  return
}

// -----

func.func @alloc_c2() {
  // expected-error@+1 {{(c2) expects a memory space}}
  %0 = accel.alloc : memref<8xf32>
  return
}

// -----

func.func @alloc_c3() {
  // expected-error@+1 {{(c3) expects an offset and a bank that are not negative}}
  %0 = accel.alloc {offset = -4 : i64} : memref<8xf32, #accel.memory<"local">>
  return
}

// -----

func.func @copy_c1_tensors(%a: tensor<8xf32>) {
  // expected-error@+1 {{(c1) source and dest are both tensors}}
  %0 = accel.copy %a to %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @copy_c1_result(%m: memref<8xf32>, %a: tensor<8xf32>) {
  // expected-error@+1 {{(c1) expects a result of dest's type where dest is a tensor, and only there}}
  accel.copy %m to %a : (memref<8xf32>, tensor<8xf32>) -> ()
  return
}

// -----

func.func @copy_c2(%m: memref<8xf32>, %a: memref<8x1xf32>) {
  // expected-error@+1 {{(c2) expects one element type and one rank}}
  accel.copy %m to %a : (memref<8xf32>, memref<8x1xf32>) -> ()
  return
}

// -----

func.func @copy_c3(%m: memref<8xf32>, %a: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{(c3) a box of 8 from 1 does not fit into 8 in dimension 0}}
  accel.copy %m to %a low [%c1] : (memref<8xf32>, memref<8xf32>, index) -> ()
  return
}

// -----

func.func @copy_c3_negative(%m: memref<?xf32>, %a: memref<8xf32>) {
  %c = arith.constant -1 : index
  // expected-error@+1 {{(c3) 'low' is negative in dimension 0}}
  accel.copy %m to %a low [%c] : (memref<?xf32>, memref<8xf32>, index) -> ()
  return
}

// -----

func.func @copy_c4(%m: memref<8x8xf32>, %i: index) {
  // expected-error@+1 {{(c4) expects 2 values of 'low', got 1}}
  accel.copy %m to %m low [%i] : (memref<8x8xf32>, memref<8x8xf32>, index) -> ()
  return
}

// -----

func.func @copy_c5_scatter(%m: memref<8xf32>) {
  // expected-error@+1 {{(c5) 'scatter' needs rows}}
  accel.copy %m to %m scatter : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @copy_c5_type(%m: memref<8xf32>, %r: memref<8xf32>) {
  // expected-error@+1 {{(c5) expects rows of rank 1 of i32 or i64, got 'memref<8xf32>'}}
  accel.copy %m to %m rows [%r] dim 0 : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @copy_c5_dim(%m: memref<8xf32>, %r: memref<8xi64>) {
  // expected-error@+1 {{(c5) 'dim' is 1, the rank 1}}
  accel.copy %m to %m rows [%r] dim 1 : (memref<8xf32>, memref<8xf32>, memref<8xi64>) -> ()
  return
}

// -----

func.func @copy_c5_count(%m: memref<8xf32>, %r: memref<4xi64>) {
  // expected-error@+1 {{(c5) expects 8 rows, got 'memref<4xi64>'}}
  accel.copy %m to %m rows [%r] dim 0 : (memref<8xf32>, memref<8xf32>, memref<4xi64>) -> ()
  return
}

// -----

func.func @copy_c6(%m: memref<8x4xf32>, %mask: memref<8xi1>) {
  // expected-error@+1 {{(c6) expects a mask of i1 of the shape of 'memref<8x4xf32>', got 'memref<8xi1>'}}
  accel.copy %m to %m mask %mask : (memref<8x4xf32>, memref<8x4xf32>, memref<8xi1>) -> ()
  return
}

// -----

func.func @copy_c7(%m: memref<8xf32>, %p: f16) {
  // expected-error@+1 {{(c7) expects a pad value of type 'f32', got 'f16'}}
  accel.copy %m to %m pad %p : (memref<8xf32>, memref<8xf32>, f16) -> ()
  return
}

// -----

func.func @copy_c8(%m: memref<8xf32>, %a: tensor<8xf32>) {
  // expected-error@+1 {{(c8) accumulates elements of a type that 'add' works on}}
  %0 = accel.copy %m to %a accumulate add : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @copy_c8_kind(%m: memref<8xf32>) {
  // expected-error@+1 {{(c8) accumulates elements of a type that 'umax' works on}}
  accel.copy %m to %m accumulate umax : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @copy_c9(%m: memref<8xf32>, %a: memref<8xf32, #accel.memory<"local">>) {
  // expected-error@+1 {{(c9) multicast is along coordinates 0 and 1, each once}}
  accel.copy %m to %a multicast [1, 1] : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> ()
  return
}

// -----

func.func @copy_start_c1(%m: memref<8xf32>, %mask: tensor<8xi1>) {
  // expected-error@+1 {{(c1) expects no tensors, got 'tensor<8xi1>'}}
  %0 = accel.copy_start %m to %m mask %mask : (memref<8xf32>, memref<8xf32>, tensor<8xi1>) -> !accel.token
  return
}

// -----

func.func @reduce_line_c1(%m: memref<8xf32>) {
  // expected-error@+1 {{(c1) expects coordinates 0 and 1, each once}}
  accel.reduce_line add %m along [2] algorithm tree : memref<8xf32>
  return
}

// -----

func.func @reduce_line_c2(%m: memref<8xi32>) {
  // expected-error@+1 {{(c2) 'maxnum' does not work on 'i32'}}
  accel.reduce_line maxnum %m along [0] algorithm tree : memref<8xi32>
  return
}

// -----

func.func @barrier_c1() {
  // expected-error@+1 {{(c1) expects coordinates 0 and 1, each once}}
  accel.barrier []
  return
}

// -----

func.func @atomic_c1(%p: memref<?xf32>, %o: tensor<8xi64>, %v: tensor<4xf32>) {
  // expected-error@+1 {{(c1) expects blocks of one shape, got 'tensor<8xi64>' and 'tensor<4xf32>'}}
  accel.atomic store relaxed gpu %p[%o] values(%v) : (memref<?xf32>, tensor<8xi64>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @atomic_c2(%p: memref<?xf32>, %o: tensor<8xi64>, %v: tensor<8xf16>) {
  // expected-error@+1 {{(c2) expects elements of type 'f32', as the memory has, got 'tensor<8xf16>'}}
  accel.atomic store relaxed gpu %p[%o] values(%v) : (memref<?xf32>, tensor<8xi64>, tensor<8xf16>) -> ()
  return
}

// -----

func.func @atomic_c3(%p: memref<?xf32>, %o: tensor<8xi64>) {
  // expected-error@+1 {{(c3) has operands that 'store' does not take, or lacks one}}
  accel.atomic store relaxed gpu %p[%o] : (memref<?xf32>, tensor<8xi64>) -> ()
  return
}

// -----

func.func @atomic_c4(%p: memref<?xf32>, %o: tensor<8xi64>, %v: tensor<8xf32>) {
  // expected-error@+1 {{(c4) expects a result of the type of 'old'}}
  accel.atomic load relaxed gpu %p[%o] old(%v) : (memref<?xf32>, tensor<8xi64>, tensor<8xf32>) -> ()
  return
}

// -----

func.func @compute_c1(%x: tensor<8xf32>) {
  // expected-error@+1 {{(c1) expects an argument of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  accel.compute vector ins(%x : tensor<8xf32>) {
  ^bb0(%a: tensor<4xf32>):
    accel.yield
  }
  return
}

// -----

func.func @compute_c2(%x: tensor<8xf32>) {
  // expected-error@+1 {{(c2) expects its body to yield 1 tensors}}
  %0 = accel.compute vector outs(%x : tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    accel.yield
  } -> tensor<8xf32>
  return
}

// -----

func.func @compute_c3(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  accel.compute vector outs(%x : tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    accel.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @compute_c4(%x: tensor<8xi32>, %m: memref<8xf32>, %i: index) {
  // expected-error@+1 {{(c4) has an op in its body that does not belong there: memref.load}}
  accel.compute vector ins(%x : tensor<8xi32>) {
  ^bb0(%a: tensor<8xi32>):
    // expected-note@+1 {{this one}}
    %0 = memref.load %m[%i] : memref<8xf32>
    accel.yield
  }
  return
}

// -----

func.func @compute_c4_outside(%x: tensor<8xi32>, %i: index) {
  // expected-error@+1 {{(c4) uses a block from outside in its body: pass it as one of ins}}
  accel.compute vector ins(%x : tensor<8xi32>) {
  ^bb0(%a: tensor<8xi32>):
    // expected-note@+1 {{used here}}
    %0 = tensor.extract %x[%i] : tensor<8xi32>
    accel.yield
  }
  return
}

// -----

// expected-error@+1 {{'accel.kernel' is a unit attribute of functions}}
func.func private @kernel() attributes {accel.kernel = 1 : i64}

// -----

func.func @depth(%p: memref<8xf32>, %q: memref<8xf32, #accel.memory<"local">>) {
  // expected-error@+1 {{'accel.depth' is the number of buffers, at least 1, got 0 : i64}}
  accel.copy %p to %q {accel.depth = 0 : i64} : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> ()
  return
}

// -----

// expected-error@+1 {{'accel.placed' is the name of a memory}}
func.func private @placed(memref<8xf32> {accel.placed = 1 : i64})
