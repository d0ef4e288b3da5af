module {
  tt.func public @layer_norm_backward_kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg6: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg7: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg8: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg9: i32, %arg10: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16>
    %true = arith.constant true
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1024xf32>
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %2 = tt.splat %arg10 : i32 -> tensor<1024xi32>
    %3 = arith.cmpi slt, %1, %2 : tensor<1024xi32>
    %4 = arith.muli %0, %arg9 : i32
    %5 = tt.addptr %arg4, %4 : !tt.ptr<f16>, i32
    %6 = tt.splat %5 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %7 = tt.addptr %6, %1 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %8 = tt.load %7, %3, %cst : tensor<1024x!tt.ptr<f16>>
    %9 = arith.extf %8 : tensor<1024xf16> to tensor<1024xf32>
    %10 = tt.addptr %arg1, %4 : !tt.ptr<f16>, i32
    %11 = tt.splat %10 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %12 = tt.addptr %11, %1 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %13 = tt.load %12, %3, %cst : tensor<1024x!tt.ptr<f16>>
    %14 = arith.extf %13 : tensor<1024xf16> to tensor<1024xf32>
    %15 = tt.splat %arg5 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %16 = tt.addptr %15, %1 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %17 = tt.load %16, %3, %cst : tensor<1024x!tt.ptr<f16>>
    %18 = arith.extf %17 : tensor<1024xf16> to tensor<1024xf32>
    %19 = tt.addptr %arg7, %0 : !tt.ptr<f32>, i32
    %20 = tt.load %19 : !tt.ptr<f32>
    %21 = tt.addptr %arg6, %0 : !tt.ptr<f32>, i32
    %22 = tt.load %21 : !tt.ptr<f32>
    %23 = tt.splat %22 : f32 -> tensor<1024xf32>
    %24 = arith.subf %9, %23 : tensor<1024xf32>
    %25 = tt.splat %20 : f32 -> tensor<1024xf32>
    %26 = arith.mulf %24, %25 : tensor<1024xf32>
    %27 = arith.select %3, %26, %cst_0 : tensor<1024xi1>, tensor<1024xf32>
    %28 = arith.mulf %18, %14 : tensor<1024xf32>
    %29 = arith.mulf %27, %28 : tensor<1024xf32>
    %30 = "tt.reduce"(%29) <{axis = 0 : i32}> ({
    ^bb0(%arg11: f32, %arg12: f32):
      %60 = arith.addf %arg11, %arg12 : f32
      tt.reduce.return %60 : f32
    }) : (tensor<1024xf32>) -> f32
    %31 = arith.sitofp %arg10 : i32 to f32
    %32 = arith.divf %30, %31 : f32
    %33 = "tt.reduce"(%28) <{axis = 0 : i32}> ({
    ^bb0(%arg11: f32, %arg12: f32):
      %60 = arith.addf %arg11, %arg12 : f32
      tt.reduce.return %60 : f32
    }) : (tensor<1024xf32>) -> f32
    %34 = arith.divf %33, %31 : f32
    %35 = tt.splat %32 : f32 -> tensor<1024xf32>
    %36 = arith.mulf %27, %35 : tensor<1024xf32>
    %37 = tt.splat %34 : f32 -> tensor<1024xf32>
    %38 = arith.addf %36, %37 : tensor<1024xf32>
    %39 = arith.subf %28, %38 : tensor<1024xf32>
    %40 = arith.mulf %39, %25 : tensor<1024xf32>
    %41 = tt.addptr %arg0, %4 : !tt.ptr<f16>, i32
    %42 = tt.splat %41 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %43 = tt.addptr %42, %1 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %44 = arith.truncf %40 : tensor<1024xf32> to tensor<1024xf16>
    tt.store %43, %44, %3 : tensor<1024x!tt.ptr<f16>>
    %45 = arith.remsi %0, %c64_i32 : i32
    %46 = tt.addptr %arg8, %45 : !tt.ptr<i32>, i32
    %47 = arith.muli %45, %arg10 : i32
    %48 = tt.addptr %arg2, %47 : !tt.ptr<f32>, i32
    %49 = tt.splat %48 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %50 = tt.addptr %49, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %51 = tt.addptr %arg3, %47 : !tt.ptr<f32>, i32
    %52 = tt.splat %51 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %53 = tt.addptr %52, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    scf.while : () -> () {
      %60 = tt.atomic_cas acq_rel, gpu, %46, %c0_i32, %c1_i32 : (!tt.ptr<i32>, i32, i32) -> i32
      %61 = arith.cmpi eq, %60, %c1_i32 : i32
      scf.condition(%61)
    } do {
      scf.yield
    }
    %54 = tt.load %50, %3 : tensor<1024x!tt.ptr<f32>>
    %55 = arith.mulf %14, %27 : tensor<1024xf32>
    %56 = arith.addf %54, %55 : tensor<1024xf32>
    tt.store %50, %56, %3 : tensor<1024x!tt.ptr<f32>>
    %57 = tt.load %53, %3 : tensor<1024x!tt.ptr<f32>>
    %58 = arith.addf %57, %14 : tensor<1024xf32>
    tt.store %53, %58, %3 : tensor<1024x!tt.ptr<f32>>
    ttg.barrier all
    %59 = tt.atomic_rmw exch, acq_rel, gpu, %46, %c0_i32, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
