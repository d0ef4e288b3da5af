module {
  tt.func public @long_softmax_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: i32, %arg3: i32, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant 0.000000e+00 : f32
    %c16_i32 = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %cst_1 = arith.constant dense<0xFF800000> : tensor<16xf32>
    %cst_2 = arith.constant 0xFF800000 : f32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %arg3 : i32
    %2 = tt.addptr %arg0, %1 : !tt.ptr<f32>, i32
    %3 = arith.muli %0, %arg4 : i32
    %4 = tt.addptr %arg1, %3 : !tt.ptr<f32>, i32
    %5 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %6:2 = scf.for %arg5 = %c0_i32 to %arg2 step %c16_i32 iter_args(%arg6 = %cst_2, %arg7 = %cst) -> (f32, f32)  : i32 {
      %7 = tt.splat %arg5 : i32 -> tensor<16xi32>
      %8 = arith.addi %7, %5 : tensor<16xi32>
      %9 = tt.splat %arg2 : i32 -> tensor<16xi32>
      %10 = arith.cmpi slt, %8, %9 : tensor<16xi32>
      %11 = tt.addptr %2, %arg5 : !tt.ptr<f32>, i32
      %12 = tt.splat %11 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %13 = tt.addptr %12, %5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %14 = tt.load %13, %10, %cst_1 : tensor<16x!tt.ptr<f32>>
      %15 = "tt.reduce"(%14) <{axis = 0 : i32}> ({
      ^bb0(%arg8: f32, %arg9: f32):
        %25 = arith.maxnumf %arg8, %arg9 : f32
        tt.reduce.return %25 : f32
      }) : (tensor<16xf32>) -> f32
      %16 = arith.maxnumf %arg6, %15 : f32
      %17 = arith.subf %arg6, %16 : f32
      %18 = math.exp %17 : f32
      %19 = arith.mulf %arg7, %18 : f32
      %20 = tt.splat %16 : f32 -> tensor<16xf32>
      %21 = arith.subf %14, %20 : tensor<16xf32>
      %22 = math.exp %21 : tensor<16xf32>
      %23 = "tt.reduce"(%22) <{axis = 0 : i32}> ({
      ^bb0(%arg8: f32, %arg9: f32):
        %25 = arith.addf %arg8, %arg9 : f32
        tt.reduce.return %25 : f32
      }) : (tensor<16xf32>) -> f32
      %24 = arith.addf %19, %23 : f32
      scf.yield %16, %24 : f32, f32
    }
    scf.for %arg5 = %c0_i32 to %arg2 step %c16_i32  : i32 {
      %7 = tt.splat %arg5 : i32 -> tensor<16xi32>
      %8 = arith.addi %7, %5 : tensor<16xi32>
      %9 = tt.splat %arg2 : i32 -> tensor<16xi32>
      %10 = arith.cmpi slt, %8, %9 : tensor<16xi32>
      %11 = tt.addptr %2, %arg5 : !tt.ptr<f32>, i32
      %12 = tt.splat %11 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %13 = tt.addptr %12, %5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %14 = tt.load %13, %10, %cst_0 : tensor<16x!tt.ptr<f32>>
      %15 = tt.addptr %4, %arg5 : !tt.ptr<f32>, i32
      %16 = tt.splat %15 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %17 = tt.addptr %16, %5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %18 = tt.splat %6#0 : f32 -> tensor<16xf32>
      %19 = arith.subf %14, %18 : tensor<16xf32>
      %20 = math.exp %19 : tensor<16xf32>
      %21 = tt.splat %6#1 : f32 -> tensor<16xf32>
      %22 = arith.divf %20, %21 : tensor<16xf32>
      tt.store %17, %22, %10 : tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}
