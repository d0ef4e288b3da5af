module {
  tt.func public @matmul_pointers_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32) attributes {noinline = false} {
    %c15_i32 = arith.constant 15 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<16> : tensor<16x16xi32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg4, %c15_i32 : i32
    %2 = arith.divsi %1, %c16_i32 : i32
    %3 = arith.muli %2, %c8_i32 : i32
    %4 = arith.divsi %0, %3 : i32
    %5 = arith.muli %4, %c8_i32 : i32
    %6 = arith.addi %arg3, %c15_i32 : i32
    %7 = arith.divsi %6, %c16_i32 : i32
    %8 = arith.subi %7, %5 : i32
    %9 = arith.minsi %8, %c8_i32 : i32
    %10 = arith.muli %5, %2 : i32
    %11 = arith.subi %0, %10 : i32
    %12 = arith.remsi %11, %9 : i32
    %13 = arith.addi %5, %12 : i32
    %14 = arith.divsi %11, %9 : i32
    %15 = arith.muli %13, %c16_i32 : i32
    %16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %17 = tt.splat %15 : i32 -> tensor<16xi32>
    %18 = arith.addi %17, %16 : tensor<16xi32>
    %19 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %20 = arith.remsi %18, %19 : tensor<16xi32>
    %21 = arith.muli %14, %c16_i32 : i32
    %22 = tt.splat %21 : i32 -> tensor<16xi32>
    %23 = arith.addi %22, %16 : tensor<16xi32>
    %24 = tt.splat %arg4 : i32 -> tensor<16xi32>
    %25 = arith.remsi %23, %24 : tensor<16xi32>
    %26 = tt.expand_dims %20 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %27 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %28 = arith.muli %26, %27 : tensor<16x1xi32>
    %29 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %30 = tt.addptr %29, %28 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %31 = tt.expand_dims %16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %32 = tt.broadcast %30 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %33 = tt.broadcast %31 : tensor<1x16xi32> -> tensor<16x16xi32>
    %34 = tt.addptr %32, %33 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %35 = tt.expand_dims %16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %36 = tt.splat %arg7 : i32 -> tensor<16x1xi32>
    %37 = arith.muli %35, %36 : tensor<16x1xi32>
    %38 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %39 = tt.addptr %38, %37 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %40 = tt.expand_dims %25 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %41 = tt.broadcast %39 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %42 = tt.broadcast %40 : tensor<1x16xi32> -> tensor<16x16xi32>
    %43 = tt.addptr %41, %42 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %44 = arith.addi %arg5, %c15_i32 : i32
    %45 = arith.divsi %44, %c16_i32 : i32
    %46:3 = scf.for %arg9 = %c0_i32 to %45 step %c1_i32 iter_args(%arg10 = %34, %arg11 = %43, %arg12 = %cst_0) -> (tensor<16x16x!tt.ptr<f32>>, tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>)  : i32 {
      %63 = arith.muli %arg9, %c16_i32 : i32
      %64 = arith.subi %arg5, %63 : i32
      %65 = tt.splat %64 : i32 -> tensor<1x16xi32>
      %66 = arith.cmpi slt, %31, %65 : tensor<1x16xi32>
      %67 = tt.broadcast %66 : tensor<1x16xi1> -> tensor<16x16xi1>
      %68 = tt.load %arg10, %67, %cst_0 : tensor<16x16x!tt.ptr<f32>>
      %69 = tt.splat %64 : i32 -> tensor<16x1xi32>
      %70 = arith.cmpi slt, %35, %69 : tensor<16x1xi32>
      %71 = tt.broadcast %70 : tensor<16x1xi1> -> tensor<16x16xi1>
      %72 = tt.load %arg11, %71, %cst_0 : tensor<16x16x!tt.ptr<f32>>
      %73 = tt.dot %68, %72, %arg12, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      %74 = tt.addptr %arg10, %cst : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %75 = arith.muli %arg7, %c16_i32 : i32
      %76 = tt.splat %75 : i32 -> tensor<16x16xi32>
      %77 = tt.addptr %arg11, %76 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      scf.yield %74, %77, %73 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>
    }
    %47 = tt.expand_dims %18 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %48 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
    %49 = arith.cmpi slt, %47, %48 : tensor<16x1xi32>
    %50 = tt.expand_dims %23 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %51 = tt.splat %arg4 : i32 -> tensor<1x16xi32>
    %52 = arith.cmpi slt, %50, %51 : tensor<1x16xi32>
    %53 = tt.broadcast %49 : tensor<16x1xi1> -> tensor<16x16xi1>
    %54 = tt.broadcast %52 : tensor<1x16xi1> -> tensor<16x16xi1>
    %55 = arith.andi %53, %54 : tensor<16x16xi1>
    %56 = tt.splat %arg8 : i32 -> tensor<16x1xi32>
    %57 = arith.muli %47, %56 : tensor<16x1xi32>
    %58 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %59 = tt.addptr %58, %57 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %60 = tt.broadcast %59 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %61 = tt.broadcast %50 : tensor<1x16xi32> -> tensor<16x16xi32>
    %62 = tt.addptr %60, %61 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %62, %46#2, %55 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
