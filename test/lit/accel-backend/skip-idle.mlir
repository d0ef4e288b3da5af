// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-skip-idle | FileCheck %s

// 5 programs for 8 PEs: those without one take part in the multicast, and neither load a row nor compute.

// CHECK-LABEL: func.func @rows
// CHECK: %[[X:.*]], %{{.*}}, %{{.*}}, %[[ACTIVE:.*]] = accel.program
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[W:.*]] = accel.copy %arg1 to %[[E]] multicast [0, 1]
// CHECK: scf.if %[[ACTIVE]] {
// CHECK: accel.copy %{{.*}} to %[[E]] :
// CHECK: linalg.add
// CHECK: accel.copy
// CHECK: }
// CHECK: return
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "grid-1x8"} {
func.func @rows(%p: memref<?xf32, strided<[1], offset: ?>>, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %n = arith.constant 5 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%n, %c1, %c1) {assignment = #accel.assignment<interleaved>}
  %i = arith.index_cast %x : i32 to index
  %e = tensor.empty() : tensor<64xf32>
  %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to !row
  %a = accel.copy %v to %e : (!row, tensor<64xf32>) -> tensor<64xf32>
  %b = accel.copy %w to %e multicast [0, 1] : (!row, tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.add ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  scf.if %active {
    accel.copy %s to %v : (tensor<64xf32>, !row) -> ()
  }
  return
}
}

// -----

// What is loaded together depends on what is stored before, perhaps: everything stays.

// CHECK-LABEL: func.func @stored_before
// CHECK: scf.if
// CHECK-NEXT: accel.copy
// CHECK-NEXT: }
// CHECK: accel.copy {{.*}} multicast
// CHECK: scf.if
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "grid-1x8"} {
func.func @stored_before(%p: !row, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %n = arith.constant 5 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%n, %c1, %c1) {assignment = #accel.assignment<interleaved>}
  %e = tensor.empty() : tensor<64xf32>
  %a = accel.copy %p to %e : (!row, tensor<64xf32>) -> tensor<64xf32>
  scf.if %active {
    accel.copy %a to %w : (tensor<64xf32>, !row) -> ()
  }
  %b = accel.copy %w to %e multicast [0, 1] : (!row, tensor<64xf32>) -> tensor<64xf32>
  scf.if %active {
    accel.copy %b to %p : (tensor<64xf32>, !row) -> ()
  }
  return
}
}

// -----

// 40 programs for 8 rows of 8: no row has PEs of both kinds, and what is loaded along rows in a loop is in the branch, too.

// CHECK-LABEL: func.func @whole_rows
// CHECK: %[[ACTIVE:[a-z0-9_]+]] = accel.program
// CHECK: scf.if %[[ACTIVE]] {
// CHECK: scf.for
// CHECK: accel.copy {{.*}} multicast [1]
// CHECK: accel.copy
// CHECK: return
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "mtia-2i-like"} {
func.func @whole_rows(%p: memref<?xf32, strided<[1], offset: ?>>, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 40, 1, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 40 : i32
  %one = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%n, %one, %one) {assignment = #accel.assignment<interleaved>}
  %e = tensor.empty() : tensor<64xf32>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %e) -> (tensor<64xf32>) {
    %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to !row
    %a = accel.copy %v to %e multicast [1] : (!row, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
  }
  scf.if %active {
    accel.copy %s to %w : (tensor<64xf32>, !row) -> ()
  }
  return
}
}

// -----

// One program: nobody else needs what it loads.

// CHECK-LABEL: func.func @alone
// CHECK: %[[ACTIVE:[a-z0-9_]+]] = accel.program
// CHECK: scf.if %[[ACTIVE]] {
// CHECK: scf.for
// CHECK-NOT: multicast
// CHECK: return
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "mtia-2i-like"} {
func.func @alone(%p: memref<?xf32, strided<[1], offset: ?>>, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 1, 1, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%one, %one, %one) {assignment = #accel.assignment<interleaved>}
  %e = tensor.empty() : tensor<64xf32>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %e) -> (tensor<64xf32>) {
    %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to !row
    %a = accel.copy %v to %e multicast [0, 1] : (!row, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
  }
  scf.if %active {
    accel.copy %s to %w : (tensor<64xf32>, !row) -> ()
  }
  return
}
}

// -----

// 12 programs: the second row has PEs of both kinds, which load together; the other six rows do nothing.

// CHECK-LABEL: func.func @some_rows
// CHECK: %[[ACTIVE:[a-z0-9_]+]] = accel.program
// CHECK-NEXT: %[[ROW:.*]] = accel.pe_id 0
// CHECK-NEXT: %[[END:.*]] = arith.constant 2
// CHECK-NEXT: %[[PART:.*]] = arith.cmpi slt, %[[ROW]], %[[END]]
// CHECK-NEXT: scf.if %[[PART]] {
// CHECK: scf.for
// CHECK: accel.copy {{.*}} multicast [1]
// CHECK: scf.if %[[ACTIVE]] {
// CHECK-NEXT: accel.copy
// CHECK: return
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "mtia-2i-like"} {
func.func @some_rows(%p: memref<?xf32, strided<[1], offset: ?>>, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 12, 1, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 12 : i32
  %one = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%n, %one, %one) {assignment = #accel.assignment<interleaved>}
  %e = tensor.empty() : tensor<64xf32>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %e) -> (tensor<64xf32>) {
    %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to !row
    %a = accel.copy %v to %e multicast [1] : (!row, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
  }
  scf.if %active {
    accel.copy %s to %w : (tensor<64xf32>, !row) -> ()
  }
  return
}
}

// -----

// Along columns each has PEs of both kinds: all take part.

// CHECK-LABEL: func.func @all_columns
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: accel.copy {{.*}} multicast [0]
// CHECK: scf.if
!row = memref<64xf32, strided<[1], offset: ?>>
module attributes {accel.target = "mtia-2i-like"} {
func.func @all_columns(%p: memref<?xf32, strided<[1], offset: ?>>, %w: !row, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 16, 1, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 16 : i32
  %one = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%n, %one, %one) {assignment = #accel.assignment<interleaved>}
  %e = tensor.empty() : tensor<64xf32>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %e) -> (tensor<64xf32>) {
    %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to !row
    %a = accel.copy %v to %e multicast [0] : (!row, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
  }
  scf.if %active {
    accel.copy %s to %w : (tensor<64xf32>, !row) -> ()
  }
  return
}
}
