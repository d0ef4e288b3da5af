// What a lowered kernel does on the simulator: y = x + x, a block of 64 at a time, each PE its programs.
// RUN: tilebridge run %s --target=accel:grid-1x8 --grid 16 --arg 'f32[1000]=range' --out %t.npy=f32[1000] --arg 1000 --show --trace %t.trace.json --report %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: %python -c "import json; t = json.load(open('%t.trace.json')); print(len(t['traceEvents']) > 50)" | FileCheck %s --check-prefix=TRACE
// Random landing gives the same.
// RUN: tilebridge run %s --target=accel:grid-1x8 --grid 16 --arg 'f32[1000]=range' --out %t.npy=f32[1000] --arg 1000 --show --landing random:7 | FileCheck %s

// CHECK: argument 1: fp32[1000]: 0, 2, 4, 6, 8
// CHECK: {{[0-9]+}} cycles, {{.*}} us on grid-1x8
// REPORT: "bytes_read": 4000
// REPORT: "bytes_written": 4000
// TRACE: True

!chip = memref<?xf32, strided<[1], offset: ?>>
!local = memref<64xf32, #accel.memory<"local">>
!part = memref<?xf32, strided<[1]>, #accel.memory<"local">>
func.func @double(%x: !chip, %y: !chip, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %size = arith.index_cast %n : i32 to index
  scf.for %step = %c0 to %c2 step %c1 {
    %p, %q, %r, %active = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
    %id = arith.index_cast %p : i32 to index
    %at = arith.muli %id, %c64 : index
    %left = arith.subi %size, %at : index
    %some = arith.minsi %left, %c64 : index
    %count = arith.maxsi %some, %c0 : index
    %a = accel.alloc : !local
    %b = accel.alloc : !local
    %from = memref.reinterpret_cast %x to offset: [%at], sizes: [%count], strides: [1] : !chip to !chip
    %to = memref.reinterpret_cast %y to offset: [%at], sizes: [%count], strides: [1] : !chip to !chip
    %t = accel.copy_start %from to %a pad %zero : (!chip, !local, f32) -> !accel.token
    accel.wait %t
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%a : !local) outs(%b : !local) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %in : f32
      linalg.yield %sum : f32
    }
    %done = memref.subview %b[0] [%count] [1] : !local to !part
    scf.if %active {
      accel.copy %done to %to : (!part, !chip) -> ()
    }
  }
  return
}
