module {
  tt.func public @attention_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}, %arg10: i32 {tt.divisibility = 16 : i32}, %arg11: i32 {tt.divisibility = 16 : i32}, %arg12: i32 {tt.divisibility = 16 : i32}, %arg13: i32 {tt.divisibility = 16 : i32}, %arg14: i32 {tt.divisibility = 16 : i32}, %arg15: i32 {tt.divisibility = 16 : i32}, %arg16: i32 {tt.divisibility = 16 : i32}, %arg17: i32, %arg18: i32, %arg19: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<16x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %cst_1 = arith.constant dense<0.693147182> : tensor<16xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<16xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c16_i32 = arith.constant 16 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.extsi %1 : i32 to i64
    %3 = arith.muli %0, %c16_i32 : i32
    %4 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %5 = tt.splat %3 : i32 -> tensor<16xi32>
    %6 = arith.addi %5, %4 : tensor<16xi32>
    %7 = arith.extsi %arg5 : i32 to i64
    %8 = arith.muli %2, %7 : i64
    %9 = tt.addptr %arg0, %8 : !tt.ptr<f32>, i64
    %10 = tt.expand_dims %6 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %11 = tt.splat %arg7 : i32 -> tensor<16x1xi32>
    %12 = arith.muli %10, %11 : tensor<16x1xi32>
    %13 = tt.splat %9 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %14 = tt.addptr %13, %12 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %15 = tt.expand_dims %4 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %16 = tt.broadcast %14 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %17 = tt.broadcast %15 : tensor<1x16xi32> -> tensor<16x16xi32>
    %18 = tt.addptr %16, %17 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %19 = arith.extsi %arg8 : i32 to i64
    %20 = arith.muli %2, %19 : i64
    %21 = tt.addptr %arg1, %20 : !tt.ptr<f32>, i64
    %22 = tt.splat %arg10 : i32 -> tensor<1x16xi32>
    %23 = arith.muli %15, %22 : tensor<1x16xi32>
    %24 = tt.splat %21 : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>>
    %25 = tt.addptr %24, %23 : tensor<1x16x!tt.ptr<f32>>, tensor<1x16xi32>
    %26 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %27 = tt.broadcast %25 : tensor<1x16x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %28 = tt.broadcast %26 : tensor<16x1xi32> -> tensor<16x16xi32>
    %29 = tt.addptr %27, %28 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %30 = arith.extsi %arg11 : i32 to i64
    %31 = arith.muli %2, %30 : i64
    %32 = tt.addptr %arg2, %31 : !tt.ptr<f32>, i64
    %33 = tt.splat %arg13 : i32 -> tensor<16x1xi32>
    %34 = arith.muli %26, %33 : tensor<16x1xi32>
    %35 = tt.splat %32 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %36 = tt.addptr %35, %34 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %37 = tt.broadcast %36 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %38 = tt.addptr %37, %17 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %39 = tt.splat %arg17 : i32 -> tensor<16x1xi32>
    %40 = arith.cmpi slt, %10, %39 : tensor<16x1xi32>
    %41 = tt.broadcast %40 : tensor<16x1xi1> -> tensor<16x16xi1>
    %42 = tt.load %18, %41, %cst_3 : tensor<16x16x!tt.ptr<f32>>
    %43 = arith.divsi %arg18, %c16_i32 : i32
    %44 = arith.muli %43, %c16_i32 : i32
    %45 = arith.divsi %3, %c16_i32 : i32
    %46 = arith.muli %45, %c16_i32 : i32
    %47 = arith.minsi %46, %44 : i32
    %48 = arith.addi %0, %c1_i32 : i32
    %49 = arith.muli %48, %c16_i32 : i32
    %50 = arith.minsi %49, %arg18 : i32
    %51:3 = scf.for %arg20 = %c0_i32 to %47 step %c16_i32 iter_args(%arg21 = %cst_3, %arg22 = %cst_0, %arg23 = %cst_2) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
      %74 = arith.muli %arg20, %arg10 : i32
      %75 = tt.splat %74 : i32 -> tensor<16x16xi32>
      %76 = tt.addptr %29, %75 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %77 = tt.load %76 : tensor<16x16x!tt.ptr<f32>>
      %78 = arith.muli %arg20, %arg13 : i32
      %79 = tt.splat %78 : i32 -> tensor<16x16xi32>
      %80 = tt.addptr %38, %79 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %81 = tt.load %80 : tensor<16x16x!tt.ptr<f32>>
      %82 = tt.dot %42, %77, %cst_3, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      %83 = tt.splat %arg19 : f32 -> tensor<16x16xf32>
      %84 = arith.mulf %82, %83 : tensor<16x16xf32>
      %85 = "tt.reduce"(%84) <{axis = 1 : i32}> ({
      ^bb0(%arg24: f32, %arg25: f32):
        %100 = arith.maxnumf %arg24, %arg25 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %86 = arith.maxnumf %arg23, %85 : tensor<16xf32>
      %87 = tt.expand_dims %86 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %88 = tt.broadcast %87 : tensor<16x1xf32> -> tensor<16x16xf32>
      %89 = arith.subf %84, %88 : tensor<16x16xf32>
      %90 = math.exp2 %89 : tensor<16x16xf32>
      %91 = arith.subf %arg23, %86 : tensor<16xf32>
      %92 = math.exp2 %91 : tensor<16xf32>
      %93 = arith.mulf %arg22, %92 : tensor<16xf32>
      %94 = "tt.reduce"(%90) <{axis = 1 : i32}> ({
      ^bb0(%arg24: f32, %arg25: f32):
        %100 = arith.addf %arg24, %arg25 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %95 = arith.addf %93, %94 : tensor<16xf32>
      %96 = tt.expand_dims %92 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %97 = tt.broadcast %96 : tensor<16x1xf32> -> tensor<16x16xf32>
      %98 = arith.mulf %arg21, %97 : tensor<16x16xf32>
      %99 = tt.dot %90, %81, %98, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      scf.yield %99, %95, %86 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %52:3 = scf.for %arg20 = %47 to %50 step %c16_i32 iter_args(%arg21 = %51#0, %arg22 = %51#1, %arg23 = %51#2) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
      %74 = tt.splat %arg20 : i32 -> tensor<16xi32>
      %75 = arith.addi %74, %4 : tensor<16xi32>
      %76 = tt.expand_dims %75 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %77 = tt.splat %arg18 : i32 -> tensor<1x16xi32>
      %78 = arith.cmpi slt, %76, %77 : tensor<1x16xi32>
      %79 = arith.muli %arg20, %arg10 : i32
      %80 = tt.splat %79 : i32 -> tensor<16x16xi32>
      %81 = tt.addptr %29, %80 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %82 = tt.broadcast %78 : tensor<1x16xi1> -> tensor<16x16xi1>
      %83 = tt.load %81, %82, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %84 = tt.expand_dims %75 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %85 = tt.splat %arg18 : i32 -> tensor<16x1xi32>
      %86 = arith.cmpi slt, %84, %85 : tensor<16x1xi32>
      %87 = arith.muli %arg20, %arg13 : i32
      %88 = tt.splat %87 : i32 -> tensor<16x16xi32>
      %89 = tt.addptr %38, %88 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %90 = tt.broadcast %86 : tensor<16x1xi1> -> tensor<16x16xi1>
      %91 = tt.load %89, %90, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %92 = tt.dot %42, %83, %cst_3, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      %93 = tt.splat %arg19 : f32 -> tensor<16x16xf32>
      %94 = arith.mulf %92, %93 : tensor<16x16xf32>
      %95 = arith.select %82, %94, %cst : tensor<16x16xi1>, tensor<16x16xf32>
      %96 = tt.broadcast %10 : tensor<16x1xi32> -> tensor<16x16xi32>
      %97 = tt.broadcast %76 : tensor<1x16xi32> -> tensor<16x16xi32>
      %98 = arith.cmpi sge, %96, %97 : tensor<16x16xi32>
      %99 = arith.select %98, %95, %cst : tensor<16x16xi1>, tensor<16x16xf32>
      %100 = "tt.reduce"(%99) <{axis = 1 : i32}> ({
      ^bb0(%arg24: f32, %arg25: f32):
        %115 = arith.maxnumf %arg24, %arg25 : f32
        tt.reduce.return %115 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %101 = arith.maxnumf %arg23, %100 : tensor<16xf32>
      %102 = tt.expand_dims %101 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %103 = tt.broadcast %102 : tensor<16x1xf32> -> tensor<16x16xf32>
      %104 = arith.subf %99, %103 : tensor<16x16xf32>
      %105 = math.exp2 %104 : tensor<16x16xf32>
      %106 = arith.subf %arg23, %101 : tensor<16xf32>
      %107 = math.exp2 %106 : tensor<16xf32>
      %108 = arith.mulf %arg22, %107 : tensor<16xf32>
      %109 = "tt.reduce"(%105) <{axis = 1 : i32}> ({
      ^bb0(%arg24: f32, %arg25: f32):
        %115 = arith.addf %arg24, %arg25 : f32
        tt.reduce.return %115 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %110 = arith.addf %108, %109 : tensor<16xf32>
      %111 = tt.expand_dims %107 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %112 = tt.broadcast %111 : tensor<16x1xf32> -> tensor<16x16xf32>
      %113 = arith.mulf %arg21, %112 : tensor<16x16xf32>
      %114 = tt.dot %105, %91, %113, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      scf.yield %114, %110, %101 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %53 = tt.expand_dims %52#1 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %54 = tt.broadcast %53 : tensor<16x1xf32> -> tensor<16x16xf32>
    %55 = arith.divf %52#0, %54 : tensor<16x16xf32>
    %56 = arith.extsi %arg14 : i32 to i64
    %57 = arith.muli %2, %56 : i64
    %58 = tt.addptr %arg3, %57 : !tt.ptr<f32>, i64
    %59 = tt.splat %arg16 : i32 -> tensor<16x1xi32>
    %60 = arith.muli %10, %59 : tensor<16x1xi32>
    %61 = tt.splat %58 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %62 = tt.addptr %61, %60 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %63 = tt.broadcast %62 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %64 = tt.addptr %63, %17 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %64, %55, %41 : tensor<16x16x!tt.ptr<f32>>
    %65 = arith.muli %1, %arg17 : i32
    %66 = tt.addptr %arg4, %65 : !tt.ptr<f32>, i32
    %67 = tt.splat %66 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %68 = tt.addptr %67, %6 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %69 = tt.splat %arg17 : i32 -> tensor<16xi32>
    %70 = arith.cmpi slt, %6, %69 : tensor<16xi32>
    %71 = math.log2 %52#1 : tensor<16xf32>
    %72 = arith.addf %52#2, %71 : tensor<16xf32>
    %73 = arith.mulf %72, %cst_1 : tensor<16xf32>
    tt.store %68, %73, %70 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
