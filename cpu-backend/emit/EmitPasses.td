//===- EmitPasses.td - passes that emit loops of vectors ---*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_EMIT_EMITPASSES
#define TILEBRIDGE_CPUBACKEND_EMIT_EMITPASSES

include "mlir/Pass/PassBase.td"

def CpuVersionProgramsPass : Pass<"tilebridge-cpu-version-programs", "::mlir::func::FuncOp"> {
  let summary = "Writes a kernel once for programs whose blocks are boxes, and once for all others";
  let description = [{
    An access may be a box or single elements, as a condition says that the program's numbers decide: that an index which is divided by
    a dimension's size did not run over its type, or that a block does not wrap around. All such conditions together choose between two
    bodies: in the first they hold, and canonicalization removes the other branches there. Of a condition that is the conjunction of several, those
    that are known before the program does anything hold there, such as that of the columns, not that of a loop's number. A program that may end early
    asks in the branch that goes on, if numbers are known only there. Not for kernels
    of more than 400 operations, nor where no branch asks for known conditions alone.

    In kernels with products only branches count from whose blocks something else is computed before, such as weights that are unpacked: they
    would be in memory between the branch and the product, and so would those of a product that is scaled before it is added up. A product that a loop
    adds up packs the block of any other branch as it comes, and a row is small.

    Before:
    ```mlir
    func.func @f(...) attributes {tilebridge.kernel} {
      %inside = arith.cmpi sge, %start, %c0 : i32
      %x = scf.if %inside -> (tensor<64xf32>) {
        // reads a box
      } else {
        linalg_ext.gather ...
      }
      // computes, and stores
      return
    }
    ```
    After:
    ```mlir
    func.func @f(...) attributes {tilebridge.kernel} {
      %inside = arith.cmpi sge, %start, %c0 : i32
      scf.if %inside {
        %x = scf.if %true -> (tensor<64xf32>) { ... } else { ... }
        // computes, and stores
      } else {
        %x = scf.if %inside -> (tensor<64xf32>) { ... } else { ... }
        // computes, and stores
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CpuVersionStridesPass : Pass<"tilebridge-cpu-version-strides", "::mlir::func::FuncOp"> {
  let summary = "Writes a kernel once for launches whose strides between neighbours are 1, once for those that read what is broadcast, and once for all others";
  let description = [{
    Kernels that are not specialized by their strides (`do_not_specialize`) get the distance of neighbours along the last dimension of a view
    as an argument. All such arguments together choose between three bodies: in the first they are 1; in the second those of what is
    stored are, and others are clamped from -1 to 1, which they are; the third is for all others, and is kept short
    (`tilebridge.rare_else`). An argument that is known to be a multiple of something is not 1. Not for kernels with products, nor for those of more than
    400 operations; without the second body for those of more than 200, and where all that is read is stored, too.

    Before:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, ...) attributes {tilebridge.kernel} {
      %s = arith.index_cast %stride : i32 to index
      %view = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [%s]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
      // reads the view, computes, and stores
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, ...) attributes {tilebridge.kernel} {
      %unit = arith.cmpi eq, %stride, %c1 : i32
      scf.if %unit {
        %view = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [1]
            : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
        // reads the view, computes, and stores
      } else {
        %most = arith.minsi %stride, %c1 : i32
        %near = arith.maxsi %most, %c-1 : i32
        %same = arith.cmpi eq, %stride, %near : i32
        scf.if %same {
          %s = arith.index_cast %near : i32 to index
          %view = memref.reinterpret_cast %p to offset: [%o], sizes: [64], strides: [%s]
              : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
          // reads the view, computes, and stores
        } else {
          // as before
        } {tilebridge.rare_else}
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CpuJoinBranchLoadsPass : Pass<"tilebridge-cpu-join-branch-loads", "::mlir::func::FuncOp"> {
  let summary = "Loads a block once that branches load with a mask and without one";
  let description = [{
    Kernels for GPUs ask whether a block is whole, and load it without a mask if it is. Here a mask that is a box is a bound of loops, while
    what a branch gives is written to memory. So a block that both branches load from one place is loaded before them: from the box whose
    sizes the branch's condition chooses. Only where nothing in the branches writes, and both have the same number outside.
    A load that is a box in some programs and a gather in the others (`tilebridge.same_load`), such as one at `i % n`, is the gather in all of
    them, if that is of one dimension, only stored, and read in pieces of rows (tilebridge-cpu-emit): a box is one piece. Not where the condition
    is known to hold and the box has pieces of a constant number of elements, such as the pairs of `i // 2` (tilebridge-cpu-flatten-groups).

    Before:
    ```mlir
    %x = scf.if %part -> (tensor<64xf32>) {
      %view = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : ...
      %some = memref.subview %view[0] [%n] [1] : ...
      %box = bufferization.to_tensor %some : ...
      %padded = tensor.pad %box low[0] high[%rest] { ... } : tensor<?xf32> to tensor<64xf32>
      scf.yield %padded : tensor<64xf32>
    } else {
      %view = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : ...
      %all = bufferization.to_tensor %view : ...
      scf.yield %all : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    %size = arith.select %part, %n, %c64 : index
    %some = memref.subview %view[0] [%size] [1] : ...
    %box = bufferization.to_tensor %some : ...
    %x = tensor.pad %box low[0] high[%rest] { ... } : tensor<?xf32> to tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CpuSpeculateBranchesPass : Pass<"tilebridge-cpu-speculate-branches", "::mlir::func::FuncOp"> {
  let summary = "Computes blocks of both branches where that is cheap";
  let description = [{
    A branch that gives blocks separates the loops before it from those behind it, and its blocks are kept in memory between them. Where
    both branches only compute elements with few instructions, and nothing in them can fail or reads memory, both are computed. The
    branch then only chooses; canonicalization makes selects of it, and `tilebridge-spread-selects` elements' selects. Such are the
    first iterations of Welford's variance as torch.compile writes it.

    So are scalars of branches on floats, which the CPU guesses wrong, where both branches are up to 40 additions, comparisons and the
    like: the chains of comparisons that round a number to 4 bits, the steps of a binary search. Branches on integers are left to
    LLVM, which makes a table of a chain.

    Before:
    ```mlir
    %mean = scf.if %first -> (tensor<64xf32>) {
      scf.yield %x : tensor<64xf32>
    } else {
      %next = linalg.generic ins(%old, %x : ...) { ... } -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    %next = linalg.generic ins(%old, %x : ...) { ... } -> tensor<64xf32>
    %mean = scf.if %first -> (tensor<64xf32>) {
      scf.yield %x : tensor<64xf32>
    } else {
      scf.yield %next : tensor<64xf32>
    }
    ```
  }];
}

def CpuGuardBlocksPass : Pass<"tilebridge-cpu-guard-blocks", "::mlir::func::FuncOp"> {
  let summary = "Computes costly blocks only where the branch is taken that uses them";
  let description = [{
    A block that is computed by divisions or functions, before a loop, and that only one branch in the loop uses, is computed if that
    branch will be taken: its condition is known before the loop. Such are the rows of a product's block modulo the matrix's rows, by
    which only programs whose block wraps around gather rows.

    Before:
    ```mlir
    %rows = linalg.generic ins(%at, %m : ...) { arith.remsi } -> tensor<64xi32>
    scf.for ... {
      %a = scf.if %inside -> (tensor<64x32xf32>) {
        // reads a box
      } else {
        linalg_ext.gather_rows %x[%rows] ...
      }
    }
    ```
    After:
    ```mlir
    %rows = scf.if %inside -> (tensor<64xi32>) {
      scf.yield %empty
    } else {
      %computed = linalg.generic ins(%at, %m : ...) { arith.remsi } -> tensor<64xi32>
      scf.yield %computed
    }
    scf.for ... {
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CpuFlattenLoopsPass : Pass<"tilebridge-cpu-flatten-loops", "::mlir::func::FuncOp"> {
  let summary = "Makes one loop of those that add up products of gathered rows";
  let description = [{
    Loops around a loop that adds products up, of which the left operand is gathered rows, as the pixels of a convolution are, become one loop with it, if
    they do nothing but to hand the sums on, compute what may be computed in each iteration, and run as many iterations each time. The operands of
    all of them are packed until there are enough, and kept for the next program (tilebridge-cpu-share-operands).

    Before:
    ```mlir
    %s = scf.for %h = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %t = scf.for %c = %c0 to %n step %c32 iter_args(%acc = %sum) -> (tensor<64x64xf32>) : i32 {
        %d = linalg.matmul ins(%a, %b : ...) outs(%acc : ...) -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      scf.yield %t : tensor<64x64xf32>
    }
    ```
    After:
    ```mlir
    %s = scf.for %i = %zero to %product step %one iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i64 {
      %0 = arith.divsi %i, %iterations : i64
      %1 = arith.remsi %i, %iterations : i64
      ...
      %d = linalg.matmul ins(%a, %b : ...) outs(%acc : ...) -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CpuShareOperandsPass : Pass<"tilebridge-cpu-share-operands", "::mlir::func::FuncOp"> {
  let summary = "Lets programs use the right operand of a product that the program before has packed";
  let description = [{
    A matmul that a loop adds up (see `tilebridge.deep` of tilebridge-cpu-plan) has its right operand, and what only that needs, put into
    a branch with the attribute `tilebridge.shared`. tilebridge-cpu-emit leaves the branch out where the program that the thread ran before
    computed the operand from the same numbers, and keeps up to 4 MiB of packed operands between programs for that. Only in kernels without
    atomics whose programs write nothing before the loop's end, and enter the loop once; or in each turn of a loop that chooses rows of the
    left operand (`tilebridge.masked_rows`).

    Before:
    ```mlir
    %b = bufferization.to_tensor %view : memref<32x64xf32, ...> to tensor<32x64xf32>
    %d = linalg.matmul ins(%a, %b : ...) outs(%acc : ...) -> tensor<64x64xf32>
    ```
    After:
    ```mlir
    %b = scf.if %true -> (tensor<32x64xf32>) {
      %0 = bufferization.to_tensor %view : memref<32x64xf32, ...> to tensor<32x64xf32>
      scf.yield %0 : tensor<32x64xf32>
    } else {
      %0 = tensor.empty() : tensor<32x64xf32>
      scf.yield %0 : tensor<32x64xf32>
    } {tilebridge.shared}
    %d = linalg.matmul {tilebridge.deep} ins(%a, %b : ...) outs(%acc : ...) -> tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect"];
}

def CpuPlanPass : Pass<"tilebridge-cpu-plan", "::mlir::func::FuncOp"> {
  let summary = "Decides which tensors are in memory and which are computed again where they are used";
  let description = [{
    Writes attributes for tilebridge-cpu-emit:
    - `tilebridge.plan` on every op with a tensor that can be computed element by element: `"inline"` (its consumers' loops compute
      it) or `"buffer"` (it has a nest of loops of its own, or a part in one, and is kept in scratch memory). A buffer is what is costly and
      needed by several nests, or in a loop; what a matmul or a scan reads; and a load that a later write may change before it is used.
      What an `scf.for` hands to its next iteration is a buffer if it shares a nest and takes the place of what it was before; else it is
      computed where the iteration ends.
    - `tilebridge.read = N` on loads that are inline although stores to other arguments may change what they read before it is used;
      `tilebridge.guards = [N, ...]` on these stores: emission compares ranges before them, and copies the loads that they overlap.
    - `tilebridge.streamed` on a scan along the last dimension that one store takes, element by element: the store's loop computes it.
    - `tilebridge.nest` on stores, reductions and buffers that share one nest of loops: those of one number.
    - `tilebridge.deep` on matmuls whose loop does nothing with the accumulator but to add their product to it: it packs the
      operands of many iterations, and multiplies them at once.
    - `tilebridge.masked_rows` on matmuls whose left operand has zeros in all rows but those of a mask that is another one in each turn of
      a loop that carries the sums: rows from the first to the last one are multiplied, and others get what zeros give.
    - `tilebridge.direct` on the op that gives the right operand of such a product, if it is computed element by element from what is
      contiguous along its rows: the loops that pack it compute it.

    Before:
    ```mlir
    %e = linalg.generic {...} ins(%x : tensor<1024xf32>) ... { math.exp ... }
    %s = linalg.reduce ins(%e : tensor<1024xf32>) outs(%zero : tensor<f32>) dimensions = [0] ...
    ```
    After:
    ```mlir
    %e = linalg.generic {...} ... attrs = {tilebridge.nest = 0 : i64, tilebridge.plan = "buffer"} ...
    %s = linalg.reduce {tilebridge.nest = 0 : i64} ...
    ```
  }];
}

def CpuEmitPass : Pass<"tilebridge-cpu-emit", "::mlir::ModuleOp"> {
  let summary = "Writes the loops of vectors that a planned function is to be";
  let description = [{
    Tensors disappear: every store, reduction and buffer (see tilebridge-cpu-plan) becomes a nest of `scf.for` over
    `vector` and `memref` operations in which whatever is inline is computed element by element. The dimension along
    which most accesses are contiguous has lanes; its loop is split where a box begins or ends, so that only vectors that are
    partly outside have masks. Matmuls, atomics, scans and the like are emitted by functions of their own (emit/Roots.h).
    The buffer of a gather whose places are divisions of indices is filled piece by piece, and a scatter is stored so: a scalar loop finds how
    far the places grow evenly (emit/LinearPieces.h), and copies that. Where blocks of one dimension are only stored, the store's loop along the
    lanes is cut there, and reads the pieces where they lie (emit/NestPieces.cpp); a mask that is a range of a row, as that of a picture
    with a margin, ends no piece (emit/PieceRanges.cpp). Magnitudes end one at zero (emit/PieceComparisons.cpp). Divisors that are arguments, and may be
    1, are asked for once: the loop is there twice.
    A module with atomics gets `tilebridge.atomics`, which the manifest says: `guarded` or `alone` where launches may do with plain accesses
    (emit/AtomicGuards.cpp), else `own`.
    Buffers are `memref.alloc`, for tilebridge-cpu-place-scratch. What is not supported is an error.
    Where all of a module is loops over contiguous memory with hardly any arithmetic, and 512-bit vectors come without `two-fmas`, the
    module gets `tilebridge.vector_bits = 256`: the width that code generation is to use.

    Before:
    ```mlir
    %t = bufferization.to_tensor %view : memref<1024xf32, ...> to tensor<1024xf32>
    %y = linalg.generic {...} ins(%t, %t : ...) { arith.mulf ... }
    bufferization.materialize_in_destination %y in writable %out : (tensor<1024xf32>, memref<1024xf32, ...>) -> ()
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c1024 step %c64 {
      %a = vector.load %x[%i] : memref<?xf32, ...>, vector<64xf32>
      %b = arith.mulf %a, %a : vector<64xf32>
      vector.store %b, %o[%i] : memref<?xf32, ...>, vector<64xf32>
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "256", "bits of a native vector: 128, 256 or 512">,
    Option<"bf16Pairs", "bf16-pairs", "bool", "false", "AVX512_BF16: products of bf16 by vdpbf16ps">,
    Option<"i16Pairs", "i16-pairs", "bool", "false", "VNNI: products of 8-bit integers by vpdpbusd and vpdpwssd">,
    Option<"byteLookups", "byte-lookups", "bool", "false", "AVX512_VBMI: 64 floats of 8 bits are looked up at once">,
    Option<"i16PairSums", "i16-pair-sums", "bool", "false", "x86: products of 8-bit integers by pmaddwd, where there is no VNNI">,
    Option<"twoFmas", "two-fmas", "bool", "false", "two multiply-adds of native vectors a cycle, and 2 MiB of second cache: products of floats in larger tiles and steps">,
    Option<"bf16Tiles", "bf16-tiles", "bool", "false", "AMX: products of bf16 by tdpbf16ps">,
    Option<"i8Tiles", "i8-tiles", "bool", "false", "AMX: products of 8-bit integers by tdpbssd and tdpbuud">,
    Option<"streamBytes", "stream-bytes", "int64_t", "0",
           "a launch whose loop reads and writes so many bytes writes around the caches; 0: never">,
    Option<"prefetchBytes", "prefetch-bytes", "int64_t", "0",
           "a launch that reads so many bytes by one access asks for later blocks; 0: never">,
    Option<"exchangeBytes", "exchange-bytes", "int64_t", "8", "what one compare-and-exchange takes: 8, or 16">,
    Option<"reciprocals", "reciprocals", "bool", "true",
           "`arith.divf` with the flag `arcp`, by one value for all lanes, is a product with its reciprocal">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def CpuPlaceScratchPass : Pass<"tilebridge-cpu-place-scratch", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer its place in one block of scratch memory";
  let description = [{
    A function that allocates gets one more argument, last, `memref<?xi8>` with the attribute `tilebridge.scratch`, and the
    attribute `tilebridge.scratch_bytes`: how much it needs. Buffers whose lives do not overlap share bytes; all are aligned to 64.
    The scratch of a callee is a buffer of its caller. Nothing is allocated while a kernel runs.

    Before:
    ```mlir
    func.func @k(%x: memref<?xf32>) {
      %b = memref.alloc() : memref<64xf32>
      return
    }
    ```
    After:
    ```mlir
    func.func @k(%x: memref<?xf32>, %scratch: memref<?xi8> {tilebridge.scratch}) attributes {tilebridge.scratch_bytes = 256 : i64} {
      %c0 = arith.constant 0 : index
      %b = memref.view %scratch[%c0][] : memref<?xi8> to memref<64xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif
