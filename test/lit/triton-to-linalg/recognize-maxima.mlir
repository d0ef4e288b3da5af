// RUN: tilebridge-opt %s --split-input-file --tilebridge-recognize-maxima | FileCheck %s

// NaN stays NaN, whichever of the two is asked about, and a loop's selection goes with the reduction behind it.
// CHECK-LABEL: tt.func @carried
// CHECK: scf.for {{.*}} iter_args(%[[OLD:.*]] =
// CHECK: %[[X:.*]] = arith.negf
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[OLD]], %[[X]] fastmath<nsz>
// CHECK-NEXT: %[[KEPT:.*]] = arith.select %{{.*}}, %[[MAX]], %[[OLD]]
// CHECK-NEXT: scf.yield %[[KEPT]]
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.maximumf %[[A]], %[[B]] fastmath<nsz>
// CHECK-NEXT: tt.reduce.return %[[R]]
tt.func @carried(%n: i32, %mask: tensor<64x8xi1>, %y: tensor<64x8xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant dense<0xFF800000> : tensor<64x8xf32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%old = %low) -> (tensor<64x8xf32>) : i32 {
    %x = arith.negf %y : tensor<64x8xf32>
    %greater = arith.cmpf ogt, %old, %x : tensor<64x8xf32>
    %nan = arith.cmpf une, %old, %old : tensor<64x8xf32>
    %takes = arith.ori %greater, %nan : tensor<64x8xi1>
    %max = arith.select %takes, %old, %x : tensor<64x8xi1>, tensor<64x8xf32>
    %kept = arith.select %mask, %max, %old : tensor<64x8xi1>, tensor<64x8xf32>
    scf.yield %kept : tensor<64x8xf32>
  }
  %r = "tt.reduce"(%all) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %greater = arith.cmpf ogt, %a, %b : f32
    %nan = arith.cmpf une, %a, %a : f32
    %takes = arith.ori %nan, %greater : i1
    %max = arith.select %takes, %a, %b : f32
    tt.reduce.return %max : f32
  }) : (tensor<64x8xf32>) -> tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// -----

// The second value may be the one that is taken; the comparison may be written the other way around; a scan has a region, too.
// CHECK-LABEL: tt.func @others
// CHECK: "tt.reduce"
// CHECK: arith.minimumf %{{.*}}, %{{.*}} fastmath<nsz>
// CHECK-NEXT: tt.reduce.return
// CHECK: "tt.scan"
// CHECK: arith.maxsi
// CHECK-NEXT: tt.scan.return
// CHECK: "tt.reduce"
// CHECK: arith.minui
// CHECK-NEXT: tt.reduce.return
tt.func @others(%x: tensor<64xf32>, %y: tensor<64xi32>) -> (f32, tensor<64xi32>, i32) {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %greater = arith.cmpf oge, %a, %b : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %takes = arith.ori %greater, %nan : i1
    %min = arith.select %takes, %b, %a : f32
    tt.reduce.return %min : f32
  }) : (tensor<64xf32>) -> f32
  %s = "tt.scan"(%y) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %greater = arith.cmpi sgt, %a, %b : i32
    %max = arith.select %greater, %a, %b : i32
    tt.scan.return %max : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %u = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %greater = arith.cmpi uge, %b, %a : i32
    %min = arith.select %greater, %a, %b : i32
    tt.reduce.return %min : i32
  }) : (tensor<64xi32>) -> i32
  tt.return %r, %s, %u : f32, tensor<64xi32>, i32
}

// -----

// Without a question for NaN, or with one for the value that is not taken, the order decides what NaN gives. What is not reduced keeps which zero it
// takes, and so does a block that is used behind the loop besides.
// CHECK-LABEL: tt.func @unlike
// CHECK-NOT: arith.maximumf %{{.*}}, %{{.*}} : tensor
// CHECK: arith.select
// CHECK: scf.for
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.maximumf
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.cmpf ogt
// CHECK-NEXT: arith.select
// CHECK: "tt.reduce"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.cmpf ogt
// CHECK-NEXT: arith.cmpf une
// CHECK-NEXT: arith.ori
// CHECK-NEXT: arith.select
tt.func @unlike(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: i32) -> (tensor<64xf32>, tensor<64xf32>, f32, f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %greater = arith.cmpf ogt, %x, %y : tensor<64xf32>
  %nan = arith.cmpf une, %x, %x : tensor<64xf32>
  %takes = arith.ori %greater, %nan : tensor<64xi1>
  %max = arith.select %takes, %x, %y : tensor<64xi1>, tensor<64xf32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%old = %y) -> (tensor<64xf32>) : i32 {
    %g = arith.cmpf ogt, %old, %max : tensor<64xf32>
    %q = arith.cmpf une, %old, %old : tensor<64xf32>
    %t = arith.ori %g, %q : tensor<64xi1>
    %m = arith.select %t, %old, %max : tensor<64xi1>, tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  }
  %r = "tt.reduce"(%all) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %g = arith.cmpf ogt, %a, %b : f32
    %q = arith.cmpf une, %a, %a : f32
    %t = arith.ori %g, %q : i1
    %m = arith.select %t, %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<64xf32>) -> f32
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %g = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %g, %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<64xf32>) -> f32
  %u = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %g = arith.cmpf ogt, %a, %b : f32
    %q = arith.cmpf une, %b, %b : f32
    %t = arith.ori %g, %q : i1
    %m = arith.select %t, %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<64xf32>) -> f32
  tt.return %max, %all, %r, %s, %u : tensor<64xf32>, tensor<64xf32>, f32, f32, f32
}
