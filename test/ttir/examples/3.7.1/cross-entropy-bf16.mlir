module {
  tt.func public @cross_entropy_kernel(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg4: i32, %arg5: i32, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xbf16>
    %cst_0 = arith.constant dense<0xFF80> : tensor<1024xbf16>
    %c1024_i32 = arith.constant 1024 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1024xf32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<1024xf32>
    %cst_3 = arith.constant 0xFF800000 : f32
    %cst_4 = arith.constant 0.000000e+00 : f32
    %0 = tt.get_program_id x : i32
    %1 = arith.extsi %0 : i32 to i64
    %2 = tt.addptr %arg1, %1 : !tt.ptr<i64>, i64
    %3 = tt.load %2 : !tt.ptr<i64>
    %4 = arith.extsi %arg4 : i32 to i64
    %5 = arith.muli %1, %4 : i64
    %6 = tt.addptr %arg0, %5 : !tt.ptr<bf16>, i64
    %7 = arith.extsi %arg5 : i32 to i64
    %8 = arith.muli %1, %7 : i64
    %9 = tt.addptr %arg3, %8 : !tt.ptr<bf16>, i64
    %10 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %11 = arith.extsi %arg6 : i32 to i64
    %12 = arith.cmpi eq, %3, %11 : i64
    cf.cond_br %12, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %13 = tt.addptr %arg2, %1 : !tt.ptr<f32>, i64
    tt.store %13, %cst_4 : !tt.ptr<f32>
    scf.for %arg7 = %c0_i32 to %arg5 step %c1024_i32  : i32 {
      %23 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %24 = arith.addi %23, %10 : tensor<1024xi32>
      %25 = tt.splat %arg5 : i32 -> tensor<1024xi32>
      %26 = arith.cmpi slt, %24, %25 : tensor<1024xi32>
      %27 = tt.addptr %9, %arg7 : !tt.ptr<bf16>, i32
      %28 = tt.splat %27 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %29 = tt.addptr %28, %10 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      tt.store %29, %cst, %26 : tensor<1024x!tt.ptr<bf16>>
    }
    tt.return
  ^bb2:  // pred: ^bb0
    %14:2 = scf.for %arg7 = %c0_i32 to %arg5 step %c1024_i32 iter_args(%arg8 = %cst_3, %arg9 = %cst_4) -> (f32, f32)  : i32 {
      %23 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %24 = arith.addi %23, %10 : tensor<1024xi32>
      %25 = tt.splat %arg5 : i32 -> tensor<1024xi32>
      %26 = arith.cmpi slt, %24, %25 : tensor<1024xi32>
      %27 = tt.addptr %6, %arg7 : !tt.ptr<bf16>, i32
      %28 = tt.splat %27 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %29 = tt.addptr %28, %10 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      %30 = tt.load %29, %26, %cst_0 : tensor<1024x!tt.ptr<bf16>>
      %31 = arith.extf %30 : tensor<1024xbf16> to tensor<1024xf32>
      %32 = "tt.reduce"(%31) <{axis = 0 : i32}> ({
      ^bb0(%arg10: f32, %arg11: f32):
        %42 = arith.maxnumf %arg10, %arg11 : f32
        tt.reduce.return %42 : f32
      }) : (tensor<1024xf32>) -> f32
      %33 = arith.maxnumf %arg8, %32 : f32
      %34 = arith.subf %arg8, %33 : f32
      %35 = math.exp %34 : f32
      %36 = arith.mulf %arg9, %35 : f32
      %37 = tt.splat %33 : f32 -> tensor<1024xf32>
      %38 = arith.subf %31, %37 : tensor<1024xf32>
      %39 = math.exp %38 : tensor<1024xf32>
      %40 = "tt.reduce"(%39) <{axis = 0 : i32}> ({
      ^bb0(%arg10: f32, %arg11: f32):
        %42 = arith.addf %arg10, %arg11 : f32
        tt.reduce.return %42 : f32
      }) : (tensor<1024xf32>) -> f32
      %41 = arith.addf %36, %40 : f32
      scf.yield %33, %41 : f32, f32
    }
    %15 = arith.addi %5, %3 : i64
    %16 = tt.addptr %arg0, %15 : !tt.ptr<bf16>, i64
    %17 = tt.load %16 : !tt.ptr<bf16>
    %18 = arith.extf %17 : bf16 to f32
    %19 = tt.addptr %arg2, %1 : !tt.ptr<f32>, i64
    %20 = math.log %14#1 : f32
    %21 = arith.addf %20, %14#0 : f32
    %22 = arith.subf %21, %18 : f32
    tt.store %19, %22 : !tt.ptr<f32>
    scf.for %arg7 = %c0_i32 to %arg5 step %c1024_i32  : i32 {
      %23 = tt.splat %arg7 : i32 -> tensor<1024xi32>
      %24 = arith.addi %23, %10 : tensor<1024xi32>
      %25 = tt.splat %arg5 : i32 -> tensor<1024xi32>
      %26 = arith.cmpi slt, %24, %25 : tensor<1024xi32>
      %27 = tt.addptr %6, %arg7 : !tt.ptr<bf16>, i32
      %28 = tt.splat %27 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %29 = tt.addptr %28, %10 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      %30 = tt.load %29, %26, %cst_0 : tensor<1024x!tt.ptr<bf16>>
      %31 = arith.extf %30 : tensor<1024xbf16> to tensor<1024xf32>
      %32 = tt.splat %14#0 : f32 -> tensor<1024xf32>
      %33 = arith.subf %31, %32 : tensor<1024xf32>
      %34 = math.exp %33 : tensor<1024xf32>
      %35 = tt.splat %14#1 : f32 -> tensor<1024xf32>
      %36 = arith.divf %34, %35 : tensor<1024xf32>
      %37 = arith.extsi %24 : tensor<1024xi32> to tensor<1024xi64>
      %38 = tt.splat %3 : i64 -> tensor<1024xi64>
      %39 = arith.cmpi eq, %37, %38 : tensor<1024xi64>
      %40 = arith.select %39, %cst_2, %cst_1 : tensor<1024xi1>, tensor<1024xf32>
      %41 = arith.subf %36, %40 : tensor<1024xf32>
      %42 = tt.addptr %9, %arg7 : !tt.ptr<bf16>, i32
      %43 = tt.splat %42 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %44 = tt.addptr %43, %10 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      %45 = arith.truncf %41 : tensor<1024xf32> to tensor<1024xbf16>
      tt.store %44, %45, %26 : tensor<1024x!tt.ptr<bf16>>
    }
    tt.return
  }
}
