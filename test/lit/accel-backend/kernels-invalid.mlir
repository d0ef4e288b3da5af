// RUN: tilebridge-opt %s -inline -tilebridge-accel-kernels -split-input-file -verify-diagnostics

// expected-note@+1 {{the function}}
func.func private @recurse(%a: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %stop = arith.cmpi sle, %a, %c0 : i32
  %r = scf.if %stop -> i32 {
    scf.yield %c0 : i32
  } else {
    %0 = func.call @recurse(%c0, %px, %py, %pz, %nx, %ny, %nz) : (i32, i32, i32, i32, i32, i32, i32) -> i32
    scf.yield %0 : i32
  }
  return %r : i32
}

func.func @f(%p: memref<?xi32, strided<[1], offset: ?>>, %a: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "i32"]} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{cannot be lowered for an accelerator: 'recurse' calls itself}}
  %0 = call @recurse(%a, %px, %py, %pz, %nx, %ny, %nz) : (i32, i32, i32, i32, i32, i32, i32) -> i32
  memref.store %0, %p[%c0] : memref<?xi32, strided<[1], offset: ?>>
  return
}
