//===- Passes.td - passes of cpu-backend -------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_PASSES
#define TILEBRIDGE_CPUBACKEND_PASSES

include "mlir/Pass/PassBase.td"
include "cpu-backend/BlockPasses.td"
include "cpu-backend/RepeatPasses.td"
include "cpu-backend/ShapePasses.td"
include "cpu-backend/FloatPasses.td"
include "cpu-backend/LowerPasses.td"
include "cpu-backend/emit/CarriedPasses.td"
include "cpu-backend/emit/EmitPasses.td"
include "cpu-backend/RowPasses.td"

def CpuEntryPass : Pass<"tilebridge-cpu-entry", "::mlir::ModuleOp"> {
  let summary = "Adds what a compiled kernel exports";
  let description = [{
    Adds the function `tilebridge_run`, `tilebridge_programs` where ranges are of the tiles of the grid's programs (`tilebridge.tiles`), and the constant `tilebridge_executable` of runtime/executable_abi.h for the one kernel of
    the module: `run` reads the arguments from the slots of a launch once, then calls the kernel for each program of its range,
    x fastest, or the axis that the function of the attribute `tilebridge.order` returns. All functions become private, and their names get `.program` at their ends: a kernel may have the name of a
    function of C.

    After its program ids a kernel (of bridge IR or loops, any form in which functions are `func.func`) may have
    - an argument `memref<?xi8>` with the attribute `tilebridge.scratch`: the memory of the calling thread, of as many bytes as the
      function's attribute `tilebridge.scratch_bytes` says, aligned to 64;
    - an argument `!llvm.ptr` with the attribute `tilebridge.launch`: the launch, for callbacks to the host.

    Before:
    ```mlir
    func.func @add(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "i32"]} { ... }
    ```
    After, with the constant left out:
    ```mlir
    func.func private @add.program(...) attributes {llvm.linkage = #llvm.linkage<internal>, ...} { ... }
    llvm.func internal @tilebridge_run(%launch: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {
      %slots = llvm.load %launch : !llvm.ptr -> !llvm.ptr
      ...
      scf.for %i = %begin to %end step %c1 iter_args(%px = ..., %py = ..., %pz = ...) -> (i32, i32, i32) : i64 {
        func.call @add.program(%x, %n, %px, %py, %pz, %nx, %ny, %nz) : (...) -> ()
        ...
      }
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"\"", "name of the CPU, for the manifest">,
    Option<"features", "features", "std::string", "\"\"", "features of the CPU, for the manifest">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def CpuCountMatchesPass : Pass<"tilebridge-cpu-count-matches", "::mlir::func::FuncOp"> {
  let summary = "Counts by one counter for each element, not by comparisons with all numbers";
  let description = [{
    The sum of comparisons of a block with numbers that follow one another, along the block, is a histogram of it: `(x[:, None] == bins[None, :]).to(tl.int32)`
    along x, with masks of x, in either order of dimensions. Numbers may begin anywhere. From 16 numbers on, as fewer are compared as quickly;
    counts are i32, i64, f32 or f64.

    Before:
    ```mlir
    %a = linalg.broadcast ins(%x : tensor<512xi32>) outs(%e : tensor<512x64xi32>) dimensions = [1]
    %b = linalg.broadcast ins(%numbers : tensor<64xi32>) outs(%e : tensor<512x64xi32>) dimensions = [0]
    %is = linalg.generic {...} ins(%a, %b : ...) { arith.cmpi eq ... }
    %one = linalg.generic {...} ins(%is : ...) { arith.extui ... }
    %counts = linalg.reduce { arith.addi } ins(%one : tensor<512x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
    ```
    After:
    ```mlir
    %counts = linalg_ext.histogram %x : tensor<512xi32> -> tensor<64xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::tilebridge::linalg_ext::LinalgExtDialect"];
}

def CpuMergeProgramsPass : Pass<"tilebridge-cpu-merge-programs", "::mlir::ModuleOp"> {
  let summary = "Compiles programs that read neighbouring columns as one";
  let description = [{
    Where a block's elements lie apart, and those of the next program lie next to them, as many programs as a line of memory has
    elements become one function: each block gets one dimension more, the last one, along which vectors are then contiguous. What
    is the same for all programs stays as it is. Columns of 1024 elements and more, and blocks that are numbered by one id and only moved, get a second
    function, `.merged_lines`, for as many programs as four lines have: rows of large matrices lie on pages of their own, where one
    line is read as slowly as four. It runs where as many programs are left, in grids that have 64 times as many. The function is called for programs whose ids along one axis follow one another, or,
    where a kernel divides its id by a number of blocks, are that number apart; the kernel itself runs those that are left. If the remainder of
    such a division is a column, whatever the launch's strides, as in a sum along the dimension before the last, programs that follow one another
    are taken, too: those of two rows run alone.

    Programs with blocks of a few columns, a power of two and less than a line of each row, or, in a loop, a line (four, if it only sums rows up), become one that has the
    columns of all: the last dimension of each block that differs from program to program becomes so many times as long, and there is no other
    one. What combines or moves columns is not merged, nor a program whose columns are not all inside. Loops that go down rows get `.merged_lines` as
    long columns do, but where a program divides its number. Those that only sum rows up have 16 lines
    there, in grids that have 4 times as many programs: `tilebridge.merged_groups`.

    With `large-read`, groups of programs that are that number apart follow one another, before those beside them, if columns are what is read,
    the grid has a multiple of the number, and the launch reads so much by them that it comes from memory: each group goes on in the rows of memory
    that the one before has read. The attribute `tilebridge.merged_apart` is the least number of programs for that.

    Values that are likely to be the same for all, or to grow by a step, are compared for each program first (bounds, quotients, sums
    that might wrap around); where one differs the function does nothing and returns false, and the programs run alone. Within a
    loop a sum that is only where memory begins is taken not to wrap around from program to program, as it is within a block.

    Programs that multiply few rows with blocks of a matrix in row-major order that are narrower than 1024 bytes (types of less than 32 bits: 128), in a
    loop, become one with a wider block, if theirs have 16 rows at most. It runs in launches that store up to 4 of these, which the function that
    `tilebridge.merged_step` names asks, and that have 8 times as many programs along the axis; others run the kernel, in an order of its own.
    With up to 4 `cores` there is a second one, `.merged_wide`, of 1024 columns (with up to 8, of 512), that runs where each core gets one; the first one has
    512 bytes then of types of less than 32 bits, and needs twice as many programs as there are cores, if these are fewer than 4.

    Not for kernels with other products, atomics, prints, assertions or `scf.while`, for those whose loops or branches depend on the program,
    nor for those of more than 400 operations.

    Before, each program copies one column of 2048 elements:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, ..., %px: i32, ...) attributes {tilebridge.kernel} {
      %p = arith.index_cast %px : i32 to index
      %view = memref.reinterpret_cast %x to offset: [%p], sizes: [2048], strides: [%n]
      %column = bufferization.to_tensor %view : ... to tensor<2048xf32>
      ...
    }
    ```
    After, `@f` is followed by:
    ```mlir
    func.func private @f.merged(...) -> i1 attributes {tilebridge.merged_axis = 0, tilebridge.merged_programs = 16} {
      %p = arith.index_cast %px : i32 to index
      %view = memref.reinterpret_cast %x to offset: [%p], sizes: [2048, 16], strides: [%n, 1]
      %columns = bufferization.to_tensor %view : ... to tensor<2048x16xf32>
      ...
      return %true
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
  let options = [
    Option<"largeRead", "large-read", "int64_t", "0",
           "Bytes that a launch reads from memory, not from a cache, if it reads so many; 0: programs follow one another as they are numbered">,
    Option<"cores", "cores", "int64_t", "16", "That threads of a launch share">
  ];
}

def CpuMergeRowsPass : Pass<"tilebridge-cpu-merge-rows", "::mlir::ModuleOp"> {
  let summary = "Makes one function of programs that multiply the same rows with numbers of their own";
  let description = [{
    A kernel whose programs add numbers by rows to a row of sums each, as a product is defined, gets a second function for 16 programs that use the same
    rows, and a third, `.merged_few`, for 8: what differs from program to program gets one more dimension, as in `tilebridge-cpu-merge-programs`, and so the sums are a block, which
    `tilebridge-cpu-raise-products` computes from blocks of both operands. The function runs for programs whose ids follow one another along an axis of
    the grid, or, where ids are divided by the number of blocks in a row, are that number apart; 16 at once in grids of 4 times as many. The kernel itself runs those that are left.

    Only where all blocks that loops carry are such sums, whose other factor is the same for these programs, and under the conditions of
    `tilebridge-cpu-merge-programs`, which leaves such a kernel as it is.

    Before, each program adds up a row:
    ```mlir
    func.func @f(...) attributes {tilebridge.kernel} {
      %row = scf.for %k = ... iter_args(%acc = %zeros) -> (tensor<256xf32>) {
        %x = memref.load %a[%p_k]
        %sum = linalg.generic ... { %acc + %x * %row_of_b }
        ...
      }
    }
    ```
    After, `@f` is followed by:
    ```mlir
    func.func private @f.merged(...) -> i1 attributes {tilebridge.merged_axis = 0, tilebridge.merged_groups = 4, tilebridge.merged_programs = 16} {
      %rows = scf.for %k = ... iter_args(%acc = %zeros) -> (tensor<256x16xf32>) {
        %x = bufferization.to_tensor ... to tensor<16xf32>
        %sum = linalg.generic ... { %acc + %xs * %rows_of_b }
        ...
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CpuOrderProgramsPass : Pass<"tilebridge-cpu-order-programs", "::mlir::ModuleOp"> {
  let summary = "Programs follow one another along the axis along which their blocks lie near";
  let description = [{
    Makes a function of the kernel's arguments that returns the axis of the grid, 0 to 2, which counts fastest: the one along which the
    blocks of the next program are most likely the same, or on the same page of memory, as those of the one before. It is called once for
    many programs. Each block counts by its bytes; one that lies further away than a page three times as much as one that lies near, and one
    that is the same not at all. Of launches that read `large-read` bytes or more, which come from memory, far blocks count four times as much, if
    they are read, and twice as much, if they are written, as nothing waits for that. Rows that numbers choose, which are
    other ones along an axis, are far. Elements at places that are read and added to a place that is computed, such as columns that a table chooses,
    are taken to be in the same row; at other places that are read they do not count. Where it is hardly better than x, x is taken. The other two axes keep their order.

    Numbers of the launch may decide: strides, what a program's id is divided by, and axes with one program.

    Of kernels with products, whose programs share operands in the order that the author thought of, only those are ordered whose right operand
    is the same for programs n apart (`pid % n`), or along y or z: these follow one another, so that it
    is packed once (`tilebridge-cpu-share-operands`), if the block is wide enough for rows of `a` that come from memory again, or
    computed at such a cost as weights of 4 bits are that are unpacked. The function returns n + 2 for programs n apart, and its
    `tilebridge.apart` is how many of these follow one another at most, 0 for all of them: 16 where it is only packed.
    Columns that are contiguous in memory count only with `two-fmas`, for f32 and f16, and from three programs on: few rows are multiplied with them where they lie.

    Not for kernels with atomics, volatile loads or
    `scf.while`, which may wait for others, with prints or assertions, or with merged programs.

    Before, blocks of a row follow one another along y:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, %px: i32, %py: i32, ...) attributes {tilebridge.kernel} {
      %row = arith.muli %px, %stride : i32
      %column = arith.muli %py, %c256 : i32
      %offset = arith.addi %row, %column : i32
      ...
    }
    ```
    After, `@f` has the attribute `tilebridge.order = @f.order`, and is followed by:
    ```mlir
    func.func private @f.order(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, %px: i32, %py: i32, ...) -> i32 {
      ...
      %isBetter = arith.cmpi slt, %alongY, %alongX : index
      %axis = arith.select %isBetter, %c1, %c0 : i32
      return %axis : i32
    }
    ```

    A kernel whose block of `b` is that of `%column = arith.remsi %px, %columns`, after:
    ```mlir
    func.func private @f.order(..., %columns: i32, ..., %nx: i32, %ny: i32, %nz: i32) -> i32 attributes {tilebridge.apart = 16 : i64} {
      ...
      %isMultiple = arith.cmpi eq, %rest, %c0 : i64
      %apart = arith.addi %columns, %c2 : i32
      %order = arith.select %isMultiple, %apart, %c0 : i32
      return %order : i32
    }
    ```
  }];
  let options = [
    Option<"largeRead", "large-read", "int64_t", "0",
           "Bytes that a launch reads from memory, not from a cache, if it reads so many; 0: none does">,
    Option<"twoFmas", "two-fmas", "bool", /*default=*/"false", "the target has two multiply-adds of native vectors a cycle">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CpuPersistentTilesPass : Pass<"tilebridge-cpu-persistent-tiles", "::mlir::ModuleOp"> {
  let summary = "Makes programs of the tiles that a persistent kernel loops over";
  let description = [{
    A persistent kernel has as many programs as the device has multiprocessors, and each loops over tiles, from its id along x in steps of
    their number. The loop's body becomes the kernel; the function of its attribute `tilebridge.tiles` returns for a launch where tiles end, and
    the step, which is 0 if all programs together run each tile once: if the grid has as many programs along x as a step, or at least as many as there are tiles.
    Then the launch has as many programs as there are tiles (`tilebridge-cpu-entry`), which all threads share, however few programs the grid has, and
    whatever is known of programs holds for tiles: they may be ordered (`tilebridge-cpu-order-programs`), and find the panels of those before
    (`tilebridge-cpu-share-operands`). Else each program runs its own tiles in its order.

    The loop may also count elements, `for start in range(pid * BLOCK, n, num_programs * BLOCK)` with a constant block: a tile is a block then.

    For kernels whose last operation is such a loop, over numbers of 32 bits, where tiles hand nothing to the next ones but other names of their
    number (`tile_c += NUM_SMS`), and do not know which program runs them. Of an argument that is written nothing may be read but what the tile writes itself;
    that no other two begin at the same address is asked at each launch (a step of 0 is returned only then); arrays that overlap otherwise are taken for
    independent, as those of different programs are. What is gathered, scattered, or one number is no such part: its place is no part of a view. Not with atomics, prints, assertions or `scf.while`,
    nor with reductions or loops before the loop over tiles.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, ..., %n: i32, %px: i32, ...) attributes {tilebridge.kernel} {
      scf.for %tile = %px to %n step %c132 : i32 {
        ...
      }
      return
    }
    ```
    After, `@f` has the attribute `tilebridge.tiles = @f.tiles`, and is followed by:
    ```mlir
    func.func private @f.tiles(%x: memref<?xf32, strided<[1], offset: ?>>, ..., %n: i32, %px: i32, ...) -> (i64, i64) {
      ...
      return %end, %step : i64, i64
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CpuUniformLanesPass : Pass<"tilebridge-cpu-uniform-lanes", "::mlir::func::FuncOp"> {
  let summary = "Loops carry a number where all lanes of a vector are one number";
  let description = [{
    What a loop carries as a vector, and begins with one number in all lanes, stays that if it is computed element by element from such vectors:
    the loop carries the number, and what is computed from nothing else is computed once.

    Before:
    ```mlir
    func.func @f(%n: index, %x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant dense<1.0> : vector<16xf32>
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%mean = %x, %count = %one) -> (vector<16xf32>, vector<16xf32>) {
        %0 = arith.addf %count, %one : vector<16xf32>
        %1 = arith.divf %one, %0 : vector<16xf32>
        %2 = arith.mulf %mean, %1 : vector<16xf32>
        scf.yield %2, %0 : vector<16xf32>, vector<16xf32>
      }
      return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%n: index, %x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%mean = %x, %count = %one) -> (vector<16xf32>, f32) {
        %0 = arith.addf %count, %one : f32
        %1 = arith.divf %one, %0 : f32
        %2 = vector.broadcast %1 : f32 to vector<16xf32>
        %3 = arith.mulf %mean, %2 : vector<16xf32>
        scf.yield %3, %0 : vector<16xf32>, f32
      }
      %all = vector.broadcast %r#1 : f32 to vector<16xf32>
      return %r#0, %all : vector<16xf32>, vector<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CpuCleanLocationsPass : Pass<"tilebridge-cpu-clean-locations", "::mlir::ModuleOp"> {
  let summary = "Gives each operation a place in a file";
  let description = [{
    MLIR's debug scopes need a file in both halves of a call site. Where only one has it, that one becomes the location.
    An operation without a place has that of its function, or line 0 of none, as LLVM wants a place for each call. Outside
    of functions nothing is called: there a call site becomes its inner half.

    Before:
    ```mlir
    %0 = arith.addi %a, %a : i32 loc(callsite(unknown at "k.py":3:1))
    ```
    After:
    ```mlir
    %0 = arith.addi %a, %a : i32 loc("k.py":3:1)
    ```
  }];
}

#endif
