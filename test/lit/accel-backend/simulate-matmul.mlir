// A product of 512 x 512 matrices by 8 x 8 PEs: two buffers a operand, tokens carried by the loop, rows of PEs share blocks
// of A and columns blocks of B.
// RUN: tilebridge run %s --target=accel:mtia-2i-like --grid 8,8 --arg f16[512,512]=1 --arg f16[512,512]=2 --arg f32[512,512] --show --report %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: tilebridge run %s --target=accel:mtia-2i-like --grid 8,8 --arg f16[512,512]=1 --arg f16[512,512]=2 --arg f32[512,512] --show --landing random:3 | FileCheck %s

// CHECK: argument 2: fp32[512,512]: 1024, 1024, 1024
// A and B once, C once: 512 * 512 * (2 + 2) and * 4 bytes.
// REPORT: "bytes_read": 1048576
// REPORT: "bytes_written": 1048576
// REPORT: "multicast_saved_bytes": 7340032
// REPORT: "name": "matrix",
// REPORT-NEXT: "operations": 268435456

!a = memref<?xf16, strided<[1], offset: ?>>
!c = memref<?xf32, strided<[1], offset: ?>>
!block = memref<64x64xf16, strided<[512, 1], offset: ?>>
!result = memref<64x64xf32, strided<[512, 1], offset: ?>>
!buffers = memref<2x64x64xf16, #accel.memory<"local">>
!buffer = memref<64x64xf16, strided<[64, 1], offset: ?>, #accel.memory<"local">>
!sum = memref<64x64xf32, #accel.memory<"local">>
func.func @matmul(%a: !a, %b: !a, %c: !c, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %x, %y, %z, %active = accel.program %c0 counts(%nx, %ny, %nz) {assignment = #accel.assignment<grid : [1, 0]>}
  %i = arith.index_cast %y : i32 to index
  %j = arith.index_cast %x : i32 to index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %rowStart = arith.muli %row, %c512 : index
  %as = accel.alloc : !buffers
  %bs = accel.alloc : !buffers
  %acc = accel.alloc : !sum
  linalg.fill ins(%zero : f32) outs(%acc : !sum)
  %a0 = memref.reinterpret_cast %a to offset: [%rowStart], sizes: [64, 64], strides: [512, 1] : !a to !block
  %b0 = memref.reinterpret_cast %b to offset: [%column], sizes: [64, 64], strides: [512, 1] : !a to !block
  %as0 = memref.subview %as[0, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to memref<64x64xf16, strided<[64, 1]>, #accel.memory<"local">>
  %bs0 = memref.subview %bs[0, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to memref<64x64xf16, strided<[64, 1]>, #accel.memory<"local">>
  %ta0 = accel.copy_start %a0 to %as0 multicast [1] : (!block, memref<64x64xf16, strided<[64, 1]>, #accel.memory<"local">>) -> !accel.token
  %tb0 = accel.copy_start %b0 to %bs0 multicast [0] : (!block, memref<64x64xf16, strided<[64, 1]>, #accel.memory<"local">>) -> !accel.token
  %c8 = arith.constant 8 : index
  %ta, %tb = scf.for %k = %c0 to %c8 step %c1 iter_args(%u = %ta0, %v = %tb0) -> (!accel.token, !accel.token) {
    %even = arith.remui %k, %c2 : index
    %odd = arith.subi %c1, %even : index
    accel.wait %u, %v
    %next = arith.addi %k, %c1 : index
    %more = arith.cmpi ule, %next, %c7 : index
    %un, %vn = scf.if %more -> (!accel.token, !accel.token) {
      %offset = arith.muli %next, %c64 : index
      %an = arith.addi %rowStart, %offset : index
      %bk = arith.muli %offset, %c512 : index
      %bn = arith.addi %bk, %column : index
      %va = memref.reinterpret_cast %a to offset: [%an], sizes: [64, 64], strides: [512, 1] : !a to !block
      %vb = memref.reinterpret_cast %b to offset: [%bn], sizes: [64, 64], strides: [512, 1] : !a to !block
      %la = memref.subview %as[%odd, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to !buffer
      %lb = memref.subview %bs[%odd, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to !buffer
      %sa = accel.copy_start %va to %la multicast [1] : (!block, !buffer) -> !accel.token
      %sb = accel.copy_start %vb to %lb multicast [0] : (!block, !buffer) -> !accel.token
      scf.yield %sa, %sb : !accel.token, !accel.token
    } else {
      %none = accel.completed : !accel.token
      scf.yield %none, %none : !accel.token, !accel.token
    }
    %xa = memref.subview %as[%even, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to !buffer
    %xb = memref.subview %bs[%even, 0, 0] [1, 64, 64] [1, 1, 1] : !buffers to !buffer
    linalg.matmul ins(%xa, %xb : !buffer, !buffer) outs(%acc : !sum)
    scf.yield %un, %vn : !accel.token, !accel.token
  }
  %coff = arith.addi %rowStart, %column : index
  %out = memref.reinterpret_cast %c to offset: [%coff], sizes: [64, 64], strides: [512, 1] : !c to !result
  accel.copy %acc to %out : (!sum, !result) -> ()
  return
}
