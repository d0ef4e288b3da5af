// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-fold-uniform -canonicalize -allow-unregistered-dialect | FileCheck %s

// Eight programs of 64 in 512: none goes beyond, and only the last one reaches the end.

// CHECK-LABEL: func.func @blocks
// CHECK: %[[X:[^,]*]], %{{.*}} = accel.program
// CHECK: %[[LAST:.*]] = arith.cmpi eq
// CHECK: "test.use"(%true, %[[LAST]], %[[N:.*]])
module attributes {accel.target = "grid-1x8"} {
func.func @blocks(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.signature = ["i32"]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : i32
  %c512 = arith.constant 512 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%c8, %c1, %c1) {assignment = #accel.assignment<interleaved>}
  %begin = arith.muli %x, %c64 : i32
  %end = arith.addi %begin, %c64 : i32
  %inside = arith.cmpi sle, %end, %c512 : i32
  %last = arith.cmpi eq, %end, %c512 : i32
  %unknown = arith.addi %end, %n : i32
  "test.use"(%inside, %last, %unknown) : (i1, i1, i32) -> ()
  return
}
}

// -----

// Without the launch nothing is known.

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[R:.*]] = arith.cmpi
// CHECK: "test.use"(%[[R]])
module attributes {accel.target = "grid-1x8"} {
func.func @dynamic(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {accel.kernel, tilebridge.signature = ["i32"]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
  %inside = arith.cmpi sle, %x, %c64 : i32
  "test.use"(%inside) : (i1) -> ()
  return
}
}

// -----

// In all iterations of all programs blocks end by 512, in an inner loop as well. What begins at the last one differs, and of a loop to an
// end that is not known nothing is known.

// CHECK-LABEL: func.func @iterations
// CHECK: scf.for
// CHECK: %[[LAST:.*]] = arith.cmpi eq
// CHECK: "test.use"(%true, %[[LAST]])
// CHECK: scf.for
// CHECK: "test.use"(%c8{{.*}})
// CHECK: scf.for
// CHECK: %[[SMALL:.*]] = arith.cmpi slt
// CHECK: "test.use"(%[[SMALL]])
module attributes {accel.target = "grid-1x8"} {
func.func @iterations(%n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.signature = ["i32"]} {
  %i0 = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c512 = arith.constant 512 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %i0 counts(%c8, %c1, %c1) {assignment = #accel.assignment<interleaved>}
  %own = arith.muli %x, %c64 : i32
  %next = arith.addi %own, %c64 : i32
  scf.for %i = %own to %next step %c8 : i32 {
    %end = arith.addi %i, %c8 : i32
    %inside = arith.cmpi sle, %end, %c512 : i32
    %last = arith.cmpi eq, %end, %next : i32
    "test.use"(%inside, %last) : (i1, i1) -> ()
    scf.for %j = %i to %end step %c1 : i32 {
      %distance = arith.subi %j, %i : i32
      %rest = arith.subi %end, %j : i32
      %sum = arith.addi %distance, %rest : i32
      "test.use"(%sum) : (i32) -> ()
    }
  }
  scf.for %i = %c0 to %n step %c8 : i32 {
    %small = arith.cmpi slt, %i, %c512 : i32
    "test.use"(%small) : (i1) -> ()
  }
  return
}
}
