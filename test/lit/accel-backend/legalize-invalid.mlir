// RUN: tilebridge-opt %s -tilebridge-accel-legalize -verify-diagnostics

module attributes {accel.target = "grid-1x8"} {
func.func @memory(%p: memref<64xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %a = accel.alloc : memref<64xf32, #accel.memory<"tape">>
  // expected-error @+1 {{no engine of target 'grid-1x8' copies from 'dram' to 'tape'}}
  accel.copy %p to %a : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"tape">>) -> ()
  return
}
}
