module {
  tt.func public @matmul_kernel_desc_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c63_i32 = arith.constant 63 : i32
    %c8_i32 = arith.constant 8 : i32
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %c1_i64 = arith.constant 1 : i64
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
    %15 = arith.extsi %arg6 : i32 to i64
    %16 = tt.make_tensor_descriptor %arg0, [%arg3, %arg5], [%15, %c1_i64] : <f32>, <64x32xf32>
    %17 = arith.extsi %arg7 : i32 to i64
    %18 = tt.make_tensor_descriptor %arg1, [%arg5, %arg4], [%17, %c1_i64] : <f32>, <32x64xf32>
    %19 = arith.extsi %arg8 : i32 to i64
    %20 = tt.make_tensor_descriptor %arg2, [%arg3, %arg4], [%19, %c1_i64] : <f32>, <64x64xf32>
    %21 = scf.for %arg9 = %c0_i32 to %arg5 step %c32_i32 iter_args(%arg10 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %24 = arith.muli %13, %c64_i32 : i32
      %25 = tt.descriptor_load %16[%24, %arg9] : !tt.tensordesc<64x32xf32> -> tensor<64x32xf32>
      %26 = arith.muli %14, %c64_i32 : i32
      %27 = tt.descriptor_load %18[%arg9, %26] : !tt.tensordesc<32x64xf32> -> tensor<32x64xf32>
      %28 = tt.dot %25, %27, %arg10, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
      scf.yield %28 : tensor<64x64xf32>
    }
    %22 = arith.muli %13, %c64_i32 : i32
    %23 = arith.muli %14, %c64_i32 : i32
    tt.descriptor_store %20[%22, %23], %21 : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.return
  }
}
