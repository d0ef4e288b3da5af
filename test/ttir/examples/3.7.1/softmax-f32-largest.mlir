module {
  tt.func public @row_softmax_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: i32, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<4096xf32>
    %0 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %1 = tt.splat %arg3 : i32 -> tensor<4096xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<4096xi32>
    %3 = tt.get_program_id x : i32
    %4 = tt.get_num_programs x : i32
    scf.for %arg6 = %3 to %arg2 step %4  : i32 {
      %5 = arith.muli %arg6, %arg4 : i32
      %6 = tt.addptr %arg0, %5 : !tt.ptr<f32>, i32
      %7 = tt.splat %6 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %8 = tt.addptr %7, %0 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      %9 = tt.load %8, %2, %cst : tensor<4096x!tt.ptr<f32>>
      %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %21 = arith.maxnumf %arg7, %arg8 : f32
        tt.reduce.return %21 : f32
      }) : (tensor<4096xf32>) -> f32
      %11 = tt.splat %10 : f32 -> tensor<4096xf32>
      %12 = arith.subf %9, %11 : tensor<4096xf32>
      %13 = math.exp %12 : tensor<4096xf32>
      %14 = "tt.reduce"(%13) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %21 = arith.addf %arg7, %arg8 : f32
        tt.reduce.return %21 : f32
      }) : (tensor<4096xf32>) -> f32
      %15 = tt.splat %14 : f32 -> tensor<4096xf32>
      %16 = arith.divf %13, %15 : tensor<4096xf32>
      %17 = arith.muli %arg6, %arg5 : i32
      %18 = tt.addptr %arg1, %17 : !tt.ptr<f32>, i32
      %19 = tt.splat %18 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
      %20 = tt.addptr %19, %0 : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
      tt.store %20, %16, %2 : tensor<4096x!tt.ptr<f32>>
    }
    tt.return
  }
}
