//===- Passes.td - passes that decide ----------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PLAN_PASSES
#define TILEBRIDGE_ACCEL_PLAN_PASSES

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

def AccelAccumulatePass : Pass<"tilebridge-accel-accumulate", "::mlir::func::FuncOp"> {
  let summary = "Adds blocks to memory by copies, where the target's engine adds";
  let description = [{
    `linalg_ext.atomic_rmw` of a block (`add`, `fadd`) whose old values nobody reads, and whose offsets are a base and a stride for each dimension,
    becomes an `accel.copy` that accumulates: for an engine with `accumulate` from the local memory to that of the argument. Masks that are a box make
    it smaller; other masks become the copy's. The engine adds each element at once, so that no addition is lost, and elements of a block
    that meet are each added. In which order PEs add is not fixed: sums of integers are exact, those of floats may differ in their last bits, as with
    atomic accesses one by one. An access that orders others (any but `relaxed`) stays what it is in a kernel that observes atomic accesses:
    reads old values, compares and swaps, or loads atomically.

    Before:
    ```mlir
    %old = linalg_ext.atomic_rmw fadd acq_rel gpu %c[%offsets], %v mask %m
        : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
    ```
    After, for offsets from `%o` and a mask of the first `%n`:
    ```mlir
    %view = memref.reinterpret_cast %c to offset: [%o], sizes: [128], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<128xf32, strided<[1], offset: ?>>
    %box = memref.subview %view[0] [%n] [1] : memref<128xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %part = tensor.extract_slice %v[0] [%n] [1] : tensor<128xf32> to tensor<?xf32>
    accel.copy %part to %box accumulate add : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
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
    and masks that depend on it fold away.

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

def AccelTilePass : Pass<"tilebridge-accel-tile", "::mlir::func::FuncOp"> {
  let summary = "Makes blocks as small as their accel.tile says";
  let description = [{
    `accel.tile` on an operation that gives or stores a block has the size that each of its dimensions is to have. All blocks whose
    positions depend on one another along such a dimension (its class) become smaller with it. A dimension whose positions do not
    see one another gets a loop over its parts around the whole program; one that products, reductions or histograms combine gets a
    loop around these and the loads of their operands, in which they go on from what the parts before gave. What is loaded and
    stored are the parts of the boxes.

    An error says why a dimension cannot be tiled: it is scanned, reshaped, needed once more after it was reduced, or a part would
    see what another part stores.

    Before:
    ```mlir
    %t = accel.copy %v to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
    accel.copy %t to %w : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c256 step %c64 {
      %p = memref.subview %v[%i] [64] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %t = accel.copy %p to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %q = memref.subview %w[%i] [64] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      accel.copy %t to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
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

def AccelHoistCopiesPass : Pass<"tilebridge-accel-hoist-copies", "::mlir::func::FuncOp"> {
  let summary = "Loads before a loop what each iteration loads, and once what is loaded twice";
  let description = [{
    A load whose address and bounds do not change from iteration to iteration goes out of the loop, if the loop runs at least once
    and nothing in it may write there: weights that every program uses are loaded once for all steps of a PE. Of
    two equal loads in a block with no such write between them the second one uses what the first one loaded.

    Before:
    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      %t = accel.copy %w to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      ...
    }
    ```
    After:
    ```mlir
    %t = accel.copy %w to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      ...
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
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

def AccelBranchOncePass : Pass<"tilebridge-accel-branch-once", "::mlir::func::FuncOp"> {
  let summary = "Makes branches of loops that run once or not at all";
  let description = [{
    `tilebridge-accel-even-loops` makes such loops, because what loops carry stays in its buffer. Once blocks are buffers, a branch says better
    how often its body is run. A loop that still carries buffers stays as it is.

    Before:
    ```mlir
    %times = arith.select %is_own, %c1, %c0 : index
    scf.for %once = %c0 to %times step %c1 {
      linalg.add ins(%sum, %k : memref<64xf32, #accel.memory<"local">>, memref<64xf32, #accel.memory<"local">>) outs(%sum : memref<64xf32, #accel.memory<"local">>)
    }
    ```
    After:
    ```mlir
    scf.if %is_own {
      linalg.add ins(%sum, %k : memref<64xf32, #accel.memory<"local">>, memref<64xf32, #accel.memory<"local">>) outs(%sum : memref<64xf32, #accel.memory<"local">>)
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
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
    In a launch of one step, a PE without a program takes part in the multicasts of its lines, and neither loads nor computes anything else. Where a
    multicast is in a loop or a branch, or needs something that is loaded before, nothing is changed.

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

def AccelLegalizePass : Pass<"tilebridge-accel-legalize", "::mlir::func::FuncOp"> {
  let summary = "Splits transfers into descriptors that the target's engines have";
  let description = [{
    One descriptor of an engine has so many dimensions, extents up to a limit, strides up to a limit and perhaps not 0, and perhaps no
    padding and no indices. Neighbouring dimensions that are one for both sides count once. What is more becomes a loop of transfers:
    over the outermost dimension, over parts of an extent, over rows whose indices the PE reads itself. Padding is a fill before the
    transfer, which is left out where the box is as large as the block. A transfer that was split keeps one token: each
    part waits for the one before it when it has itself been started. A mask of elements is the engine's byte enables, and split
    with what it is for.

    Kernels get `accel.legalized`.

    Before, on an engine that copies one run of at most 4096 elements:
    ```mlir
    accel.copy %v to %b : (memref<64x32xf16, strided<[128, 1], offset: ?>>, memref<64x32xf16, #accel.memory<"local">>) -> ()
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c64 step %c1 {
      %s = memref.subview %v[%i, 0] [1, 32] [1, 1] : memref<64x32xf16, strided<[128, 1], offset: ?>> to memref<1x32xf16, strided<[128, 1], offset: ?>>
      %d = memref.subview %b[%i, 0] [1, 32] [1, 1] : memref<64x32xf16, #accel.memory<"local">> to memref<1x32xf16, strided<[32, 1], offset: ?>, #accel.memory<"local">>
      accel.copy %s to %d : (memref<1x32xf16, strided<[128, 1], offset: ?>>, memref<1x32xf16, strided<[32, 1], offset: ?>, #accel.memory<"local">>) -> ()
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
