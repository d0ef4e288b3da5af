// Each pass that asks the target says once, at the kernel, that there is none of this name, and which there are.
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-accumulate))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-map-grid))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-fold-uniform))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-fit)" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-autotile)" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-multicast))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-choose-reductions))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-spill))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-legalize))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-verify-schedule))" 2>&1 | FileCheck %s
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-report)" 2>&1 | FileCheck %s

// What does not ask leaves the name to the others.
// RUN: tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-wrap-compute,tilebridge-accel-hoist-copies,tilebridge-accel-skip-idle,tilebridge-accel-reduce-lines))" | FileCheck %s --check-prefix=ALONE
// ALONE: accel.copy

// CHECK-NOT: error:
// CHECK: unknown-target-invalid.mlir:[[#@LINE+4]]:1: error: there is no target 'no-such-target'. Known are: align-64,
// CHECK-NOT: error:

module attributes {accel.target = "no-such-target"} {
func.func @k(%p: memref<64xf32, strided<[1], offset: ?>>, %q: memref<64xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.spill, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<64xf32>
  %0 = accel.copy %p to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  accel.copy %0 to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}
