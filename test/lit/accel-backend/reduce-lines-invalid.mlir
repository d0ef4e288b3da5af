// RUN: tilebridge-opt %s -tilebridge-accel-reduce-lines -verify-diagnostics

func.func @load(%c: memref<?xf32, strided<[1], offset: ?>>, %o: memref<4xi64, #accel.memory<"local">>, %v: memref<4xf32, #accel.memory<"local">>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  // expected-error @+1 {{'accel.reduce' names the coordinate along which PEs combine the buffer that they add}}
  accel.atomic exch acq_rel gpu %c[%o] values(%v) old(%v) {accel.reduce = array<i64: 1>}
      : (memref<?xf32, strided<[1], offset: ?>>, memref<4xi64, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>) -> ()
  return
}
