// RUN: tilebridge-opt %s -tilebridge-triton-to-linalg | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-triton-to-linalg | tilebridge-opt -tilebridge-verify-bridge

// From normalized TTIR to verified bridge IR; reshapes that undo each other are gone.
// CHECK-LABEL: func.func @outer
// CHECK-NOT: expand_shape
// CHECK: linalg.broadcast
// CHECK-NOT: tt.
tt.func public @outer(%n: i32) attributes {noinline = false} {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.broadcast %1 : tensor<64x1xi32> -> tensor<64x32xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %2 : tensor<64x32xi32>
  tt.return
}
