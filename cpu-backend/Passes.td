//===- Passes.td - passes of cpu-backend -------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_PASSES
#define TILEBRIDGE_CPUBACKEND_PASSES

include "mlir/Pass/PassBase.td"
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
    is gathered as rows and transposed. Where the contiguous dimension is the last one already, nothing changes.

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

def CpuMergeProgramsPass : Pass<"tilebridge-cpu-merge-programs", "::mlir::ModuleOp"> {
  let summary = "Compiles programs that read neighbouring columns as one";
  let description = [{
    Where a block's elements lie apart, and those of the next program lie next to them, as many programs as a line of memory has
    elements become one function: each block gets one dimension more, the last one, along which vectors are then contiguous. What
    is the same for all programs stays as it is. Columns of 1024 elements and more, and blocks that are numbered by one id and only moved, get a second
    function, `.merged_lines`, for as many programs as four lines have: rows of large matrices lie on pages of their own, where one
    line is read as slowly as four. It runs where as many programs are left, in grids that have 64 times as many. The function is called for programs whose ids along one axis follow one another, or,
    where a kernel divides its id by a number of blocks, are that number apart; the kernel itself runs those that are left.

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

def CpuExpandMathPass : Pass<"tilebridge-cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Writes elementary functions as arithmetic, or calls vector functions";
  let description = [{
    Works on scalars and vectors of any shape.
    - `exp`, `exp2`, `log`, `log2` of f32 become polynomials, right for every input (denormals, infinities, NaN, overflow) and
      within 1.5 units in the last place. With AVX2 several vectors of which no lane over- or underflows, as nearly always, take a
      short cut to the same bits. Where AVX-512 has 16 lanes at a time, a table shortens those of `exp` and `exp2`: within
      1 unit.
    - There, `log`, `log2` and `log10` of f32 look up the logarithm of 32nds: within 0.9 units.
    - `exp` of f64 looks up sixteenths as well: within 0.8 units.
    - `erf` of f32 is looked up in tables of polynomials where AVX-512 has 16 lanes at a time: within 0.65 units;
      `tanh` as well: within 0.75. Elsewhere both are two polynomials, of which a lane takes one: within 0.99 and 1.03
      with fused multiply-adds.
    - `arith.maxnumf` and `arith.minnumf` become LLVM's functions, with the operand that a reduction has new first: x86 tests it for NaN.
      A loop over several vectors tests them together, and takes x86's own maximum where none is NaN.
    - The other functions of f32 and f64 become calls of glibc's vector functions (libmvec, at most 4 units in the last
      place), a native vector at a time; of libm for scalars and where there is no vector function.
    - `linalg_ext.libm` becomes calls as well.
    - Products with a power of two that is nearly always 1, which a division by one number has, are behind a branch in loops over several vectors.
    - `arith.remf` of vectors of f32 is computed in f64, exactly; where a quotient is 2^29 or more, or no number, by the C library.
      Of vectors of f64 as well, by a fused multiply-add, below 2^53.
    - `rsqrt` becomes a root and a division.
    - With `f16-arithmetic`, quotients of vectors that become f16 are kept in f32, whose division is faster.
    - With `root-estimates`, `sqrt` and `rsqrt` of vectors of 512 bits in loops become products that begin with AVX-512's
      estimate: `sqrt` is correctly rounded, `rsqrt` right to 1 unit.
    - What is an instruction (`sqrt`, `fma`, `floor`, ...) stays.
    - Narrower types are an error: tilebridge-cpu-expand-float-types comes first.

    Before:
    ```mlir
    %y = math.sin %x : vector<32xf32>
    ```
    After, for vectors of 512 bits:
    ```mlir
    %x0 = vector.extract_strided_slice %x {offsets = [0], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
    %y0 = llvm.call @_ZGVeN16v_sinf(%x0) : (vector<16xf32>) -> vector<16xf32>
    ...
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "256", "bits of a native vector: 128, 256 or 512">,
    Option<"fma", "fma", "bool", "true", "fused multiply-adds are instructions">,
    Option<"scalef", "scalef", "bool", "false", "AVX-512's product with a power of two is there, for vectors of 128 to 512 bits">,
    Option<"freeUnderflow", "free-underflow", "bool", "false", "results that underflow are as fast as others">,
    Option<"secondIfNan", "second-if-nan", "bool", "false", "the maximum of two numbers is one instruction, which gives the second where one is NaN">,
    Option<"f16Arithmetic", "f16-arithmetic", "bool", "false", "LLVM has instructions for arithmetic of f16 (AVX512_FP16)">,
    Option<"rootEstimates", "root-estimates", "bool", "false", "AVX-512's estimates of square roots are Intel's, and two multiply-adds take a cycle">,
    Option<"libmvec", "libmvec", "std::string", "\"\"", "the letter of the widest vector functions that the CPU can run: b, d, e, or none">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuLowerDirectedPass : Pass<"tilebridge-cpu-lower-directed", "::mlir::ModuleOp"> {
  let summary = "Turns linalg_ext.directed into calls that change the CPU's rounding";
  let description = [{
    The operation stands alone in a function, and the calls of C's `fesetround` around it in another: LLVM knows neither
    what they do nor that arithmetic depends on it, so it moves nothing from one side to the other. A whole vector is
    computed in one call.

    Before:
    ```mlir
    %z = linalg_ext.directed "add" downward(%x, %y) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    ```
    After:
    ```mlir
    %z = llvm.call @tilebridge_add_downward_8xf32_8xf32(%x, %y) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def CpuWidenBf16Pass : Pass<"tilebridge-cpu-widen-bf16", "::mlir::ModuleOp"> {
  let summary = "Computes in f32 what is bf16, and rounds intermediates where they lie";
  let description = [{
    Operations of elements of bf16 become those of f32 between `arith.extf` and `arith.truncf`. Where a rounded number is only widened
    again, it is rounded as an f32, by operations on its bits. NaNs need no test where their lower halves are known to be zero, as
    those are that come from bf16 and from sums, products and quotients of such.

    Before:
    ```mlir
    %p = arith.mulf %x, %y : vector<16xbf16>
    %s = arith.addf %p, %x : vector<16xbf16>
    ```
    After:
    ```mlir
    %xf = arith.extf %x : vector<16xbf16> to vector<16xf32>
    %yf = arith.extf %y : vector<16xbf16> to vector<16xf32>
    %p = arith.mulf %xf, %yf : vector<16xf32>
    %bits = arith.bitcast %p : vector<16xf32> to vector<16xi32>
    %shifted = arith.shrui %bits, %c16 : vector<16xi32>
    %odd = arith.andi %shifted, %c1 : vector<16xi32>
    %up = arith.addi %odd, %c0x7fff : vector<16xi32>
    %carried = arith.addi %bits, %up : vector<16xi32>
    %cut = arith.andi %carried, %c0xffff0000 : vector<16xi32>
    %pf = arith.bitcast %cut : vector<16xi32> to vector<16xf32>
    %sf = arith.addf %pf, %xf : vector<16xf32>
    %s = arith.truncf %sf : vector<16xf32> to vector<16xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CpuPairHalvesPass : Pass<"tilebridge-cpu-pair-halves", "::mlir::ModuleOp"> {
  let summary = "Widens bf16 by words of two elements in loops whose lanes never meet";
  let description = [{
    x86 widens bf16 by a shuffle and a shift for each vector of f32. In an innermost loop that only loads bf16 and computes element
    by element, the lanes may be in another order: of each two native vectors the first has the even elements, which are words
    shifted, the second the odd ones, which are words without their lower half. Where bf16 is stored, rounded numbers come back into
    memory's order in the same way, or, with `bf16-rounding`, by one shuffle of what an instruction rounded. Accumulators may only
    become one number behind the loop.

    Before:
    ```mlir
    %x = vector.load %a[%i] : memref<?xbf16>, vector<32xbf16>
    %y = arith.extf %x : vector<32xbf16> to vector<32xf32>
    ```
    After:
    ```mlir
    %x = vector.load %a[%i] : memref<?xbf16>, vector<32xbf16>
    %w = vector.bitcast %x : vector<32xbf16> to vector<16xi32>
    %e = arith.shli %w, %c16 : vector<16xi32>
    %o = arith.andi %w, %upper : vector<16xi32>
    %ef = arith.bitcast %e : vector<16xi32> to vector<16xf32>
    %of = arith.bitcast %o : vector<16xi32> to vector<16xf32>
    %y = vector.shuffle %ef, %of [0, 1, 2, 3, 4, 5, ...] : vector<16xf32>, vector<16xf32>
    ```
    What is stored, without `bf16-rounding`, with vectors of 256 bits; `%rounded` holds bf16 in upper halves:
    ```mlir
    %e = vector.shuffle %rounded, %rounded [0, 1, 2, 3, 4, 5, 6, 7, 16, ...] : vector<32xi32>, vector<32xi32>
    %o = vector.shuffle %rounded, %rounded [8, 9, 10, 11, 12, 13, 14, 15, 24, ...] : vector<32xi32>, vector<32xi32>
    %low = arith.shrui %e, %c16 : vector<16xi32>
    %high = arith.andi %o, %upper : vector<16xi32>
    %words = arith.ori %low, %high : vector<16xi32>
    %z = vector.bitcast %words : vector<16xi32> to vector<32xbf16>
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "128", "width of a vector register">,
    Option<"bf16Rounding", "bf16-rounding", "bool", "false", "AVX512_BF16: an instruction rounds two vectors of f32 to one of bf16">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def CpuExpandFloatTypesPass : Pass<"tilebridge-cpu-expand-float-types", "::mlir::ModuleOp"> {
  let summary = "Writes arithmetic of f16, bf16 and f8 as arithmetic of f32 and integers";
  let description = [{
    Works on scalars and vectors of any shape. Every operation that computes in f16, bf16, f8E5M2, f8E4M3FN, f8E5M2FNUZ or
    f8E4M3FNUZ computes in f32 and rounds once, to nearest even. Conversions become integer operations, exact in every
    case; those between f16 and f32 stay if the CPU has them. f64 is rounded once, too. `arith.truncf` may round toward zero.

    What is out of range becomes what PyTorch makes of it: infinity in f16, bf16 and f8E5M2, the largest number in f8E4M3FN
    (infinity as well), NaN in the FNUZ types. Rounding toward zero, a finite number gives the largest number in all of them.

    Elements and scales of block-scaled matrices (f6E2M3FN, f6E3M2FN, f4E2M1FN, f8E8M0FNU) are extended; nothing is rounded
    to them.

    After this only operations that move values (loads, stores, select, shuffles, bitcast) have these types, and none has bf16:
    its bits are an i16, as LLVM would move single elements through f32.

    Before:
    ```mlir
    %y = arith.addf %a, %b : vector<16xbf16>
    ```
    After:
    ```mlir
    %a0 = arith.bitcast %a : vector<16xbf16> to vector<16xi16>
    %a1 = arith.extui %a0 : vector<16xi16> to vector<16xi32>
    %a2 = arith.shli %a1, %c16 : vector<16xi32>
    %a3 = arith.bitcast %a2 : vector<16xi32> to vector<16xf32>
    ...
    %y0 = arith.addf %a3, %b3 : vector<16xf32>
    ...
    %y = arith.bitcast %y8 : vector<16xi16> to vector<16xbf16>
    ```
  }];
  let options = [
    Option<"f16c", "f16c", "bool", "true", "conversions between f16 and f32 are instructions">,
    Option<"lookups", "lookups", "bool", "false", "AVX-512: the 16 numbers of e2m1 are looked up by vpermps">,
    Option<"bf16Rounding", "bf16-rounding", "bool", "false",
           "AVX512_BF16: 32 f32 and more are rounded by its instruction, but for NaN and what is below the normal numbers">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
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

def CpuAllowContractionPass : Pass<"tilebridge-cpu-allow-contraction", "::mlir::ModuleOp"> {
  let summary = "Lets a product and a sum become one fused multiply-add";
  let description = [{
    Sets the flag `contract`, and no other, on additions, subtractions and multiplications of floats: what Triton's option
    `enable_fp_fusion`, which is on unless a kernel says otherwise, means on a GPU. It comes before the passes that write
    functions and conversions as arithmetic, whose error bounds count on every rounding.

    Before:
    ```mlir
    %0 = arith.mulf %a, %b : vector<16xf32>
    ```
    After:
    ```mlir
    %0 = arith.mulf %a, %b fastmath<contract> : vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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
