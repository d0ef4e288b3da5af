module {
  tt.func public @grouped_gemm_kernel(%arg0: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg5: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c63_i32 = arith.constant 63 : i32
    %c32_i32 = arith.constant 32 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
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
          %60 = tt.splat %arg10 : i32 -> tensor<32xi32>
          %61 = arith.addi %60, %41 : tensor<32xi32>
          %62 = tt.expand_dims %38 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
          %63 = tt.splat %4 : i32 -> tensor<64x1xi32>
          %64 = arith.cmpi slt, %62, %63 : tensor<64x1xi32>
          %65 = tt.expand_dims %61 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
          %66 = tt.splat %8 : i32 -> tensor<1x32xi32>
          %67 = arith.cmpi slt, %65, %66 : tensor<1x32xi32>
          %68 = tt.broadcast %64 : tensor<64x1xi1> -> tensor<64x32xi1>
          %69 = tt.broadcast %67 : tensor<1x32xi1> -> tensor<64x32xi1>
          %70 = arith.andi %68, %69 : tensor<64x32xi1>
          %71 = tt.splat %10 : i32 -> tensor<64x1xi32>
          %72 = arith.muli %62, %71 : tensor<64x1xi32>
          %73 = tt.splat %22 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
          %74 = tt.addptr %73, %72 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
          %75 = tt.broadcast %74 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x32x!tt.ptr<f32>>
          %76 = tt.broadcast %65 : tensor<1x32xi32> -> tensor<64x32xi32>
          %77 = tt.addptr %75, %76 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
          %78 = tt.load %77, %70, %cst_1 : tensor<64x32x!tt.ptr<f32>>
          %79 = tt.expand_dims %61 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
          %80 = tt.splat %8 : i32 -> tensor<32x1xi32>
          %81 = arith.cmpi slt, %79, %80 : tensor<32x1xi32>
          %82 = tt.expand_dims %40 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
          %83 = tt.splat %6 : i32 -> tensor<1x64xi32>
          %84 = arith.cmpi slt, %82, %83 : tensor<1x64xi32>
          %85 = tt.broadcast %81 : tensor<32x1xi1> -> tensor<32x64xi1>
          %86 = tt.broadcast %84 : tensor<1x64xi1> -> tensor<32x64xi1>
          %87 = arith.andi %85, %86 : tensor<32x64xi1>
          %88 = tt.splat %12 : i32 -> tensor<32x1xi32>
          %89 = arith.muli %79, %88 : tensor<32x1xi32>
          %90 = tt.splat %25 : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
          %91 = tt.addptr %90, %89 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
          %92 = tt.broadcast %91 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
          %93 = tt.broadcast %82 : tensor<1x64xi32> -> tensor<32x64xi32>
          %94 = tt.addptr %92, %93 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
          %95 = tt.load %94, %87, %cst_0 : tensor<32x64x!tt.ptr<f32>>
          %96 = tt.dot %78, %95, %arg11, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
          scf.yield %96 : tensor<64x64xf32>
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
        %54 = tt.splat %28 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
        %55 = tt.addptr %54, %53 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
        %56 = tt.broadcast %55 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
        %57 = tt.broadcast %46 : tensor<1x64xi32> -> tensor<64x64xi32>
        %58 = tt.addptr %56, %57 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
        tt.store %58, %42, %51 : tensor<64x64x!tt.ptr<f32>>
        %59 = arith.addi %arg9, %c8_i32 : i32
        scf.yield %59 : i32
      }
      %30 = arith.addi %arg8, %19 : i32
      scf.yield %29, %30 : i32, i32
    }
    tt.return
  }
}
