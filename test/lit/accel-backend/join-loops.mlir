// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-join-loops | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline="from=multicast" | FileCheck %s --check-prefix=LOWERED

// Program i loads blocks 0 to i - 1 in the first loop, and block i in the second one, which is written in another way.

// CHECK-LABEL: func.func @joined
// CHECK: %[[OWN:.*]] = arith.index_cast %x
// CHECK: %[[END:.*]] = arith.addi %[[OWN]], %c1
// CHECK: %[[ALL:.*]] = scf.for %[[I:.*]] = %c0 to %[[END]] step %c1 iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[K:.*]] = accel.copy
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi slt, %[[I]], %[[OWN]] : index
// CHECK: %[[ONCE:.*]] = arith.select %[[FIRST]]
// CHECK-NEXT: %[[BELOW:.*]] = scf.for %{{.*}} to %[[ONCE]] {{.*}} iter_args(%[[A:.*]] = %[[ACC]])
// CHECK: linalg.add ins(%[[A]], %[[K]]
// CHECK: %[[SECOND:.*]] = arith.cmpi sge, %[[I]], %[[OWN]] : index
// CHECK: %[[TWICE:.*]] = arith.select %[[SECOND]]
// CHECK-NEXT: %[[NEW:.*]] = scf.for %{{.*}} to %[[TWICE]] {{.*}} iter_args(%[[B:.*]] = %[[BELOW]])
// CHECK: linalg.sub ins(%[[B]], %[[K]]
// CHECK: scf.yield %[[NEW]]
// CHECK-NOT: scf.for
// LOWERED-LABEL: func.func @joined
// LOWERED: accel.copy_start {{.*}} multicast [1]
// LOWERED-NOT: accel.copy_start %{{.*}} : (memref<64xf32, strided<[1], offset: ?>>
// LOWERED: scf.if
// LOWERED: linalg.add
// LOWERED: scf.if
// LOWERED: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @joined(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %all = scf.for %i = %xi to %end step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %j = arith.addi %i, %c1 : index
      %u = arith.muli %j, %c64 : index
      %o = arith.subi %u, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// Only the second loop has a mask. In iterations of the first one it is full, so that the load with it gives the same.

// CHECK-LABEL: func.func @masked
// CHECK: %[[OWN:.*]] = arith.index_cast %x
// CHECK: %[[END:.*]] = arith.addi %[[OWN]], %c1
// CHECK: %[[ALL:.*]] = scf.for %[[I:.*]] = %c0 to %[[END]] step %c1 iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[K:.*]] = accel.copy
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi slt, %[[I]], %[[OWN]] : index
// CHECK: %[[ONCE:.*]] = arith.select %[[FIRST]]
// CHECK-NEXT: %[[BELOW:.*]] = scf.for %{{.*}} to %[[ONCE]] {{.*}} iter_args(%[[A:.*]] = %[[ACC]])
// CHECK: linalg.add ins(%[[A]], %[[K]]
// CHECK: %[[SECOND:.*]] = arith.cmpi sge, %[[I]], %[[OWN]] : index
// CHECK: %[[TWICE:.*]] = arith.select %[[SECOND]]
// CHECK-NEXT: %[[NEW:.*]] = scf.for %{{.*}} to %[[TWICE]] {{.*}} iter_args(%[[B:.*]] = %[[BELOW]])
// CHECK: linalg.sub ins(%[[B]], %[[K]]
// CHECK: scf.yield %[[NEW]]
// CHECK-NOT: scf.for
// LOWERED-LABEL: func.func @masked
// LOWERED: accel.copy_start {{.*}} multicast [1]
// LOWERED-NOT: accel.copy_start %{{.*}} : (memref<64xf32, strided<[1], offset: ?>>
// LOWERED: scf.if
// LOWERED: linalg.add
// LOWERED: scf.if
// LOWERED: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @masked(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %all = scf.for %i = %xi to %end step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %left = arith.subi %c500, %o : index
      %size = arith.minsi %left, %c64 : index
      %part = memref.subview %v[0] [%size] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
      %k = accel.copy %part to %e pad %zero : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xf32>, f32) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// The second loop loads other blocks.

// CHECK-LABEL: func.func @other_data
// CHECK: linalg.add
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NEXT: arith.muli
// CHECK: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @other_data(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %all = scf.for %i = %xi to %end step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %r = arith.muli %i, %c64 : index
      %o = arith.addi %r, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// A mask that leaves something away in the first loop as well.

// CHECK-LABEL: func.func @not_full
// CHECK: linalg.add
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NEXT: arith.muli
// CHECK: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @not_full(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %all = scf.for %i = %xi to %end step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %left = arith.subi %c8, %o : index
      %size = arith.minsi %left, %c64 : index
      %part = memref.subview %v[0] [%size] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
      %k = accel.copy %part to %e pad %zero : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xf32>, f32) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// The second loop begins elsewhere.

// CHECK-LABEL: func.func @gap
// CHECK: linalg.add
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NEXT: arith.muli
// CHECK: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @gap(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %xi2 = arith.addi %xi, %c1 : index
    %end2 = arith.addi %end, %c1 : index
    %all = scf.for %i = %xi2 to %end2 step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// Something between the loops needs what the first one gives.

// CHECK-LABEL: func.func @used
// CHECK: linalg.add
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NEXT: arith.muli
// CHECK: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @used(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %before = memref.reinterpret_cast %q to offset: [0], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1]>>
    scf.if %active {
      accel.copy %below to %before : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    }
    %all = scf.for %i = %xi to %end step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// The second loop is the same for all PEs: its loads are multicast anyway.

// CHECK-LABEL: func.func @all_alike
// CHECK: linalg.add
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NEXT: arith.muli
// CHECK: linalg.sub
module attributes {accel.target = "grid-1x8"} {
func.func @all_alike(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %c8_i32 = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %c1 step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%c8_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %below = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %end = arith.addi %xi, %c1 : index
    %c9 = arith.constant 9 : index
    %all = scf.for %i = %c8 to %c9 step %c1 iter_args(%acc = %below) -> (tensor<64xf32>) {
      %o = arith.muli %i, %c64 : index
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %at = arith.muli %xi, %c64 : index
    %w = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %all to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}
