// RUN: tilebridge-opt %s -tilebridge-cpu-clean-locations -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK: arith.addi {{.*}} loc("k.py":3:1)
// CHECK: arith.muli {{.*}} loc("f.py":4:1)
// CHECK: arith.subi {{.*}} loc(callsite("f.py":5:1 at "k.py":6:1))
func.func @f(%a: i32) {
  %0 = arith.addi %a, %a : i32 loc(callsite(unknown at "k.py":3:1))
  %1 = arith.muli %a, %a : i32 loc(callsite("f.py":4:1 at unknown))
  %2 = arith.subi %a, %a : i32 loc(callsite("f.py":5:1 at callsite(unknown at "k.py":6:1)))
  return
}

// Kernels that were compiled without lines: what is called still needs a place.
// CHECK: call @unplaced() {{.*}} loc("<unknown>":0:0)
// CHECK: return loc("k.py":9:1)
// CHECK: loc("<unknown>":0:0)
func.func private @unplaced() loc(unknown)
func.func @without() {
  func.call @unplaced() : () -> () loc(unknown)
  return loc("k.py":9:1)
} loc(unknown)

// CHECK: call @unplaced() {{.*}} loc("k.py":10:1)
func.func @at_its_function() {
  func.call @unplaced() : () -> () loc(unknown)
  return
} loc("k.py":10:1)
