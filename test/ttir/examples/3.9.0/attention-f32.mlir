module {
  tt.func public @attention_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}, %arg10: i32 {tt.divisibility = 16 : i32}, %arg11: i32 {tt.divisibility = 16 : i32}, %arg12: i32 {tt.divisibility = 16 : i32}, %arg13: i32 {tt.divisibility = 16 : i32}, %arg14: i32 {tt.divisibility = 16 : i32}, %arg15: i32 {tt.divisibility = 16 : i32}, %arg16: i32 {tt.divisibility = 16 : i32}, %arg17: i32, %arg18: i32, %arg19: i32, %arg20: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.693147182> : tensor<64xf32>
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
    %57:3 = scf.for %arg21 = %c0_i32 to %56 step %c64_i32 iter_args(%arg22 = %cst_3, %arg23 = %cst_0, %arg24 = %cst_2) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %83 = arith.muli %arg21, %arg10 : i32
      %84 = tt.splat %83 : i32 -> tensor<64x64xi32>
      %85 = tt.addptr %38, %84 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %86 = tt.load %85 : tensor<64x64x!tt.ptr<f32>>
      %87 = arith.muli %arg21, %arg13 : i32
      %88 = tt.splat %87 : i32 -> tensor<64x64xi32>
      %89 = tt.addptr %50, %88 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %90 = tt.load %89 : tensor<64x64x!tt.ptr<f32>>
      %91 = tt.dot %54, %86, %cst_3, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      %92 = tt.splat %arg20 : f32 -> tensor<64x64xf32>
      %93 = arith.mulf %91, %92 : tensor<64x64xf32>
      %94 = "tt.reduce"(%93) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %109 = arith.maxnumf %arg25, %arg26 : f32
        tt.reduce.return %109 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %95 = arith.maxnumf %arg24, %94 : tensor<64xf32>
      %96 = tt.expand_dims %95 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %97 = tt.broadcast %96 : tensor<64x1xf32> -> tensor<64x64xf32>
      %98 = arith.subf %93, %97 : tensor<64x64xf32>
      %99 = math.exp2 %98 : tensor<64x64xf32>
      %100 = arith.subf %arg24, %95 : tensor<64xf32>
      %101 = math.exp2 %100 : tensor<64xf32>
      %102 = arith.mulf %arg23, %101 : tensor<64xf32>
      %103 = "tt.reduce"(%99) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %109 = arith.addf %arg25, %arg26 : f32
        tt.reduce.return %109 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %104 = arith.addf %102, %103 : tensor<64xf32>
      %105 = tt.expand_dims %101 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %106 = tt.broadcast %105 : tensor<64x1xf32> -> tensor<64x64xf32>
      %107 = arith.mulf %arg22, %106 : tensor<64x64xf32>
      %108 = tt.dot %99, %90, %107, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %108, %104, %95 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %58:3 = scf.for %arg21 = %56 to %arg19 step %c64_i32 iter_args(%arg22 = %57#0, %arg23 = %57#1, %arg24 = %57#2) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %83 = tt.splat %arg21 : i32 -> tensor<64xi32>
      %84 = arith.addi %83, %7 : tensor<64xi32>
      %85 = tt.expand_dims %84 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %86 = tt.splat %arg19 : i32 -> tensor<1x64xi32>
      %87 = arith.cmpi slt, %85, %86 : tensor<1x64xi32>
      %88 = arith.muli %arg21, %arg10 : i32
      %89 = tt.splat %88 : i32 -> tensor<64x64xi32>
      %90 = tt.addptr %38, %89 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %91 = tt.broadcast %87 : tensor<1x64xi1> -> tensor<64x64xi1>
      %92 = tt.load %90, %91, %cst_3 : tensor<64x64x!tt.ptr<f32>>
      %93 = tt.expand_dims %84 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %94 = tt.splat %arg19 : i32 -> tensor<64x1xi32>
      %95 = arith.cmpi slt, %93, %94 : tensor<64x1xi32>
      %96 = arith.muli %arg21, %arg13 : i32
      %97 = tt.splat %96 : i32 -> tensor<64x64xi32>
      %98 = tt.addptr %50, %97 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      %99 = tt.broadcast %95 : tensor<64x1xi1> -> tensor<64x64xi1>
      %100 = tt.load %98, %99, %cst_3 : tensor<64x64x!tt.ptr<f32>>
      %101 = tt.dot %54, %92, %cst_3, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      %102 = tt.splat %arg20 : f32 -> tensor<64x64xf32>
      %103 = arith.mulf %101, %102 : tensor<64x64xf32>
      %104 = arith.select %91, %103, %cst : tensor<64x64xi1>, tensor<64x64xf32>
      %105 = "tt.reduce"(%104) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %120 = arith.maxnumf %arg25, %arg26 : f32
        tt.reduce.return %120 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %106 = arith.maxnumf %arg24, %105 : tensor<64xf32>
      %107 = tt.expand_dims %106 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %108 = tt.broadcast %107 : tensor<64x1xf32> -> tensor<64x64xf32>
      %109 = arith.subf %104, %108 : tensor<64x64xf32>
      %110 = math.exp2 %109 : tensor<64x64xf32>
      %111 = arith.subf %arg24, %106 : tensor<64xf32>
      %112 = math.exp2 %111 : tensor<64xf32>
      %113 = arith.mulf %arg23, %112 : tensor<64xf32>
      %114 = "tt.reduce"(%110) <{axis = 1 : i32}> ({
      ^bb0(%arg25: f32, %arg26: f32):
        %120 = arith.addf %arg25, %arg26 : f32
        tt.reduce.return %120 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %115 = arith.addf %113, %114 : tensor<64xf32>
      %116 = tt.expand_dims %112 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %117 = tt.broadcast %116 : tensor<64x1xf32> -> tensor<64x64xf32>
      %118 = arith.mulf %arg22, %117 : tensor<64x64xf32>
      %119 = tt.dot %110, %100, %118, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %119, %115, %106 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %59 = tt.expand_dims %58#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %60 = tt.broadcast %59 : tensor<64x1xf32> -> tensor<64x64xf32>
    %61 = arith.divf %58#0, %60 : tensor<64x64xf32>
    %62 = arith.extsi %arg14 : i32 to i64
    %63 = arith.muli %3, %62 : i64
    %64 = arith.extsi %arg15 : i32 to i64
    %65 = arith.muli %5, %64 : i64
    %66 = arith.addi %63, %65 : i64
    %67 = tt.addptr %arg3, %66 : !tt.ptr<f32>, i64
    %68 = tt.splat %arg16 : i32 -> tensor<64x1xi32>
    %69 = arith.muli %16, %68 : tensor<64x1xi32>
    %70 = tt.splat %67 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %71 = tt.addptr %70, %69 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %72 = tt.broadcast %71 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %73 = tt.addptr %72, %23 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %73, %61, %53 : tensor<64x64x!tt.ptr<f32>>
    %74 = arith.muli %1, %arg18 : i32
    %75 = tt.addptr %arg4, %74 : !tt.ptr<f32>, i32
    %76 = tt.splat %75 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %77 = tt.addptr %76, %9 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %78 = tt.splat %arg18 : i32 -> tensor<64xi32>
    %79 = arith.cmpi slt, %9, %78 : tensor<64xi32>
    %80 = math.log2 %58#1 : tensor<64xf32>
    %81 = arith.addf %58#2, %80 : tensor<64xf32>
    %82 = arith.mulf %81, %cst_1 : tensor<64xf32>
    tt.store %77, %82, %79 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
