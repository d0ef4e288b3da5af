module {
  tt.func public @add_kernel(%arg0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg3: i32) attributes {noinline = false} {
    %c4096_i32 = arith.constant 4096 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c4096_i32 : i32
    %2 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %3 = tt.splat %1 : i32 -> tensor<4096xi32>
    %4 = arith.addi %3, %2 : tensor<4096xi32>
    %5 = tt.splat %arg3 : i32 -> tensor<4096xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<4096xi32>
    %7 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %8 = tt.addptr %7, %4 : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %9 = tt.load %8, %6 : tensor<4096x!tt.ptr<i32>>
    %10 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %11 = tt.addptr %10, %4 : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %12 = tt.load %11, %6 : tensor<4096x!tt.ptr<i32>>
    %13 = arith.addi %9, %12 : tensor<4096xi32>
    %14 = tt.splat %arg2 : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %15 = tt.addptr %14, %4 : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    tt.store %15, %13, %6 : tensor<4096x!tt.ptr<i32>>
    tt.return
  }
}
