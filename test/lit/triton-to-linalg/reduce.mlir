// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge -canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @sum
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<32xf32>
// CHECK: linalg.reduce { arith.addf } ins(%[[X]] : tensor<32x64xf32>) outs(%[[ZERO]] : tensor<32xf32>) dimensions = [1]
tt.func private @sum(%x: tensor<32x64xf32>) -> tensor<32xf32> {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x64xf32>) -> tensor<32xf32>
  tt.return %0 : tensor<32xf32>
}

// -----

// Hazard 2: AND starts from all ones, in every width.
// CHECK-LABEL: func.func private @and
// CHECK-DAG: %[[BIT:.*]] = arith.constant dense<true> : tensor<i1>
// CHECK-DAG: %[[BYTE:.*]] = arith.constant dense<-1> : tensor<i8>
// CHECK-DAG: %[[WORD:.*]] = arith.constant dense<-1> : tensor<4xi64>
// CHECK: linalg.reduce { arith.andi } ins(%{{.*}} : tensor<16xi1>) outs(%[[BIT]]
// CHECK: tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: linalg.reduce { arith.andi } ins(%{{.*}} : tensor<16xi8>) outs(%[[BYTE]]
// CHECK: linalg.reduce { arith.andi } ins(%{{.*}} : tensor<16x4xi64>) outs(%[[WORD]] : tensor<4xi64>) dimensions = [0]
tt.func private @and(%x: tensor<16xi1>, %y: tensor<16xi8>, %z: tensor<16x4xi64>) -> (i1, i8, tensor<4xi64>) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i1, %b: i1):
    %s = arith.andi %a, %b : i1
    tt.reduce.return %s : i1
  }) : (tensor<16xi1>) -> i1
  %1 = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: i8, %b: i8):
    %s = arith.andi %a, %b : i8
    tt.reduce.return %s : i8
  }) : (tensor<16xi8>) -> i8
  %2 = "tt.reduce"(%z) <{axis = 0 : i32}> ({
  ^bb0(%a: i64, %b: i64):
    %s = arith.andi %a, %b : i64
    tt.reduce.return %s : i64
  }) : (tensor<16x4xi64>) -> tensor<4xi64>
  tt.return %0, %1, %2 : i1, i8, tensor<4xi64>
}

// -----

// CHECK-LABEL: func.func private @integers
// CHECK-DAG: arith.constant dense<0> : tensor<1xi32>
// CHECK-DAG: arith.constant dense<1> : tensor<1xi32>
// CHECK-DAG: arith.constant dense<-2147483648> : tensor<1xi32>
// CHECK-DAG: arith.constant dense<2147483647> : tensor<1xi32>
// CHECK-DAG: arith.constant dense<-1> : tensor<1xi32>
tt.func private @integers(%x: tensor<1x8xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.xori %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<1x8xi32>) -> tensor<1xi32>
  %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.muli %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<1x8xi32>) -> tensor<1xi32>
  %2 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<1x8xi32>) -> tensor<1xi32>
  %3 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.minsi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<1x8xi32>) -> tensor<1xi32>
  %4 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.minui %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<1x8xi32>) -> tensor<1xi32>
  tt.return %0, %1, %2, %3, %4 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
}

// -----

// Hazard 6: a row of NaN has the maximum NaN, so that maxnum starts from NaN, and maximum from -inf.
// CHECK-LABEL: func.func private @maxima
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<f32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFC00> : tensor<f16>
// CHECK: linalg.reduce { arith.maxnumf } ins(%{{.*}}) outs(%[[NAN]]
// CHECK: linalg.reduce { arith.maximumf } ins(%{{.*}}) outs(%[[INF]]
tt.func private @maxima(%x: tensor<8xf32>, %y: tensor<8xf16>) -> (f32, f16) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  %1 = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %s = arith.maximumf %a, %b : f16
    tt.reduce.return %s : f16
  }) : (tensor<8xf16>) -> f16
  tt.return %0, %1 : f32, f16
}

// -----

// Hazard 7: argmax has no initial value that could win: a row of -inf or NaN gives an index of the row.
// CHECK-LABEL: func.func private @argmax
// CHECK-NOT: constant
// CHECK: %[[R:.*]]:2 = linalg_ext.reduce(%{{.*}}, %{{.*}}) dimension = 1 {
// CHECK: arith.cmpf oeq
// CHECK: linalg_ext.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK: return %[[R]]#1
tt.func private @argmax(%x: tensor<32x64xf32>, %i: tensor<32x64xi32>) -> tensor<32xi32> {
  %0:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
    %1 = arith.cmpf oeq, %v0, %v1 : f32
    %2 = arith.cmpi slt, %i0, %i1 : i32
    %3 = arith.andi %1, %2 : i1
    %4 = arith.cmpf ogt, %v0, %v1 : f32
    %5 = arith.ori %4, %3 : i1
    %6 = arith.select %5, %v0, %v1 : f32
    %7 = arith.select %5, %i0, %i1 : i32
    tt.reduce.return %6, %7 : f32, i32
  }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
  tt.return %0#1 : tensor<32xi32>
}

// -----

// Hazard 17: a sum of f16 is rounded to f16, once; the wide result of a bf16 sum is the frontend's.
// CHECK-LABEL: func.func private @half_sum
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[S:.*]] = linalg.reduce { arith.addf } ins(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<f32>)
// CHECK: %[[E:.*]] = tensor.extract %[[S]][]
// CHECK: arith.truncf %[[E]] : f32 to f16
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<f32>)
tt.func private @half_sum(%x: tensor<64xf16>, %y: tensor<64xbf16>) -> (f16, f32) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    tt.reduce.return %s : f16
  }) : (tensor<64xf16>) -> f16
  %1 = arith.extf %y : tensor<64xbf16> to tensor<64xf32>
  %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  tt.return %0, %2 : f16, f32
}

// -----

// CHECK-LABEL: func.func private @product_of_columns
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<16xf32>
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[P:.*]] = linalg.reduce { arith.mulf } ins(%{{.*}} : tensor<8x16xf32>) outs(%[[ONE]] : tensor<16xf32>) dimensions = [0]
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<16xf32>) outs(%{{.*}} : tensor<16xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
tt.func private @product_of_columns(%x: tensor<8x16xbf16>) -> tensor<16xbf16> {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.mulf %a, %b : bf16
    tt.reduce.return %s : bf16
  }) : (tensor<8x16xbf16>) -> tensor<16xbf16>
  tt.return %0 : tensor<16xbf16>
}

// -----

// One op that is no known combination, and ops of tt in the region.
// CHECK-LABEL: func.func private @any_region
// CHECK: linalg_ext.reduce(%{{.*}}) dimension = 0 {
// CHECK: arith.subi
// CHECK: linalg_ext.reduce(%{{.*}}) dimension = 0 {
// CHECK: arith.shrui
tt.func private @any_region(%x: tensor<8xi32>) -> (i32, i32) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.subi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = tt.mulhiui %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  tt.return %0, %1 : i32, i32
}
