// RUN: tilebridge-opt %s --tilebridge-accel-to-emitc -verify-diagnostics -split-input-file

func.func @no_place(%nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = []} {
  // expected-error @+1 {{a buffer of type 'memref<4xf32, #accel.memory<"local">>' without a place cannot be emitted as C++; place buffers first}}
  %a = accel.alloc : memref<4xf32, #accel.memory<"local">>
  return
}

// -----

func.func @complex(%nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = []} {
  // expected-error @+1 {{'complex.constant' cannot be emitted as C++}}
  %t = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
  return
}

// -----

func.func @odd(%nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = []} {
  // expected-error @+1 {{'arith.constant' cannot be emitted as C++, which has no type for 'i24'}}
  %0 = arith.constant 3 : i24
  return
}

// -----

// expected-error @+1 {{the function returns memory, which cannot be emitted as C++; inline it}}
func.func @result(%nx: i32) -> (memref<4xf32>) {
  %0 = ub.poison : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

func.func @carried(%n: index, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = accel.alloc {offset = 0 : i64} : memref<4xi32, #accel.memory<"local">>
  %e = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> (memref<4xi32, #accel.memory<"local">>) {
    scf.yield %m : memref<4xi32, #accel.memory<"local">>
  }
  // expected-error @+1 {{a loop over unsigned integers of 32 bits cannot be emitted as C++}}
  scf.for unsigned %i = %nx to %ny step %nz : i32 {
  }
  return
}

// -----

// expected-error @+1 {{emitted C++ has no type for 'i24'}}
func.func @scalar(%x: i24, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["i32"]} {
  return
}

// -----

// expected-error @+1 {{emitted C++ has no type for elements of 'memref<4xi24>'}}
func.func @elements(%x: memref<4xi24>, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["*i32"]} {
  return
}

// -----

// expected-error @+1 {{emitted C++ has no type for the parameter 'i24'}}
func.func private @extern(%x: i24)

// -----

func.func @nine(%x: memref<1x1x1x1x1x1x1x1x4xf32>, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc {offset = 0 : i64} : memref<1x1x1x1x1x1x1x1x4xf32, #accel.memory<"local">>
  // expected-error @+1 {{a copy of 9 dimensions cannot be emitted as C++: a transfer of accel_abi.h has at most 8; load or store the block in parts of fewer dimensions}}
  accel.copy %x to %a : (memref<1x1x1x1x1x1x1x1x4xf32>, memref<1x1x1x1x1x1x1x1x4xf32, #accel.memory<"local">>) -> ()
  return
}

// -----

func.func @tensors(%x: memref<4xf32>, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{a copy of tensors cannot be emitted as C++; bufferize it first}}
  %0 = accel.copy %x to %e : (memref<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dim(%x: memref<?xf32, strided<[1], offset: ?>>, %i: index, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "i64"]} {
  // expected-error @+1 {{the size of a dimension that is not constant cannot be emitted as C++}}
  %d = memref.dim %x, %i : memref<?xf32, strided<[1], offset: ?>>
  return
}
