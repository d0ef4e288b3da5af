//===- FloatPasses.td - passes on arithmetic of floats -----*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_FLOATPASSES
#define TILEBRIDGE_CPUBACKEND_FLOATPASSES

include "mlir/Pass/PassBase.td"

def CpuApproximateFunctionsPass : Pass<"tilebridge-cpu-approximate-functions", "::mlir::func::FuncOp"> {
  let summary = "Finds exponentials of which only the bits of bf16 or f16 count";
  let description = [{
    Sets MLIR's flag `afn` on `math.exp` and `math.exp2` of f32 where all that becomes of the result is rounded to 16 bits or fewer, to
    the nearest, by way of operations that do not enlarge a relative error: products, quotients, roots, maxima, minima, selections, moves,
    and sums of what is known not to be negative (the sum of exponentials, also one that a loop carries; `1 + exp(x)`), and `1 - 1 / (exp(x) + 1)`. A result has at most two such
    errors, such as those of an exponential and of the sum that divides it. `tilebridge.for_bf16` says that none of the results is rounded to f16: tilebridge-cpu-expand-math
    computes still less then. The flag is taken from all other exponentials of numbers, whoever set it.

    Not approximated is what reaches another difference, a logarithm, a comparison, an integer, a product of matrices, memory as f32, or an operation that is
    not known; nor what each iteration of a loop multiplies what it carries by, as an attention's `exp(top - new_top)`; nor `math.exp2`
    of what is known to be whole, a converted integer or one that `ceil` and the like made: that power is exact, and so is a product
    with it, which may lie right between two of the numbers that it is rounded to (the scale of a block of MXFP8). Such powers, of f32 and
    f64, get `tilebridge.whole`, whatever becomes of them: tilebridge-cpu-expand-math writes them as bits of the exponent.

    Before:
    ```mlir
    %e = math.exp %x : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %v, %d : f32
    %y = arith.truncf %s : f32 to bf16
    ```
    After:
    ```mlir
    %e = math.exp %x fastmath<afn> {tilebridge.for_bf16} : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %v, %d : f32
    %y = arith.truncf %s : f32 to bf16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CpuExactQuotientsPass : Pass<"tilebridge-cpu-exact-quotients", "::mlir::func::FuncOp"> {
  let summary = "Divides exactly where the quotient is rounded to one of few values";
  let description = [{
    Takes the flag `arcp` from a division (which would let it become a product with the reciprocal, right to 2 units in the last place) where the
    quotient is converted to an integer or to a float of 8 bits, rounded to a whole number, looked at as bits, or compared with a constant other than 0;
    at once, or after maxima, minima, selections, moves, sums, differences, products, further quotients (whose scale it may be), and roundings to other floats.
    Numbers of bf16 divided by one of them often lie exactly between two such values, where the last bit is all. What reaches a code only by way of other
    functions, products of matrices, or memory keeps the flag.

    Before:
    ```mlir
    %q = arith.divf %x, %scale fastmath<arcp> : f32
    %limited = arith.minnumf %q, %largest : f32
    %code = arith.truncf %limited : f32 to f8E4M3FN
    ```
    After:
    ```mlir
    %q = arith.divf %x, %scale : f32
    %limited = arith.minnumf %q, %largest : f32
    %code = arith.truncf %limited : f32 to f8E4M3FN
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CpuLookUpCodesPass : Pass<"tilebridge-cpu-look-up-codes", "::mlir::ModuleOp"> {
  let summary = "Looks up the floats of integers of 4 bits";
  let description = [{
    For AVX-512. Where an integer is converted to f32 that is computed from the lowest four bits of another one and constants (masked, less a zero,
    with a sign, widened), the 16 floats become a table, and each vector of 16 one shuffle, which needs no mask. What depends on anything else, such as
    a zero of its own for each column, stays arithmetic.

    Before:
    ```mlir
    %code = arith.andi %word, %c15 : vector<16xi32>
    %weight = arith.subi %code, %c8 : vector<16xi32>
    %x = arith.sitofp %weight : vector<16xi32> to vector<16xf32>
    ```
    After:
    ```mlir
    %table = arith.constant dense<[-8.0, -7.0, -6.0, ..., 7.0]> : vector<16xf32>
    %x = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%table, %word) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def CpuExpandMathPass : Pass<"tilebridge-cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Writes elementary functions as arithmetic, or calls vector functions";
  let description = [{
    Works on scalars and vectors of any shape.
    - `exp`, `exp2`, `log`, `log2` of f32 become polynomials, right for every input (denormals, infinities, NaN, overflow) and
      within 1.5 units in the last place. With AVX2 several vectors of which no lane over- or underflows, as nearly always, take a
      short cut to the same bits. Where AVX-512 has 16 lanes at a time, a table shortens those of `exp` and `exp2`: within
      1 unit.
    - `exp2` with `tilebridge.whole`, of f32 and f64, is exact: the exponent's bits in place, of an integer before it is converted; with AVX-512, of
      f32, one instruction.
    - With the flag `afn`, within 2^-18 of the result, and with `tilebridge.for_bf16` and AVX-512 within 2^-15: shorter polynomials, and
      tables of 32 roots.
    - There, `log`, `log2` and `log10` of f32 look up the logarithm of 32nds: within 0.9 units.
    - `exp` of f64 looks up sixteenths as well: within 0.8 units.
    - `erf` of f32 is looked up in tables of polynomials where AVX-512 has 16 lanes at a time: within 0.65 units;
      `tanh` as well: within 0.75. Elsewhere both are two polynomials, of which a lane takes one: within 0.99 and 1.03
      with fused multiply-adds.
    - `arith.maxnumf` and `arith.minnumf` become LLVM's functions, with the operand that a reduction has new first: x86 tests it for NaN.
      A loop over several vectors tests them together, and takes x86's own maximum where none is NaN. So it does without a test where
      one operand is known to be a number, which comes second (what began with -inf is one). Elsewhere a signaling NaN is made quiet
      before, which counts as missing only then.
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
    those are that come from bf16 and from sums, products, exponentials and so on of such; what comes from before a loop is tested there. Other roundings
    that need none, of the same kind, get the attribute `tilebridge.short_nans`, and what bf16 holds anyway is cut off (`toward_zero`).
    Integers that are seen not to be above 256 are exact.

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
    %s = arith.truncf %sf {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CpuPairHalvesPass : Pass<"tilebridge-cpu-pair-halves", "::mlir::ModuleOp"> {
  let summary = "Widens bf16 by words of two elements in loops whose lanes never meet";
  let description = [{
    x86 widens bf16 by a shuffle and a shift for each vector of f32. In an innermost loop that only loads bf16 and computes element
    by element, the lanes may be in another order: of each two native vectors the first has the even elements, which are words
    shifted, the second the odd ones, which are words without their lower half. Where bf16 is stored, numbers come back into
    memory's order in the same way, upper halves and lower ones, by which all of the upper ones are rounded; or, with `bf16-rounding`, by one shuffle of what an instruction rounded. Accumulators may only
    become one number behind the loop.

    So is what such loops keep in scratch memory as f32 from one to the other, as a softmax its exponentials: the memory has its even elements first, then the
    odd ones, so that a loop may begin at any element, and reads the odd ones first where that is an odd one. Single vectors with masks, at a row's ends, are
    put together; memory that others use is left as it is.

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

def CpuNarrowMaximaPass : Pass<"tilebridge-cpu-narrow-maxima", "::mlir::ModuleOp"> {
  let summary = "Compares bf16 as integers where loops only look for the largest one";
  let description = [{
    A loop that carries a maximum (`arith.maxnumf`, or a minimum) of bf16 that is widened for nothing else carries the largest and the
    smallest integer of 16 bits: the largest number is the largest one from zero on, or, where there is none, the smallest, as integers of negative
    numbers are in the opposite order. All NaNs count as missing: 127 is added to the integers of the first kind, which makes those of NaN smaller than
    all numbers from zero on. Further loops that go on with it do so, too, and the maxima of its lanes are those of integers in the numbers' order.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%m = %nan) -> vector<64xf32> {
      %x = vector.load %p[%i] : memref<?xbf16>, vector<64xbf16>
      %w = arith.extf %x : vector<64xbf16> to vector<64xf32>
      %y = arith.maxnumf %m, %w : vector<64xf32>
      scf.yield %y : vector<64xf32>
    }
    ```
    After:
    ```mlir
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%l = %nan_127, %s = %nan) -> (vector<64xi16>, vector<64xi16>) {
      %x = vector.load %p[%i] : memref<?xbf16>, vector<64xbf16>
      %b = arith.bitcast %x : vector<64xbf16> to vector<64xi16>
      %o = arith.addi %b, %c127 : vector<64xi16>
      %y = arith.maxsi %l, %o : vector<64xi16>
      %z = arith.minsi %s, %b : vector<64xi16>
      scf.yield %y, %z : vector<64xi16>, vector<64xi16>
    }
    %from_zero = arith.cmpi sge, %r#0, %c127 : vector<64xi16>
    %t = arith.subi %r#0, %c127 : vector<64xi16>
    %bits = arith.select %from_zero, %t, %r#1 : vector<64xi1>, vector<64xi16>
    // and to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def CpuExpandFloatTypesPass : Pass<"tilebridge-cpu-expand-float-types", "::mlir::ModuleOp"> {
  let summary = "Writes arithmetic of f16, bf16 and f8 as arithmetic of f32 and integers";
  let description = [{
    Works on scalars and vectors of any shape. Every operation that computes in f16, bf16, f8E5M2, f8E4M3FN, f8E5M2FNUZ or
    f8E4M3FNUZ computes in f32 and rounds once, to nearest even. Conversions become integer operations, exact in every
    case; those between f16 and f32 stay if the CPU has them. f64 is rounded once, too. `arith.truncf` may round toward zero.
    bf16 of floats of 8 bits, and of integers that are seen not to be above 256, is the upper half of f32, without rounding.
    f16 of integers that are seen not to be above 2048 is computed with as the f32 that it is.
    What computes with f16 or bf16 of floats of 8 bits takes their f32.

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
    Option<"byteLookups", "byte-lookups", "bool", "false", "AVX512_VBMI: bf16 of 64 floats of 8 bits, and f32 of 32 of f8E4M3FN and more, are looked up by vpermi2b">,
    Option<"bf16Rounding", "bf16-rounding", "bool", "false",
           "AVX512_BF16: 32 f32 and more are rounded by its instruction, but for NaN and what is below the normal numbers">,
    Option<"wordShuffles", "word-shuffles", "bool", "false",
           "AVX-512 of AMD: words of two registers are shuffled as fast as others, and 32 bf16 and more widened by one shuffle each 16, instead of another one and a shift">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
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

#endif
