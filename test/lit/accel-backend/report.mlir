// RUN: tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-allocate),tilebridge-accel-report{output=%t})" -o /dev/null
// RUN: FileCheck %s < %t
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-report{output=%t.none/x})" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: cannot open output file

// Two PEs load the same 8 KB four times: what is read is half of what arrives. 8 KB at 64 bytes a cycle.

// CHECK: "assignment": "interleaved"
// CHECK: "buffers": [
// CHECK: "bytes": 8192,
// CHECK-NEXT: "first_use":
// CHECK-NEXT: "last_use":
// CHECK-NEXT: "line": "{{.*}}report.mlir:[[#]]"
// CHECK-NEXT: "memory": "local"
// CHECK-NEXT: "offset": 0
// CHECK-NEXT: "type": "2048xf32"
// CHECK: "bytes_read": {
// CHECK-NEXT: "dram": 65536
// CHECK: "bytes_used": {
// CHECK-NEXT: "local": 8192
// CHECK: "bytes_written": {
// CHECK: "local": 262144
// CHECK: "expected_cycles":
// CHECK: "lower_bounds_cycles": {
// CHECK: "multicast_saved_bytes": 196608
// CHECK: "transfers": [
// CHECK: "asynchronous": false
// CHECK: "direction": "load"
// CHECK: "multicast": [
// CHECK-NEXT: 1
module attributes {accel.target = "tiny-16kb"} {
func.func @f(%p: memref<2048xf32, strided<[1], offset: ?>>) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 32 : i32
  %one = arith.constant 1 : i32
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  scf.for %i = %c0 to %c4 step %c1 {
    %x, %y, %z, %active = accel.program %i counts(%n, %one, %one) {assignment = #accel.assignment<interleaved>}
    accel.copy %p to %a multicast [1] : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
    linalg.exp ins(%a : memref<2048xf32, #accel.memory<"local">>) outs(%a : memref<2048xf32, #accel.memory<"local">>)
  }
  return
}
}
