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
