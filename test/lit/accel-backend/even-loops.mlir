// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-even-loops -verify-diagnostics | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-pipeline="from=multicast" | FileCheck %s --check-prefix=LOWERED

// The last program has 7 iterations. The address that loads advance goes on in all of them, and the PE's own, which is used afterwards,
// only in its own.

// CHECK-LABEL: func.func @carried
// CHECK: %[[OWN:.*]] = arith.index_cast %x
// CHECK: %[[MOST:.*]] = arith.constant 7 : index
// CHECK: %[[SUM:.*]]:3 = scf.for %[[I:.*]] = %c0 to %[[MOST]] step %c1 iter_args(%[[ACC:.*]] = %{{.*}}, %[[LAST:.*]] = %c0, %[[O:.*]] = %c0)
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[O]]]
// CHECK-NEXT: %[[K:.*]] = accel.copy
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[O]], %c64
// CHECK-NEXT: %[[IS:.*]] = arith.cmpi slt, %[[I]], %[[OWN]] : index
// CHECK-NEXT: %[[TIMES:.*]] = arith.select %[[IS]], %[[ONE:.*]], %[[ZERO:.*]] : index
// CHECK-NEXT: %[[NEW:.*]]:2 = scf.for %{{.*}} = %[[ZERO]] to %[[TIMES]] step %[[ONE]] iter_args(%[[A:.*]] = %[[ACC]], %{{.*}} = %[[LAST]])
// CHECK-NEXT: %[[ADD:.*]] = linalg.add ins(%[[A]], %[[K]]
// CHECK-NEXT: scf.yield %[[ADD]], %[[NEXT]]
// CHECK: scf.yield %[[NEW]]#0, %[[NEW]]#1, %[[NEXT]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[SUM]]#1]

// LOWERED-LABEL: func.func @carried
// LOWERED: scf.for
// LOWERED: accel.copy_start {{.*}} multicast [1]
// LOWERED: accel.wait
// LOWERED: scf.if
// LOWERED: linalg.add
module attributes {accel.target = "grid-1x8"} {
func.func @carried(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 1 : index
  %count = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// In the second step the programs have 8 iterations more.

// CHECK-LABEL: func.func @steps
// CHECK: scf.for %[[STEP:.*]] = %c0
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: %[[IS:.*]] = arith.cmpi sle, %[[STEP]], %[[FIRST]] : index
// CHECK: %[[MOST:.*]] = arith.select %[[IS]], %c7{{.*}}, %c15{{.*}} : index
// CHECK: scf.for %{{.*}} = %c0 to %[[MOST]]

// LOWERED-LABEL: func.func @steps
// LOWERED: multicast [1]
module attributes {accel.target = "grid-1x8"} {
func.func @steps(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 16, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 2 : index
  %count = arith.constant 16 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// A first iteration of its own.

// CHECK-LABEL: func.func @begins
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: scf.for

// LOWERED-LABEL: func.func @begins
// LOWERED-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @begins(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 1 : index
  %count = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %own = arith.addi %xi, %c8 : index
    %sum:2 = scf.for %i = %xi to %own step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// Other data for each PE.

// CHECK-LABEL: func.func @other_data
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: scf.for

// LOWERED-LABEL: func.func @other_data
// LOWERED-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @other_data(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 1 : index
  %count = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %r = arith.addi %o, %xi : index
      %v = memref.reinterpret_cast %p to offset: [%r], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// Loads into a block that the loop carries.

// CHECK-LABEL: func.func @into
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: scf.for

// LOWERED-LABEL: func.func @into
// LOWERED-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @into(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 1 : index
  %count = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %acc : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// A store before the load that may be to the same memory.

// CHECK-LABEL: func.func @written
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: scf.for

// LOWERED-LABEL: func.func @written
// LOWERED-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @written(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 1 : index
  %count = arith.constant 8 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = scf.for %i = %c0 to %xi step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %wr = memref.reinterpret_cast %q to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      accel.copy %acc to %wr : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}

// -----

// Each PE has 7 iterations in both steps together: in step with its line it would have 14.

// CHECK-LABEL: func.func @balanced
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-NOT: scf.for

// LOWERED-LABEL: func.func @balanced
// LOWERED-NOT: multicast [
module attributes {accel.target = "grid-1x8"} {
func.func @balanced(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 16, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %steps = arith.constant 2 : index
  %count = arith.constant 16 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %step = %c0 to %steps step %c1 {
    %x, %y, %z, %active = accel.program %step counts(%count, %c1_i32, %c1_i32) {assignment = #accel.assignment<interleaved>}
    %xi = arith.index_cast %x : i32 to index
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %second = arith.cmpi sge, %xi, %c8 : index
    %m = arith.subi %xi, %c8 : index
    %seven = arith.constant 7 : index
    %late = arith.subi %seven, %m : index
    %own = arith.select %second, %late, %xi : index
    // expected-remark @+1 {{PEs of a line load the same data, but some of them less often, and would wait for the others}}
    %sum:2 = scf.for %i = %c0 to %own step %c1 iter_args(%acc = %f, %o = %c0) -> (tensor<64xf32>, index) {
      %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%acc, %k : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
      %on = arith.addi %o, %c64 : index
      scf.yield %next, %on : tensor<64xf32>, index
    }
    %w = memref.reinterpret_cast %q to offset: [%sum#1], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    scf.if %active {
      accel.copy %sum#0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}
}
