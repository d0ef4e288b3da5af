// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-multicast -verify-diagnostics | FileCheck %s

// Rows of A along the rows of the grid, columns of B along its columns, a table of weights everywhere; what the program
// itself owns is loaded as it was.

// CHECK-LABEL: func.func @lines
// CHECK: accel.copy %{{.*}} to %{{.*}} multicast [1]
// CHECK-NEXT: accel.copy %{{.*}} to %{{.*}} multicast [0]
// CHECK-NEXT: accel.copy %{{.*}} to %{{.*}} multicast [0, 1]
// CHECK-NEXT: accel.copy %{{[^ ]*}} to %{{[^ ]*}} :
module attributes {accel.target = "align-64"} {
func.func @lines(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 4, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c8_i32 = arith.constant 8 : i32
  %c4_i32 = arith.constant 4 : i32
  %c1_i32 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<64xf32>
  scf.for %step = %c0 to %c4 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c4_i32, %c1_i32) {assignment = #accel.assignment<grid : [1, 0]>}
    %xi = arith.index_cast %x : i32 to index
    %yi = arith.index_cast %y : i32 to index
    %xy = arith.muli %xi, %c8 : index
    %o = arith.addi %xy, %yi : index
    %a = memref.reinterpret_cast %p to offset: [%yi], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %b = memref.reinterpret_cast %p to offset: [%xi], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %w = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1]>>
    %c = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %0 = accel.copy %a to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %1 = accel.copy %b to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %2 = accel.copy %w to %e : (memref<64xf32, strided<[1]>>, tensor<64xf32>) -> tensor<64xf32>
    %3 = accel.copy %c to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    accel.copy %3 to %c : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}
}

// -----

// The same weights for all, but only programs of which there is one, and a loop that is longer for some, load them: the PEs
// would wait for each other forever.

// CHECK-LABEL: func.func @uneven
// CHECK-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @uneven(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 12, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12_i32 = arith.constant 12 : i32
  %c1_i32 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<64xf32>
  %w = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1]>>
  scf.for %step = %c0 to %c2 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c12_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    scf.if %active {
      // expected-remark @+1 {{not multicast: the PEs of a row load the same data, but not equally often}}
      %0 = accel.copy %w to %e : (memref<64xf32, strided<[1]>>, tensor<64xf32>) -> tensor<64xf32>
    }
    %xi = arith.index_cast %x : i32 to index
    scf.for %i = %c0 to %xi step %c1 {
      // expected-remark @+1 {{not multicast: the PEs of a row load the same data, but not equally often}}
      %1 = accel.copy %w to %e : (memref<64xf32, strided<[1]>>, tensor<64xf32>) -> tensor<64xf32>
    }
  }
  return
}
}

// -----

// An engine that cannot.

// CHECK-LABEL: func.func @unicast
// CHECK-NOT: multicast [
module attributes {accel.target = "no-multicast"} {
func.func @unicast(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  %e = tensor.empty() : tensor<64xf32>
  %w = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1]>>
  // expected-remark @+1 {{not multicast: all PEs load the same data, but engine 'dma' cannot multicast along such lines}}
  %0 = accel.copy %w to %e : (memref<64xf32, strided<[1]>>, tensor<64xf32>) -> tensor<64xf32>
  return
}
}

// -----

// Without the launch, what does not depend on the program is the same for all still.

// CHECK-LABEL: func.func @dynamic
// CHECK: accel.copy %{{.*}} to %{{.*}} multicast [1]
// CHECK-NEXT: accel.copy %{{[^ ]*}} to %{{[^ ]*}} :
module attributes {accel.target = "grid-1x8"} {
func.func @dynamic(%p: memref<?xf32, strided<[1], offset: ?>>, %n: index, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  scf.for %step = %c0 to %n step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %w = memref.reinterpret_cast %p to offset: [%n], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %c = memref.reinterpret_cast %p to offset: [%xi], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %0 = accel.copy %w to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %1 = accel.copy %c to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  }
  return
}
}
