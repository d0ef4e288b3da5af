// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-reduce-lines -verify-diagnostics

func.func @load(%c: memref<?xf32, strided<[1], offset: ?>>, %o: memref<4xi64, #accel.memory<"local">>, %v: memref<4xf32, #accel.memory<"local">>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  // expected-error @+1 {{'accel.reduce' names the coordinate along which PEs combine the buffer that they add}}
  accel.atomic exch acq_rel gpu %c[%o] values(%v) old(%v) {accel.reduce = array<i64: 1>}
      : (memref<?xf32, strided<[1], offset: ?>>, memref<4xi64, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>) -> ()
  return
}

// -----

// There are two coordinates, and one line at a time.
func.func @coordinates(%c: memref<4xf32, strided<[1], offset: ?>>, %v: memref<4xf32, #accel.memory<"local">>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  // expected-error @+1 {{'accel.reduce' names the coordinate along which PEs combine the buffer that they add}}
  accel.copy %v to %c accumulate add {accel.reduce = array<i64: 2>}
      : (memref<4xf32, #accel.memory<"local">>, memref<4xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

func.func @both(%c: memref<4xf32, strided<[1], offset: ?>>, %v: memref<4xf32, #accel.memory<"local">>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  // expected-error @+1 {{'accel.reduce' names the coordinate along which PEs combine the buffer that they add}}
  accel.copy %v to %c accumulate add {accel.reduce = array<i64: 0, 1>}
      : (memref<4xf32, #accel.memory<"local">>, memref<4xf32, strided<[1], offset: ?>>) -> ()
  return
}
