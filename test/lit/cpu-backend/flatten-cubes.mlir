// RUN: tilebridge-opt %s -tilebridge-cpu-flatten-cubes -cse -split-input-file | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-flatten-cubes=vector-bits=256 -cse -split-input-file | FileCheck %s --check-prefix=SHORT

// A step of a sort: the other element, and a mask that is computed from indices.
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4xi32>
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[PLACES:.*]] = linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[J:.*]] = arith.xori %[[I]], %[[C2]] : index
// CHECK-NEXT: arith.index_cast %[[J]] : index to i32
// CHECK: %[[OTHER:.*]] = linalg_ext.gather_along %[[X]][%[[PLACES]]] dimension = 0 {tilebridge.lanes = 4 : i64} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
// The first dimension's index is the row's second bit.
// CHECK: %[[RIGHT:.*]] = linalg.generic
// CHECK: %[[R:.*]] = linalg.index 0
// CHECK-NEXT: %[[R32:.*]] = arith.index_cast %[[R]] : index to i32
// CHECK: %[[BIT:.*]] = arith.shrui %[[R32]], %{{.*}} : i32
// CHECK: arith.cmpi ne, %[[BIT]]
// CHECK: %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[RIGHT]], %[[OTHER]], %[[X]] : tensor<4xi1>, tensor<4xi32>, tensor<4xi32>)
// CHECK-NOT: linalg.reduce
// CHECK: return %[[RESULT]] : tensor<4xi32>
func.func @step(%x: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant dense<0> : tensor<2xi32>
  %init = tensor.empty() : tensor<2x2xi32>
  %init1 = tensor.empty() : tensor<2x2xi1>
  %small = tensor.empty() : tensor<2xi1>
  %c0 = arith.constant 0 : i32
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [0]
  %2 = linalg.broadcast ins(%1 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [0]
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0, %2 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %xor = arith.xori %a, %b : i32
    linalg.yield %xor : i32
  } -> tensor<2x2xi32>
  %4 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%small : tensor<2xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %right = arith.cmpi ne, %k, %c0 : i32
    linalg.yield %right : i1
  } -> tensor<2xi1>
  %5 = linalg.broadcast ins(%4 : tensor<2xi1>) outs(%init1 : tensor<2x2xi1>) dimensions = [1]
  %6 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%5, %3, %0 : tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
  ^bb0(%c: i1, %a: i32, %b: i32, %out: i32):
    %s = arith.select %c, %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  %7 = tensor.collapse_shape %6 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  return %7 : tensor<4xi32>
}

// -----

// A reduction is along the middle one of three dimensions, and who wants a cube gets one. What is exchanged is the cube's argument,
// seen as a row.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x2x2xf32>
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2]] : tensor<2x2x2xf32> into tensor<8xf32>
// CHECK: %[[OTHER:.*]] = linalg_ext.gather_along %[[ROW]]
// CHECK: %[[BITS:.*]] = linalg.generic {{.*}} ins(%[[OTHER]] : tensor<8xf32>) outs(%{{.*}} : tensor<8xi32>)
// CHECK: %[[BLOCK:.*]] = tensor.expand_shape %[[BITS]] {{\[}}[0, 1, 2]] output_shape [2, 2, 2] : tensor<8xi32> into tensor<2x2x2xi32>
// CHECK: %[[MAX:.*]] = linalg.reduce { arith.maxsi } ins(%[[BLOCK]] : tensor<2x2x2xi32>) outs(%{{.*}} : tensor<2x2xi32>) dimensions = [1]
// CHECK: return %{{.*}}, %[[BLOCK]] : tensor<2x2xi32>, tensor<2x2x2xi32>
func.func @halves(%x: tensor<2x2x2xf32>) -> (tensor<2x2xi32>, tensor<2x2x2xi32>) {
  %zero = arith.constant dense<0> : tensor<2x2xi32>
  %least = arith.constant dense<-2147483648> : tensor<2x2xi32>
  %init = tensor.empty() : tensor<2x2x2xi32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x2x2xf32>) outs(%init : tensor<2x2x2xi32>) {
  ^bb0(%a: f32, %out: i32):
    %b = arith.bitcast %a : f32 to i32
    linalg.yield %b : i32
  } -> tensor<2x2x2xi32>
  %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2x2xi32>) outs(%zero : tensor<2x2xi32>) dimensions = [2]
  %2 = linalg.broadcast ins(%1 : tensor<2x2xi32>) outs(%init : tensor<2x2x2xi32>) dimensions = [2]
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %2 : tensor<2x2x2xi32>, tensor<2x2x2xi32>) outs(%init : tensor<2x2x2xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %xor = arith.xori %a, %b : i32
    linalg.yield %xor : i32
  } -> tensor<2x2x2xi32>
  %4 = linalg.reduce { arith.maxsi } ins(%3 : tensor<2x2x2xi32>) outs(%least : tensor<2x2xi32>) dimensions = [1]
  return %4, %3 : tensor<2x2xi32>, tensor<2x2x2xi32>
}

// -----

// Sums of pairs, of three different distances. As many lanes as are in the registers: 8 vectors of 512 bits, or 4 of 256.
// CHECK-LABEL: func.func @sums
// SHORT-LABEL: func.func @sums
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<1024xf32>
// CHECK-COUNT-3: linalg_ext.gather_along {{.*}} {tilebridge.lanes = 128 : i64} : tensor<1024xf32>
// CHECK-NOT: linalg.reduce
// SHORT-COUNT-3: linalg_ext.gather_along {{.*}} {tilebridge.lanes = 32 : i64} : tensor<1024xf32>
func.func @sums(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %zero0 = arith.constant dense<0.0> : tensor<512x1xf32>
  %init0 = tensor.empty() : tensor<512x2x1xf32>
  %e0 = tensor.expand_shape %x [[0, 1, 2]] output_shape [512, 2, 1] : tensor<1024xf32> into tensor<512x2x1xf32>
  %r0 = linalg.reduce { arith.addf } ins(%e0 : tensor<512x2x1xf32>) outs(%zero0 : tensor<512x1xf32>) dimensions = [1]
  %b0 = linalg.broadcast ins(%r0 : tensor<512x1xf32>) outs(%init0 : tensor<512x2x1xf32>) dimensions = [1]
  %c0 = tensor.collapse_shape %b0 [[0, 1, 2]] : tensor<512x2x1xf32> into tensor<1024xf32>
  %zero1 = arith.constant dense<0.0> : tensor<256x2xf32>
  %init1 = tensor.empty() : tensor<256x2x2xf32>
  %e1 = tensor.expand_shape %c0 [[0, 1, 2]] output_shape [256, 2, 2] : tensor<1024xf32> into tensor<256x2x2xf32>
  %r1 = linalg.reduce { arith.addf } ins(%e1 : tensor<256x2x2xf32>) outs(%zero1 : tensor<256x2xf32>) dimensions = [1]
  %b1 = linalg.broadcast ins(%r1 : tensor<256x2xf32>) outs(%init1 : tensor<256x2x2xf32>) dimensions = [1]
  %c1 = tensor.collapse_shape %b1 [[0, 1, 2]] : tensor<256x2x2xf32> into tensor<1024xf32>
  %zero2 = arith.constant dense<0.0> : tensor<2x256xf32>
  %init2 = tensor.empty() : tensor<2x2x256xf32>
  %e2 = tensor.expand_shape %c1 [[0, 1, 2]] output_shape [2, 2, 256] : tensor<1024xf32> into tensor<2x2x256xf32>
  %r2 = linalg.reduce { arith.addf } ins(%e2 : tensor<2x2x256xf32>) outs(%zero2 : tensor<2x256xf32>) dimensions = [1]
  %b2 = linalg.broadcast ins(%r2 : tensor<2x256xf32>) outs(%init2 : tensor<2x2x256xf32>) dimensions = [1]
  %c2 = tensor.collapse_shape %b2 [[0, 1, 2]] : tensor<2x2x256xf32> into tensor<1024xf32>
  return %c2 : tensor<1024xf32>
}

// -----

// Pairs of one distance are a block that loops see as it is.
// CHECK-LABEL: func.func @one_distance
// CHECK: linalg.reduce
// CHECK: linalg.broadcast
// CHECK-NOT: gather_along
func.func @one_distance(%x: tensor<64x2x16xf32>) -> tensor<64x2x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %init = tensor.empty() : tensor<64x2x16xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x2x16xf32>) outs(%zero : tensor<64x16xf32>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<64x16xf32>) outs(%init : tensor<64x2x16xf32>) dimensions = [1]
  return %1 : tensor<64x2x16xf32>
}
