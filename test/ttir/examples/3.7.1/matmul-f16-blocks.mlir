module {
  tt.func public @matmul_blocks_kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c63_i32 = arith.constant 63 : i32
    %c8_i32 = arith.constant 8 : i32
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i64 = arith.constant 1 : i64
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
    %16 = arith.extsi %arg3 : i32 to i64
    %17 = arith.extsi %arg5 : i32 to i64
    %18 = arith.extsi %arg6 : i32 to i64
    %19 = tt.make_tensor_ptr %arg0, [%16, %17], [%c1_i64, %18], [%15, %c0_i32] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
    %20 = arith.muli %14, %c64_i32 : i32
    %21 = arith.extsi %arg4 : i32 to i64
    %22 = arith.extsi %arg7 : i32 to i64
    %23 = tt.make_tensor_ptr %arg1, [%17, %21], [%22, %c1_i64], [%c0_i32, %20] {order = array<i32: 1, 0>} : <tensor<32x64xf16>>
    %24:3 = scf.for %arg9 = %c0_i32 to %arg5 step %c32_i32 iter_args(%arg10 = %19, %arg11 = %23, %arg12 = %cst) -> (!tt.ptr<tensor<64x32xf16>>, !tt.ptr<tensor<32x64xf16>>, tensor<64x64xf32>)  : i32 {
      %28 = tt.load %arg10 {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<64x32xf16>>
      %29 = tt.load %arg11 {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<32x64xf16>>
      %30 = tt.dot %28, %29, %arg12, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %31 = tt.advance %arg10, [%c0_i32, %c32_i32] : <tensor<64x32xf16>>
      %32 = tt.advance %arg11, [%c32_i32, %c0_i32] : <tensor<32x64xf16>>
      scf.yield %31, %32, %30 : !tt.ptr<tensor<64x32xf16>>, !tt.ptr<tensor<32x64xf16>>, tensor<64x64xf32>
    }
    %25 = arith.extsi %arg8 : i32 to i64
    %26 = tt.make_tensor_ptr %arg2, [%16, %21], [%25, %c1_i64], [%15, %20] {order = array<i32: 1, 0>} : <tensor<64x64xf16>>
    %27 = arith.truncf %24#2 : tensor<64x64xf32> to tensor<64x64xf16>
    tt.store %26, %27 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf16>>
    tt.return
  }
}
