module {
  tt.func public @sum_partials_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x128xf32>
    %c128_i32 = arith.constant 128 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %3 = tt.splat %1 : i32 -> tensor<128xi32>
    %4 = arith.addi %3, %2 : tensor<128xi32>
    %5:2 = scf.for %arg6 = %c0_i32 to %arg4 step %c32_i32 iter_args(%arg7 = %cst, %arg8 = %cst) -> (tensor<32x128xf32>, tensor<32x128xf32>)  : i32 {
      %14 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %15 = tt.splat %arg6 : i32 -> tensor<32xi32>
      %16 = arith.addi %15, %14 : tensor<32xi32>
      %17 = tt.expand_dims %16 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %18 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<32x1xi32>
      %20 = tt.expand_dims %4 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %21 = tt.splat %arg5 : i32 -> tensor<1x128xi32>
      %22 = arith.cmpi slt, %20, %21 : tensor<1x128xi32>
      %23 = tt.broadcast %19 : tensor<32x1xi1> -> tensor<32x128xi1>
      %24 = tt.broadcast %22 : tensor<1x128xi1> -> tensor<32x128xi1>
      %25 = arith.andi %23, %24 : tensor<32x128xi1>
      %26 = tt.splat %arg5 : i32 -> tensor<32x1xi32>
      %27 = arith.muli %17, %26 : tensor<32x1xi32>
      %28 = tt.broadcast %27 : tensor<32x1xi32> -> tensor<32x128xi32>
      %29 = tt.broadcast %20 : tensor<1x128xi32> -> tensor<32x128xi32>
      %30 = arith.addi %28, %29 : tensor<32x128xi32>
      %31 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
      %32 = tt.addptr %31, %30 : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
      %33 = tt.load %32, %25, %cst : tensor<32x128x!tt.ptr<f32>>
      %34 = arith.addf %arg7, %33 : tensor<32x128xf32>
      %35 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
      %36 = tt.addptr %35, %30 : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
      %37 = tt.load %36, %25, %cst : tensor<32x128x!tt.ptr<f32>>
      %38 = arith.addf %arg8, %37 : tensor<32x128xf32>
      scf.yield %34, %38 : tensor<32x128xf32>, tensor<32x128xf32>
    }
    %6 = tt.splat %arg5 : i32 -> tensor<128xi32>
    %7 = arith.cmpi slt, %4, %6 : tensor<128xi32>
    %8 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %9 = tt.addptr %8, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %10 = "tt.reduce"(%5#0) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<32x128xf32>) -> tensor<128xf32>
    tt.store %9, %10, %7 : tensor<128x!tt.ptr<f32>>
    %11 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %12 = tt.addptr %11, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %13 = "tt.reduce"(%5#1) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<32x128xf32>) -> tensor<128xf32>
    tt.store %12, %13, %7 : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
