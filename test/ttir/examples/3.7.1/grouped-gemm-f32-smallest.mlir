module {
  tt.func public @grouped_gemm_kernel(%arg0: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg5: i32) attributes {noinline = false} {
    %c15_i32 = arith.constant 15 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c16_i32 = arith.constant 16 : i32
    %c2_i32 = arith.constant 2 : i32
    %c3_i32 = arith.constant 3 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.get_program_id x : i32
    %1:2 = scf.for %arg6 = %c0_i32 to %arg5 step %c1_i32 iter_args(%arg7 = %0, %arg8 = %c0_i32) -> (i32, i32)  : i32 {
      %2 = arith.muli %arg6, %c3_i32 : i32
      %3 = tt.addptr %arg3, %2 : !tt.ptr<i32>, i32
      %4 = tt.load %3 : !tt.ptr<i32>
      %5 = tt.addptr %3, %c1_i32 : !tt.ptr<i32>, i32
      %6 = tt.load %5 : !tt.ptr<i32>
      %7 = tt.addptr %3, %c2_i32 : !tt.ptr<i32>, i32
      %8 = tt.load %7 : !tt.ptr<i32>
      %9 = tt.addptr %arg4, %2 : !tt.ptr<i32>, i32
      %10 = tt.load %9 : !tt.ptr<i32>
      %11 = tt.addptr %9, %c1_i32 : !tt.ptr<i32>, i32
      %12 = tt.load %11 : !tt.ptr<i32>
      %13 = tt.addptr %9, %c2_i32 : !tt.ptr<i32>, i32
      %14 = tt.load %13 : !tt.ptr<i32>
      %15 = arith.addi %6, %c15_i32 : i32
      %16 = arith.divsi %15, %c16_i32 : i32
      %17 = arith.addi %4, %c15_i32 : i32
      %18 = arith.divsi %17, %c16_i32 : i32
      %19 = arith.muli %18, %16 : i32
      %20 = tt.addptr %arg0, %arg6 : !tt.ptr<i64>, i32
      %21 = tt.load %20 : !tt.ptr<i64>
      %22 = tt.int_to_ptr %21 : i64 -> !tt.ptr<f32>
      %23 = tt.addptr %arg1, %arg6 : !tt.ptr<i64>, i32
      %24 = tt.load %23 : !tt.ptr<i64>
      %25 = tt.int_to_ptr %24 : i64 -> !tt.ptr<f32>
      %26 = tt.addptr %arg2, %arg6 : !tt.ptr<i64>, i32
      %27 = tt.load %26 : !tt.ptr<i64>
      %28 = tt.int_to_ptr %27 : i64 -> !tt.ptr<f32>
      %29 = scf.while (%arg9 = %arg7) : (i32) -> i32 {
        %31 = arith.cmpi sge, %arg9, %arg8 : i32
        %32 = arith.addi %arg8, %19 : i32
        %33 = arith.cmpi slt, %arg9, %32 : i32
        %34 = arith.andi %31, %33 : i1
        scf.condition(%34) %arg9 : i32
      } do {
      ^bb0(%arg9: i32):
        %31 = arith.subi %arg9, %arg8 : i32
        %32 = arith.divsi %31, %16 : i32
        %33 = arith.muli %32, %c16_i32 : i32
        %34 = arith.remsi %31, %16 : i32
        %35 = arith.muli %34, %c16_i32 : i32
        %36 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %37 = tt.splat %33 : i32 -> tensor<16xi32>
        %38 = arith.addi %37, %36 : tensor<16xi32>
        %39 = tt.splat %35 : i32 -> tensor<16xi32>
        %40 = arith.addi %39, %36 : tensor<16xi32>
        %41 = scf.for %arg10 = %c0_i32 to %8 step %c16_i32 iter_args(%arg11 = %cst) -> (tensor<16x16xf32>)  : i32 {
          %59 = tt.splat %arg10 : i32 -> tensor<16xi32>
          %60 = arith.addi %59, %36 : tensor<16xi32>
          %61 = tt.expand_dims %38 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
          %62 = tt.splat %4 : i32 -> tensor<16x1xi32>
          %63 = arith.cmpi slt, %61, %62 : tensor<16x1xi32>
          %64 = tt.expand_dims %60 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
          %65 = tt.splat %8 : i32 -> tensor<1x16xi32>
          %66 = arith.cmpi slt, %64, %65 : tensor<1x16xi32>
          %67 = tt.broadcast %63 : tensor<16x1xi1> -> tensor<16x16xi1>
          %68 = tt.broadcast %66 : tensor<1x16xi1> -> tensor<16x16xi1>
          %69 = arith.andi %67, %68 : tensor<16x16xi1>
          %70 = tt.splat %10 : i32 -> tensor<16x1xi32>
          %71 = arith.muli %61, %70 : tensor<16x1xi32>
          %72 = tt.splat %22 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
          %73 = tt.addptr %72, %71 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
          %74 = tt.broadcast %73 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
          %75 = tt.broadcast %64 : tensor<1x16xi32> -> tensor<16x16xi32>
          %76 = tt.addptr %74, %75 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
          %77 = tt.load %76, %69, %cst : tensor<16x16x!tt.ptr<f32>>
          %78 = tt.expand_dims %60 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
          %79 = tt.splat %8 : i32 -> tensor<16x1xi32>
          %80 = arith.cmpi slt, %78, %79 : tensor<16x1xi32>
          %81 = tt.expand_dims %40 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
          %82 = tt.splat %6 : i32 -> tensor<1x16xi32>
          %83 = arith.cmpi slt, %81, %82 : tensor<1x16xi32>
          %84 = tt.broadcast %80 : tensor<16x1xi1> -> tensor<16x16xi1>
          %85 = tt.broadcast %83 : tensor<1x16xi1> -> tensor<16x16xi1>
          %86 = arith.andi %84, %85 : tensor<16x16xi1>
          %87 = tt.splat %12 : i32 -> tensor<16x1xi32>
          %88 = arith.muli %78, %87 : tensor<16x1xi32>
          %89 = tt.splat %25 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
          %90 = tt.addptr %89, %88 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
          %91 = tt.broadcast %90 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
          %92 = tt.broadcast %81 : tensor<1x16xi32> -> tensor<16x16xi32>
          %93 = tt.addptr %91, %92 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
          %94 = tt.load %93, %86, %cst : tensor<16x16x!tt.ptr<f32>>
          %95 = tt.dot %77, %94, %arg11, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
          scf.yield %95 : tensor<16x16xf32>
        }
        %42 = tt.expand_dims %38 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
        %43 = tt.splat %4 : i32 -> tensor<16x1xi32>
        %44 = arith.cmpi slt, %42, %43 : tensor<16x1xi32>
        %45 = tt.expand_dims %40 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
        %46 = tt.splat %6 : i32 -> tensor<1x16xi32>
        %47 = arith.cmpi slt, %45, %46 : tensor<1x16xi32>
        %48 = tt.broadcast %44 : tensor<16x1xi1> -> tensor<16x16xi1>
        %49 = tt.broadcast %47 : tensor<1x16xi1> -> tensor<16x16xi1>
        %50 = arith.andi %48, %49 : tensor<16x16xi1>
        %51 = tt.splat %14 : i32 -> tensor<16x1xi32>
        %52 = arith.muli %42, %51 : tensor<16x1xi32>
        %53 = tt.splat %28 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
        %54 = tt.addptr %53, %52 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
        %55 = tt.broadcast %54 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
        %56 = tt.broadcast %45 : tensor<1x16xi32> -> tensor<16x16xi32>
        %57 = tt.addptr %55, %56 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
        tt.store %57, %41, %50 : tensor<16x16x!tt.ptr<f32>>
        %58 = arith.addi %arg9, %c8_i32 : i32
        scf.yield %58 : i32
      }
      %30 = arith.addi %arg8, %19 : i32
      scf.yield %29, %30 : i32, i32
    }
    tt.return
  }
}
