//===- RowPasses.td - rows that the next program goes on with -*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_ROWPASSES
#define TILEBRIDGE_CPUBACKEND_ROWPASSES

include "mlir/Pass/PassBase.td"

def CpuDeferStoresPass : Pass<"tilebridge-cpu-defer-stores", "::mlir::ModuleOp"> {
  let summary = "Does a program's last stores while the thread's next program computes";
  let description = [{
    A kernel that ends in loops which store what is in a buffer, scaled by numbers that all of it decided, as a softmax does, leaves
    them to the next program of its thread: its own loop that fills the buffer stores, step by step, what was there before. The program's ids and
    the numbers are kept for that, and all else is computed again. The kernel gets the attribute `tilebridge.deferred` (1): behind the last
    program of a range it is called once more, with ids of -1, for what is left. Where the stores begin at another
    element than the loop, as those that go around the caches may, what a step of the loop would overwrite is stored before.

    Only in kernels without atomics, calls and merged programs, that fill the buffer by whole vectors at the loop's index, store to one argument, and do nothing
    behind that. Tiles that programs loop over in an order have their stores at once.

    With `long-rows`, a kernel that begins with a loop that reduces a row of more than 16 KiB, and ends with one that reads it again and stores it, as an RMS norm
    does, leaves that loop to the next program, too, whose own first loop does it: so memory is read and written all the time. Where that row or the launch's rows
    (32 MiB) are shorter, what was left is stored first. What is copied where arguments overlap is kept. The loop asks for the row behind the one that is read.

    Before:
    ```mlir
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zeros) -> (vector<32xf32>) {
      %x = vector.load %in[%i] : memref<?xf32>, vector<32xf32>
      %e = math.exp %x : vector<32xf32>
      vector.store %e, %buffer[%i] : memref<1024xf32>, vector<32xf32>
      %next = arith.addf %acc, %e : vector<32xf32>
      scf.yield %next : vector<32xf32>
    }
    %total = vector.reduction <add>, %sum : vector<32xf32> into f32
    scf.for %i = %c0 to %n step %c32 {
      // divides what is in the buffer, and stores it
    }
    ```
    After:
    ```mlir
    %sum = scf.for %i = %c0 to %fused step %c32 iter_args(%acc = %zeros) -> (vector<32xf32>) {
      // divides what is in the buffer by the total that was kept, and stores it in the row of the program that was kept
      %x = vector.load %in[%i] : memref<?xf32>, vector<32xf32>
      %e = math.exp %x : vector<32xf32>
      vector.store %e, %buffer[%i] : memref<1024xf32>, vector<32xf32>
      %next = arith.addf %acc, %e : vector<32xf32>
      scf.yield %next : vector<32xf32>
    }
    // the steps from %fused on
    %total = vector.reduction <add>, %sum : vector<32xf32> into f32
    memref.store %total, %kept[%c0] : memref<1xf32>
    memref.store %id, %state[%c1] : memref<256xi64>
    ```
  }];
  let options = [Option<"longRows", "long-rows", "bool", "false", "also leaves a long row that is read again when it is stored">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CpuReadRowsAheadPass : Pass<"tilebridge-cpu-read-rows-ahead", "::mlir::ModuleOp"> {
  let summary = "Reads a row the first time while the row of the thread's program before is computed";
  let description = [{
    A kernel that `tilebridge-cpu-defer-stores` has left its stores to the next program of, and that begins with a loop that finds a number of its row, such as a
    softmax's maximum, leaves all behind that to the next program as well, with its ids and the number: the loop there that fills the buffer
    and stores what was in it reads the next row besides. So a loop waits for one thing less. What is asked
    for is the row behind the one that is read. `tilebridge.deferred` becomes 2: behind the last program of a range, the first call
    computes what is left and stores what was left before, and the second one stores.

    Only where nothing but arguments is read before the first write, all that the first loop needs is computed from arguments without
    reading any, and the buffer is at most 128 KiB: the row is read again when another one was read between. Launches that read and write more than
    `cache-bytes` have both loops one after the other, as loads that wait for memory are held up by the stores beside them.

    Before:
    ```mlir
    %top = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
      // the maximum of this program's row
    }
    %most = vector.reduction <maxnumf>, %top : vector<32xf32> into f32
    %sum = scf.for %i = %c0 to %fused step %c32 iter_args(%acc = %zeros) -> (vector<32xf32>) {
      // stores what is in the buffer, the row of the program before, and puts the exponentials of this row there
    }
    ```
    After:
    ```mlir
    %all:2 = scf.for %i = %c0 to %fused step %c32 iter_args(%acc = %zeros, %most = %lowest) -> (vector<32xf32>, vector<32xf32>) {
      // the maximum of this program's row
      // stores what is in the buffer, the row of the last program but one, and puts the exponentials of the row of the program before there
    }
    ```
  }];
  let options = [
    Option<"cacheBytes", "cache-bytes", "int64_t", "16777216", "a launch that reads and writes so many bytes, or fewer, finds them in a cache">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CpuJoinProgramsPass : Pass<"tilebridge-cpu-join-programs", "::mlir::ModuleOp"> {
  let summary = "Runs two programs of short rows as one, step by step";
  let description = [{
    In a kernel where a loop over a row waits for a number that an earlier loop has reduced, as in a norm, little else is done until the lanes
    of a sum have become one number. For such a kernel, if it waits twice or has rows of 16 bits, is small, has blocks of one dimension, and neither atomics nor calls, a function is added
    that runs two programs that follow one another along x: loops with the same bounds become one loop, that does a step of either program in turn, and what is the
    same for both, such as weights, is read and computed once. A loop whose bounds differ from program to program, as where stores around the caches begin at a line,
    is one loop where they are equal, which is compared when the kernel runs; the few vectors at a row's ends are computed one program after the other.
    Rows that were asked for ahead are those behind both programs.

    Another function says that this is for launches of 128 programs and more, that read and write at most `cache-bytes`, and in whose first loop rows are at most 4096 bytes:
    how long they are must be the same for all programs. Memory is read faster row by row.

    Not after `tilebridge-cpu-defer-stores` has changed the kernel, nor where programs run together, or in an order, for another reason.

    Before:
    ```mlir
    func.func @kernel(...) attributes {tilebridge.kernel} {
      %sum = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
        %at = arith.addi %row, %i : index
        %x = vector.load %in[%at] : memref<?xf32>, vector<16xf32>
        %next = arith.addf %acc, %x : vector<16xf32>
        scf.yield %next : vector<16xf32>
      }
      // divides the row by its sum, and stores it
      return
    }
    ```
    After, besides the kernel:
    ```mlir
    func.func private @kernel.joined(...) -> i1 attributes {tilebridge.merged_programs = 2, tilebridge.merged_axis = 0, tilebridge.merged_step = @kernel.joined_step} {
      %sum:2 = scf.for %i = %c0 to %n step %c16 iter_args(%acc0 = %zeros, %acc1 = %zeros) -> (vector<16xf32>, vector<16xf32>) {
        %at0 = arith.addi %row0, %i : index
        %at1 = arith.addi %row1, %i : index
        %x0 = vector.load %in[%at0] : memref<?xf32>, vector<16xf32>
        %x1 = vector.load %in[%at1] : memref<?xf32>, vector<16xf32>
        %next0 = arith.addf %acc0, %x0 : vector<16xf32>
        %next1 = arith.addf %acc1, %x1 : vector<16xf32>
        scf.yield %next0, %next1 : vector<16xf32>, vector<16xf32>
      }
      // divides both rows by their sums, and stores them
      return %true : i1
    }
    ```
  }];
  let options = [
    Option<"cacheBytes", "cache-bytes", "int64_t", "16777216", "a launch that reads and writes so many bytes, or fewer, finds them in a cache">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
