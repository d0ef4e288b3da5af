// RUN: tilebridge-opt %s -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @extern
// CHECK: math.asin %{{.*}} : f32
// CHECK: math.powf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.isnan %{{.*}} : f32
// CHECK: arith.extui %{{.*}} : i1 to i32
// CHECK: math.erf %{{.*}} : f32
// CHECK: math.ctlz %{{.*}} : i32
// CHECK: math.fma
// CHECK: arith.maxnumf
tt.func private @extern(%x: tensor<64xf32>, %d: tensor<64xf64>, %s: f32, %i: i32)
    -> (tensor<64xf32>, tensor<64xf64>, tensor<64xi32>, f32, i32, f32) {
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_asinf"} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = tt.extern_elementwise %0, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = tt.extern_elementwise %d {libname = "", libpath = "", pure = true, symbol = "__nv_exp"} : (tensor<64xf64>) -> tensor<64xf64>
  %3 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_isnanf"} : (tensor<64xf32>) -> tensor<64xi32>
  %4 = tt.extern_elementwise %s {libname = "", libpath = "", pure = true, symbol = "__nv_erff"} : (f32) -> f32
  %5 = tt.extern_elementwise %i {libname = "", libpath = "", pure = true, symbol = "__nv_clz"} : (i32) -> i32
  %6 = tt.extern_elementwise %s, %s, %s {libname = "", libpath = "", pure = true, symbol = "__nv_fmaf"} : (f32, f32, f32) -> f32
  %7 = tt.extern_elementwise %6, %s {libname = "", libpath = "", pure = true, symbol = "__nv_fmaxf"} : (f32, f32) -> f32
  tt.return %1, %2, %3, %4, %5, %7 : tensor<64xf32>, tensor<64xf64>, tensor<64xi32>, f32, i32, f32
}

// As on a GPU a cast to an integer saturates, and NaN gives 0.
// CHECK-LABEL: func.func private @to_integer
// CHECK: %[[R:.*]] = math.floor %{{.*}} : f32
// CHECK: %[[I:.*]] = arith.fptosi %[[R]] : f32 to i32
// CHECK: %[[HIGH:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK: arith.cmpf oge, %[[R]], %[[HIGH]]
// CHECK: arith.constant 2147483647 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[I]]
// CHECK: arith.constant -2147483648 : i32
// CHECK: arith.cmpf uno, %[[R]], %[[R]]
// CHECK: math.cttz
// CHECK: arith.bitcast %{{.*}} : f32 to i32
tt.func private @to_integer(%x: f32) -> (i32, i32, i32) {
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_float2int_rd"} : (f32) -> i32
  %1 = tt.extern_elementwise %0 {libname = "", libpath = "", pure = true, symbol = "__nv_ffs"} : (i32) -> i32
  %2 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_float_as_int"} : (f32) -> i32
  tt.return %0, %1, %2 : i32, i32, i32
}
