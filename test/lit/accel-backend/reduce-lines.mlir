// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-choose-reductions -verify-diagnostics | FileCheck %s --check-prefix=CHOOSE
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-reduce-lines 2>/dev/null | FileCheck %s

// Programs x add to block y: along rows of the grid all PEs add to the same elements, and along columns where x is the
// block. What somebody reads stays.

// CHOOSE-LABEL: func.func @split
// CHOOSE: accel.atomic fadd acq_rel gpu %{{.*}}[%{{.*}}] values(%{{.*}}) old(%{{.*}}) {accel.reduce = array<i64: 1>}
// CHOOSE: accel.atomic fadd acq_rel gpu %{{[^ ]*}} values(%{{[^ ]*}}) old(%{{[^ ]*}}) :
// CHOOSE: accel.atomic fadd acq_rel gpu %{{[^ ]*}} values(%{{[^ ]*}}) old(%{{[^ ]*}}) {accel.reduce = array<i64: 0>, own}
module attributes {accel.target = "mtia-2i-like"} {
func.func @split(%a: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 8, 8, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z, %active = accel.program %c0 counts(%c8, %c8, %c1) {assignment = #accel.assignment<grid : [1, 0]>}
  %xi = arith.index_cast %x : i32 to index
  %y64 = arith.extsi %y : i32 to i64
  %x64 = arith.extsi %x : i32 to i64
  %e = tensor.empty() : tensor<64xf32>
  %offsets = tensor.splat %y64 : tensor<64xi64>
  %own = tensor.splat %x64 : tensor<64xi64>
  %v = memref.reinterpret_cast %a to offset: [%xi], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %t = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.exp ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = accel.atomic fadd acq_rel gpu %c[%offsets] values(%sum) old(%e) : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %sum2 = linalg.exp ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %1 = accel.atomic fadd acq_rel gpu %c[%offsets] values(%sum2) old(%e) : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %read = linalg.exp ins(%1 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %2 = accel.atomic fadd acq_rel gpu %c[%own] values(%read) old(%e) {own} : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return
}
}

// -----

// No network, and no product in it.

// CHOOSE-LABEL: func.func @alone
// CHOOSE: accel.atomic fadd acq_rel gpu %{{[^ ]*}} values(%{{[^ ]*}}) old(%{{[^ ]*}}) :
module attributes {accel.target = "wormhole-like"} {
func.func @alone(%c: memref<?xf32, strided<[1], offset: ?>>, %n: i64, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "i64"]} {
  %e = tensor.empty() : tensor<64xf32>
  %offsets = tensor.splat %n : tensor<64xi64>
  %sum = linalg.exp ins(%e : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-remark @+1 {{PEs of a line add to the same elements, one after the other: the target cannot combine them before}}
  %0 = accel.atomic fadd acq_rel gpu %c[%offsets] values(%sum) old(%e) : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return
}
}

// -----

// On buffers: the first PE of the row has the sum, and adds it. A large buffer is a chain.

// CHECK-LABEL: func.func @buffers
// CHECK: accel.reduce_line add %[[V:.*]] along [1] to %[[ZERO:.*]] algorithm chain
// CHECK: %[[PE:.*]] = accel.pe_id 1
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PE]], %[[ZERO]]
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: accel.atomic fadd acq_rel gpu %{{.*}}[%{{.*}}] values(%[[V]]) old(%{{.*}}) :
// CHECK: accel.reduce_line add %{{.*}} along [0] to %{{.*}} algorithm tree
module attributes {accel.target = "mtia-2i-like"} {
func.func @buffers(%c: memref<?xf32, strided<[1], offset: ?>>, %o: memref<4096xi64, #accel.memory<"local">>, %v: memref<4096xf32, #accel.memory<"local">>,
                   %p: memref<4xi64, #accel.memory<"local">>, %w: memref<4xf32, #accel.memory<"local">>)
    attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  accel.atomic fadd acq_rel gpu %c[%o] values(%v) old(%v) {accel.reduce = array<i64: 1>}
      : (memref<?xf32, strided<[1], offset: ?>>, memref<4096xi64, #accel.memory<"local">>, memref<4096xf32, #accel.memory<"local">>, memref<4096xf32, #accel.memory<"local">>) -> ()
  accel.atomic fadd acq_rel gpu %c[%p] values(%w) old(%w) {accel.reduce = array<i64: 0>}
      : (memref<?xf32, strided<[1], offset: ?>>, memref<4xi64, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>, memref<4xf32, #accel.memory<"local">>) -> ()
  return
}
}
