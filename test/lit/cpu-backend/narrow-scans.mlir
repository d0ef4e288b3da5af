// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-narrow-scans --canonicalize | FileCheck %s

#map = affine_map<(d0) -> (d0)>
// Indices are chosen and compared as they were before they were widened.
// CHECK-LABEL: func.func @signed(
// CHECK-SAME: %[[X:.*]]: tensor<64xf32>, %[[I:.*]]: tensor<64xi32>
// CHECK: %[[S:.*]]:2 = linalg_ext.scan(%[[X]], %[[I]]) dimension = 0 reverse {
// CHECK: ^bb0(%[[A:.*]]: f32, %[[AI:.*]]: i32, %[[B:.*]]: f32, %[[BI:.*]]: i32):
// CHECK: arith.cmpi sgt, %[[AI]], %[[BI]] : i32
// CHECK: arith.select %{{.*}}, %[[AI]], %[[BI]] : i32
// CHECK: (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[S]]#1 : tensor<64xi32>)
// CHECK: arith.extsi
// CHECK: return %[[S]]#0, %[[WIDE]]
func.func @signed(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi64>) {
  %0 = tensor.empty() : tensor<64xi64>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<64xi32>) outs(%0 : tensor<64xi64>) {
  ^bb0(%n: i32, %o: i64):
    %w = arith.extsi %n : i32 to i64
    linalg.yield %w : i64
  } -> tensor<64xi64>
  %2:2 = linalg_ext.scan(%x, %1) dimension = 0 reverse {
  ^bb0(%a: f32, %ai: i64, %b: f32, %bi: i64):
    %m = arith.cmpf ogt, %a, %b : f32
    %t = arith.cmpi sgt, %ai, %bi : i64
    %c = arith.ori %m, %t : i1
    %v = arith.select %c, %a, %b : f32
    %w = arith.select %c, %ai, %bi : i64
    linalg_ext.yield %v, %w : f32, i64
  } : (tensor<64xf32>, tensor<64xi64>) -> (tensor<64xf32>, tensor<64xi64>)
  return %2#0, %2#1 : tensor<64xf32>, tensor<64xi64>
}

// -----

#map = affine_map<(d0) -> (d0)>
// Without a sign: what is negative as i32 is a large number. The rows of a block are one row.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[X:.*]]: tensor<4x64xf32>, %[[I:.*]]: tensor<64xi32>
// CHECK: %[[ROWS:.*]] = linalg.broadcast ins(%[[I]] : tensor<64xi32>) outs(%{{.*}} : tensor<4x64xi32>) dimensions = [0]
// CHECK: %[[S:.*]]:2 = linalg_ext.scan(%[[X]], %[[ROWS]]) dimension = 1 {
// CHECK: arith.cmpi ugt, {{.*}} : i32
// CHECK: arith.cmpi ule, {{.*}} : i32
// CHECK: linalg.generic {{.*}} ins(%[[S]]#1 : tensor<4x64xi32>)
// CHECK: arith.extui
func.func @unsigned(%x: tensor<4x64xf32>, %i: tensor<64xi32>) -> (tensor<4x64xf32>, tensor<4x64xi64>) {
  %0 = tensor.empty() : tensor<64xi64>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<64xi32>) outs(%0 : tensor<64xi64>) {
  ^bb0(%n: i32, %o: i64):
    %w = arith.extui %n : i32 to i64
    linalg.yield %w : i64
  } -> tensor<64xi64>
  %2 = tensor.empty() : tensor<4x64xi64>
  %3 = linalg.broadcast ins(%1 : tensor<64xi64>) outs(%2 : tensor<4x64xi64>) dimensions = [0]
  %4:2 = linalg_ext.scan(%x, %3) dimension = 1 {
  ^bb0(%a: f32, %ai: i64, %b: f32, %bi: i64):
    %t = arith.cmpi sgt, %ai, %bi : i64
    %l = arith.cmpi ule, %ai, %bi : i64
    %c = arith.ori %l, %t : i1
    %v = arith.select %c, %a, %b : f32
    %w = arith.select %c, %ai, %bi : i64
    linalg_ext.yield %v, %w : f32, i64
  } : (tensor<4x64xf32>, tensor<4x64xi64>) -> (tensor<4x64xf32>, tensor<4x64xi64>)
  return %4#0, %4#1 : tensor<4x64xf32>, tensor<4x64xi64>
}

// -----

#map = affine_map<(d0) -> (d0)>
// Neither what is added to, nor what is compared with another number, nor bools.
// CHECK-LABEL: func.func @kept(
// CHECK: linalg_ext.scan
// CHECK: ^bb0(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32):
func.func @kept(%i: tensor<64xi32>, %f: tensor<64xi1>) -> (tensor<64xi64>, tensor<64xi64>, tensor<64xi32>) {
  %c5 = arith.constant 5 : i64
  %0 = tensor.empty() : tensor<64xi64>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : tensor<64xi32>) outs(%0 : tensor<64xi64>) {
  ^bb0(%n: i32, %o: i64):
    %w = arith.extsi %n : i32 to i64
    linalg.yield %w : i64
  } -> tensor<64xi64>
  %2 = tensor.empty() : tensor<64xi32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%f : tensor<64xi1>) outs(%2 : tensor<64xi32>) {
  ^bb0(%n: i1, %o: i32):
    %w = arith.extui %n : i1 to i32
    linalg.yield %w : i32
  } -> tensor<64xi32>
  %4:3 = linalg_ext.scan(%1, %1, %3) dimension = 0 {
  ^bb0(%a: i64, %b: i64, %c: i32, %x: i64, %y: i64, %z: i32):
    %sum = arith.addi %a, %x : i64
    %is = arith.cmpi slt, %b, %c5 : i64
    %e = arith.select %is, %b, %y : i64
    %d = arith.select %is, %c, %z : i32
    linalg_ext.yield %sum, %e, %d : i64, i64, i32
  } : (tensor<64xi64>, tensor<64xi64>, tensor<64xi32>) -> (tensor<64xi64>, tensor<64xi64>, tensor<64xi32>)
  return %4#0, %4#1, %4#2 : tensor<64xi64>, tensor<64xi64>, tensor<64xi32>
}
