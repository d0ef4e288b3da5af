//===- Passes.td - passes of cpu-backend -------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_PASSES
#define TILEBRIDGE_CPUBACKEND_PASSES

include "mlir/Pass/PassBase.td"
include "cpu-backend/FloatPasses.td"
include "cpu-backend/emit/EmitPasses.td"

def CpuEntryPass : Pass<"tilebridge-cpu-entry", "::mlir::ModuleOp"> {
  let summary = "Adds what a compiled kernel exports";
  let description = [{
    Adds the function `tilebridge_run` and the constant `tilebridge_executable` of runtime/executable_abi.h for the one kernel of
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

def CpuFoldEmptyPass : Pass<"tilebridge-cpu-fold-empty", "::mlir::func::FuncOp"> {
  let summary = "Removes accesses to boxes that are known to be empty";
  let description = [{
    Where bounds are constants, a mask can be false everywhere. There are no vectors and no buffers of no elements: what is
    loaded is the padding, or the tensor that it would have been inserted into, and nothing is stored.

    Before:
    ```mlir
    func.func @f(%x: memref<0xf32, strided<[1], offset: ?>>, %zero: f32) -> tensor<64xf32> {
      %0 = bufferization.to_tensor %x : memref<0xf32, strided<[1], offset: ?>> to tensor<0xf32>
      %1 = tensor.pad %0 low[0] high[64] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<0xf32> to tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<0xf32, strided<[1], offset: ?>>, %zero: f32) -> tensor<64xf32> {
      %0 = tensor.splat %zero : tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def CpuTransposeGathersPass : Pass<"tilebridge-cpu-transpose-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gathers columns that are contiguous in memory as rows";
  let description = [{
    A block whose columns are chosen by a tensor, and lie in memory as contiguous rows, such as the keys of an attention in pages,
    is gathered as rows and transposed. Where the contiguous dimension is the last one already, nothing changes. What is computed
    element by element from such a block for products alone, such as keys of 8 bits that are widened and scaled, is computed before it is transposed.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index) -> tensor<128x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [128, 64], strides: [1, %stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<128x64xf32, strided<[1, ?]>>
      %1 = memref.cast %0 : memref<128x64xf32, strided<[1, ?]>> to memref<128x?xf32, strided<[1, ?]>>
      %2 = linalg_ext.gather_rows %1[%rows] dim 1 : (memref<128x?xf32, strided<[1, ?]>>, tensor<64xi64>) -> tensor<128x64xf32>
      return %2 : tensor<128x64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: tensor<64xi64>, %stride: index) -> tensor<128x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [64, 128], strides: [%stride, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x128xf32, strided<[?, 1]>>
      %1 = memref.cast %0 : memref<64x128xf32, strided<[?, 1]>> to memref<?x128xf32, strided<[?, 1]>>
      %2 = linalg_ext.gather_rows %1[%rows] dim 0 : (memref<?x128xf32, strided<[?, 1]>>, tensor<64xi64>) -> tensor<64x128xf32>
      %3 = tensor.empty() : tensor<128x64xf32>
      %4 = linalg.transpose ins(%2 : tensor<64x128xf32>) outs(%3 : tensor<128x64xf32>) permutation = [1, 0]
      return %4 : tensor<128x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CpuTrimBlocksPass : Pass<"tilebridge-cpu-trim-blocks", "::mlir::func::FuncOp"> {
  let summary = "Cuts what was padded off the blocks of products";
  let description = [{
    A block of a power of two of which loads and stores only reach a constant number of elements, such as 80 of 128 in each row of an
    attention's heads, becomes shorter, with all that is computed from it or stored like it: whole vectors of 16 elements, or on CPUs with tiles 64 bytes
    of them. This is done for dimensions of products, if nobody sees elements behind the last one that is accessed, and sums over the
    dimension get zeros of them: both operands of a product are padded with zeros. Dimensions are told apart by what is computed
    element by element, carried by loops, broadcast or transposed; one whose blocks are reshaped, gathered from or printed keeps its size.

    Before:
    ```mlir
    func.func @f(%p: tensor<16x32xf32>, %v: memref<32x80xf32>, %y: memref<16x80xf32>) {
      %zero = arith.constant 0.0 : f32
      %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
      %0 = bufferization.to_tensor %v : memref<32x80xf32> to tensor<32x80xf32>
      %1 = tensor.pad %0 low[0, 0] high[0, 48] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<32x80xf32> to tensor<32x128xf32>
      %2 = linalg.matmul ins(%p, %1 : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
      %3 = tensor.extract_slice %2[0, 0] [16, 80] [1, 1] : tensor<16x128xf32> to tensor<16x80xf32>
      bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: tensor<16x32xf32>, %v: memref<32x80xf32>, %y: memref<16x80xf32>) {
      %zero = arith.constant 0.0 : f32
      %zeros = arith.constant dense<0.0> : tensor<16x80xf32>
      %0 = bufferization.to_tensor %v : memref<32x80xf32> to tensor<32x80xf32>
      %1 = tensor.pad %0 low[0, 0] high[0, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<32x80xf32> to tensor<32x80xf32>
      %2 = linalg.matmul ins(%p, %1 : tensor<16x32xf32>, tensor<32x80xf32>) outs(%zeros : tensor<16x80xf32>) -> tensor<16x80xf32>
      %3 = tensor.extract_slice %2[0, 0] [16, 80] [1, 1] : tensor<16x80xf32> to tensor<16x80xf32>
      bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<16x80xf32>, memref<16x80xf32>) -> ()
      return
    }
    ```
  }];
  let options = [
    Option<"tiles", "tiles", "bool", /*default=*/"false", "the target has AMX">,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CpuRepeatLoadsPass : Pass<"tilebridge-cpu-repeat-loads", "::mlir::func::FuncOp"> {
  let summary = "Reads rows that are one row once";
  let description = [{
    A block whose stride along an outer dimension is zero, such as the scales of weights in groups that are no shorter than the block,
    is read as one row that is repeated, if the row's elements lie apart. Contiguous rows are read as vectors wherever they are
    used, and stay. A repeated dimension that a `tensor.collapse_shape` leaves alone is repeated behind it.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index) -> tensor<32x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [0, %stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[0, ?]>>
      %1 = bufferization.to_tensor %0 : memref<32x64xf32, strided<[0, ?]>> to tensor<32x64xf32>
      return %1 : tensor<32x64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index) -> tensor<32x64xf32> {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [%stride]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?]>>
      %1 = bufferization.to_tensor %0 : memref<64xf32, strided<[?]>> to tensor<64xf32>
      %2 = tensor.empty() : tensor<32x64xf32>
      %3 = linalg.broadcast ins(%1 : tensor<64xf32>) outs(%2 : tensor<32x64xf32>) dimensions = [0]
      return %3 : tensor<32x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def CpuFlattenCubesPass : Pass<"tilebridge-cpu-flatten-cubes", "::mlir::func::FuncOp"> {
  let summary = "Sees blocks of which halves change places as rows";
  let description = [{
    `tl.sort` and `tl.topk` see a row as a block whose dimensions are all of size 2, and let the halves of one dimension change places
    after the other. Such blocks, and all that is computed from them element by element, become rows of one dimension; what is element i with
    one bit of i changed is a `linalg_ext.gather_along` (`getExchangeStride()`). Masks that are computed from indices are computed from
    those of the row. A reduction along one dimension is one of a block of three dimensions. `tilebridge.lanes` is how many elements loops
    over the row compute in a step: 8 vectors of 512 bits, or 4 shorter ones. Nearer elements than these are in the same step, and change
    places in registers. Where nothing changes places, nothing changes.

    Before:
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %zero = arith.constant dense<0> : tensor<2xi32>
      %init = tensor.empty() : tensor<2x2xi32>
      %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
      %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [0]
      %2 = linalg.broadcast ins(%1 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [0]
      %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%0, %2 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
      ^bb0(%a: i32, %b: i32, %out: i32):
        %xor = arith.xori %a, %b : i32
        linalg.yield %xor : i32
      } -> tensor<2x2xi32>
      %4 = tensor.collapse_shape %3 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
      return %4 : tensor<4xi32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %c2 = arith.constant 2 : index
      %init = tensor.empty() : tensor<4xi32>
      %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%init : tensor<4xi32>) {
      ^bb0(%out: i32):
        %i = linalg.index 0 : index
        %other = arith.xori %i, %c2 : index
        %place = arith.index_cast %other : index to i32
        linalg.yield %place : i32
      } -> tensor<4xi32>
      %1 = linalg_ext.gather_along %x[%0] dimension = 0 {tilebridge.lanes = 4 : i64} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
      return %1 : tensor<4xi32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::tilebridge::linalg_ext::LinalgExtDialect"];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "512", "bits of a vector register">];
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

    Values that are likely to be the same for all, or to grow by a step, are compared for each program first (bounds, quotients, sums
    that might wrap around); where one differs the function does nothing and returns false, and the programs run alone. Within a
    loop a sum that is only where memory begins is taken not to wrap around from program to program, as it is within a block.

    Not for kernels with products, atomics, prints, assertions or `scf.while`, for those whose loops or branches depend on the program,
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
}

def CpuOrderProgramsPass : Pass<"tilebridge-cpu-order-programs", "::mlir::ModuleOp"> {
  let summary = "Programs follow one another along the axis along which their blocks lie near";
  let description = [{
    Makes a function of the kernel's arguments that returns the axis of the grid, 0 to 2, which counts fastest: the one along which the
    blocks of the next program are most likely the same, or on the same page of memory, as those of the one before. It is called once for
    many programs. Each block counts by its bytes; one that lies further away than a page three times as much as one that lies near, and one
    that is the same not at all. Where it is hardly better than x, x is taken. The other two axes keep their order.

    Numbers of the launch may decide: strides, what a program's id is divided by, and axes with one program.

    Not for kernels with products, whose programs share operands in the order that the author thought of; nor with atomics, volatile loads or
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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CpuLowerAddressesPass : Pass<"tilebridge-cpu-lower-addresses", "::mlir::ModuleOp"> {
  let summary = "Makes memrefs of byte addresses";
  let description = [{
    `linalg_ext.view_address` becomes the descriptor that the conversion of memrefs to LLVM uses.

    Before:
    ```mlir
    %base = linalg_ext.view_address %address : (i64) -> memref<?xf32, strided<[1], offset: ?>>
    ```
    After, with offset, size and stride left out:
    ```mlir
    %p = llvm.inttoptr %address : i64 to !llvm.ptr
    %0 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %1 = llvm.insertvalue %p, %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    ...
    %base = builtin.unrealized_conversion_cast %6 : ... to memref<?xf32, strided<[1], offset: ?>>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuLowerClockPass : Pass<"tilebridge-cpu-lower-clock", "::mlir::ModuleOp"> {
  let summary = "Asks the C library for the time";
  let description = [{
    `linalg_ext.clock` becomes a call of `clock_gettime` for the monotonic clock, in nanoseconds.

    Before:
    ```mlir
    %t = linalg_ext.clock
    ```
    After, with `%slot` allocated once in the function:
    ```mlir
    %r = llvm.call @clock_gettime(%monotonic, %slot) : (i32, !llvm.ptr) -> i32
    %s = llvm.load %slot : !llvm.ptr -> i64
    %rest = llvm.getelementptr %slot[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %ns = llvm.load %rest : !llvm.ptr -> i64
    ...
    %t = llvm.add %scaled, %ns : i64
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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
