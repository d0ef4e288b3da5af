module {
  tt.func public @embedding_kernel(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x1024xbf16>
    %cst_0 = arith.constant dense<0> : tensor<16xi32>
    %cst_1 = arith.constant dense<-1> : tensor<16xi32>
    %c1024_i32 = arith.constant 1024 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c16_i32 : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %1 : i32 -> tensor<16xi32>
    %4 = arith.addi %3, %2 : tensor<16xi32>
    %5 = tt.get_program_id y : i32
    %6 = arith.muli %5, %c1024_i32 : i32
    %7 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %8 = tt.splat %6 : i32 -> tensor<1024xi32>
    %9 = arith.addi %8, %7 : tensor<1024xi32>
    %10 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %11 = arith.cmpi slt, %4, %10 : tensor<16xi32>
    %12 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %13 = tt.addptr %12, %4 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %14 = tt.load %13, %11, %cst_1 : tensor<16x!tt.ptr<i32>>
    %15 = arith.cmpi sge, %14, %cst_0 : tensor<16xi32>
    %16 = tt.splat %arg4 : i32 -> tensor<16xi32>
    %17 = arith.cmpi slt, %14, %16 : tensor<16xi32>
    %18 = arith.andi %15, %17 : tensor<16xi1>
    %19 = tt.expand_dims %9 {axis = 0 : i32} : tensor<1024xi32> -> tensor<1x1024xi32>
    %20 = tt.splat %arg5 : i32 -> tensor<1x1024xi32>
    %21 = arith.cmpi slt, %19, %20 : tensor<1x1024xi32>
    %22 = tt.expand_dims %18 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %23 = tt.broadcast %22 : tensor<16x1xi1> -> tensor<16x1024xi1>
    %24 = tt.broadcast %21 : tensor<1x1024xi1> -> tensor<16x1024xi1>
    %25 = arith.andi %23, %24 : tensor<16x1024xi1>
    %26 = tt.expand_dims %14 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %27 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %28 = arith.muli %26, %27 : tensor<16x1xi32>
    %29 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %30 = tt.addptr %29, %28 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %31 = tt.broadcast %30 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x1024x!tt.ptr<bf16>>
    %32 = tt.broadcast %19 : tensor<1x1024xi32> -> tensor<16x1024xi32>
    %33 = tt.addptr %31, %32 : tensor<16x1024x!tt.ptr<bf16>>, tensor<16x1024xi32>
    %34 = tt.load %33, %25, %cst : tensor<16x1024x!tt.ptr<bf16>>
    %35 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %36 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
    %37 = arith.cmpi slt, %35, %36 : tensor<16x1xi32>
    %38 = tt.broadcast %37 : tensor<16x1xi1> -> tensor<16x1024xi1>
    %39 = arith.andi %38, %24 : tensor<16x1024xi1>
    %40 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
    %41 = arith.muli %35, %40 : tensor<16x1xi32>
    %42 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %43 = tt.addptr %42, %41 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %44 = tt.broadcast %43 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x1024x!tt.ptr<bf16>>
    %45 = tt.addptr %44, %32 : tensor<16x1024x!tt.ptr<bf16>>, tensor<16x1024xi32>
    tt.store %45, %34, %39 : tensor<16x1024x!tt.ptr<bf16>>
    tt.return
  }
}
