module {
  tt.func public @matmul_host_desc_kernel(%arg0: !tt.tensordesc<tensor<16x16xbf16>>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i64, %arg5: !tt.tensordesc<tensor<16x16xbf16>>, %arg6: i32, %arg7: i32, %arg8: i64, %arg9: i64, %arg10: !tt.tensordesc<tensor<16x16xbf16>>, %arg11: i32, %arg12: i32, %arg13: i64, %arg14: i64, %arg15: i32 {tt.divisibility = 16 : i32}, %arg16: i32 {tt.divisibility = 16 : i32}, %arg17: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c15_i32 = arith.constant 15 : i32
    %c8_i32 = arith.constant 8 : i32
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg16, %c15_i32 : i32
    %2 = arith.divsi %1, %c16_i32 : i32
    %3 = arith.muli %2, %c8_i32 : i32
    %4 = arith.divsi %0, %3 : i32
    %5 = arith.muli %4, %c8_i32 : i32
    %6 = arith.addi %arg15, %c15_i32 : i32
    %7 = arith.divsi %6, %c16_i32 : i32
    %8 = arith.subi %7, %5 : i32
    %9 = arith.minsi %8, %c8_i32 : i32
    %10 = arith.muli %5, %2 : i32
    %11 = arith.subi %0, %10 : i32
    %12 = arith.remsi %11, %9 : i32
    %13 = arith.addi %5, %12 : i32
    %14 = arith.divsi %11, %9 : i32
    %15 = scf.for %arg18 = %c0_i32 to %arg17 step %c16_i32 iter_args(%arg19 = %cst) -> (tensor<16x16xf32>)  : i32 {
      %19 = arith.muli %13, %c16_i32 : i32
      %20 = tt.descriptor_load %arg0[%19, %arg18] : !tt.tensordesc<tensor<16x16xbf16>> -> tensor<16x16xbf16>
      %21 = arith.muli %14, %c16_i32 : i32
      %22 = tt.descriptor_load %arg5[%arg18, %21] : !tt.tensordesc<tensor<16x16xbf16>> -> tensor<16x16xbf16>
      %23 = tt.dot %20, %22, %arg19, inputPrecision = tf32 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      scf.yield %23 : tensor<16x16xf32>
    }
    %16 = arith.muli %13, %c16_i32 : i32
    %17 = arith.muli %14, %c16_i32 : i32
    %18 = arith.truncf %15 : tensor<16x16xf32> to tensor<16x16xbf16>
    tt.descriptor_store %arg10[%16, %17], %18 : !tt.tensordesc<tensor<16x16xbf16>>, tensor<16x16xbf16>
    tt.return
  }
}
