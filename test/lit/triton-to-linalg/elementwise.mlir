// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge -canonicalize | FileCheck %s

// Identity maps, parallel iterators, a splat constant as a constant of the body; attributes of tt are gone.
// CHECK-LABEL: func.func private @arithmetic
// CHECK-SAME: (%[[X:.*]]: tensor<8x64xf32>, %[[Y:.*]]: tensor<8x64xf32>
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8x64xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<8x64xf32>) outs(%[[EMPTY]] : tensor<8x64xf32>)
// CHECK: arith.mulf %{{.*}}, %[[TWO]] : f32
// CHECK-NOT: tt.
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} fastmath<contract> : f32
tt.func private @arithmetic(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %two = arith.constant dense<2.0> : tensor<8x64xf32>
  %0 = arith.mulf %x, %two {tt.contiguity = dense<[1, 64]> : tensor<2xi32>} : tensor<8x64xf32>
  %1 = math.fma %0, %x, %y fastmath<contract> : tensor<8x64xf32>
  tt.return %1 : tensor<8x64xf32>
}

// -----

// Hazard 6: a compare and a select stay that. As a maximum they would give NaN where the select gives %y.
// CHECK-LABEL: func.func private @compare_and_select
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK-NOT: arith.max
// CHECK: return
tt.func private @compare_and_select(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.cmpf ogt, %x, %y : tensor<64xf32>
  %1 = arith.select %0, %x, %y : tensor<64xi1>, tensor<64xf32>
  tt.return %1 : tensor<64xf32>
}

// -----

// Hazard 6: what NaN gives is the op's own.
// CHECK-LABEL: func.func private @nan
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: arith.maximumf
// CHECK: arith.maxnumf
tt.func private @nan(%x: tensor<64xf32>, %l: tensor<64xf32>, %h: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tt.clampf %x, %l, %h, propagateNan = none : tensor<64xf32>
  %1 = tt.clampf %0, %l, %h, propagateNan = all : tensor<64xf32>
  %2 = arith.maximumf %1, %l : tensor<64xf32>
  %3 = arith.maxnumf %2, %l : tensor<64xf32>
  tt.return %3 : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func private @select_all
// CHECK-SAME: %[[C:.*]]: i1
// CHECK: %[[CONDITION:.*]] = tensor.splat %[[C]] : tensor<64xi1>
// CHECK: linalg.generic {{.*}} ins(%[[CONDITION]], %{{.*}}, %{{.*}} : tensor<64xi1>, tensor<64xf16>, tensor<64xf16>)
tt.func private @select_all(%c: i1, %x: tensor<64xf16>, %y: tensor<64xf16>) -> tensor<64xf16> {
  %0 = arith.select %c, %x, %y : tensor<64xf16>
  tt.return %0 : tensor<64xf16>
}

// -----

// Scalars take the same way without a generic.
// CHECK-LABEL: func.func private @scalars
// CHECK-NOT: linalg
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
// CHECK: arith.andi %{{.*}}, %c4294967295_i64
// CHECK: arith.extui %{{.*}} : i32 to i64
// CHECK: %[[WIDE:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: %[[HIGH:.*]] = arith.shrui %[[WIDE]], %c32_i64 : i64
// CHECK: arith.trunci %[[HIGH]] : i64 to i32
tt.func private @scalars(%x: f32, %n: i64, %m: i32) -> (f32, i64, i32) {
  %0 = tt.precise_sqrt %x : f32
  %1 = tt.precise_divf %0, %x : f32
  %2 = tt.approx_divf %1, %x : f32
  %3 = tt.mulhiui %n, %n : i64
  %4 = tt.mulhiui %m, %m : i32
  tt.return %2, %3, %4 : f32, i64, i32
}

// -----

// CHECK-LABEL: func.func private @several_results
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<64xi32>, tensor<64xi32>)
// CHECK: arith.mulsi_extended
tt.func private @several_results(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %0, %1 = arith.mulsi_extended %x, %y : tensor<64xi32>
  tt.return %0, %1 : tensor<64xi32>, tensor<64xi32>
}

// -----

// CHECK-LABEL: func.func private @bitcast
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
tt.func private @bitcast(%x: tensor<64xf32>, %y: i16) -> (tensor<64xi32>, bf16) {
  %0 = tt.bitcast %x : tensor<64xf32> -> tensor<64xi32>
  %1 = tt.bitcast %y : i16 -> bf16
  tt.return %0, %1 : tensor<64xi32>, bf16
}
