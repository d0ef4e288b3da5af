//===- MemoryPasses.td - places of buffers -----------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PLAN_MEMORY_PASSES
#define TILEBRIDGE_ACCEL_PLAN_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def AccelSpillPass : Pass<"tilebridge-accel-spill", "::mlir::func::FuncOp"> {
  let summary = "Moves buffers that local memory has no room for to the next farther memory";
  let description = [{
    Of a kernel with `accel.spill`, which the decision on what fits sets where fewer buffers and smaller blocks do not help. Of the buffers that are
    needed at the fullest time those go whose uses move the fewest bytes for the room that they make, until the others fit. They are in the
    nearest memory that engines copy to and from and that has room for one of each PE. What uses them is done on pieces: elementwise ops, sums,
    products, scans, loads and stores go through a buffer piece by piece, with a copy to local memory before and one back where it has changed. What
    cannot be done piece by piece gets all of the buffer for itself.

    A remark names each such buffer, its bytes and why; `accel.spilled` on it has the reason for reports.

    Before, with 16384 bytes of local memory:
    ```mlir
    %a = accel.alloc : memref<8192xf32, #accel.memory<"local">>
    accel.copy %v to %a : (memref<8192xf32, strided<[1], offset: ?>>, memref<8192xf32, #accel.memory<"local">>) -> ()
    ```
    After:
    ```mlir
    %a = accel.alloc {accel.spilled = "..."} : memref<8192xf32, #accel.memory<"dram">>
    scf.for %i = %c0 to %c8192 step %c1024 {
      %b = accel.alloc : memref<1024xf32, #accel.memory<"local">>
      %s = memref.subview %v[%i] [1024] [1] : memref<8192xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
      accel.copy %s to %b : (memref<1024xf32, strided<[1], offset: ?>>, memref<1024xf32, #accel.memory<"local">>) -> ()
      %d = memref.subview %a[%i] [1024] [1] : memref<8192xf32, #accel.memory<"dram">> to memref<1024xf32, strided<[1], offset: ?>, #accel.memory<"dram">>
      accel.copy %b to %d : (memref<1024xf32, #accel.memory<"local">>, memref<1024xf32, strided<[1], offset: ?>, #accel.memory<"dram">>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect"];
}

def AccelAllocatePass : Pass<"tilebridge-accel-allocate", "::mlir::func::FuncOp"> {
  let summary = "Gives each buffer its place in the memory it is in";
  let description = [{
    Buffers that are not needed at the same time may lie in the same place: a buffer is needed from its first use until its
    last one, or until the last transfer that uses it has been waited for, and for all of a loop that does not begin by overwriting it. Offsets are multiples of what the
    memory and its engines need; a `bank` that was asked for is kept where it fits. The placement is verified by code that
    knows nothing of how it was found.

    Where they do not fit, one error names the buffers that are needed at the worst time, their places in the kernel, and their bytes.

    Before:
    ```mlir
    %a = accel.alloc : memref<64x32xf16, #accel.memory<"local">>
    ```
    After:
    ```mlir
    %a = accel.alloc {offset = 4096 : i64} : memref<64x32xf16, #accel.memory<"local">>
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

def AccelVerifySchedulePass : Pass<"tilebridge-accel-verify-schedule", "::mlir::func::FuncOp"> {
  let summary = "Checks the rules of the lowered form";
  let description = [{
    What no op can check alone, of kernels; each rule that is broken is an error at the op that breaks it:
    - the token of a transfer is waited for exactly once on every path;
    - until then nothing reads or writes what it writes, nor writes what it reads: a buffer, or memory of the chip that may be the
      same;
    - a transfer that is waited for n iterations later has n + 1 buffers;
    - each buffer has a place, at a multiple of what the memory needs and inside of it, and no other one's while both are needed;
    - what PEs of a line do together does not depend on which PE it is: neither whether it is done, nor the source of a multicast;
    - a transfer of a kernel that is `accel.legalized` is one descriptor of an engine.

    Nothing is changed. Where two accesses to a buffer by different parts of it cannot be told apart, the simulator does it.

    ```mlir
    %t = accel.copy_start %v to %a : (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, #accel.memory<"local">>) -> !accel.token
    linalg.fill ins(%zero : f32) outs(%a : memref<64xf32, #accel.memory<"local">>)
    // error: writes what a transfer under way writes
    accel.wait %t
    ```
  }];
}

#endif
