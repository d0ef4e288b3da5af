// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-allocate -verify-diagnostics

module attributes {accel.target = "tiny-16kb"} {
// expected-error @+1 {{'too_large' needs 24576 bytes of 'local' memory at once, and a PE has 16384}}
func.func @too_large(%p: memref<2048xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  // expected-note @+1 {{2048xf32: 8192 bytes}}
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  // expected-note @+1 {{64x64xf32: 16384 bytes}}
  %b = accel.alloc : memref<64x64xf32, #accel.memory<"local">>
  %c = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<64x64xf32, #accel.memory<"local">>)
  accel.copy %p to %a : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
  linalg.fill ins(%zero : f32) outs(%b : memref<64x64xf32, #accel.memory<"local">>)
  accel.copy %p to %c : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
  return
}
}

// -----

module attributes {accel.target = "tiny-16kb"} {
func.func @no_such_memory() attributes {accel.kernel, tilebridge.signature = []} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{target 'tiny-16kb' has no memory "tape"}}
  %a = accel.alloc : memref<2048xf32, #accel.memory<"tape">>
  linalg.fill ins(%zero : f32) outs(%a : memref<2048xf32, #accel.memory<"tape">>)
  return
}
}

// -----

module attributes {accel.target = "no-such-target"} {
// expected-error @+1 {{no-such-target}}
func.func @no_such_target() attributes {accel.kernel, tilebridge.signature = []} {
  return
}
}

// -----

// expected-error @+1 {{buffers can only be placed for a target: the module has no 'accel.target'}}
func.func @no_target() attributes {accel.kernel, tilebridge.signature = []} {
  %zero = arith.constant 0.0 : f32
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  linalg.fill ins(%zero : f32) outs(%a : memref<2048xf32, #accel.memory<"local">>)
  return
}
