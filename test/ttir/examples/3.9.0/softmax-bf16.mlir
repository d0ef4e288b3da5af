module {
  tt.func public @row_softmax_kernel(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF80> : tensor<1024xbf16>
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %1 = tt.splat %arg3 : i32 -> tensor<1024xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<1024xi32>
    %3 = tt.get_program_id x : i32
    %4 = tt.get_num_programs x : i32
    scf.for %arg6 = %3 to %arg2 step %4  : i32 {
      %5 = arith.muli %arg6, %arg4 : i32
      %6 = tt.addptr %arg0, %5 : !tt.ptr<bf16>, i32
      %7 = tt.splat %6 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %8 = tt.addptr %7, %0 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      %9 = tt.load %8, %2, %cst : tensor<1024x!tt.ptr<bf16>>
      %10 = arith.extf %9 : tensor<1024xbf16> to tensor<1024xf32>
      %11 = "tt.reduce"(%10) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %23 = arith.maxnumf %arg7, %arg8 : f32
        tt.reduce.return %23 : f32
      }) : (tensor<1024xf32>) -> f32
      %12 = tt.splat %11 : f32 -> tensor<1024xf32>
      %13 = arith.subf %10, %12 : tensor<1024xf32>
      %14 = math.exp %13 : tensor<1024xf32>
      %15 = "tt.reduce"(%14) <{axis = 0 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %23 = arith.addf %arg7, %arg8 : f32
        tt.reduce.return %23 : f32
      }) : (tensor<1024xf32>) -> f32
      %16 = tt.splat %15 : f32 -> tensor<1024xf32>
      %17 = arith.divf %14, %16 : tensor<1024xf32>
      %18 = arith.muli %arg6, %arg5 : i32
      %19 = tt.addptr %arg1, %18 : !tt.ptr<bf16>, i32
      %20 = tt.splat %19 : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
      %21 = tt.addptr %20, %0 : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
      %22 = arith.truncf %17 : tensor<1024xf32> to tensor<1024xbf16>
      tt.store %21, %22, %2 : tensor<1024x!tt.ptr<bf16>>
    }
    tt.return
  }
}
