// RUN: tilebridge-opt %s -pass-pipeline="builtin.module(func.func(tilebridge-accel-allocate),tilebridge-accel-report{output=%t})" -o /dev/null
// RUN: FileCheck %s < %t
// RUN: not tilebridge-opt %s -pass-pipeline="builtin.module(tilebridge-accel-report{output=%t.none/x})" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: cannot open output file

// Two PEs load the same 8 KB four times: what is read is half of what arrives. 8 KB at 64 bytes a cycle. Other 8 KB each of
// the eight PEs reads for itself.

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
// CHECK-NEXT: "dram": 327680
// CHECK: "bytes_used": {
// CHECK-NEXT: "local": 8192
// CHECK: "bytes_written": {
// CHECK: "local": 524288
// CHECK: "expected_cycles":
// CHECK: "lower_bounds_cycles": {
// CHECK: "multicast_saved_bytes": 196608
// CHECK: "transfers": [
// CHECK: "asynchronous": false
// CHECK: "direction": "load"
// CHECK: "form": "subview"
// CHECK: "multicast": [
// CHECK-NEXT: 1
// CHECK: "tensor": "argument 0"
// A note in the location of a transfer is its form and reason, behind the call that it was inlined from, too.
// CHECK: "cause": "'%' at kernel.py:3:9",
// CHECK-NEXT: "direction": "load",
// CHECK-NEXT: "form": "row gather",
// CHECK-NEXT: "line": "kernel.py:4",
// CHECK-NEXT: "multicast": [],
// CHECK-NEXT: "reason": "the offset is not linear",
// CHECK-NEXT: "tensor": "table",
module attributes {accel.target = "tiny-16kb"} {
func.func @f(%p: memref<2048xf32, strided<[1], offset: ?>>, %q: memref<2048xf32, strided<[1], offset: ?>> loc("table"("kernel.py":1:1))) attributes {accel.kernel, tilebridge.signature = ["*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 32 : i32
  %one = arith.constant 1 : i32
  %a = accel.alloc : memref<2048xf32, #accel.memory<"local">>
  scf.for %i = %c0 to %c4 step %c1 {
    %x, %y, %z, %active = accel.program %i counts(%n, %one, %one) {assignment = #accel.assignment<interleaved>}
    accel.copy %p to %a multicast [1] : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
    accel.copy %q to %a : (memref<2048xf32, strided<[1], offset: ?>>, memref<2048xf32, #accel.memory<"local">>) -> ()
      loc(callsite(fused<{tilebridge.cause = "'%' at kernel.py:3:9", tilebridge.form = "row gather", tilebridge.reason = "the offset is not linear"}>["kernel.py":4:5] at "kernel.py":9:1))
    linalg.exp ins(%a : memref<2048xf32, #accel.memory<"local">>) outs(%a : memref<2048xf32, #accel.memory<"local">>)
  }
  return
}
}
