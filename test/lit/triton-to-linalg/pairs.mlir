// RUN: tilebridge-opt %s -split-input-file -tilebridge-lower-accesses -canonicalize | FileCheck %s

// k + (k + 1) % 2 * 2 - 1 is each pair's other element: rows of two that run backwards. Compared with an even number it is a box of whole pairs.
// CHECK-LABEL: @other(
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [1], sizes: [32, 2], strides: [2, -1]
// CHECK: arith.minsi %{{.*}}, %c32
// CHECK: memref.subview %{{.*}}[0, 0] [%{{.*}}, 2]
// CHECK-NOT: masked
tt.func @other(%x: !tt.ptr<f32>, %out: tensor<64x!tt.ptr<f32>>, %n: i32 {tt.divisibility = 16 : i32}) {
  %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %up = arith.addi %k, %one : tensor<64xi32>
  %odd = arith.remsi %up, %two : tensor<64xi32>
  %twice = arith.muli %odd, %two : tensor<64xi32>
  %sum = arith.addi %k, %twice : tensor<64xi32>
  %other = arith.subi %sum, %one : tensor<64xi32>
  %end = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %other, %end : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %mask : tensor<64x!tt.ptr<f32>>
  tt.store %out, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Where the number may be odd, a pair may be there in part.
// CHECK-LABEL: @part(
// CHECK: masked
tt.func @part(%x: !tt.ptr<f32>, %out: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %up = arith.addi %k, %one : tensor<64xi32>
  %odd = arith.remsi %up, %two : tensor<64xi32>
  %twice = arith.muli %odd, %two : tensor<64xi32>
  %sum = arith.addi %k, %twice : tensor<64xi32>
  %other = arith.subi %sum, %one : tensor<64xi32>
  %end = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %other, %end : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %other : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %mask : tensor<64x!tt.ptr<f32>>
  tt.store %out, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Quotients below a number are whole runs, whatever the number is.
// CHECK-LABEL: @quotient(
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [16, 4], strides: [1, 0]
// CHECK: memref.subview %{{.*}}[0, 0] [%{{.*}}, 4]
// CHECK-NOT: masked
tt.func @quotient(%x: !tt.ptr<f32>, %out: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %four = arith.constant dense<4> : tensor<64xi32>
  %group = arith.divsi %k, %four : tensor<64xi32>
  %end = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %group, %end : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %group : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q, %mask : tensor<64x!tt.ptr<f32>>
  tt.store %out, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
