// RUN: tilebridge-opt %s -split-input-file -tilebridge-verify-bridge -verify-diagnostics

func.func private @b1_dialect(%v: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B1) 'gpu.barrier' is not part of the bridge IR}}
  gpu.barrier
  return
}

// -----

func.func private @b1_tt(%v: i64, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B1) 'tt.make_range' is not part of the bridge IR}}
  %0 = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  return
}

// -----

func.func private @b1_cast(%v: i64, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B1) 'builtin.unrealized_conversion_cast' is not part of the bridge IR}}
  %0 = builtin.unrealized_conversion_cast %v : i64 to i32
  return
}

// -----

// Hazard 16: nothing is allocated in a program, so that nothing can be leaked.
func.func private @b1_alloc(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B1) 'memref.alloc' is not part of the bridge IR}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

// expected-error@+1 {{(B2) the last 6 arguments of a function are the program's ids and their counts, all i32}}
func.func private @b2_arguments(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32) {
  return
}

// -----

// expected-error@+1 {{(B2) the last 6 arguments of a function are the program's ids and their counts, all i32}}
func.func private @b2_types(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i64) {
  return
}

// -----

func.func private @b2_call(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B2) a call passes on the program's ids and their counts as its last operands}}
  call @b2_call(%py, %px, %pz, %nx, %ny, %nz) : (i32, i32, i32, i32, i32, i32) -> ()
  return
}

// -----

// expected-error@+1 {{(B3) a function has a body of one block}}
func.func private @b3_body(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)

// -----

// expected-error@+1 {{(B3) a function is public if, and only if, it is a kernel}}
func.func @b3_public(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B3) a kernel has no results}}
func.func @b3_results(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> i32
    attributes {tilebridge.kernel, tilebridge.signature = []} {
  return %px : i32
}

// -----

// expected-error@+1 {{(B4) a kernel has 'tilebridge.signature', an array of strings}}
func.func @b4_none(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  return
}

// -----

// expected-error@+1 {{(B4) argument 0 is 'i32', but the signature says "*fp32"}}
func.func @b4_type(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  return
}

// -----

// expected-error@+1 {{(B4) argument 0 is 'memref<?xf32, strided<[1], offset: ?>>', but the signature says "*fp64"}}
func.func @b4_element(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp64"]} {
  return
}

// -----

// expected-error@+1 {{(B4) argument 0 is 'memref<8x8xf32>', but the signature says "*fp32"}}
func.func @b4_rank(%x: memref<8x8xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  return
}

// -----

// expected-error@+1 {{(B4) argument 0 is 'i32', but the signature says "i64"}}
func.func @b4_width(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["i64"]} {
  return
}

// -----

// expected-error@+1 {{(B4) argument 0 is 'memref<?x?xf32, strided<[?, ?], offset: ?>>', but the signature says "tensordesc<fp16[8, 8]>"}}
func.func @b4_descriptor(%d: memref<?x?xf32, strided<[?, ?], offset: ?>>, %nan: i1, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["tensordesc<fp16[8, 8]>"]} {
  return
}

// -----

// expected-error@+1 {{(B4) the signature describes more arguments than the kernel has}}
func.func @b4_more(%d: memref<?xf32, strided<[?], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["tensordesc<fp32[8]>"]} {
  return
}

// -----

// expected-error@+1 {{(B4) the signature describes 1 arguments, but the kernel has 2}}
func.func @b4_fewer(%n: i32, %m: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["i32"]} {
  return
}

// -----

// expected-error@+1 {{(B5) a value is a number, a ranked tensor or a ranked memref, but here is 'vector<4xf32>'}}
func.func private @b5_value(%v: vector<4xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B5) only what is read from or written to a box has a dynamic shape, but here is 'tensor<?xf32>'}}
func.func private @b5_dynamic(%t: tensor<?xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B5) a tensor has elements that are numbers, and no encoding, but here is 'tensor<4x!tt.ptr<f32>>'}}
func.func private @b5_elements(%t: tensor<4x!tt.ptr<f32>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B6) a memref has strides, and no memory space, but here is 'memref<?xf32, 1>'}}
func.func private @b6_space(%m: memref<?xf32, 1>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B6) an element in memory is a number of 1, 2, 4 or 8 bytes: a boolean is an i8, but here is 'memref<?xi1>'}}
func.func private @b6_boolean(%m: memref<?xi1>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B6) an element in memory is a number of 1, 2, 4 or 8 bytes: a boolean is an i8, but here is 'memref<?xi24>'}}
func.func private @b6_bytes(%m: memref<?xi24>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B5) a value is a number, a ranked tensor or a ranked memref, but here is 'i0'}}
func.func private @b5_no_bits(%n: i0, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B5) a value is a number, a ranked tensor or a ranked memref, but here is 'f128'}}
func.func private @b5_wide(%x: f128, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

// expected-error@+1 {{(B5) a tensor has at most 268435456 elements, but here is 'tensor<4294967296x4294967296xf32>'}}
func.func private @b5_huge(%t: tensor<4294967296x4294967296xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  return
}

// -----

func.func private @b7_restrict(%m: memref<4xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B7) memory that is read may be written by others: neither 'restrict' nor 'writable' holds}}
  %0 = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return
}

// -----

func.func private @b8_restrict(%t: tensor<4xf32>, %m: memref<4xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B8) a store goes to a memref that is 'writable' and not 'restrict'}}
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func private @b9_arithmetic(%t: tensor<4xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B9) arithmetic on tensors is the body of a 'linalg.generic'}}
  %0 = arith.addf %t, %t : tensor<4xf32>
  return
}

// -----

func.func private @b10_memref(%m: memref<4xf32>, %x: f32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B10) an op of linalg works on tensors}}
  linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
  return
}

// -----

func.func private @b10_body(%m: memref<4xf32>, %t: tensor<4xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    // expected-error@+1 {{(B10) the body of an op of linalg computes with scalars only; control flow in it is scf, in a 'linalg.generic'}}
    %1 = memref.load %m[%i] : memref<4xf32>
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func private @b10_branch(%x: tensor<4xf32>, %t: tensor<f32>, %c: i1, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  %0 = linalg.reduce ins(%x : tensor<4xf32>) outs(%t : tensor<f32>) dimensions = [0] (%in: f32, %sum: f32) {
    // expected-error@+1 {{(B10) the body of an op of linalg computes with scalars only; control flow in it is scf, in a 'linalg.generic'}}
    %1 = scf.if %c -> f32 {
      scf.yield %in : f32
    } else {
      scf.yield %sum : f32
    }
    linalg.yield %1 : f32
  }
  return
}

// -----

func.func private @b11_maps(%a: tensor<4xf32>, %t: tensor<4x8xf32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B11) a 'linalg.generic' is elementwise: all iterators parallel, all maps the identity}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4xf32>) outs(%t : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func private @b11_reduction(%t: tensor<4xf32>, %o: tensor<f32>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B11) a 'linalg.generic' is elementwise: all iterators parallel, all maps the identity}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%t : tensor<4xf32>) outs(%o : tensor<f32>) {
  ^bb0(%x: f32, %a: f32):
    %1 = arith.addf %x, %a : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return
}

// -----

func.func private @b12_sum(%t: tensor<4xf16>, %o: tensor<f16>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B12) sums and products of floats narrower than f32 are taken in f32, and rounded once}}
  %0 = linalg.reduce { arith.addf } ins(%t : tensor<4xf16>) outs(%o : tensor<f16>) dimensions = [0]
  return
}

// -----

func.func private @b12_matmul(%a: tensor<4x4xbf16>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  // expected-error@+1 {{(B12) sums and products of floats narrower than f32 are taken in f32, and rounded once}}
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%a : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return
}

// -----

// Nothing is rounded in a maximum, nor in products of integers.
func.func private @b12_others(%t: tensor<4xf16>, %o: tensor<f16>, %a: tensor<4x4xi8>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  %0 = linalg.reduce { arith.maximumf } ins(%t : tensor<4xf16>) outs(%o : tensor<f16>) dimensions = [0]
  %1 = linalg.matmul ins(%a, %a : tensor<4x4xi8>, tensor<4x4xi8>) outs(%a : tensor<4x4xi8>) -> tensor<4x4xi8>
  return
}
