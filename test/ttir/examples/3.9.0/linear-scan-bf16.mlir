module {
  tt.func public @linear_scan_kernel(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xbf16>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<64x64xbf16>
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_3 = arith.constant dense<63> : tensor<64x1xi32>
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
    %11 = tt.expand_dims %2 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %12 = arith.cmpi eq, %11, %cst_3 : tensor<64x1xi32>
    %13 = scf.for %arg5 = %c0_i32 to %arg3 step %c64_i32 iter_args(%arg6 = %cst) -> (tensor<1x64xf32>)  : i32 {
      %14 = tt.splat %arg5 : i32 -> tensor<64xi32>
      %15 = arith.addi %14, %2 : tensor<64xi32>
      %16 = tt.expand_dims %15 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %17 = tt.splat %arg3 : i32 -> tensor<64x1xi32>
      %18 = arith.cmpi slt, %16, %17 : tensor<64x1xi32>
      %19 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %20 = tt.splat %arg4 : i32 -> tensor<1x64xi32>
      %21 = arith.cmpi slt, %19, %20 : tensor<1x64xi32>
      %22 = tt.broadcast %18 : tensor<64x1xi1> -> tensor<64x64xi1>
      %23 = tt.broadcast %21 : tensor<1x64xi1> -> tensor<64x64xi1>
      %24 = arith.andi %22, %23 : tensor<64x64xi1>
      %25 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
      %26 = arith.muli %16, %25 : tensor<64x1xi32>
      %27 = arith.extsi %26 : tensor<64x1xi32> to tensor<64x1xi64>
      %28 = tt.splat %10 : i64 -> tensor<64x1xi64>
      %29 = arith.addi %28, %27 : tensor<64x1xi64>
      %30 = arith.extsi %19 : tensor<1x64xi32> to tensor<1x64xi64>
      %31 = tt.broadcast %29 : tensor<64x1xi64> -> tensor<64x64xi64>
      %32 = tt.broadcast %30 : tensor<1x64xi64> -> tensor<64x64xi64>
      %33 = arith.addi %31, %32 : tensor<64x64xi64>
      %34 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
      %35 = tt.addptr %34, %33 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi64>
      %36 = tt.load %35, %24, %cst_1 : tensor<64x64x!tt.ptr<bf16>>
      %37 = arith.extf %36 : tensor<64x64xbf16> to tensor<64x64xf32>
      %38 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
      %39 = tt.addptr %38, %33 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi64>
      %40 = tt.load %39, %24, %cst_0 : tensor<64x64x!tt.ptr<bf16>>
      %41 = arith.extf %40 : tensor<64x64xbf16> to tensor<64x64xf32>
      %42:2 = "tt.scan"(%37, %41) <{axis = 0 : i32, reverse = false}> ({
      ^bb0(%arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32):
        %53 = arith.mulf %arg7, %arg9 : f32
        %54 = arith.mulf %arg8, %arg9 : f32
        %55 = arith.addf %54, %arg10 : f32
        tt.scan.return %53, %55 : f32, f32
      }) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
      %43 = tt.broadcast %arg6 : tensor<1x64xf32> -> tensor<64x64xf32>
      %44 = arith.mulf %42#0, %43 : tensor<64x64xf32>
      %45 = arith.addf %44, %42#1 : tensor<64x64xf32>
      %46 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
      %47 = tt.addptr %46, %33 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi64>
      %48 = arith.truncf %45 : tensor<64x64xf32> to tensor<64x64xbf16>
      tt.store %47, %48, %24 : tensor<64x64x!tt.ptr<bf16>>
      %49 = tt.broadcast %12 : tensor<64x1xi1> -> tensor<64x64xi1>
      %50 = arith.select %49, %45, %cst_2 : tensor<64x64xi1>, tensor<64x64xf32>
      %51 = "tt.reduce"(%50) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %53 = arith.addf %arg7, %arg8 : f32
        tt.reduce.return %53 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %52 = tt.expand_dims %51 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      scf.yield %52 : tensor<1x64xf32>
    }
    tt.return
  }
}
