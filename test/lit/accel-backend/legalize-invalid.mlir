// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-legalize -verify-diagnostics

module attributes {accel.target = "grid-1x8"} {
func.func @memory(%p: memref<64xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc : memref<64xf32, #accel.memory<"tape">>
  // expected-error @+1 {{no engine of target 'grid-1x8' copies from 'dram' to 'tape'}}
  accel.copy %p to %a : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"tape">>) -> ()
  return
}
}

// -----

module attributes {accel.target = "mtia-2i-like"} {
func.func @accumulates(%m: memref<8xf32>, %b: memref<8xf32, #accel.memory<"local">>) attributes {accel.kernel} {
  // expected-error @+1 {{the engine 'fabric' of target 'mtia-2i-like' does not accumulate 'add'; an atomic access does}}
  accel.copy %b to %m accumulate add : (memref<8xf32, #accel.memory<"local">>, memref<8xf32>) -> ()
  return
}
}

// -----

module attributes {accel.target = "ascend-910b-like"} {
func.func @largest(%m: memref<8xf32>, %b: memref<8xf32, #accel.memory<"local">>) attributes {accel.kernel} {
  // expected-error @+1 {{the engine 'mte' of target 'ascend-910b-like' does not accumulate 'max'; an atomic access does}}
  accel.copy %b to %m accumulate max : (memref<8xf32, #accel.memory<"local">>, memref<8xf32>) -> ()
  return
}
}
