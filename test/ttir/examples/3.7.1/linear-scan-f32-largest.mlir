module {
  tt.func public @linear_scan_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
    %c256_i32 = arith.constant 256 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<256x64xf32>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<256x64xf32>
    %cst_2 = arith.constant dense<255> : tensor<256x1xi32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.get_program_id y : i32
    %6 = arith.extsi %5 : i32 to i64
    %7 = arith.extsi %arg3 : i32 to i64
    %8 = arith.muli %6, %7 : i64
    %9 = arith.extsi %arg4 : i32 to i64
    %10 = arith.muli %8, %9 : i64
    %11 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %12 = tt.expand_dims %11 {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %13 = arith.cmpi eq, %12, %cst_2 : tensor<256x1xi32>
    %14 = scf.for %arg5 = %c0_i32 to %arg3 step %c256_i32 iter_args(%arg6 = %cst) -> (tensor<1x64xf32>)  : i32 {
      %15 = tt.splat %arg5 : i32 -> tensor<256xi32>
      %16 = arith.addi %15, %11 : tensor<256xi32>
      %17 = tt.expand_dims %16 {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
      %18 = tt.splat %arg3 : i32 -> tensor<256x1xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<256x1xi32>
      %20 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %21 = tt.splat %arg4 : i32 -> tensor<1x64xi32>
      %22 = arith.cmpi slt, %20, %21 : tensor<1x64xi32>
      %23 = tt.broadcast %19 : tensor<256x1xi1> -> tensor<256x64xi1>
      %24 = tt.broadcast %22 : tensor<1x64xi1> -> tensor<256x64xi1>
      %25 = arith.andi %23, %24 : tensor<256x64xi1>
      %26 = tt.splat %arg4 : i32 -> tensor<256x1xi32>
      %27 = arith.muli %17, %26 : tensor<256x1xi32>
      %28 = arith.extsi %27 : tensor<256x1xi32> to tensor<256x1xi64>
      %29 = tt.splat %10 : i64 -> tensor<256x1xi64>
      %30 = arith.addi %29, %28 : tensor<256x1xi64>
      %31 = arith.extsi %20 : tensor<1x64xi32> to tensor<1x64xi64>
      %32 = tt.broadcast %30 : tensor<256x1xi64> -> tensor<256x64xi64>
      %33 = tt.broadcast %31 : tensor<1x64xi64> -> tensor<256x64xi64>
      %34 = arith.addi %32, %33 : tensor<256x64xi64>
      %35 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>>
      %36 = tt.addptr %35, %34 : tensor<256x64x!tt.ptr<f32>>, tensor<256x64xi64>
      %37 = tt.load %36, %25, %cst_1 : tensor<256x64x!tt.ptr<f32>>
      %38 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>>
      %39 = tt.addptr %38, %34 : tensor<256x64x!tt.ptr<f32>>, tensor<256x64xi64>
      %40 = tt.load %39, %25, %cst_0 : tensor<256x64x!tt.ptr<f32>>
      %41:2 = "tt.scan"(%37, %40) <{axis = 0 : i32, reverse = false}> ({
      ^bb0(%arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32):
        %51 = arith.mulf %arg7, %arg9 : f32
        %52 = arith.mulf %arg8, %arg9 : f32
        %53 = arith.addf %52, %arg10 : f32
        tt.scan.return %51, %53 : f32, f32
      }) : (tensor<256x64xf32>, tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<256x64xf32>)
      %42 = tt.broadcast %arg6 : tensor<1x64xf32> -> tensor<256x64xf32>
      %43 = arith.mulf %41#0, %42 : tensor<256x64xf32>
      %44 = arith.addf %43, %41#1 : tensor<256x64xf32>
      %45 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>>
      %46 = tt.addptr %45, %34 : tensor<256x64x!tt.ptr<f32>>, tensor<256x64xi64>
      tt.store %46, %44, %25 : tensor<256x64x!tt.ptr<f32>>
      %47 = tt.broadcast %13 : tensor<256x1xi1> -> tensor<256x64xi1>
      %48 = arith.select %47, %44, %cst_0 : tensor<256x64xi1>, tensor<256x64xf32>
      %49 = "tt.reduce"(%48) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %51 = arith.addf %arg7, %arg8 : f32
        tt.reduce.return %51 : f32
      }) : (tensor<256x64xf32>) -> tensor<64xf32>
      %50 = tt.expand_dims %49 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      scf.yield %50 : tensor<1x64xf32>
    }
    tt.return
  }
}
