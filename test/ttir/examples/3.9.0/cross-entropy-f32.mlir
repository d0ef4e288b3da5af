module {
  tt.func public @cross_entropy_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32) attributes {noinline = false} {
    %c4096_i32 = arith.constant 4096 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<4096xf32>
    %cst_0 = arith.constant dense<1.000000e+00> : tensor<4096xf32>
    %cst_1 = arith.constant dense<0xFF800000> : tensor<4096xf32>
    %cst_2 = arith.constant 0xFF800000 : f32
    %cst_3 = arith.constant 0.000000e+00 : f32
    %0 = tt.get_program_id x : i32
    %1 = arith.extsi %0 : i32 to i64
    %2 = tt.addptr %arg1, %1 : !tt.ptr<i64>, i64
    %3 = tt.load %2 : !tt.ptr<i64>
    %4 = arith.extsi %arg4 : i32 to i64
    %5 = arith.muli %1, %4 : i64
    %6 = tt.addptr %arg0, %5 : !tt.ptr<f32>, i64
    %7 = arith.extsi %arg5 : i32 to i64
    %8 = arith.muli %1, %7 : i64
    %9 = tt.addptr %arg3, %8 : !tt.ptr<f32>, i64
    %10 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %11 = arith.extsi %arg6 : i32 to i64
    %12 = arith.cmpi eq, %3, %11 : i64
    cf.cond_br %12, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %13 = tt.addptr %arg2, %1 : !tt.ptr<f32>, i64
    tt.store %13, %cst_3 : !tt.ptr<f32>
    scf.for %arg7 = %c0_i32 to %arg5 step %c4096_i32  : i32 {
      %22 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %23 = arith.addi %22, %10 : tensor<4096xi32>
      %24 = tt.splat %arg5 : i32 -> tensor<4096xi32>
      %25 = arith.cmpi slt, %23, %24 : tensor<4096xi32>
      %26 = tt.addptr %9, %arg7 : !tt.ptr<f32>, i32
      %27 = tt.splat %26 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %28 = tt.addptr %27, %10 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      tt.store %28, %cst, %25 : tensor<4096x!tt.ptr<f32>>
    }
    tt.return
  ^bb2:  // pred: ^bb0
    %14:2 = scf.for %arg7 = %c0_i32 to %arg5 step %c4096_i32 iter_args(%arg8 = %cst_2, %arg9 = %cst_3) -> (f32, f32)  : i32 {
      %22 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %23 = arith.addi %22, %10 : tensor<4096xi32>
      %24 = tt.splat %arg5 : i32 -> tensor<4096xi32>
      %25 = arith.cmpi slt, %23, %24 : tensor<4096xi32>
      %26 = tt.addptr %6, %arg7 : !tt.ptr<f32>, i32
      %27 = tt.splat %26 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %28 = tt.addptr %27, %10 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %29 = tt.load %28, %25, %cst_1 : tensor<4096x!tt.ptr<f32>>
      %30 = "tt.reduce"(%29) <{axis = 0 : i32}> ({
      ^bb0(%arg10: f32, %arg11: f32):
        %40 = arith.maxnumf %arg10, %arg11 : f32
        tt.reduce.return %40 : f32
      }) : (tensor<4096xf32>) -> f32
      %31 = arith.maxnumf %arg8, %30 : f32
      %32 = arith.subf %arg8, %31 : f32
      %33 = math.exp %32 : f32
      %34 = arith.mulf %arg9, %33 : f32
      %35 = tt.splat %31 : f32 -> tensor<4096xf32>
      %36 = arith.subf %29, %35 : tensor<4096xf32>
      %37 = math.exp %36 : tensor<4096xf32>
      %38 = "tt.reduce"(%37) <{axis = 0 : i32}> ({
      ^bb0(%arg10: f32, %arg11: f32):
        %40 = arith.addf %arg10, %arg11 : f32
        tt.reduce.return %40 : f32
      }) : (tensor<4096xf32>) -> f32
      %39 = arith.addf %34, %38 : f32
      scf.yield %31, %39 : f32, f32
    }
    %15 = arith.addi %5, %3 : i64
    %16 = tt.addptr %arg0, %15 : !tt.ptr<f32>, i64
    %17 = tt.load %16 : !tt.ptr<f32>
    %18 = tt.addptr %arg2, %1 : !tt.ptr<f32>, i64
    %19 = math.log %14#1 : f32
    %20 = arith.addf %19, %14#0 : f32
    %21 = arith.subf %20, %17 : f32
    tt.store %18, %21 : !tt.ptr<f32>
    scf.for %arg7 = %c0_i32 to %arg5 step %c4096_i32  : i32 {
      %22 = tt.splat %arg7 : i32 -> tensor<4096xi32>
      %23 = arith.addi %22, %10 : tensor<4096xi32>
      %24 = tt.splat %arg5 : i32 -> tensor<4096xi32>
      %25 = arith.cmpi slt, %23, %24 : tensor<4096xi32>
      %26 = tt.addptr %6, %arg7 : !tt.ptr<f32>, i32
      %27 = tt.splat %26 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %28 = tt.addptr %27, %10 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %29 = tt.load %28, %25, %cst_1 : tensor<4096x!tt.ptr<f32>>
      %30 = tt.splat %14#0 : f32 -> tensor<4096xf32>
      %31 = arith.subf %29, %30 : tensor<4096xf32>
      %32 = math.exp %31 : tensor<4096xf32>
      %33 = tt.splat %14#1 : f32 -> tensor<4096xf32>
      %34 = arith.divf %32, %33 : tensor<4096xf32>
      %35 = arith.extsi %23 : tensor<4096xi32> to tensor<4096xi64>
      %36 = tt.splat %3 : i64 -> tensor<4096xi64>
      %37 = arith.cmpi eq, %35, %36 : tensor<4096xi64>
      %38 = arith.select %37, %cst_0, %cst : tensor<4096xi1>, tensor<4096xf32>
      %39 = arith.subf %34, %38 : tensor<4096xf32>
      %40 = tt.addptr %9, %arg7 : !tt.ptr<f32>, i32
      %41 = tt.splat %40 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %42 = tt.addptr %41, %10 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      tt.store %42, %39, %25 : tensor<4096x!tt.ptr<f32>>
    }
    tt.return
  }
}
