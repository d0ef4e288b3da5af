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

// What lies in no function was called by nobody, and debug information has no place for calls there.
// CHECK: llvm.mlir.zero {{.*}} loc("k.py":17:1)
llvm.mlir.global internal constant @initialized() : !llvm.ptr {
  %0 = llvm.mlir.zero : !llvm.ptr loc(callsite("k.py":17:1 at "k.py":18:1))
  llvm.return %0 : !llvm.ptr
}

// CHECK: memref.global {{.*}} loc("k.py":11:1)
memref.global "private" constant @global : memref<2xf32> = dense<1.0> loc(callsite("k.py":11:1 at "k.py":12:1))

// CHECK: return loc(callsite("k.py":15:1 at "k.py":16:1))
// CHECK-NEXT: } loc("k.py":13:1)
func.func @called() {
  return loc(callsite("k.py":15:1 at "k.py":16:1))
} loc(callsite("k.py":13:1 at "k.py":14:1))
