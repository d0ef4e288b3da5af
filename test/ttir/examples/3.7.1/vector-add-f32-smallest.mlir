module {
  tt.func public @add_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c16_i32 : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %1 : i32 -> tensor<16xi32>
    %4 = arith.addi %3, %2 : tensor<16xi32>
    %5 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<16xi32>
    %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %8 = tt.addptr %7, %4 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %9 = tt.load %8, %6 : tensor<16x!tt.ptr<f32>>
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %11 = tt.addptr %10, %4 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %12 = tt.load %11, %6 : tensor<16x!tt.ptr<f32>>
    %13 = arith.addf %9, %12 : tensor<16xf32>
    %14 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %15 = tt.addptr %14, %4 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %15, %13, %6 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
