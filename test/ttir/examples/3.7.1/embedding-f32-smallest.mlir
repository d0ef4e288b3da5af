module {
  tt.func public @embedding_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<16xi64>
    %cst_0 = arith.constant dense<-1> : tensor<16xi64>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c16_i32 : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %1 : i32 -> tensor<16xi32>
    %4 = arith.addi %3, %2 : tensor<16xi32>
    %5 = tt.get_program_id y : i32
    %6 = arith.muli %5, %c16_i32 : i32
    %7 = tt.splat %6 : i32 -> tensor<16xi32>
    %8 = arith.addi %7, %2 : tensor<16xi32>
    %9 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %10 = arith.cmpi slt, %4, %9 : tensor<16xi32>
    %11 = tt.splat %arg1 : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
    %12 = tt.addptr %11, %4 : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
    %13 = tt.load %12, %10, %cst_0 : tensor<16x!tt.ptr<i64>>
    %14 = arith.cmpi sge, %13, %cst : tensor<16xi64>
    %15 = arith.extsi %arg4 : i32 to i64
    %16 = tt.splat %15 : i64 -> tensor<16xi64>
    %17 = arith.cmpi slt, %13, %16 : tensor<16xi64>
    %18 = arith.andi %14, %17 : tensor<16xi1>
    %19 = tt.expand_dims %8 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %20 = tt.splat %arg5 : i32 -> tensor<1x16xi32>
    %21 = arith.cmpi slt, %19, %20 : tensor<1x16xi32>
    %22 = tt.expand_dims %18 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %23 = tt.broadcast %22 : tensor<16x1xi1> -> tensor<16x16xi1>
    %24 = tt.broadcast %21 : tensor<1x16xi1> -> tensor<16x16xi1>
    %25 = arith.andi %23, %24 : tensor<16x16xi1>
    %26 = tt.expand_dims %13 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
    %27 = arith.extsi %arg6 : i32 to i64
    %28 = tt.splat %27 : i64 -> tensor<16x1xi64>
    %29 = arith.muli %26, %28 : tensor<16x1xi64>
    %30 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %31 = tt.addptr %30, %29 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi64>
    %32 = tt.broadcast %31 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %33 = tt.broadcast %19 : tensor<1x16xi32> -> tensor<16x16xi32>
    %34 = tt.addptr %32, %33 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %35 = tt.load %34, %25, %cst_1 : tensor<16x16x!tt.ptr<f32>>
    %36 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %37 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
    %38 = arith.cmpi slt, %36, %37 : tensor<16x1xi32>
    %39 = tt.broadcast %38 : tensor<16x1xi1> -> tensor<16x16xi1>
    %40 = arith.andi %39, %24 : tensor<16x16xi1>
    %41 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
    %42 = arith.muli %36, %41 : tensor<16x1xi32>
    %43 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %44 = tt.addptr %43, %42 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %45 = tt.broadcast %44 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %46 = tt.addptr %45, %33 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %46, %35, %40 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
