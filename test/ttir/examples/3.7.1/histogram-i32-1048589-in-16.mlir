module {
  tt.func public @histogram_kernel(%arg0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<true> : tensor<16xi1>
    %cst_0 = arith.constant dense<0> : tensor<1024xi32>
    %c1024_i32 = arith.constant 1024 : i32
    %cst_1 = arith.constant dense<0> : tensor<16xi32>
    %0 = tt.get_num_programs x : i32
    %1 = arith.muli %0, %c1024_i32 : i32
    %2 = tt.get_program_id x : i32
    %3 = arith.muli %2, %c1024_i32 : i32
    %4 = scf.for %arg3 = %3 to %arg2 step %1 iter_args(%arg4 = %cst_1) -> (tensor<16xi32>)  : i32 {
      %9 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
      %10 = tt.splat %arg3 : i32 -> tensor<1024xi32>
      %11 = arith.addi %10, %9 : tensor<1024xi32>
      %12 = tt.splat %arg2 : i32 -> tensor<1024xi32>
      %13 = arith.cmpi slt, %11, %12 : tensor<1024xi32>
      %14 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
      %15 = tt.addptr %14, %11 : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
      %16 = tt.load %15, %13, %cst_0 : tensor<1024x!tt.ptr<i32>>
      %17 = tt.histogram %16, %13 : tensor<1024xi32> -> tensor<16xi32>
      %18 = arith.addi %arg4, %17 : tensor<16xi32>
      scf.yield %18 : tensor<16xi32>
    }
    %5 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %6 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %7 = tt.addptr %6, %5 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %8 = tt.atomic_rmw add, acq_rel, gpu, %7, %4, %cst : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    tt.return
  }
}
