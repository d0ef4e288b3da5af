module {
  tt.func public @embedding_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<-1> : tensor<16xi64>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x512xf32>
    %cst_1 = arith.constant dense<0> : tensor<16xi64>
    %c512_i32 = arith.constant 512 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c16_i32 : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %1 : i32 -> tensor<16xi32>
    %4 = arith.addi %3, %2 : tensor<16xi32>
    %5 = tt.get_program_id y : i32
    %6 = arith.muli %5, %c512_i32 : i32
    %7 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %8 = tt.splat %6 : i32 -> tensor<512xi32>
    %9 = arith.addi %8, %7 : tensor<512xi32>
    %10 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %11 = arith.cmpi slt, %4, %10 : tensor<16xi32>
    %12 = tt.splat %arg1 : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
    %13 = tt.addptr %12, %4 : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
    %14 = tt.load %13, %11, %cst : tensor<16x!tt.ptr<i64>>
    %15 = arith.cmpi sge, %14, %cst_1 : tensor<16xi64>
    %16 = arith.extsi %arg4 : i32 to i64
    %17 = tt.splat %16 : i64 -> tensor<16xi64>
    %18 = arith.cmpi slt, %14, %17 : tensor<16xi64>
    %19 = arith.andi %15, %18 : tensor<16xi1>
    %20 = tt.expand_dims %9 {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
    %21 = tt.splat %arg5 : i32 -> tensor<1x512xi32>
    %22 = arith.cmpi slt, %20, %21 : tensor<1x512xi32>
    %23 = tt.expand_dims %19 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %24 = tt.broadcast %23 : tensor<16x1xi1> -> tensor<16x512xi1>
    %25 = tt.broadcast %22 : tensor<1x512xi1> -> tensor<16x512xi1>
    %26 = arith.andi %24, %25 : tensor<16x512xi1>
    %27 = tt.expand_dims %14 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
    %28 = arith.extsi %arg6 : i32 to i64
    %29 = tt.splat %28 : i64 -> tensor<16x1xi64>
    %30 = arith.muli %27, %29 : tensor<16x1xi64>
    %31 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %32 = tt.addptr %31, %30 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi64>
    %33 = tt.broadcast %32 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x512x!tt.ptr<f32>>
    %34 = tt.broadcast %20 : tensor<1x512xi32> -> tensor<16x512xi32>
    %35 = tt.addptr %33, %34 : tensor<16x512x!tt.ptr<f32>>, tensor<16x512xi32>
    %36 = tt.load %35, %26, %cst_0 : tensor<16x512x!tt.ptr<f32>>
    %37 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %38 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
    %39 = arith.cmpi slt, %37, %38 : tensor<16x1xi32>
    %40 = tt.broadcast %39 : tensor<16x1xi1> -> tensor<16x512xi1>
    %41 = arith.andi %40, %25 : tensor<16x512xi1>
    %42 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
    %43 = arith.muli %37, %42 : tensor<16x1xi32>
    %44 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %45 = tt.addptr %44, %43 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %46 = tt.broadcast %45 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x512x!tt.ptr<f32>>
    %47 = tt.addptr %46, %34 : tensor<16x512x!tt.ptr<f32>>, tensor<16x512xi32>
    tt.store %47, %36, %41 : tensor<16x512x!tt.ptr<f32>>
    tt.return
  }
}
