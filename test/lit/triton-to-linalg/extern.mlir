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

// A function is known by its symbol, whatever the library that a GPU would need.
// CHECK-LABEL: func.func private @names
// CHECK: math.sin %{{.*}} : f32
// CHECK: math.sin %{{.*}} : f64
// CHECK: math.sin %{{.*}} : f32
// CHECK: math.ctlz %{{.*}} : i64
// CHECK: math.absi %{{.*}} : i64
tt.func private @names(%x: f32, %d: f64, %l: i64) -> (f32, f64, f32, i64, i64) {
  %0 = tt.extern_elementwise %x {libname = "libdevice", libpath = "/no/such/file.bc", pure = true, symbol = "__ocml_sin_f32"} : (f32) -> f32
  %1 = tt.extern_elementwise %d {libname = "", libpath = "", pure = true, symbol = "__ocml_sin_f64"} : (f64) -> f64
  %2 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__imf_sinf"} : (f32) -> f32
  %3 = tt.extern_elementwise %l {libname = "", libpath = "", pure = true, symbol = "__ockl_clz_u64"} : (i64) -> i64
  %4 = tt.extern_elementwise %l {libname = "", libpath = "", pure = true, symbol = "__triton_hip_iabs"} : (i64) -> i64
  tt.return %0, %1, %2, %3, %4 : f32, f64, f32, i64, i64
}

// What the C library has is called in f64; an order is an integer.
// CHECK-LABEL: func.func private @libm
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[Y:.*]] = linalg_ext.libm "tgamma"(%[[X]]) : (f64) -> f64
// CHECK: arith.truncf %[[Y]] : f64 to f32
// CHECK: linalg_ext.libm "jn"(%{{.*}}, %{{.*}}) : (i32, f64) -> f64
tt.func private @libm(%x: tensor<64xf32>, %n: i32, %d: f64) -> (tensor<64xf32>, f64) {
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tgammaf"} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = tt.extern_elementwise %n, %d {libname = "", libpath = "", pure = true, symbol = "__nv_jn"} : (i32, f64) -> f64
  tt.return %0, %1 : tensor<64xf32>, f64
}

// CHECK-LABEL: func.func private @directed
// CHECK: linalg_ext.directed "add" downward(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f64
// CHECK: linalg_ext.directed "div" upward(%[[ONE]], %{{.*}}) : (f64, f64) -> f64
// CHECK: linalg_ext.directed "uitofp" toward_zero(%{{.*}}) : (i64) -> f32
tt.func private @directed(%x: f32, %d: f64, %l: i64) -> (f32, f64, f32) {
  %0 = tt.extern_elementwise %x, %x {libname = "", libpath = "", pure = true, symbol = "__nv_fadd_rd"} : (f32, f32) -> f32
  %1 = tt.extern_elementwise %d {libname = "", libpath = "", pure = true, symbol = "__nv_drcp_ru"} : (f64) -> f64
  %2 = tt.extern_elementwise %l {libname = "", libpath = "", pure = true, symbol = "__nv_ull2float_rz"} : (i64) -> f32
  tt.return %0, %1, %2 : f32, f64, f32
}

// A sum that must not be fused with a product is no arith.addf.
// CHECK-LABEL: func.func private @nearest
// CHECK: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
// CHECK: math.fma %{{.*}}, %[[ONE]], %{{.*}} : f32
tt.func private @nearest(%x: f32, %y: f32) -> f32 {
  %0 = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "__nv_fadd_rn"} : (f32, f32) -> f32
  tt.return %0 : f32
}
