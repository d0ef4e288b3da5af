// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(func.func(tilebridge-accel-map-grid,tilebridge-accel-merge-programs))"

module attributes {accel.target = "grid-1x1"} {
func.func @waits(%p: memref<?xi32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, accel.merge = array<i64: 2, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*i32"]} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  // expected-remark @below {{programs are not run as one: it may wait for what another program does}}
  scf.while : () -> () {
    %v = memref.load %p[%c0] : memref<?xi32, strided<[1], offset: ?>>
    %more = arith.cmpi ne, %v, %one : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}
}

// -----

module attributes {accel.target = "grid-1x1"} {
func.func @prints(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, accel.merge = array<i64: 2, 1, 1>, tilebridge.kernel, tilebridge.signature = []} {
  // expected-remark @below {{programs are not run as one: what it shows would be that of several programs at once}}
  linalg_ext.print " x: " programs(%px, %py, %pz) values(%px) signed = [true] : i32
  return
}
}

// -----

module attributes {accel.target = "grid-1x1"} {
// expected-remark @below {{programs are not run as one: the launch grid is not known}}
func.func @unknown(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.merge = array<i64: 2, 1, 1>, tilebridge.kernel, tilebridge.signature = []} {
  return
}
}

// -----

// expected-error @below {{'accel.merge' is how many programs are run as one in each of three dimensions, at most 16 together}}
func.func @none(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.merge = array<i64: 0, 1, 1>, tilebridge.kernel, tilebridge.signature = []} {
  return
}

// -----

// expected-error @below {{'accel.merge' is how many programs are run as one}}
func.func @many(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.merge = array<i64: 8, 4, 1>, tilebridge.kernel, tilebridge.signature = []} {
  return
}

// -----

func.func @short(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = arith.constant 1.0 : f32
  // expected-error @below {{'accel.merge' is on a loop over 2 programs, from 0 in steps of 1, which carries nothing}}
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %f, %p[%i] : memref<?xf32, strided<[1], offset: ?>>
  } {accel.merge = array<i64: 2, 1, 1>}
  return
}
