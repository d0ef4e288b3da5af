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
