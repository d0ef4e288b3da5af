module {
  tt.func public @grouped_gemm_kernel(%arg0: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg5: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c63_i32 = arith.constant 63 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %c32_i32 = arith.constant 32 : i32
    %c8_i32 = arith.constant 8 : i32
    %c64_i32 = arith.constant 64 : i32
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
      %15 = arith.addi %6, %c63_i32 : i32
      %16 = arith.divsi %15, %c64_i32 : i32
      %17 = arith.addi %4, %c63_i32 : i32
      %18 = arith.divsi %17, %c64_i32 : i32
      %19 = arith.muli %18, %16 : i32
      %20 = tt.addptr %arg0, %arg6 : !tt.ptr<i64>, i32
      %21 = tt.load %20 : !tt.ptr<i64>
      %22 = tt.int_to_ptr %21 : i64 -> !tt.ptr<f16>
      %23 = tt.addptr %arg1, %arg6 : !tt.ptr<i64>, i32
      %24 = tt.load %23 : !tt.ptr<i64>
      %25 = tt.int_to_ptr %24 : i64 -> !tt.ptr<f16>
      %26 = tt.addptr %arg2, %arg6 : !tt.ptr<i64>, i32
      %27 = tt.load %26 : !tt.ptr<i64>
      %28 = tt.int_to_ptr %27 : i64 -> !tt.ptr<f16>
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
        %33 = arith.muli %32, %c64_i32 : i32
        %34 = arith.remsi %31, %16 : i32
        %35 = arith.muli %34, %c64_i32 : i32
        %36 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %37 = tt.splat %33 : i32 -> tensor<64xi32>
        %38 = arith.addi %37, %36 : tensor<64xi32>
        %39 = tt.splat %35 : i32 -> tensor<64xi32>
        %40 = arith.addi %39, %36 : tensor<64xi32>
        %41 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
        %42 = scf.for %arg10 = %c0_i32 to %8 step %c32_i32 iter_args(%arg11 = %cst) -> (tensor<64x64xf32>)  : i32 {
          %61 = tt.splat %arg10 : i32 -> tensor<32xi32>
          %62 = arith.addi %61, %41 : tensor<32xi32>
          %63 = tt.expand_dims %38 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
          %64 = tt.splat %4 : i32 -> tensor<64x1xi32>
          %65 = arith.cmpi slt, %63, %64 : tensor<64x1xi32>
          %66 = tt.expand_dims %62 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
          %67 = tt.splat %8 : i32 -> tensor<1x32xi32>
          %68 = arith.cmpi slt, %66, %67 : tensor<1x32xi32>
          %69 = tt.broadcast %65 : tensor<64x1xi1> -> tensor<64x32xi1>
          %70 = tt.broadcast %68 : tensor<1x32xi1> -> tensor<64x32xi1>
          %71 = arith.andi %69, %70 : tensor<64x32xi1>
          %72 = tt.splat %10 : i32 -> tensor<64x1xi32>
          %73 = arith.muli %63, %72 : tensor<64x1xi32>
          %74 = tt.splat %22 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
          %75 = tt.addptr %74, %73 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
          %76 = tt.broadcast %75 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
          %77 = tt.broadcast %66 : tensor<1x32xi32> -> tensor<64x32xi32>
          %78 = tt.addptr %76, %77 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
          %79 = tt.load %78, %71, %cst_1 : tensor<64x32x!tt.ptr<f16>>
          %80 = tt.expand_dims %62 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
          %81 = tt.splat %8 : i32 -> tensor<32x1xi32>
          %82 = arith.cmpi slt, %80, %81 : tensor<32x1xi32>
          %83 = tt.expand_dims %40 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
          %84 = tt.splat %6 : i32 -> tensor<1x64xi32>
          %85 = arith.cmpi slt, %83, %84 : tensor<1x64xi32>
          %86 = tt.broadcast %82 : tensor<32x1xi1> -> tensor<32x64xi1>
          %87 = tt.broadcast %85 : tensor<1x64xi1> -> tensor<32x64xi1>
          %88 = arith.andi %86, %87 : tensor<32x64xi1>
          %89 = tt.splat %12 : i32 -> tensor<32x1xi32>
          %90 = arith.muli %80, %89 : tensor<32x1xi32>
          %91 = tt.splat %25 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
          %92 = tt.addptr %91, %90 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
          %93 = tt.broadcast %92 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
          %94 = tt.broadcast %83 : tensor<1x64xi32> -> tensor<32x64xi32>
          %95 = tt.addptr %93, %94 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
          %96 = tt.load %95, %88, %cst_0 : tensor<32x64x!tt.ptr<f16>>
          %97 = tt.dot %79, %96, %arg11, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
          scf.yield %97 : tensor<64x64xf32>
        }
        %43 = tt.expand_dims %38 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
        %44 = tt.splat %4 : i32 -> tensor<64x1xi32>
        %45 = arith.cmpi slt, %43, %44 : tensor<64x1xi32>
        %46 = tt.expand_dims %40 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
        %47 = tt.splat %6 : i32 -> tensor<1x64xi32>
        %48 = arith.cmpi slt, %46, %47 : tensor<1x64xi32>
        %49 = tt.broadcast %45 : tensor<64x1xi1> -> tensor<64x64xi1>
        %50 = tt.broadcast %48 : tensor<1x64xi1> -> tensor<64x64xi1>
        %51 = arith.andi %49, %50 : tensor<64x64xi1>
        %52 = tt.splat %14 : i32 -> tensor<64x1xi32>
        %53 = arith.muli %43, %52 : tensor<64x1xi32>
        %54 = tt.splat %28 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
        %55 = tt.addptr %54, %53 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
        %56 = tt.broadcast %55 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
        %57 = tt.broadcast %46 : tensor<1x64xi32> -> tensor<64x64xi32>
        %58 = tt.addptr %56, %57 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
        %59 = arith.truncf %42 : tensor<64x64xf32> to tensor<64x64xf16>
        tt.store %58, %59, %51 : tensor<64x64x!tt.ptr<f16>>
        %60 = arith.addi %arg9, %c8_i32 : i32
        scf.yield %60 : i32
      }
      %30 = arith.addi %arg8, %19 : i32
      scf.yield %29, %30 : i32, i32
    }
    tt.return
  }
}
