// RUN: tilebridge compile %s --emit=vector -o %t.mlir && FileCheck %s '--implicit-check-not=vector<0x' < %t.mlir
// RUN: tilebridge compile %s -o %t.so

// A mask that is false everywhere makes boxes without elements: nothing is read, added or written.

// CHECK-LABEL: func.func @never
tt.func public @never(%x: !tt.ptr<i64>, %y: !tt.ptr<i64>, %z: !tt.ptr<i64>) {
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %twice = arith.addi %i, %i : tensor<16xi32>
  %mask = arith.cmpi slt, %twice, %i : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
  %xp = tt.addptr %xs, %twice : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
  %v = tt.load %xp, %mask : tensor<16x!tt.ptr<i64>>
  %ys = tt.splat %y : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
  %yp = tt.addptr %ys, %i : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
  %old = tt.atomic_rmw add, acq_rel, gpu, %yp, %v, %mask : (tensor<16x!tt.ptr<i64>>, tensor<16xi64>, tensor<16xi1>) -> tensor<16xi64>
  %zs = tt.splat %z : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
  %zp = tt.addptr %zs, %twice : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
  tt.store %zp, %old, %mask : tensor<16x!tt.ptr<i64>>
  tt.return
}
