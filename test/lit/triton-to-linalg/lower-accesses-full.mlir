// RUN: tilebridge-opt %s -tilebridge-lower-accesses | FileCheck %s

// Steps of 256 divide 1024: all lanes of all iterations are below it. No box is padded, and what else asks for the mask has it true.
// CHECK-LABEL: tt.func public @even
// CHECK-NOT: arith.cmpi
// CHECK-NOT: tensor.pad
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<256xi1>, tensor<256xf32>
// CHECK-NOT: tensor.pad
tt.func public @even(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %c1024 = arith.constant 1024 : i32
  %end = arith.constant dense<1024> : tensor<256xi32>
  %zeros = arith.constant dense<0.0> : tensor<256xf32>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %px = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %py = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  scf.for %i = %c0 to %c1024 step %c256 : i32 {
    %s = tt.splat %i : i32 -> tensor<256xi32>
    %at = arith.addi %s, %range : tensor<256xi32>
    %m = arith.cmpi slt, %at, %end : tensor<256xi32>
    %p = tt.addptr %px, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %v = tt.load %p, %m, %zeros : tensor<256x!tt.ptr<f32>>
    %w = arith.select %m, %v, %zeros : tensor<256xi1>, tensor<256xf32>
    %q = tt.addptr %py, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %q, %w, %m : tensor<256x!tt.ptr<f32>>
  }
  tt.return
}

// One element less, or an end that is no multiple of the step: the last iteration's lanes are not all below it.
// CHECK-LABEL: tt.func public @uneven
// CHECK: arith.cmpi slt, %{{.*}} : tensor<256xi32>
// CHECK: tensor.pad
tt.func public @uneven(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %c1023 = arith.constant 1023 : i32
  %end = arith.constant dense<1023> : tensor<256xi32>
  %zeros = arith.constant dense<0.0> : tensor<256xf32>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %px = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %py = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  scf.for %i = %c0 to %c1023 step %c256 : i32 {
    %s = tt.splat %i : i32 -> tensor<256xi32>
    %at = arith.addi %s, %range : tensor<256xi32>
    %m = arith.cmpi slt, %at, %end : tensor<256xi32>
    %p = tt.addptr %px, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %v = tt.load %p, %m, %zeros : tensor<256x!tt.ptr<f32>>
    %w = arith.select %m, %v, %zeros : tensor<256xi1>, tensor<256xf32>
    %q = tt.addptr %py, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %q, %w, %m : tensor<256x!tt.ptr<f32>>
  }
  tt.return
}
