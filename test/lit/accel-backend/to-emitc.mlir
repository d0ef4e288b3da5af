// RUN: tilebridge-opt %s --tilebridge-accel-to-emitc="rows=2 columns=2" --tilebridge-accel-print-cpp -o /dev/null | FileCheck %s

// CHECK: // Written by Tilebridge, for the target tiny.
// CHECK: #include "accel_kernel.h"

// CHECK: static void first(accel_pe *pe, float *v_, int64_t v__offset, int64_t v__0, int64_t v__1, int64_t v__2, float &result) {
// CHECK: static void matmul(accel_pe *pe, accel::f16 *a, accel::f16 *b, float *c, int32_t n, int32_t programs_x, int32_t programs_y, int32_t programs_z) {
module attributes {accel.target = "tiny"} {
// What is not known of a view's sizes and strides comes with it.
func.func private @first(%v: memref<?x?xf32, strided<[?, 1], offset: ?>> loc("v")) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %v[%c0, %c0] : memref<?x?xf32, strided<[?, 1], offset: ?>>
  return %0 : f32
}
func.func @matmul(%a: memref<?xf16, strided<[1], offset: ?>> loc("a"), %b: memref<?xf16, strided<[1], offset: ?>> loc("b"),
                  %c: memref<?xf32, strided<[1], offset: ?>> loc("c"), %n: i32 loc("n"),
                  %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp32", "i32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %pad = arith.constant 0.0 : f16
  %size = arith.index_cast %n : i32 to index loc("size")
  // CHECK-DAG: accel::f16 *const a_tile = accel::buffer<accel::f16>(accel_memory(pe, "local"), 0); // 8192 bytes
  // CHECK-DAG: int64_t size = accel::sext<int64_t>(n);
  // CHECK-DAG: float *const sums = accel::buffer<float>(accel_memory(pe, "local"), 16384); // 4096 bytes
  %at = accel.alloc {offset = 0 : i64} : memref<2x32x64xf16, #accel.memory<"local">> loc("a_tile")
  %bt = accel.alloc {offset = 8192 : i64} : memref<64x32xf16, #accel.memory<"local">> loc("b_tile")
  %ct = accel.alloc {offset = 16384 : i64} : memref<32x32xf32, #accel.memory<"local">> loc("sums")
  // CHECK: for (int64_t i = 0; i < 2; i += 1) {
  scf.for %step = %c0 to %c2 step %c1 {
    // CHECK: const accel::program program = accel::grid_program(pe, i, {programs_x, programs_y, programs_z}, 0, 1);
    %x, %y, %z, %active = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<grid : [0, 1]>}
    // CHECK: int32_t [[R:v[0-9]+]] = accel::mul(program.x, 32);
    // CHECK: int64_t [[ROW:t[_0-9]*]] = accel::sext<int64_t>([[R]]);
    %c32 = arith.constant 32 : i32
    %r = arith.muli %x, %c32 : i32
    %row = arith.index_cast %r : i32 to index
    // CHECK: for (int64_t [[I:i[_0-9]*]] = 0; [[I]] < 32; ++[[I]]) {
    // CHECK-NEXT: for (int64_t j = 0; j < 32; ++j) {
    // CHECK-NEXT: sums[[[I]] * 32 + j] = 0.0f;
    linalg.fill ins(%zero : f32) outs(%ct : memref<32x32xf32, #accel.memory<"local">>)
    // CHECK: accel_token carried = accel_token(ACCEL_COMPLETED);
    %t0 = accel.completed : !accel.token
    // CHECK: for (int64_t [[K:i[_0-9]*]] = 0; [[K]] < size; [[K]] += 64) {
    %last = scf.for %k = %c0 to %size step %c64 iter_args(%t = %t0) -> (!accel.token) {
      %view = memref.reinterpret_cast %a to offset: [%k], sizes: [32, 64], strides: [%size, 1]
          : memref<?xf16, strided<[1], offset: ?>> to memref<32x64xf16, strided<[?, 1], offset: ?>>
      %left = arith.subi %size, %k : index loc("left")
      %box = memref.subview %view[0, 0] [32, %left] [1, 1]
          : memref<32x64xf16, strided<[?, 1], offset: ?>> to memref<32x?xf16, strided<[?, 1], offset: ?>>
      %slot = memref.subview %at[%c1, 0, 0] [1, 32, 64] [1, 1, 1]
          : memref<2x32x64xf16, #accel.memory<"local">> to memref<32x64xf16, strided<[64, 1], offset: ?>, #accel.memory<"local">>
      // CHECK: int64_t left = size - [[K]];
      // CHECK: accel_token token = accel::transfer("to-emitc.mlir:[[#]]:{{[0-9]+}}").box({32, left}).from(a + [[K]], {size, 1}).to(a_tile + 2048, {64, 1}).pad(accel::f16::of_bits(0x0), {32, 64}).multicast(ACCEL_ALONG_ROW).start(pe);
      %ta = accel.copy_start %box to %slot pad %pad multicast [1]
          : (memref<32x?xf16, strided<[?, 1], offset: ?>>, memref<32x64xf16, strided<[64, 1], offset: ?>, #accel.memory<"local">>, f16) -> !accel.token
      // CHECK: accel_wait(pe, carried);
      // CHECK: accel_wait(pe, token);
      accel.wait %t, %ta
      // CHECK: accel::matmul(pe, {32, 32, 64}, a_tile + 2048, {64, 1}, b_tile, {32, 1}, sums, {32, 1});
      linalg.matmul ins(%slot, %bt : memref<32x64xf16, strided<[64, 1], offset: ?>, #accel.memory<"local">>, memref<64x32xf16, #accel.memory<"local">>)
                    outs(%ct : memref<32x32xf32, #accel.memory<"local">>)
      %next = accel.completed : !accel.token
      scf.yield %next : !accel.token
    } loc("k")
    // CHECK: if (program.active) {
    scf.if %active {
      %out = memref.reinterpret_cast %c to offset: [%row], sizes: [32, 32], strides: [%size, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
      // CHECK: accel_wait(pe, accel::transfer("{{.*}}").box({32, 32}).from(sums, {32, 1}).to(c + [[ROW]], {size, 1}).start(pe));
      accel.copy %ct to %out : (memref<32x32xf32, #accel.memory<"local">>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
    }
  } loc("step")
  return
}
}
// CHECK: static void matmul_entry(
// CHECK: static_cast<accel::f16 *>(arguments[0].pointer),
// CHECK: int32_t(arguments[3].integer),
// CHECK: static const accel_memory_use matmul_memories[] = {
// CHECK-NEXT: {"local", 20480},
// CHECK: const accel_kernel accel_kernel_matmul = {
// CHECK-NEXT: ACCEL_ABI_VERSION, 4, "matmul", "tiny",
// CHECK-NEXT: "*fp16 *fp16 *fp32 i32",
// CHECK-NEXT: 2, 2, {0, 0, 0},
// CHECK-NEXT: 1, matmul_memories,
