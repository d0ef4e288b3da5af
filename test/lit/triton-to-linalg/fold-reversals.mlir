// RUN: tilebridge-opt %s -tilebridge-fold-reversals -cse | FileCheck %s

#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// All exchanges of a dimension that was taken apart, below a cast.
// CHECK-LABEL: func.func @floats
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4xf32>
// CHECK: %[[LAST:.*]] = arith.constant 3 : index
// CHECK: %[[INDICES:.*]] = linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[J:.*]] = arith.subi %[[LAST]], %[[I]]
// CHECK-NEXT: %[[K:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK-NEXT: linalg.yield %[[K]]
// CHECK: %[[Y:.*]] = linalg_ext.gather_along %[[X]][%[[INDICES]]] dimension = 0 : tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.bitcast
// CHECK-NOT: linalg.reduce
// CHECK-NOT: shape
func.func @floats(%x: tensor<4xf32>) -> tensor<4xi32> {
  %zero = arith.constant dense<0> : tensor<2xi32>
  %flat = tensor.empty() : tensor<4xi32>
  %init = tensor.empty() : tensor<2x2xi32>
  %bits = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%flat : tensor<4xi32>) {
  ^bb0(%a: f32, %out: i32):
    %c = arith.bitcast %a : f32 to i32
    linalg.yield %c : i32
  } -> tensor<4xi32>
  %0 = tensor.expand_shape %bits [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [0]
  %2 = linalg.broadcast ins(%1 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [0]
  %3 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%0, %2 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %xor = arith.xori %a, %b : i32
    linalg.yield %xor : i32
  } -> tensor<2x2xi32>
  %4 = linalg.reduce { arith.xori } ins(%3 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [1]
  %5 = linalg.broadcast ins(%4 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [1]
  %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%5, %3 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %xor = arith.xori %a, %b : i32
    linalg.yield %xor : i32
  } -> tensor<2x2xi32>
  %7 = tensor.collapse_shape %6 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  return %7 : tensor<4xi32>
}

// One exchange beside a dimension that is longer.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<8x2xi8>
// CHECK: linalg_ext.gather_along %[[X]][%{{.*}}] dimension = 1 : tensor<8x2xi8>, tensor<8x2xi32> -> tensor<8x2xi8>
func.func @pairs(%x: tensor<8x2xi8>) -> tensor<8x2xi8> {
  %zero = arith.constant dense<0> : tensor<8xi8>
  %init = tensor.empty() : tensor<8x2xi8>
  %1 = linalg.reduce { arith.xori } ins(%x : tensor<8x2xi8>) outs(%zero : tensor<8xi8>) dimensions = [1]
  %2 = linalg.broadcast ins(%1 : tensor<8xi8>) outs(%init : tensor<8x2xi8>) dimensions = [1]
  %3 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %2 : tensor<8x2xi8>, tensor<8x2xi8>) outs(%init : tensor<8x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x2xi8>
  return %3 : tensor<8x2xi8>
}

// The same exchange twice is none.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<8x2xi8>
// CHECK: return %[[X]]
func.func @twice(%x: tensor<8x2xi8>) -> tensor<8x2xi8> {
  %zero = arith.constant dense<0> : tensor<8xi8>
  %init = tensor.empty() : tensor<8x2xi8>
  %1 = linalg.reduce { arith.xori } ins(%x : tensor<8x2xi8>) outs(%zero : tensor<8xi8>) dimensions = [1]
  %2 = linalg.broadcast ins(%1 : tensor<8xi8>) outs(%init : tensor<8x2xi8>) dimensions = [1]
  %3 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %2 : tensor<8x2xi8>, tensor<8x2xi8>) outs(%init : tensor<8x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x2xi8>
  %4 = linalg.reduce { arith.xori } ins(%3 : tensor<8x2xi8>) outs(%zero : tensor<8xi8>) dimensions = [1]
  %5 = linalg.broadcast ins(%4 : tensor<8xi8>) outs(%init : tensor<8x2xi8>) dimensions = [1]
  %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%3, %5 : tensor<8x2xi8>, tensor<8x2xi8>) outs(%init : tensor<8x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x2xi8>
  return %6 : tensor<8x2xi8>
}

// Steps of a sort, another initial value, three elements, another block, the
// exclusive or along another dimension.
// CHECK-LABEL: func.func @others
// CHECK-NOT: gather_along
func.func @others(%x: tensor<2x2xi8>, %y: tensor<8x2xi8>, %z: tensor<8x3xi8>, %u: tensor<8x2xi8>, %v: tensor<2x2x4xi8>)
    -> (tensor<2x2xi8>, tensor<8x2xi8>, tensor<8x3xi8>, tensor<8x2xi8>, tensor<2x2x4xi8>) {
  %zero2 = arith.constant dense<0> : tensor<2xi8>
  %zero = arith.constant dense<0> : tensor<8xi8>
  %one = arith.constant dense<1> : tensor<8xi8>
  %zero24 = arith.constant dense<0> : tensor<2x4xi8>
  %init22 = tensor.empty() : tensor<2x2xi8>
  %init = tensor.empty() : tensor<8x2xi8>
  %init3 = tensor.empty() : tensor<8x3xi8>
  %init224 = tensor.empty() : tensor<2x2x4xi8>
  %0 = linalg.reduce { arith.xori } ins(%x : tensor<2x2xi8>) outs(%zero2 : tensor<2xi8>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<2xi8>) outs(%init22 : tensor<2x2xi8>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %1 : tensor<2x2xi8>, tensor<2x2xi8>) outs(%init22 : tensor<2x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<2x2xi8>
  %3 = linalg.reduce { arith.xori } ins(%y : tensor<8x2xi8>) outs(%one : tensor<8xi8>) dimensions = [1]
  %4 = linalg.broadcast ins(%3 : tensor<8xi8>) outs(%init : tensor<8x2xi8>) dimensions = [1]
  %5 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%y, %4 : tensor<8x2xi8>, tensor<8x2xi8>) outs(%init : tensor<8x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x2xi8>
  %6 = linalg.reduce { arith.xori } ins(%z : tensor<8x3xi8>) outs(%zero : tensor<8xi8>) dimensions = [1]
  %7 = linalg.broadcast ins(%6 : tensor<8xi8>) outs(%init3 : tensor<8x3xi8>) dimensions = [1]
  %8 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%z, %7 : tensor<8x3xi8>, tensor<8x3xi8>) outs(%init3 : tensor<8x3xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x3xi8>
  %9 = linalg.reduce { arith.xori } ins(%y : tensor<8x2xi8>) outs(%zero : tensor<8xi8>) dimensions = [1]
  %10 = linalg.broadcast ins(%9 : tensor<8xi8>) outs(%init : tensor<8x2xi8>) dimensions = [1]
  %11 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]}
      ins(%u, %10 : tensor<8x2xi8>, tensor<8x2xi8>) outs(%init : tensor<8x2xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<8x2xi8>
  %12 = linalg.reduce { arith.xori } ins(%v : tensor<2x2x4xi8>) outs(%zero24 : tensor<2x4xi8>) dimensions = [0]
  %13 = linalg.broadcast ins(%12 : tensor<2x4xi8>) outs(%init224 : tensor<2x2x4xi8>) dimensions = [1]
  %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v, %13 : tensor<2x2x4xi8>, tensor<2x2x4xi8>) outs(%init224 : tensor<2x2x4xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %xor = arith.xori %a, %b : i8
    linalg.yield %xor : i8
  } -> tensor<2x2x4xi8>
  return %2, %5, %8, %11, %14 : tensor<2x2xi8>, tensor<8x2xi8>, tensor<8x3xi8>, tensor<8x2xi8>, tensor<2x2x4xi8>
}

// The cube that is left between two reversals is none: one row becomes one column.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[Y:.*]] = linalg_ext.gather_along
// CHECK-NEXT: %[[FLAT:.*]] = tensor.collapse_shape %[[Y]] {{.*}} : tensor<1x8xi8> into tensor<8xi8>
// CHECK-NEXT: tensor.expand_shape %[[FLAT]] {{.*}} : tensor<8xi8> into tensor<8x1xi8>
func.func @reshaped(%x: tensor<1x8xi8>) -> tensor<8x1xi8> {
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<1x8xi32>
  %order = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %j = arith.subi %c7, %i : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<1x8xi32>
  %r = linalg_ext.gather_along %x[%order] dimension = 1 : tensor<1x8xi8>, tensor<1x8xi32> -> tensor<1x8xi8>
  %0 = tensor.expand_shape %r [[0], [1, 2, 3]] output_shape [1, 2, 2, 2] : tensor<1x8xi8> into tensor<1x2x2x2xi8>
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<1x2x2x2xi8> into tensor<2x2x2xi8>
  %2 = tensor.expand_shape %1 [[0], [1], [2, 3]] output_shape [2, 2, 2, 1] : tensor<2x2x2xi8> into tensor<2x2x2x1xi8>
  %3 = tensor.collapse_shape %2 [[0, 1, 2], [3]] : tensor<2x2x2x1xi8> into tensor<8x1xi8>
  return %3 : tensor<8x1xi8>
}
