// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func @kernel
// CHECK-SAME: (%arg0: memref<?xf32, strided<[1], offset: ?>> {tilebridge.divisibility = 16 : i32},
// CHECK-SAME: %arg1: memref<?x?xi8, strided<[?, ?], offset: ?>>, %arg2: i1, %arg3: i32 {tilebridge.divisibility = 8 : i32},
// CHECK-SAME: %arg4: memref<?xi8, strided<[1], offset: ?>>,
// CHECK-SAME: %[[PX:[^:]*]]: i32, %[[PY:[^:]*]]: i32, %[[PZ:[^:]*]]: i32, %[[NX:[^:]*]]: i32, %[[NY:[^:]*]]: i32, %[[NZ:[^:]*]]: i32)
// CHECK-SAME: attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "tensordesc<u8[16, 32]>", "i32", "*i1"]}
// CHECK: %[[V:.*]] = arith.addi %[[PX]], %[[NZ]] : i32
// CHECK: %[[R:.*]]:2 = call @helper(%arg1, %arg2, %[[V]], %[[PX]], %[[PY]], %[[PZ]], %[[NX]], %[[NY]], %[[NZ]])
// CHECK: return
tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %d: !tt.tensordesc<16x32xui8>,
                       %n: i32 {tt.divisibility = 8 : i32}, %b: !tt.ptr<i1>) attributes {noinline = false} {
  %0 = tt.get_program_id x : i32
  %1 = tt.get_num_programs z : i32
  %2 = arith.addi %0, %1 : i32
  %3 = tt.call @helper(%d, %2) : (!tt.tensordesc<16x32xui8>, i32) -> !tt.tensordesc<16x32xui8>
  tt.return
}

// CHECK-LABEL: func.func private @helper
// CHECK-SAME: (%[[M:.*]]: memref<?x?xi8, strided<[?, ?], offset: ?>>, %[[NAN:.*]]: i1, %{{.*}}: i32,
// CHECK-SAME: -> (memref<?x?xi8, strided<[?, ?], offset: ?>>, i1)
// CHECK-NOT: tilebridge
// CHECK: return %[[M]], %[[NAN]]
tt.func private @helper(%d: !tt.tensordesc<16x32xui8>, %n: i32) -> !tt.tensordesc<16x32xui8> attributes {noinline = true} {
  %0 = tt.get_program_id y : i32
  tt.return %d : !tt.tensordesc<16x32xui8>
}

// -----

// CHECK: tilebridge.signature = ["*fp8e5", "*fp8e4nv", "*fp8e5b16", "*fp8e4b8", "*bf16", "*fp16", "fp64", "i1", "**i8", "tensordesc<fp16[64]>"]
tt.func public @signature(%0: !tt.ptr<f8E5M2>, %1: !tt.ptr<f8E4M3FN>, %2: !tt.ptr<f8E5M2FNUZ>, %3: !tt.ptr<f8E4M3FNUZ>,
    %4: !tt.ptr<bf16>, %5: !tt.ptr<f16>, %6: f64, %7: i1, %8: !tt.ptr<!tt.ptr<i8>>, %9: !tt.tensordesc<64xf16>) {
  tt.return
}
