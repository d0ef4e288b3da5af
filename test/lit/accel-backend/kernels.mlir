// RUN: tilebridge-opt %s -tilebridge-accel-pipeline=to=inline | FileCheck %s

// Private functions are inlined, and gone.
// CHECK-NOT: func.func private
func.func private @add(%a: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) -> i32 {
  %0 = arith.addi %a, %px : i32
  return %0 : i32
}

// CHECK: func.func @f(
// CHECK-SAME: attributes {accel.kernel, tilebridge.kernel
// CHECK: arith.addi
// CHECK-NOT: call
func.func @f(%p: memref<?xi32, strided<[1], offset: ?>>, %a: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "i32"]} {
  %c0 = arith.constant 0 : index
  %0 = call @add(%a, %px, %py, %pz, %nx, %ny, %nz) : (i32, i32, i32, i32, i32, i32, i32) -> i32
  memref.store %0, %p[%c0] : memref<?xi32, strided<[1], offset: ?>>
  return
}
