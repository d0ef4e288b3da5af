module {
  tt.func public @layer_norm_backward_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg5: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg6: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg7: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg8: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}, %arg10: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %true = arith.constant true
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf32>
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %2 = tt.splat %arg10 : i32 -> tensor<1024xi32>
    %3 = arith.cmpi slt, %1, %2 : tensor<1024xi32>
    %4 = arith.muli %0, %arg9 : i32
    %5 = tt.addptr %arg4, %4 : !tt.ptr<f32>, i32
    %6 = tt.splat %5 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %7 = tt.addptr %6, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %8 = tt.load %7, %3, %cst : tensor<1024x!tt.ptr<f32>>
    %9 = tt.addptr %arg1, %4 : !tt.ptr<f32>, i32
    %10 = tt.splat %9 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %11 = tt.addptr %10, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %12 = tt.load %11, %3, %cst : tensor<1024x!tt.ptr<f32>>
    %13 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %14 = tt.addptr %13, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %15 = tt.load %14, %3, %cst : tensor<1024x!tt.ptr<f32>>
    %16 = tt.addptr %arg7, %0 : !tt.ptr<f32>, i32
    %17 = tt.load %16 : !tt.ptr<f32>
    %18 = tt.addptr %arg6, %0 : !tt.ptr<f32>, i32
    %19 = tt.load %18 : !tt.ptr<f32>
    %20 = tt.splat %19 : f32 -> tensor<1024xf32>
    %21 = arith.subf %8, %20 : tensor<1024xf32>
    %22 = tt.splat %17 : f32 -> tensor<1024xf32>
    %23 = arith.mulf %21, %22 : tensor<1024xf32>
    %24 = arith.select %3, %23, %cst : tensor<1024xi1>, tensor<1024xf32>
    %25 = arith.mulf %15, %12 : tensor<1024xf32>
    %26 = arith.mulf %24, %25 : tensor<1024xf32>
    %27 = "tt.reduce"(%26) <{axis = 0 : i32}> ({
    ^bb0(%arg11: f32, %arg12: f32):
      %56 = arith.addf %arg11, %arg12 : f32
      tt.reduce.return %56 : f32
    }) : (tensor<1024xf32>) -> f32
    %28 = arith.sitofp %arg10 : i32 to f32
    %29 = arith.divf %27, %28 : f32
    %30 = "tt.reduce"(%25) <{axis = 0 : i32}> ({
    ^bb0(%arg11: f32, %arg12: f32):
      %56 = arith.addf %arg11, %arg12 : f32
      tt.reduce.return %56 : f32
    }) : (tensor<1024xf32>) -> f32
    %31 = arith.divf %30, %28 : f32
    %32 = tt.splat %29 : f32 -> tensor<1024xf32>
    %33 = arith.mulf %24, %32 : tensor<1024xf32>
    %34 = tt.splat %31 : f32 -> tensor<1024xf32>
    %35 = arith.addf %33, %34 : tensor<1024xf32>
    %36 = arith.subf %25, %35 : tensor<1024xf32>
    %37 = arith.mulf %36, %22 : tensor<1024xf32>
    %38 = tt.addptr %arg0, %4 : !tt.ptr<f32>, i32
    %39 = tt.splat %38 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %40 = tt.addptr %39, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %40, %37, %3 : tensor<1024x!tt.ptr<f32>>
    %41 = arith.remsi %0, %c64_i32 : i32
    %42 = tt.addptr %arg8, %41 : !tt.ptr<i32>, i32
    %43 = arith.muli %41, %arg10 : i32
    %44 = tt.addptr %arg2, %43 : !tt.ptr<f32>, i32
    %45 = tt.splat %44 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %46 = tt.addptr %45, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %47 = tt.addptr %arg3, %43 : !tt.ptr<f32>, i32
    %48 = tt.splat %47 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %49 = tt.addptr %48, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    scf.while : () -> () {
      %56 = tt.atomic_cas acq_rel, gpu, %42, %c0_i32, %c1_i32 : (!tt.ptr<i32>, i32, i32) -> i32
      %57 = arith.cmpi eq, %56, %c1_i32 : i32
      scf.condition(%57)
    } do {
      scf.yield
    }
    %50 = tt.load %46, %3 : tensor<1024x!tt.ptr<f32>>
    %51 = arith.mulf %12, %24 : tensor<1024xf32>
    %52 = arith.addf %50, %51 : tensor<1024xf32>
    tt.store %46, %52, %3 : tensor<1024x!tt.ptr<f32>>
    %53 = tt.load %49, %3 : tensor<1024x!tt.ptr<f32>>
    %54 = arith.addf %53, %12 : tensor<1024xf32>
    tt.store %49, %54, %3 : tensor<1024x!tt.ptr<f32>>
    ttg.barrier all
    %55 = tt.atomic_rmw exch, acq_rel, gpu, %42, %c0_i32, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
