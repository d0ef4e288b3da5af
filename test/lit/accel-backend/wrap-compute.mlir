// RUN: tilebridge-opt %s -tilebridge-accel-wrap-compute | FileCheck %s
// Once more changes nothing.
// RUN: tilebridge-opt %s -tilebridge-accel-wrap-compute -tilebridge-accel-wrap-compute | FileCheck %s

// CHECK-LABEL: @ops(
func.func @ops(%x: tensor<3x7xi32>, %y: tensor<3x7xi32>, %m: tensor<3x7xi1>, %k: i32) -> (tensor<3x7xi32>, tensor<3x7xi32>, tensor<4xi32>, tensor<3x7xi32>, tensor<3xi32>) {
  // CHECK: accel.compute vector ins(%{{.*}}, %{{.*}} : tensor<3x7xi32>, tensor<3x7xi32>) outs(%{{.*}}, %{{.*}} : tensor<3x7xi32>, tensor<3x7xi32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<3x7xi32>, %[[B:.*]]: tensor<3x7xi32>, %{{.*}}: tensor<3x7xi32>, %{{.*}}: tensor<3x7xi32>):
  // CHECK-NEXT: linalg_ext.scan(%[[A]], %[[B]])
  %0:2 = linalg_ext.scan(%x, %y) dimension = 1 {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %1 = arith.addi %a, %c : i32
    %2 = arith.addi %b, %k : i32
    linalg_ext.yield %1, %2 : i32, i32
  } : (tensor<3x7xi32>, tensor<3x7xi32>) -> (tensor<3x7xi32>, tensor<3x7xi32>)
  // CHECK: accel.compute vector
  // CHECK: linalg_ext.histogram
  %h = linalg_ext.histogram %x, %m : tensor<3x7xi32>, tensor<3x7xi1> -> tensor<4xi32>
  // The same block twice is one input.
  // CHECK: accel.compute vector ins(%{{[^,]*}} : tensor<3x7xi32>) outs
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<3x7xi32>, %{{.*}}: tensor<3x7xi32>):
  // CHECK-NEXT: linalg_ext.gather_along %[[X]][%[[X]]]
  %g = linalg_ext.gather_along %x[%x] dimension = 0 : tensor<3x7xi32>, tensor<3x7xi32> -> tensor<3x7xi32>
  // CHECK: accel.compute vector
  // CHECK: linalg_ext.reduce
  %r = linalg_ext.reduce(%x) dimension = 1 {
  ^bb0(%a: i32, %b: i32):
    linalg_ext.yield %a : i32
  } : (tensor<3x7xi32>) -> tensor<3xi32>
  return %0#0, %0#1, %h, %g, %r : tensor<3x7xi32>, tensor<3x7xi32>, tensor<4xi32>, tensor<3x7xi32>, tensor<3xi32>
}

// CHECK-LABEL: @host(
func.func @host(%x: tensor<7xi32>, %m: tensor<7xi1>, %p: i32, %c: i1) {
  // CHECK: accel.compute scalar ins(%{{.*}} : tensor<7xi32>) {
  // CHECK: linalg_ext.print
  // CHECK: accel.yield
  linalg_ext.print " x: " programs(%p, %p, %p) values(%x) signed = [true] : tensor<7xi32>
  // CHECK: accel.compute scalar ins(%{{.*}} : tensor<7xi1>) {
  // CHECK: linalg_ext.assert
  linalg_ext.assert %m, "range" : tensor<7xi1>
  // Scalars stay.
  // CHECK: }
  // CHECK-NEXT: linalg_ext.assert %{{.*}}, "scalar" : i1
  linalg_ext.assert %c, "scalar" : i1
  return
}

// CHECK-LABEL: @constants(
func.func @constants(%s: f32) -> (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<f32>) {
  // CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<3xf32>)
  %0 = tensor.splat %s : tensor<3xf32>
  // CHECK: accel.compute vector outs(%{{.*}} : tensor<3xi32>)
  // CHECK: arith.constant dense<[1, 2, 5]>
  %1 = arith.constant dense<[1, 2, 5]> : tensor<3xi32>
  // CHECK: linalg.fill
  %2 = ub.poison : tensor<3xf32>
  // CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<f32>)
  %3 = arith.constant dense<1.0> : tensor<f32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<f32>
}
