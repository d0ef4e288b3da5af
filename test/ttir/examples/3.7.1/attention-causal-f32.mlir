module {
  tt.func public @attention_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}, %arg10: i32 {tt.divisibility = 16 : i32}, %arg11: i32 {tt.divisibility = 16 : i32}, %arg12: i32 {tt.divisibility = 16 : i32}, %arg13: i32 {tt.divisibility = 16 : i32}, %arg14: i32 {tt.divisibility = 16 : i32}, %arg15: i32 {tt.divisibility = 16 : i32}, %arg16: i32 {tt.divisibility = 16 : i32}, %arg17: i32, %arg18: i32, %arg19: i32, %arg20: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.693147182> : tensor<64xf32>
    %c1_i32 = arith.constant 1 : i32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.divsi %1, %arg17 : i32
    %3 = arith.extsi %2 : i32 to i64
    %4 = arith.remsi %1, %arg17 : i32
    %5 = arith.extsi %4 : i32 to i64
    %6 = arith.muli %0, %c64_i32 : i32
    %7 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %8 = tt.splat %6 : i32 -> tensor<64xi32>
    %9 = arith.addi %8, %7 : tensor<64xi32>
    %10 = arith.extsi %arg5 : i32 to i64
    %11 = arith.muli %3, %10 : i64
    %12 = arith.extsi %arg6 : i32 to i64
    %13 = arith.muli %5, %12 : i64
    %14 = arith.addi %11, %13 : i64
    %15 = tt.addptr %arg0, %14 : !tt.ptr<f32>, i64
    %16 = tt.expand_dims %9 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %17 = tt.splat %arg7 : i32 -> tensor<64x1xi32>
    %18 = arith.muli %16, %17 : tensor<64x1xi32>
    %19 = tt.splat %15 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %20 = tt.addptr %19, %18 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %21 = tt.expand_dims %7 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %22 = tt.broadcast %20 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %23 = tt.broadcast %21 : tensor<1x64xi32> -> tensor<64x64xi32>
    %24 = tt.addptr %22, %23 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %25 = arith.extsi %arg8 : i32 to i64
    %26 = arith.muli %3, %25 : i64
    %27 = arith.extsi %arg9 : i32 to i64
    %28 = arith.muli %5, %27 : i64
    %29 = arith.addi %26, %28 : i64
    %30 = tt.addptr %arg1, %29 : !tt.ptr<f32>, i64
    %31 = tt.splat %arg10 : i32 -> tensor<1x64xi32>
    %32 = arith.muli %21, %31 : tensor<1x64xi32>
    %33 = tt.splat %30 : !tt.ptr<f32> -> tensor<1x64x!tt.ptr<f32>>
    %34 = tt.addptr %33, %32 : tensor<1x64x!tt.ptr<f32>>, tensor<1x64xi32>
    %35 = tt.expand_dims %7 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %36 = tt.broadcast %34 : tensor<1x64x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %37 = tt.broadcast %35 : tensor<64x1xi32> -> tensor<64x64xi32>
    %38 = tt.addptr %36, %37 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %39 = arith.extsi %arg11 : i32 to i64
    %40 = arith.muli %3, %39 : i64
    %41 = arith.extsi %arg12 : i32 to i64
    %42 = arith.muli %5, %41 : i64
    %43 = arith.addi %40, %42 : i64
    %44 = tt.addptr %arg2, %43 : !tt.ptr<f32>, i64
    %45 = tt.splat %arg13 : i32 -> tensor<64x1xi32>
    %46 = arith.muli %35, %45 : tensor<64x1xi32>
    %47 = tt.splat %44 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %48 = tt.addptr %47, %46 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %49 = tt.broadcast %48 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %50 = tt.addptr %49, %23 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %51 = tt.splat %arg18 : i32 -> tensor<64x1xi32>
    %52 = arith.cmpi slt, %16, %51 : tensor<64x1xi32>
    %53 = tt.broadcast %52 : tensor<64x1xi1> -> tensor<64x64xi1>
    %54 = tt.load %24, %53, %cst_3 : tensor<64x64x!tt.ptr<f32>>
    %55 = arith.divsi %arg19, %c64_i32 : i32
    %56 = arith.muli %55, %c64_i32 : i32
    %57 = arith.divsi %6, %c64_i32 : i32
    %58 = arith.muli %57, %c64_i32 : i32
    %59 = arith.minsi %58, %56 : i32
    %60 = arith.addi %0, %c1_i32 : i32
    %61 = arith.muli %60, %c64_i32 : i32
    %62 = arith.minsi %61, %arg19 : i32
    %63:3 = scf.for %arg21 = %c0_i32 to %59 step %c64_i32 iter_args(%arg22 = %cst_3, %arg23 = %cst_0, %arg24 = %cst_2) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %89 = arith.muli %arg21, %arg10 : i32
      %90 = tt.splat %89 : i32 -> tensor<64x64xi32>
      %91 = tt.addptr %38, %90 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %92 = tt.load %91 : tensor<64x64x!tt.ptr<f32>>
      %93 = arith.muli %arg21, %arg13 : i32
      %94 = tt.splat %93 : i32 -> tensor<64x64xi32>
      %95 = tt.addptr %50, %94 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %96 = tt.load %95 : tensor<64x64x!tt.ptr<f32>>
      %97 = tt.dot %54, %92, %cst_3, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      %98 = tt.splat %arg20 : f32 -> tensor<64x64xf32>
      %99 = arith.mulf %97, %98 : tensor<64x64xf32>
      %100 = "tt.reduce"(%99) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %115 = arith.maxnumf %arg25, %arg26 : f32
        tt.reduce.return %115 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %101 = arith.maxnumf %arg24, %100 : tensor<64xf32>
      %102 = tt.expand_dims %101 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %103 = tt.broadcast %102 : tensor<64x1xf32> -> tensor<64x64xf32>
      %104 = arith.subf %99, %103 : tensor<64x64xf32>
      %105 = math.exp2 %104 : tensor<64x64xf32>
      %106 = arith.subf %arg24, %101 : tensor<64xf32>
      %107 = math.exp2 %106 : tensor<64xf32>
      %108 = arith.mulf %arg23, %107 : tensor<64xf32>
      %109 = "tt.reduce"(%105) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %115 = arith.addf %arg25, %arg26 : f32
        tt.reduce.return %115 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %110 = arith.addf %108, %109 : tensor<64xf32>
      %111 = tt.expand_dims %107 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %112 = tt.broadcast %111 : tensor<64x1xf32> -> tensor<64x64xf32>
      %113 = arith.mulf %arg22, %112 : tensor<64x64xf32>
      %114 = tt.dot %105, %96, %113, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %114, %110, %101 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %64:3 = scf.for %arg21 = %59 to %62 step %c64_i32 iter_args(%arg22 = %63#0, %arg23 = %63#1, %arg24 = %63#2) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %89 = tt.splat %arg21 : i32 -> tensor<64xi32>
      %90 = arith.addi %89, %7 : tensor<64xi32>
      %91 = tt.expand_dims %90 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %92 = tt.splat %arg19 : i32 -> tensor<1x64xi32>
      %93 = arith.cmpi slt, %91, %92 : tensor<1x64xi32>
      %94 = arith.muli %arg21, %arg10 : i32
      %95 = tt.splat %94 : i32 -> tensor<64x64xi32>
      %96 = tt.addptr %38, %95 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %97 = tt.broadcast %93 : tensor<1x64xi1> -> tensor<64x64xi1>
      %98 = tt.load %96, %97, %cst_3 : tensor<64x64x!tt.ptr<f32>>
      %99 = tt.expand_dims %90 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %100 = tt.splat %arg19 : i32 -> tensor<64x1xi32>
      %101 = arith.cmpi slt, %99, %100 : tensor<64x1xi32>
      %102 = arith.muli %arg21, %arg13 : i32
      %103 = tt.splat %102 : i32 -> tensor<64x64xi32>
      %104 = tt.addptr %50, %103 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %105 = tt.broadcast %101 : tensor<64x1xi1> -> tensor<64x64xi1>
      %106 = tt.load %104, %105, %cst_3 : tensor<64x64x!tt.ptr<f32>>
      %107 = tt.dot %54, %98, %cst_3, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      %108 = tt.splat %arg20 : f32 -> tensor<64x64xf32>
      %109 = arith.mulf %107, %108 : tensor<64x64xf32>
      %110 = arith.select %97, %109, %cst : tensor<64x64xi1>, tensor<64x64xf32>
      %111 = tt.broadcast %16 : tensor<64x1xi32> -> tensor<64x64xi32>
      %112 = tt.broadcast %91 : tensor<1x64xi32> -> tensor<64x64xi32>
      %113 = arith.cmpi sge, %111, %112 : tensor<64x64xi32>
      %114 = arith.select %113, %110, %cst : tensor<64x64xi1>, tensor<64x64xf32>
      %115 = "tt.reduce"(%114) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %130 = arith.maxnumf %arg25, %arg26 : f32
        tt.reduce.return %130 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %116 = arith.maxnumf %arg24, %115 : tensor<64xf32>
      %117 = tt.expand_dims %116 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %118 = tt.broadcast %117 : tensor<64x1xf32> -> tensor<64x64xf32>
      %119 = arith.subf %114, %118 : tensor<64x64xf32>
      %120 = math.exp2 %119 : tensor<64x64xf32>
      %121 = arith.subf %arg24, %116 : tensor<64xf32>
      %122 = math.exp2 %121 : tensor<64xf32>
      %123 = arith.mulf %arg23, %122 : tensor<64xf32>
      %124 = "tt.reduce"(%120) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %130 = arith.addf %arg25, %arg26 : f32
        tt.reduce.return %130 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %125 = arith.addf %123, %124 : tensor<64xf32>
      %126 = tt.expand_dims %122 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %127 = tt.broadcast %126 : tensor<64x1xf32> -> tensor<64x64xf32>
      %128 = arith.mulf %arg22, %127 : tensor<64x64xf32>
      %129 = tt.dot %120, %106, %128, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %129, %125, %116 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %65 = tt.expand_dims %64#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %66 = tt.broadcast %65 : tensor<64x1xf32> -> tensor<64x64xf32>
    %67 = arith.divf %64#0, %66 : tensor<64x64xf32>
    %68 = arith.extsi %arg14 : i32 to i64
    %69 = arith.muli %3, %68 : i64
    %70 = arith.extsi %arg15 : i32 to i64
    %71 = arith.muli %5, %70 : i64
    %72 = arith.addi %69, %71 : i64
    %73 = tt.addptr %arg3, %72 : !tt.ptr<f32>, i64
    %74 = tt.splat %arg16 : i32 -> tensor<64x1xi32>
    %75 = arith.muli %16, %74 : tensor<64x1xi32>
    %76 = tt.splat %73 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %77 = tt.addptr %76, %75 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %78 = tt.broadcast %77 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %79 = tt.addptr %78, %23 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %79, %67, %53 : tensor<64x64x!tt.ptr<f32>>
    %80 = arith.muli %1, %arg18 : i32
    %81 = tt.addptr %arg4, %80 : !tt.ptr<f32>, i32
    %82 = tt.splat %81 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %83 = tt.addptr %82, %9 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %84 = tt.splat %arg18 : i32 -> tensor<64xi32>
    %85 = arith.cmpi slt, %9, %84 : tensor<64xi32>
    %86 = math.log2 %64#1 : tensor<64xf32>
    %87 = arith.addf %64#2, %86 : tensor<64xf32>
    %88 = arith.mulf %87, %cst_1 : tensor<64xf32>
    tt.store %83, %88, %85 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
