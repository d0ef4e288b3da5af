module {
  tt.func public @matmul_pointers_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1.250000e-01> : tensor<64x64xf32>
    %c31_i32 = arith.constant 31 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c63_i32 = arith.constant 63 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<32> : tensor<32x64xi32>
    %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %c32_i32 = arith.constant 32 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg4, %c63_i32 : i32
    %2 = arith.divsi %1, %c64_i32 : i32
    %3 = arith.muli %2, %c8_i32 : i32
    %4 = arith.divsi %0, %3 : i32
    %5 = arith.muli %4, %c8_i32 : i32
    %6 = arith.addi %arg3, %c63_i32 : i32
    %7 = arith.divsi %6, %c64_i32 : i32
    %8 = arith.subi %7, %5 : i32
    %9 = arith.minsi %8, %c8_i32 : i32
    %10 = arith.muli %5, %2 : i32
    %11 = arith.subi %0, %10 : i32
    %12 = arith.remsi %11, %9 : i32
    %13 = arith.addi %5, %12 : i32
    %14 = arith.divsi %11, %9 : i32
    %15 = arith.muli %13, %c64_i32 : i32
    %16 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %17 = tt.splat %15 : i32 -> tensor<64xi32>
    %18 = arith.addi %17, %16 : tensor<64xi32>
    %19 = tt.splat %arg3 : i32 -> tensor<64xi32>
    %20 = arith.remsi %18, %19 : tensor<64xi32>
    %21 = arith.muli %14, %c64_i32 : i32
    %22 = tt.splat %21 : i32 -> tensor<64xi32>
    %23 = arith.addi %22, %16 : tensor<64xi32>
    %24 = tt.splat %arg4 : i32 -> tensor<64xi32>
    %25 = arith.remsi %23, %24 : tensor<64xi32>
    %26 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %27 = tt.expand_dims %20 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %28 = tt.splat %arg6 : i32 -> tensor<64x1xi32>
    %29 = arith.muli %27, %28 : tensor<64x1xi32>
    %30 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %31 = tt.addptr %30, %29 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %32 = tt.expand_dims %26 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %33 = tt.broadcast %31 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x32x!tt.ptr<f32>>
    %34 = tt.broadcast %32 : tensor<1x32xi32> -> tensor<64x32xi32>
    %35 = tt.addptr %33, %34 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %36 = tt.expand_dims %26 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %37 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %38 = tt.addptr %37, %36 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %39 = tt.expand_dims %25 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %40 = tt.splat %arg7 : i32 -> tensor<1x64xi32>
    %41 = arith.muli %39, %40 : tensor<1x64xi32>
    %42 = tt.broadcast %38 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %43 = tt.broadcast %41 : tensor<1x64xi32> -> tensor<32x64xi32>
    %44 = tt.addptr %42, %43 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %45 = arith.addi %arg5, %c31_i32 : i32
    %46 = arith.divsi %45, %c32_i32 : i32
    %47:3 = scf.for %arg9 = %c0_i32 to %46 step %c1_i32 iter_args(%arg10 = %35, %arg11 = %44, %arg12 = %cst_0) -> (tensor<64x32x!tt.ptr<f32>>, tensor<32x64x!tt.ptr<f32>>, tensor<64x64xf32>)  : i32 {
      %67 = arith.muli %arg9, %c32_i32 : i32
      %68 = arith.subi %arg5, %67 : i32
      %69 = tt.splat %68 : i32 -> tensor<1x32xi32>
      %70 = arith.cmpi slt, %32, %69 : tensor<1x32xi32>
      %71 = tt.broadcast %70 : tensor<1x32xi1> -> tensor<64x32xi1>
      %72 = tt.load %arg10, %71, %cst_4 : tensor<64x32x!tt.ptr<f32>>
      %73 = tt.splat %68 : i32 -> tensor<32x1xi32>
      %74 = arith.cmpi slt, %36, %73 : tensor<32x1xi32>
      %75 = tt.broadcast %74 : tensor<32x1xi1> -> tensor<32x64xi1>
      %76 = tt.load %arg11, %75, %cst_3 : tensor<32x64x!tt.ptr<f32>>
      %77 = tt.dot %72, %76, %arg12, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
      %78 = tt.addptr %arg10, %cst_2 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
      %79 = tt.addptr %arg11, %cst_1 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
      scf.yield %78, %79, %77 : tensor<64x32x!tt.ptr<f32>>, tensor<32x64x!tt.ptr<f32>>, tensor<64x64xf32>
    }
    %48 = tt.expand_dims %18 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %49 = tt.splat %arg3 : i32 -> tensor<64x1xi32>
    %50 = arith.cmpi slt, %48, %49 : tensor<64x1xi32>
    %51 = tt.expand_dims %23 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %52 = tt.splat %arg4 : i32 -> tensor<1x64xi32>
    %53 = arith.cmpi slt, %51, %52 : tensor<1x64xi32>
    %54 = tt.broadcast %50 : tensor<64x1xi1> -> tensor<64x64xi1>
    %55 = tt.broadcast %53 : tensor<1x64xi1> -> tensor<64x64xi1>
    %56 = arith.andi %54, %55 : tensor<64x64xi1>
    %57 = tt.splat %arg8 : i32 -> tensor<64x1xi32>
    %58 = arith.muli %48, %57 : tensor<64x1xi32>
    %59 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %60 = tt.addptr %59, %58 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %61 = tt.broadcast %60 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %62 = tt.broadcast %51 : tensor<1x64xi32> -> tensor<64x64xi32>
    %63 = tt.addptr %61, %62 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %64 = arith.cmpf oge, %47#2, %cst_0 : tensor<64x64xf32>
    %65 = arith.mulf %47#2, %cst : tensor<64x64xf32>
    %66 = arith.select %64, %47#2, %65 : tensor<64x64xi1>, tensor<64x64xf32>
    tt.store %63, %66, %56 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
