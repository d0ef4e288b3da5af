module {
  tt.func public @attention_desc_kernel(%arg0: !tt.tensordesc<16x16xbf16>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i64, %arg5: !tt.tensordesc<16x16xbf16>, %arg6: i32, %arg7: i32, %arg8: i64, %arg9: i64, %arg10: !tt.tensordesc<16x16xbf16>, %arg11: i32, %arg12: i32, %arg13: i64, %arg14: i64, %arg15: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg16: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg17: i32, %arg18: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %cst_0 = arith.constant dense<0.693147182> : tensor<16xf32>
    %cst_1 = arith.constant dense<16> : tensor<16x1xi32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<16x16xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %cst_4 = arith.constant dense<0xFF800000> : tensor<16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %1, %arg17 : i32
    %3 = arith.muli %0, %c16_i32 : i32
    %4 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %5 = tt.splat %3 : i32 -> tensor<16xi32>
    %6 = arith.addi %5, %4 : tensor<16xi32>
    %7 = arith.addi %2, %3 : i32
    %8 = tt.descriptor_load %arg0[%7, %c0_i32] : !tt.tensordesc<16x16xbf16> -> tensor<16x16xbf16>
    %9:3 = scf.for %arg19 = %c0_i32 to %arg17 step %c16_i32 iter_args(%arg20 = %cst_3, %arg21 = %cst, %arg22 = %cst_4) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
      %35 = tt.splat %arg19 : i32 -> tensor<16xi32>
      %36 = arith.addi %35, %4 : tensor<16xi32>
      %37 = arith.addi %2, %arg19 : i32
      %38 = tt.descriptor_load %arg5[%37, %c0_i32] : !tt.tensordesc<16x16xbf16> -> tensor<16x16xbf16>
      %39 = tt.trans %38 {order = array<i32: 1, 0>} : tensor<16x16xbf16> -> tensor<16x16xbf16>
      %40 = tt.dot %8, %39, %cst_3, inputPrecision = tf32 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      %41 = tt.splat %arg18 : f32 -> tensor<16x16xf32>
      %42 = arith.mulf %40, %41 : tensor<16x16xf32>
      %43 = tt.expand_dims %36 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %44 = tt.splat %arg17 : i32 -> tensor<1x16xi32>
      %45 = arith.cmpi slt, %43, %44 : tensor<1x16xi32>
      %46 = tt.broadcast %45 : tensor<1x16xi1> -> tensor<16x16xi1>
      %47 = arith.select %46, %42, %cst_2 : tensor<16x16xi1>, tensor<16x16xf32>
      %48 = "tt.reduce"(%47) <{axis = 1 : i32}> ({
      ^bb0(%arg23: f32, %arg24: f32):
        %65 = arith.maxnumf %arg23, %arg24 : f32
        tt.reduce.return %65 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %49 = arith.maxnumf %arg22, %48 : tensor<16xf32>
      %50 = tt.expand_dims %49 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %51 = tt.broadcast %50 : tensor<16x1xf32> -> tensor<16x16xf32>
      %52 = arith.subf %47, %51 : tensor<16x16xf32>
      %53 = math.exp2 %52 : tensor<16x16xf32>
      %54 = arith.subf %arg22, %49 : tensor<16xf32>
      %55 = math.exp2 %54 : tensor<16xf32>
      %56 = arith.mulf %arg21, %55 : tensor<16xf32>
      %57 = "tt.reduce"(%53) <{axis = 1 : i32}> ({
      ^bb0(%arg23: f32, %arg24: f32):
        %65 = arith.addf %arg23, %arg24 : f32
        tt.reduce.return %65 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %58 = arith.addf %56, %57 : tensor<16xf32>
      %59 = tt.descriptor_load %arg10[%37, %c0_i32] : !tt.tensordesc<16x16xbf16> -> tensor<16x16xbf16>
      %60 = arith.truncf %53 : tensor<16x16xf32> to tensor<16x16xbf16>
      %61 = tt.expand_dims %55 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %62 = tt.broadcast %61 : tensor<16x1xf32> -> tensor<16x16xf32>
      %63 = arith.mulf %arg20, %62 : tensor<16x16xf32>
      %64 = tt.dot %60, %59, %63, inputPrecision = tf32 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      scf.yield %64, %58, %49 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %10 = tt.expand_dims %6 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %11 = tt.splat %2 : i32 -> tensor<16x1xi32>
    %12 = arith.addi %11, %10 : tensor<16x1xi32>
    %13 = arith.muli %12, %cst_1 : tensor<16x1xi32>
    %14 = tt.splat %arg15 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %13 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %16 = tt.expand_dims %4 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %17 = tt.broadcast %15 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x16x!tt.ptr<bf16>>
    %18 = tt.broadcast %16 : tensor<1x16xi32> -> tensor<16x16xi32>
    %19 = tt.addptr %17, %18 : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    %20 = tt.splat %arg17 : i32 -> tensor<16x1xi32>
    %21 = arith.cmpi slt, %10, %20 : tensor<16x1xi32>
    %22 = tt.expand_dims %9#1 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %23 = tt.broadcast %22 : tensor<16x1xf32> -> tensor<16x16xf32>
    %24 = arith.divf %9#0, %23 : tensor<16x16xf32>
    %25 = arith.truncf %24 : tensor<16x16xf32> to tensor<16x16xbf16>
    %26 = tt.broadcast %21 : tensor<16x1xi1> -> tensor<16x16xi1>
    tt.store %19, %25, %26 : tensor<16x16x!tt.ptr<bf16>>
    %27 = tt.splat %arg17 : i32 -> tensor<16xi32>
    %28 = arith.cmpi slt, %6, %27 : tensor<16xi32>
    %29 = tt.addptr %arg16, %2 : !tt.ptr<f32>, i32
    %30 = tt.splat %29 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %31 = tt.addptr %30, %6 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %32 = math.log2 %9#1 : tensor<16xf32>
    %33 = arith.addf %9#2, %32 : tensor<16xf32>
    %34 = arith.mulf %33, %cst_0 : tensor<16xf32>
    tt.store %31, %34, %28 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
