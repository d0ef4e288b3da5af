module {
  tt.func public @layer_norm_forward_kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: i32, %arg7: i32, %arg8: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16>
    %c1024_i32 = arith.constant 1024 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1024xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %arg6 : i32
    %2 = tt.addptr %arg0, %1 : !tt.ptr<f16>, i32
    %3 = tt.addptr %arg1, %1 : !tt.ptr<f16>, i32
    %4 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %5 = scf.for %arg9 = %c0_i32 to %arg7 step %c1024_i32 iter_args(%arg10 = %cst_1) -> (tensor<1024xf32>)  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<1024xi32>
      %18 = arith.addi %17, %4 : tensor<1024xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<1024xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f16>, i32
      %22 = tt.splat %21 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %23 = tt.addptr %22, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %24 = tt.load %23, %20, %cst : tensor<1024x!tt.ptr<f16>>
      %25 = arith.extf %24 : tensor<1024xf16> to tensor<1024xf32>
      %26 = arith.addf %arg10, %25 : tensor<1024xf32>
      scf.yield %26 : tensor<1024xf32>
    }
    %6 = "tt.reduce"(%5) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %17 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %17 : f32
    }) : (tensor<1024xf32>) -> f32
    %7 = arith.sitofp %arg7 : i32 to f32
    %8 = arith.divf %6, %7 : f32
    %9 = scf.for %arg9 = %c0_i32 to %arg7 step %c1024_i32 iter_args(%arg10 = %cst_1) -> (tensor<1024xf32>)  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<1024xi32>
      %18 = arith.addi %17, %4 : tensor<1024xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<1024xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f16>, i32
      %22 = tt.splat %21 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %23 = tt.addptr %22, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %24 = tt.load %23, %20, %cst : tensor<1024x!tt.ptr<f16>>
      %25 = arith.extf %24 : tensor<1024xf16> to tensor<1024xf32>
      %26 = tt.splat %8 : f32 -> tensor<1024xf32>
      %27 = arith.subf %25, %26 : tensor<1024xf32>
      %28 = arith.select %20, %27, %cst_1 : tensor<1024xi1>, tensor<1024xf32>
      %29 = arith.mulf %28, %28 : tensor<1024xf32>
      %30 = arith.addf %arg10, %29 : tensor<1024xf32>
      scf.yield %30 : tensor<1024xf32>
    }
    %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %17 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %17 : f32
    }) : (tensor<1024xf32>) -> f32
    %11 = arith.divf %10, %7 : f32
    %12 = arith.addf %11, %arg8 : f32
    %13 = math.sqrt %12 : f32
    %14 = arith.divf %cst_0, %13 : f32
    %15 = tt.addptr %arg4, %0 : !tt.ptr<f32>, i32
    tt.store %15, %8 : !tt.ptr<f32>
    %16 = tt.addptr %arg5, %0 : !tt.ptr<f32>, i32
    tt.store %16, %14 : !tt.ptr<f32>
    scf.for %arg9 = %c0_i32 to %arg7 step %c1024_i32  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<1024xi32>
      %18 = arith.addi %17, %4 : tensor<1024xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<1024xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f16>, i32
      %22 = tt.splat %21 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %23 = tt.addptr %22, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %24 = tt.load %23, %20, %cst : tensor<1024x!tt.ptr<f16>>
      %25 = arith.extf %24 : tensor<1024xf16> to tensor<1024xf32>
      %26 = tt.addptr %arg2, %arg9 : !tt.ptr<f16>, i32
      %27 = tt.splat %26 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %28 = tt.addptr %27, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %29 = tt.load %28, %20 : tensor<1024x!tt.ptr<f16>>
      %30 = arith.extf %29 : tensor<1024xf16> to tensor<1024xf32>
      %31 = tt.addptr %arg3, %arg9 : !tt.ptr<f16>, i32
      %32 = tt.splat %31 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %33 = tt.addptr %32, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %34 = tt.load %33, %20 : tensor<1024x!tt.ptr<f16>>
      %35 = arith.extf %34 : tensor<1024xf16> to tensor<1024xf32>
      %36 = tt.splat %8 : f32 -> tensor<1024xf32>
      %37 = arith.subf %25, %36 : tensor<1024xf32>
      %38 = tt.splat %14 : f32 -> tensor<1024xf32>
      %39 = arith.mulf %37, %38 : tensor<1024xf32>
      %40 = arith.mulf %39, %30 : tensor<1024xf32>
      %41 = arith.addf %40, %35 : tensor<1024xf32>
      %42 = tt.addptr %3, %arg9 : !tt.ptr<f16>, i32
      %43 = tt.splat %42 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %44 = tt.addptr %43, %4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %45 = arith.truncf %41 : tensor<1024xf32> to tensor<1024xf16>
      tt.store %44, %45, %20 : tensor<1024x!tt.ptr<f16>>
    }
    tt.return
  }
}
