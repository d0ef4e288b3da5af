// RUN: tilebridge-opt %s -tilebridge-cpu-lower-addresses | FileCheck %s

// CHECK-LABEL: func.func @load
// CHECK-SAME: (%[[A:.*]]: i64,
// CHECK: %[[P:.*]] = llvm.inttoptr %[[A]] : i64 to !llvm.ptr
// CHECK: llvm.insertvalue %[[P]], %{{.*}}[1]
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32, strided<[1], offset: ?>>
// CHECK: memref.load %[[M]]
func.func @load(%address: i64, %i: index) -> f32 {
  %base = linalg_ext.view_address %address : (i64) -> memref<?xf32, strided<[1], offset: ?>>
  %x = memref.load %base[%i] : memref<?xf32, strided<[1], offset: ?>>
  return %x : f32
}
