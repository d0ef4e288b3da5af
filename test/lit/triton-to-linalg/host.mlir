// RUN: tilebridge-opt %s -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func @host
// CHECK-SAME: %{{.*}}: tensor<64xi1>, %[[PX:[^:]*]]: i32, %[[PY:[^:]*]]: i32, %[[PZ:[^:]*]]: i32
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: linalg_ext.print " x: " programs(%[[PX]], %[[PY]], %[[PZ]]) values(%{{.*}}, %{{.*}}) signed = [true, false] hex : tensor<64xi32>, i64
// CHECK: linalg_ext.print " here" programs(%[[PX]], %[[PY]], %[[PZ]]) values() signed = []
// CHECK: linalg_ext.assert %{{.*}}, "inside" : tensor<64xi1>
// CHECK-NOT: barrier
// CHECK-NOT: grid_dependency
// CHECK-NOT: assume
// CHECK: return
tt.func public @host(%x: tensor<64xi32>, %p: !tt.ptr<f32>, %c: tensor<64xi1>) {
  tt.print " x: " {hex = true, isSigned = array<i32: 1, 0>} : %x, %p : tensor<64xi32>, !tt.ptr<f32>
  tt.print " here" {hex = false, isSigned = array<i32>}
  tt.assert %c, "inside" : tensor<64xi1>
  %true = arith.constant true
  llvm.intr.assume %true : i1
  ttg.barrier all
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}
