module {
  tt.func public @attention_desc_kernel(%arg0: !tt.tensordesc<tensor<64x64xbf16>>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i64, %arg5: !tt.tensordesc<tensor<64x64xbf16>>, %arg6: i32, %arg7: i32, %arg8: i64, %arg9: i64, %arg10: !tt.tensordesc<tensor<64x64xbf16>>, %arg11: i32, %arg12: i32, %arg13: i64, %arg14: i64, %arg15: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg16: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg17: i32, %arg18: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_0 = arith.constant dense<0.693147182> : tensor<64xf32>
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<64x64xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c1_i32 = arith.constant 1 : i32
    %cst_4 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %1, %arg17 : i32
    %3 = arith.muli %0, %c64_i32 : i32
    %4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %5 = tt.splat %3 : i32 -> tensor<64xi32>
    %6 = arith.addi %5, %4 : tensor<64xi32>
    %7 = arith.addi %2, %3 : i32
    %8 = tt.descriptor_load %arg0[%7, %c0_i32] : !tt.tensordesc<tensor<64x64xbf16>> -> tensor<64x64xbf16>
    %9 = arith.addi %0, %c1_i32 : i32
    %10 = arith.muli %9, %c64_i32 : i32
    %11 = arith.minsi %10, %arg17 : i32
    %12:3 = scf.for %arg19 = %c0_i32 to %11 step %c64_i32 iter_args(%arg20 = %cst_3, %arg21 = %cst, %arg22 = %cst_4) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %38 = tt.splat %arg19 : i32 -> tensor<64xi32>
      %39 = arith.addi %38, %4 : tensor<64xi32>
      %40 = arith.addi %2, %arg19 : i32
      %41 = tt.descriptor_load %arg5[%40, %c0_i32] : !tt.tensordesc<tensor<64x64xbf16>> -> tensor<64x64xbf16>
      %42 = tt.trans %41 {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
      %43 = tt.dot %8, %42, %cst_3, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      %44 = tt.splat %arg18 : f32 -> tensor<64x64xf32>
      %45 = arith.mulf %43, %44 : tensor<64x64xf32>
      %46 = tt.expand_dims %39 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %47 = tt.splat %arg17 : i32 -> tensor<1x64xi32>
      %48 = arith.cmpi slt, %46, %47 : tensor<1x64xi32>
      %49 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %50 = tt.broadcast %49 : tensor<64x1xi32> -> tensor<64x64xi32>
      %51 = tt.broadcast %46 : tensor<1x64xi32> -> tensor<64x64xi32>
      %52 = arith.cmpi sge, %50, %51 : tensor<64x64xi32>
      %53 = tt.broadcast %48 : tensor<1x64xi1> -> tensor<64x64xi1>
      %54 = arith.andi %53, %52 : tensor<64x64xi1>
      %55 = arith.select %54, %45, %cst_2 : tensor<64x64xi1>, tensor<64x64xf32>
      %56 = "tt.reduce"(%55) <{axis = 1 : i32}> ({
      ^bb0(%arg23: f32, %arg24: f32):
        %73 = arith.maxnumf %arg23, %arg24 : f32
        tt.reduce.return %73 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %57 = arith.maxnumf %arg22, %56 : tensor<64xf32>
      %58 = tt.expand_dims %57 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %59 = tt.broadcast %58 : tensor<64x1xf32> -> tensor<64x64xf32>
      %60 = arith.subf %55, %59 : tensor<64x64xf32>
      %61 = math.exp2 %60 : tensor<64x64xf32>
      %62 = arith.subf %arg22, %57 : tensor<64xf32>
      %63 = math.exp2 %62 : tensor<64xf32>
      %64 = arith.mulf %arg21, %63 : tensor<64xf32>
      %65 = "tt.reduce"(%61) <{axis = 1 : i32}> ({
      ^bb0(%arg23: f32, %arg24: f32):
        %73 = arith.addf %arg23, %arg24 : f32
        tt.reduce.return %73 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %66 = arith.addf %64, %65 : tensor<64xf32>
      %67 = tt.descriptor_load %arg10[%40, %c0_i32] : !tt.tensordesc<tensor<64x64xbf16>> -> tensor<64x64xbf16>
      %68 = arith.truncf %61 : tensor<64x64xf32> to tensor<64x64xbf16>
      %69 = tt.expand_dims %63 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %70 = tt.broadcast %69 : tensor<64x1xf32> -> tensor<64x64xf32>
      %71 = arith.mulf %arg20, %70 : tensor<64x64xf32>
      %72 = tt.dot %68, %67, %71, inputPrecision = tf32 : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %72, %66, %57 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %13 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %14 = tt.splat %2 : i32 -> tensor<64x1xi32>
    %15 = arith.addi %14, %13 : tensor<64x1xi32>
    %16 = arith.muli %15, %cst_1 : tensor<64x1xi32>
    %17 = tt.splat %arg15 : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %18 = tt.addptr %17, %16 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %19 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %20 = tt.broadcast %18 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
    %21 = tt.broadcast %19 : tensor<1x64xi32> -> tensor<64x64xi32>
    %22 = tt.addptr %20, %21 : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %23 = tt.splat %arg17 : i32 -> tensor<64x1xi32>
    %24 = arith.cmpi slt, %13, %23 : tensor<64x1xi32>
    %25 = tt.expand_dims %12#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %26 = tt.broadcast %25 : tensor<64x1xf32> -> tensor<64x64xf32>
    %27 = arith.divf %12#0, %26 : tensor<64x64xf32>
    %28 = arith.truncf %27 : tensor<64x64xf32> to tensor<64x64xbf16>
    %29 = tt.broadcast %24 : tensor<64x1xi1> -> tensor<64x64xi1>
    tt.store %22, %28, %29 : tensor<64x64x!tt.ptr<bf16>>
    %30 = tt.splat %arg17 : i32 -> tensor<64xi32>
    %31 = arith.cmpi slt, %6, %30 : tensor<64xi32>
    %32 = tt.addptr %arg16, %2 : !tt.ptr<f32>, i32
    %33 = tt.splat %32 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %34 = tt.addptr %33, %6 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %35 = math.log2 %12#1 : tensor<64xf32>
    %36 = arith.addf %12#2, %35 : tensor<64xf32>
    %37 = arith.mulf %36, %cst_0 : tensor<64xf32>
    tt.store %34, %37, %31 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
