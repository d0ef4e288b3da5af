module {
  tt.func public @layer_norm_forward_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: i32, %arg7: i32, %arg8: f32) attributes {noinline = false} {
    %c4096_i32 = arith.constant 4096 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<4096xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %arg6 : i32
    %2 = tt.addptr %arg0, %1 : !tt.ptr<f32>, i32
    %3 = tt.addptr %arg1, %1 : !tt.ptr<f32>, i32
    %4 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %5 = scf.for %arg9 = %c0_i32 to %arg7 step %c4096_i32 iter_args(%arg10 = %cst_0) -> (tensor<4096xf32>)  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<4096xi32>
      %18 = arith.addi %17, %4 : tensor<4096xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<4096xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f32>, i32
      %22 = tt.splat %21 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %23 = tt.addptr %22, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %24 = tt.load %23, %20, %cst_0 : tensor<4096x!tt.ptr<f32>>
      %25 = arith.addf %arg10, %24 : tensor<4096xf32>
      scf.yield %25 : tensor<4096xf32>
    }
    %6 = "tt.reduce"(%5) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %17 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %17 : f32
    }) : (tensor<4096xf32>) -> f32
    %7 = arith.sitofp %arg7 : i32 to f32
    %8 = arith.divf %6, %7 : f32
    %9 = scf.for %arg9 = %c0_i32 to %arg7 step %c4096_i32 iter_args(%arg10 = %cst_0) -> (tensor<4096xf32>)  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<4096xi32>
      %18 = arith.addi %17, %4 : tensor<4096xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<4096xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f32>, i32
      %22 = tt.splat %21 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %23 = tt.addptr %22, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %24 = tt.load %23, %20, %cst_0 : tensor<4096x!tt.ptr<f32>>
      %25 = tt.splat %8 : f32 -> tensor<4096xf32>
      %26 = arith.subf %24, %25 : tensor<4096xf32>
      %27 = arith.select %20, %26, %cst_0 : tensor<4096xi1>, tensor<4096xf32>
      %28 = arith.mulf %27, %27 : tensor<4096xf32>
      %29 = arith.addf %arg10, %28 : tensor<4096xf32>
      scf.yield %29 : tensor<4096xf32>
    }
    %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %17 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %17 : f32
    }) : (tensor<4096xf32>) -> f32
    %11 = arith.divf %10, %7 : f32
    %12 = arith.addf %11, %arg8 : f32
    %13 = math.sqrt %12 : f32
    %14 = arith.divf %cst, %13 : f32
    %15 = tt.addptr %arg4, %0 : !tt.ptr<f32>, i32
    tt.store %15, %8 : !tt.ptr<f32>
    %16 = tt.addptr %arg5, %0 : !tt.ptr<f32>, i32
    tt.store %16, %14 : !tt.ptr<f32>
    scf.for %arg9 = %c0_i32 to %arg7 step %c4096_i32  : i32 {
      %17 = tt.splat %arg9 : i32 -> tensor<4096xi32>
      %18 = arith.addi %17, %4 : tensor<4096xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<4096xi32>
      %21 = tt.addptr %2, %arg9 : !tt.ptr<f32>, i32
      %22 = tt.splat %21 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %23 = tt.addptr %22, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %24 = tt.load %23, %20, %cst_0 : tensor<4096x!tt.ptr<f32>>
      %25 = tt.addptr %arg2, %arg9 : !tt.ptr<f32>, i32
      %26 = tt.splat %25 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %27 = tt.addptr %26, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %28 = tt.load %27, %20 : tensor<4096x!tt.ptr<f32>>
      %29 = tt.addptr %arg3, %arg9 : !tt.ptr<f32>, i32
      %30 = tt.splat %29 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %31 = tt.addptr %30, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %32 = tt.load %31, %20 : tensor<4096x!tt.ptr<f32>>
      %33 = tt.splat %8 : f32 -> tensor<4096xf32>
      %34 = arith.subf %24, %33 : tensor<4096xf32>
      %35 = tt.splat %14 : f32 -> tensor<4096xf32>
      %36 = arith.mulf %34, %35 : tensor<4096xf32>
      %37 = arith.mulf %36, %28 : tensor<4096xf32>
      %38 = arith.addf %37, %32 : tensor<4096xf32>
      %39 = tt.addptr %3, %arg9 : !tt.ptr<f32>, i32
      %40 = tt.splat %39 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %41 = tt.addptr %40, %4 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      tt.store %41, %38, %20 : tensor<4096x!tt.ptr<f32>>
    }
    tt.return
  }
}
