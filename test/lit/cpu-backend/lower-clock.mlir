// RUN: tilebridge-opt %s -tilebridge-cpu-lower-clock | FileCheck %s

// One declaration, and one slot a function, also for a clock in a loop.
// CHECK: llvm.func @clock_gettime(i32, !llvm.ptr) -> i32
// CHECK-LABEL: func.func @f
// CHECK: %[[FIRST:.*]] = llvm.alloca
// CHECK: %[[SLOT:.*]] = llvm.alloca
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK: llvm.call @clock_gettime(%{{.*}}, %[[SLOT]])
// CHECK: %[[S:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[NS:.*]] = llvm.load
// CHECK: %[[SCALED:.*]] = llvm.mul %[[S]]
// CHECK: llvm.add %[[SCALED]], %[[NS]]
// CHECK: llvm.call @clock_gettime(%{{.*}}, %[[FIRST]])
func.func @f(%from: index, %to: index, %step: index) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %0 = scf.for %i = %from to %to step %step iter_args(%sum = %zero) -> i64 {
    %t = linalg_ext.clock
    %next = arith.addi %sum, %t : i64
    scf.yield %next : i64
  }
  %1 = linalg_ext.clock
  return %0, %1 : i64, i64
}
