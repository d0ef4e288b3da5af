// RUN: tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-specialize{grid=16,4 arguments=1=512,2=-3,3=0xffffffff noalias=0 placed=0=sram})" -allow-unregistered-dialect | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-accel-specialize -allow-unregistered-dialect | FileCheck %s --check-prefix=NOTHING
// RUN: tilebridge-opt %s -tilebridge-accel-specialize="depth=1 unicast" -allow-unregistered-dialect | FileCheck %s --check-prefix=LESS

// LESS: attributes {accel.most_depth = 1 : i64, accel.unicast,
// CHECK-LABEL: func.func @f
// CHECK-SAME: memref<?xf32, strided<[1], offset: ?>> {accel.noalias, accel.placed = "sram"}
// CHECK-SAME: accel.grid = array<i64: 16, 4, 1>
// CHECK-DAG: %[[N:.*]] = arith.constant 512 : i32
// CHECK-DAG: %[[M:.*]] = arith.constant -3 : i64
// CHECK-DAG: %[[K:.*]] = arith.constant -1 : i32
// CHECK-DAG: %[[X:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[Y:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[Z:.*]] = arith.constant 1 : i32
// CHECK: "test.use"(%[[N]], %[[M]], %[[K]], %{{.*}}, %[[X]], %[[Y]], %[[Z]])

// NOTHING-LABEL: func.func @f
// NOTHING-SAME: %[[N:[^ ]*]]: i32, %[[M:[^ ]*]]: i64, %[[K:[^ ]*]]: i32
// NOTHING-NOT: accel
// NOTHING: "test.use"(%[[N]], %[[M]], %[[K]]
func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %m: i64, %k: i32,
             %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32", "i64", "i32"]} {
  "test.use"(%n, %m, %k, %px, %nx, %ny, %nz) : (i32, i64, i32, i32, i32, i32, i32) -> ()
  return
}
