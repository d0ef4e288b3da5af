// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func @host
// CHECK-SAME: %{{.*}}: tensor<64xi1>, %[[PX:[^:]*]]: i32, %[[PY:[^:]*]]: i32, %[[PZ:[^:]*]]: i32
// CHECK: linalg_ext.print " x: (operand 0) " programs(%[[PX]], %[[PY]], %[[PZ]]) values(%{{.*}}) signed = [true] : tensor<64xi32>
// CHECK: linalg_ext.print " x: (operand 1) " programs(%[[PX]], %[[PY]], %[[PZ]]) values(%{{.*}}) signed = [false] hex : i64
// CHECK: linalg_ext.print " x: " {{.*}} hex : tensor<64xi32>
// CHECK: linalg_ext.print " here" programs(%[[PX]], %[[PY]], %[[PZ]]) values() signed = []
// CHECK: linalg_ext.assert %{{.*}}, "inside" : tensor<64xi1>
// CHECK-NOT: barrier
// CHECK-NOT: grid_dependency
// CHECK-NOT: assume
// CHECK: return
tt.func public @host(%x: tensor<64xi32>, %p: !tt.ptr<f32>, %c: tensor<64xi1>) {
  tt.print " x: " {hex = false, isSigned = array<i32: 1, 0>} : %x, %p : tensor<64xi32>, !tt.ptr<f32>
  tt.print " x: " {hex = true, isSigned = array<i32: 1>} : %x : tensor<64xi32>
  tt.print " here" {hex = false, isSigned = array<i32>}
  tt.assert %c, "inside" : tensor<64xi1>
  %true = arith.constant true
  llvm.intr.assume %true : i1
  ttg.barrier all
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}

// -----

// A value of the whole program is printed once a warp, where a launch asks for warps.
module attributes {"ttg.num-warps" = 4 : i32} {
// CHECK-LABEL: func.func @warps
// CHECK: linalg_ext.print " x: (operand 0) " {{.*}} : tensor<64xi32>
// CHECK: %[[N:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
// CHECK-NEXT: linalg_ext.print " x: (operand 1) " {{.*}} : i32
tt.func public @warps(%x: tensor<64xi32>, %s: i32) {
  tt.print " x: " {hex = false, isSigned = array<i32: 1, 1>} : %x, %s : tensor<64xi32>, i32
  tt.return
}
}
