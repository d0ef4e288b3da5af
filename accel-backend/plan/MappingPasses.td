//===- MappingPasses.td - what PEs do, and do together -----*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PLAN_MAPPING_PASSES
#define TILEBRIDGE_ACCEL_PLAN_MAPPING_PASSES

include "mlir/Pass/PassBase.td"

def AccelSpecializePass : Pass<"tilebridge-accel-specialize", "::mlir::ModuleOp"> {
  let summary = "Makes constants and attributes of what is known of a launch";
  let description = [{
    Integer arguments and the counts of programs become constants, `accel.noalias` goes on pointers whose memory overlaps with
    no other argument's, and `accel.placed` says which of the target's memories a pointer's memory is in. The signature
    stays as it is. What is not given stays unknown. To see what several buffers and multicasts give, both can be left away:
    `accel.most_depth` and `accel.unicast` on the kernel. `accel.merge` there says how many neighbours of the launch grid are run as one.

    With `grid=16,4 arguments=1=512 noalias=0 placed=0=sram`, before:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32"]} {
      %0 = arith.muli %n, %nx : i32
      ...
    }
    ```
    After:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>> {accel.noalias, accel.placed = "sram"}, %n: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32"]} {
      %c512 = arith.constant 512 : i32
      %c16 = arith.constant 16 : i32
      %0 = arith.muli %c512, %c16 : i32
      ...
    }
    ```
  }];
  let options = [
    ListOption<"grid", "grid", "int64_t", "counts of programs, x first">,
    ListOption<"arguments", "arguments", "std::string", "NUMBER=INTEGER: an integer argument by its number in the function">,
    ListOption<"noalias", "noalias", "unsigned", "numbers of pointers that overlap with no other argument">,
    ListOption<"placed", "placed", "std::string", "NUMBER=MEMORY: where the memory of a pointer is">,
    Option<"mostDepth", "depth", "int64_t", "0", "no load has more buffers than these; 0: as many as help">,
    Option<"unicast", "unicast", "bool", "false", "no load is multicast">,
    ListOption<"merge", "merge", "int64_t", "how many neighbours of the launch grid are run as one, x first">
  ];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect"];
}

def AccelMapGridPass : Pass<"tilebridge-accel-map-grid", "::mlir::func::FuncOp"> {
  let summary = "Gives each program of the launch to a PE and a step";
  let description = [{
    The body of a kernel becomes a loop over steps, in each of which a PE runs the program that `accel.program` names. There may
    be more programs than PEs, or fewer. Where a step has no program for a PE, the PE does the loads of another one, so that it can take part in
    multicasts, and what would be seen from outside (stores, atomic accesses, prints) is left out. In a launch of one step in which
    no PEs of a line load alike, a PE without a program does nothing.

    With the grid known, the assignment is chosen by reuse: for each load, programs are put into classes that read the same
    memory, by evaluating the scalars that its address depends on; how the kernel computes them from its ids does not matter. Classes of
    one load go to rows and those of another to columns, where that lets PEs of a line load the same data in the same step. Of all such
    assignments, the one is taken that needs the fewest steps (within an eighth), and among those the one that reads the fewest
    bytes. Without a grid, and where there is nothing to share, programs are interleaved.

    `accel.merge` on the kernel says how many neighbours of the launch grid are one program in each dimension: those are what is mapped, and
    the body is in a loop over the neighbours. A remark says why where that must not be: programs that print or assert would do so for
    several at once, and those that wait for others, read what an atomic access found, or load atomically may rely on one another's order.

    Options force an assignment: `interleaved`, `blocked` or `grid=ROWS,COLUMNS` (numbers of dimensions of the launch grid, -1
    for none).

    Before:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
      %i = arith.index_cast %px : i32 to index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %p[%i] : memref<?xf32, strided<[1], offset: ?>>
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
      %steps = ...
      scf.for %step = %c0 to %steps step %c1 {
        %x, %y, %z, %active = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
        %i = arith.index_cast %x : i32 to index
        %zero = arith.constant 0.0 : f32
        scf.if %active {
          memref.store %zero, %p[%i] : memref<?xf32, strided<[1], offset: ?>>
        }
      } {accel.steps}
      return
    }
    ```
  }];
  let options = [
    Option<"assignment", "assignment", "std::string", "\"\"", "interleaved, blocked or grid; chosen by reuse without it">,
    ListOption<"grid", "grid", "int64_t", "for `grid`: the dimension that goes over rows, and that over columns">
  ];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def AccelFoldUniformPass : Pass<"tilebridge-accel-fold-uniform", "::mlir::func::FuncOp"> {
  let summary = "Makes constants of scalars that are the same in all programs of a launch";
  let description = [{
    With the launch known, integers that are computed from program ids and constants are evaluated for all programs. Where all have the
    same value it is a constant: that blocks do not wrap around the end of a matrix, or that no block goes beyond it. Branches
    and masks that depend on it fold away. In a loop whose bounds are known that holds for all of its iterations.

    Before, with 8 programs of blocks of 64:
    ```mlir
    %end = arith.addi %begin, %c64 : i32
    %inside = arith.cmpi sle, %end, %c512 : i32
    ```
    After:
    ```mlir
    %inside = arith.constant true
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect"];
}

def AccelMergeProgramsPass : Pass<"tilebridge-accel-merge-programs", "::mlir::func::FuncOp"> {
  let summary = "Runs neighbours of the launch grid in step, and loads once what they share";
  let description = [{
    A kernel with `accel.merge` has a loop over neighbours, by `tilebridge-accel-map-grid`. It is taken apart: each operation is followed by the
    same one of the other programs, and loops and branches that all of them take alike stay one. What is the same in all of them, a load of a
    block that they share above all, is there once. Scalars are compared by their values in all programs of the launch, so that it does not matter
    how a kernel computes its blocks from its ids. The order of accesses within a program stays what it is; between programs there is none.

    Loops whose bounds differ from one neighbour to the next, and branches that only some of them take, run one after the other, each with loads
    of its own. Neighbours beyond the launch grid do the loads of the last program and store nothing.

    Before, where two neighbours along x have the same block of A:
    ```mlir
    scf.for %i = %c0 to %c2 step %c1 {
      %x = arith.addi %first, %i : index
      %a = accel.copy %va to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %vb = memref.subview %b[%x, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      %tb = accel.copy %vb to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      ...
    } {accel.merge = array<i64: 2, 1, 1>}
    ```
    After:
    ```mlir
    %a = accel.copy %va to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %vb0 = memref.subview %b[%x0, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %vb1 = memref.subview %b[%x1, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %tb0 = accel.copy %vb0 to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %tb1 = accel.copy %vb1 to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    ...
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def AccelJoinLoopsPass : Pass<"tilebridge-accel-join-loops", "::mlir::func::FuncOp"> {
  let summary = "Makes one loop of two that PEs of a line change between at different times";
  let description = [{
    A loop goes on where the one before it ends, with another body but the same loads (causal attention: keys below the diagonal, and
    those that it crosses). Where PEs of a line end the first one at different times, its loads can be multicast
    (`tilebridge-accel-even-loops`), and those of the second one cannot. As one loop over both ranges they can be: its loads are in
    each iteration, and one of the two bodies follows. Each PE computes the same in the same order.

    The bounds and what is loaded are evaluated in all iterations of all PEs and steps, so the launch must be known. Loads are the
    second loop's, as masks are often only there: they have to give the same blocks in iterations of the first one. Loops stay apart
    where the second one can be multicast anyway, or the first one cannot, where they carry addresses, where the line would wait, or something between
    them has to stay there.

    Before:
    ```mlir
    %below = scf.for %i = %c0 to %own step %c1 iter_args(%a = %zero) -> (tensor<64xf32>) {
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%a, %k : tensor<64xf32>, tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %all = scf.for %i = %own to %end step %c1 iter_args(%a = %below) -> (tensor<64xf32>) {
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.sub ins(%a, %k : tensor<64xf32>, tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    %all = scf.for %i = %c0 to %end step %c1 iter_args(%a = %zero) -> (tensor<64xf32>) {
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %is_first = arith.cmpi slt, %i, %own : index
      %times = arith.select %is_first, %c1, %c0 : index
      %below = scf.for %once = %c0 to %times step %c1 iter_args(%b = %a) -> (tensor<64xf32>) { ... linalg.add ... }
      %is_second = arith.cmpi sge, %i, %own : index
      %others = arith.select %is_second, %c1, %c0 : index
      %new = scf.for %once = %c0 to %others step %c1 iter_args(%b = %below) -> (tensor<64xf32>) { ... linalg.sub ... }
      scf.yield %new : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def AccelEvenLoopsPass : Pass<"tilebridge-accel-even-loops", "::mlir::func::FuncOp"> {
  let summary = "Lets PEs of a line run a loop equally often, so that its loads can be multicast";
  let description = [{
    A loop whose loads are the same for all PEs of a line, but whose upper bound differs between them (causal attention: programs of one head
    read its keys from the first one to a last one of their own), runs to the line's greatest bound. Loads, and what they need, are done in each
    iteration; the rest is in a loop that runs once in the iterations that are the PE's own, and not at all in others. What is computed
    stays what it was, in the same order.

    The bounds are evaluated for all PEs and steps, so the launch must be known. The greatest bound is a constant, or chosen by
    the step and the PE's row or column. A loop stays as it is, with a remark, where the line's greatest bounds add up to more than the PE with the most
    iterations has anyway; and without one where a load is not the same or not in each iteration, where it needs a block that the loop carries, or
    where something before it in the loop may write what it reads.

    Before:
    ```mlir
    %sums = scf.for %i = %c0 to %own step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) {
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %next = linalg.add ins(%sum, %k : tensor<64xf32>, tensor<64xf32>) outs(%sum : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    ```
    After, where the line's greatest bound is 8:
    ```mlir
    %sums = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) {
      %k = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %is_own = arith.cmpi slt, %i, %own : index
      %times = arith.select %is_own, %c1, %c0 : index
      %new = scf.for %once = %c0 to %times step %c1 iter_args(%old = %sum) -> (tensor<64xf32>) {
        %next = linalg.add ins(%old, %k : tensor<64xf32>, tensor<64xf32>) outs(%old : tensor<64xf32>) -> tensor<64xf32>
        scf.yield %next : tensor<64xf32>
      }
      scf.yield %new : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def AccelMulticastPass : Pass<"tilebridge-accel-multicast", "::mlir::func::FuncOp"> {
  let summary = "Reads what PEs of a line load alike once, for all of them";
  let description = [{
    A copy into local memory becomes a multicast along the PEs of a row, of a column, or of the grid where it is proved that in each step all
    PEs of the line do it equally often from the same memory: the scalars that its address, its
    bounds and the control flow around it depend on are evaluated for all PEs and steps. The target's engine must do such lines. A copy that
    is alike along a line that no engine multicasts on, or whose number differs only by control flow, gets a remark and stays as it is.

    Before:
    ```mlir
    %t = accel.copy %b to %e : (memref<64x64xf16, strided<[?, 1], offset: ?>>, tensor<64x64xf16>) -> tensor<64x64xf16>
    ```
    After, where PEs of a column have the same `%b`:
    ```mlir
    %t = accel.copy %b to %e multicast [0] : (memref<64x64xf16, strided<[?, 1], offset: ?>>, tensor<64x64xf16>) -> tensor<64x64xf16>
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

def AccelChooseReductionsPass : Pass<"tilebridge-accel-choose-reductions", "::mlir::func::FuncOp"> {
  let summary = "Finds additions to memory that PEs of a line do to the same elements";
  let description = [{
    Where the programs of a sum are split over PEs (split-K), those of a line add to the same block one after the other. Where it is proved, as for
    multicasts, that in each step all PEs of a line access the same elements, and nobody reads what was there before, `accel.reduce` says along
    which coordinate the PEs are to combine their values first. The target must have a network for such lines and this kind of combination;
    else there is a remark. Copies that accumulate stay one for each PE where these take less time by the target's figures.

    Before:
    ```mlir
    accel.atomic fadd acq_rel gpu %base[%offsets] values(%v) : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>) -> ()
    ```
    After:
    ```mlir
    accel.atomic fadd acq_rel gpu %base[%offsets] values(%v) {accel.reduce = array<i64: 1>} : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

def AccelSkipIdlePass : Pass<"tilebridge-accel-skip-idle", "::mlir::func::FuncOp"> {
  let summary = "Lets PEs without a program do only what PEs of a line do together";
  let description = [{
    In a launch of one step, a PE without a program takes part in the multicasts of its lines, and neither loads nor computes anything else. Lines on which
    all PEs have a program, or none, need nobody else; nor does a line with one program, whose PE loads for itself: such loads may also be in loops. Where
    another multicast is in a loop or a branch, or needs something that is loaded before, a PE without a program does all loads if its line has
    a program; PEs of other lines do nothing, where they are the last rows or columns.

    Before:
    ```mlir
    %x, %y, %z, %active = accel.program %c0 counts(%c19, %c1, %c1) {assignment = #accel.assignment<interleaved>}
    %row = accel.copy %p to %e : (memref<512xf32, strided<[1], offset: ?>>, tensor<512xf32>) -> tensor<512xf32>
    %weights = accel.copy %w to %e multicast [0, 1] : (memref<512xf32, strided<[1], offset: ?>>, tensor<512xf32>) -> tensor<512xf32>
    ...
    ```
    After:
    ```mlir
    %x, %y, %z, %active = accel.program %c0 counts(%c19, %c1, %c1) {assignment = #accel.assignment<interleaved>}
    %weights = accel.copy %w to %e multicast [0, 1] : (memref<512xf32, strided<[1], offset: ?>>, tensor<512xf32>) -> tensor<512xf32>
    scf.if %active {
      %row = accel.copy %p to %e : (memref<512xf32, strided<[1], offset: ?>>, tensor<512xf32>) -> tensor<512xf32>
      ...
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect"];
}

def AccelReduceLinesPass : Pass<"tilebridge-accel-reduce-lines", "::mlir::func::FuncOp"> {
  let summary = "Combines the values of PEs of a line before one of them accesses memory";
  let description = [{
    Does what `accel.reduce` on an atomic access to a block, or on a copy that accumulates, says, on buffers: the first PE of the line gets the combination, and alone does the
    access. The order is a chain, or a tree where that takes less time by the target's figures.

    Before:
    ```mlir
    accel.atomic fadd acq_rel gpu %base[%o] values(%v) {accel.reduce = array<i64: 1>}
        : (memref<?xf32, strided<[1], offset: ?>>, memref<128xi64, #accel.memory<"local">>, memref<128xf32, #accel.memory<"local">>) -> ()
    ```
    After:
    ```mlir
    accel.reduce_line add %v along [1] to %c0 algorithm chain : memref<128xf32, #accel.memory<"local">>
    %column = accel.pe_id 1 : index
    %first = arith.cmpi eq, %column, %c0 : index
    scf.if %first {
      accel.atomic fadd acq_rel gpu %base[%o] values(%v)
          : (memref<?xf32, strided<[1], offset: ?>>, memref<128xi64, #accel.memory<"local">>, memref<128xf32, #accel.memory<"local">>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

#endif
