//===- Passes.td - passes of triton-to-linalg --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_TRITONTOLINALG_PASSES
#define TILEBRIDGE_TRITONTOLINALG_PASSES

include "mlir/Pass/PassBase.td"

def ScaledIndicesPass : Pass<"tilebridge-scaled-indices"> {
  let summary = "Integers that are scaled by powers of two as floats stay integers";
  let description = [{
    What an integer becomes as a float, times a power of two (or divided by one), as an integer again is a quotient, or a product, of integers, if all of these floats are exact:
    the number's range is known from the operations before it (`i % 112`), and no larger than the float's precision; the result is in the range of its type. Both round towards zero.
    This is how torch.compile writes the nearest pixel of a picture that becomes larger or smaller. Other sums and products with constants, as in `(float(x) + 0.5) * 0.5` of the
    pixel nearest to a centre, are computed for each number of a range of up to 32768, as f32 or f64 rounds them: where `(x + a) / n`, or `x * m + a`, gives the same for all, that is
    what becomes of them. Numbers below 0 have an `a` that is larger by 1 if they need it. Others, and numbers of which nothing is known, are left as they are.

    Before:
    ```mlir
    %half = arith.constant dense<5.000000e-01> : tensor<64xf32>
    %n = arith.constant dense<112> : tensor<64xi32>
    %x = arith.remsi %i, %n : tensor<64xi32>
    %f = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
    %g = arith.mulf %f, %half : tensor<64xf32>
    %y = arith.fptosi %g : tensor<64xf32> to tensor<64xi32>
    ```
    After:
    ```mlir
    %n = arith.constant dense<112> : tensor<64xi32>
    %x = arith.remsi %i, %n : tensor<64xi32>
    %two = arith.constant dense<2> : tensor<64xi32>
    %y = arith.divsi %x, %two : tensor<64xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ChosenFactorsPass : Pass<"tilebridge-chosen-factors"> {
  let summary = "Integers times a condition are chosen";
  let description = [{
    A product of an integer with a condition as a number is a choice of it or 0; a sum of two such choices whose conditions are opposite comparisons is one choice of both.
    This is how torch.compile writes what is kept within a row, as by `F.pad(x, ..., mode="replicate")`. Products of two conditions, which are masks, stay.

    Before:
    ```mlir
    %a = arith.cmpi sle, %last, %x : tensor<64xi32>
    %b = arith.cmpi slt, %x, %last : tensor<64xi32>
    %p = arith.extui %a : tensor<64xi1> to tensor<64xi32>
    %q = arith.extui %b : tensor<64xi1> to tensor<64xi32>
    %l = arith.muli %last, %p : tensor<64xi32>
    %m = arith.muli %x, %q : tensor<64xi32>
    %y = arith.addi %l, %m : tensor<64xi32>
    ```
    After:
    ```mlir
    %a = arith.cmpi sle, %last, %x : tensor<64xi32>
    %y = arith.select %a, %last, %x : tensor<64xi1>, tensor<64xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RecomputeCarriedPass : Pass<"tilebridge-recompute-carried"> {
  let summary = "Masks and offsets that a loop sets for its next iteration are computed where they are used";
  let description = [{
    An integer, boolean or pointer, or a tensor of them, that an `scf.for` carries is replaced in the loop by an expression of the induction
    variable and of other carried values, if what the loop yields is that expression of their next values (`%i + %step`, what
    the loop yields for them), and what it begins with is the expression of their first ones. Both are seen with what folds, `0 * 64` or `+ 0`,
    folded, and with sums of integers in any order. The expression may not read memory, trap or have a region. A value of this iteration
    stands for the next one less its step. What is read after the loop is still carried.

    Before:
    ```mlir
    %m0 = arith.cmpi slt, %range, %ns : tensor<64xi32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%m = %m0) -> (tensor<64xi1>) : i32 {
      %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
      %j = arith.addi %i, %c64 : i32
      %js = tt.splat %j : i32 -> tensor<64xi32>
      %k = arith.addi %js, %range : tensor<64xi32>
      %next = arith.cmpi slt, %k, %ns : tensor<64xi32>
      scf.yield %next : tensor<64xi1>
    }
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %n step %c64 : i32 {
      %is = tt.splat %i : i32 -> tensor<64xi32>
      %k = arith.addi %is, %range : tensor<64xi32>
      %m = arith.cmpi slt, %k, %ns : tensor<64xi32>
      %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tilebridge::tt::TTDialect"];
}

def MaskWrapsPass : Pass<"tilebridge-mask-wraps"> {
  let summary = "Lanes whose index wraps around and that no store has are left out of loads";
  let description = [{
    Kernels keep the indices of a block that reaches beyond an end of an array inside of it, so that loads need no mask, or in addition to one: `i % n`,
    `tl.where(i < n, i, 0)`, `tl.minimum(i, n - 1)`, `tl.maximum(i, 0)`. What such lanes read goes into lanes of results that stores leave out, by a
    mask `i < n`, or is not read at all, because the load has that mask. Where all uses of the index
    are seen to end in that, the index becomes `i` itself, and other loads at addresses or with masks that are made of it get the mask. Each lane
    must have made only lanes at the same place: through elementwise ops, shapes, rows and columns of products, reductions along
    other axes, loops and branches. A reduction along the axis, an atomic, a store without such a mask, an integer division by
    what is read, and what a loop around the index carries on leave it as it is. A condition that is no range, as in
    `tl.where(valid, i, 0)` with `valid` from memory, is taken for a mask where `i` is linear.

    The remainder of a negative number is negative: `max(i, i % n)` is `i` where that is not, which later passes see.

    Before:
    ```mlir
    %r = arith.remsi %i, %n : tensor<64xi32>
    %p = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %p : tensor<64x!tt.ptr<f32>>
    %m = arith.cmpi slt, %i, %n : tensor<64xi32>
    tt.store %q, %x, %m : tensor<64x!tt.ptr<f32>>
    ```
    After:
    ```mlir
    %r = arith.remsi %i, %n : tensor<64xi32>
    %j = arith.maxsi %i, %r : tensor<64xi32>
    %p = tt.addptr %ps, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %m = arith.cmpi slt, %i, %n : tensor<64xi32>
    %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    tt.store %q, %x, %m : tensor<64x!tt.ptr<f32>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tilebridge::tt::TTDialect"];
}

def ScalarizeOffsetsPass : Pass<"tilebridge-scalarize-offsets"> {
  let summary = "Pointers and offsets that move by a uniform amount become an invariant tensor and a carried scalar";
  let description = [{
    A tensor of pointers or integers (or a scalar pointer) that a loop carries or a branch yields, and that differs from a tensor
    made outside only by one number for all elements, is carried as that number: i64 for pointers, counted in elements, the
    integer's own type otherwise. The innermost loop goes first, until nothing changes. After it an access in a loop has
    offsets of one shape and a scalar that moves, which `tilebridge-lower-accesses` reads as a strided view.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<64x!tt.ptr<f32>>) : i32 {
      %x = tt.load %p : tensor<64x!tt.ptr<f32>>
      %q = tt.addptr %p, %c64 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %q : tensor<64x!tt.ptr<f32>>
    }
    ```
    After:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero) -> (i64) : i32 {
      %ds = tt.splat %d : i64 -> tensor<64xi64>
      %p = tt.addptr %p0, %ds : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
      %x = tt.load %p : tensor<64x!tt.ptr<f32>>
      %e = arith.addi %d, %c64_i64 : i64
      scf.yield %e : i64
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::tilebridge::tt::TTDialect"];
}

def FlattenBranchesPass : Pass<"tilebridge-flatten-branches"> {
  let summary = "Branches in the code of one element become selections";
  let description = [{
    In the region of a `tt.map_elementwise` an `scf.if` whose branches only compute is replaced by both branches and a selection for
    each result, so that the code has a form for vectors. A division is made to divide by 1 where its branch is not taken.
    Loops, and branches with loops in them, stay.

    Before:
    ```mlir
    %y = "tt.map_elementwise"(%x, %n) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %p = arith.cmpi ne, %b, %zero : i32
      %r = scf.if %p -> i32 {
        %q = arith.divsi %a, %b : i32
        scf.yield %q : i32
      } else {
        scf.yield %zero : i32
      }
      tt.map_elementwise.return %r : i32
    }) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    ```
    After:
    ```mlir
    %y = "tt.map_elementwise"(%x, %n) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %p = arith.cmpi ne, %b, %zero : i32
      %one = arith.constant 1 : i32
      %d = arith.select %p, %b, %one : i32
      %q = arith.divsi %a, %d : i32
      %r = arith.select %p, %q, %zero : i32
      tt.map_elementwise.return %r : i32
    }) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tilebridge::tt::TTDialect"];
}

def CarryStridesPass : Pass<"tilebridge-carry-strides"> {
  let summary = "Strided pointers and offsets that loops, branches and selects pass on become scalars";
  let description = [{
    A tensor of pointers or integers that a loop carries, a branch gives or a select with one condition chooses is carried as its
    parts, if every value that can flow into it is strided: the base (of pointers), the offset, and a stride for each dimension.
    Parts that are the same whatever happens are not carried at all. What is not strided in one of its values stays as it is.
    It runs after `tilebridge-scalarize-offsets`, which takes what moves by one number, strided or not.

    Before:
    ```mlir
    %r = scf.if %c -> (tensor<64x!tt.ptr<f32>>) {
      scf.yield %p : tensor<64x!tt.ptr<f32>>
    } else {
      %s = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %q = tt.addptr %s, %twice : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %q : tensor<64x!tt.ptr<f32>>
    }
    ```
    After:
    ```mlir
    %parts:2 = scf.if %c -> (!tt.ptr<f32>, i64) {
      scf.yield %x, %one : !tt.ptr<f32>, i64
    } else {
      scf.yield %y, %two : !tt.ptr<f32>, i64
    }
    %base = tt.splat %parts#0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %stride = tt.splat %parts#1 : i64 -> tensor<64xi64>
    %offset = arith.muli %range, %stride : tensor<64xi64>
    %r = tt.addptr %base, %offset : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::tilebridge::tt::TTDialect"];
}

def LowerAccessesPass : Pass<"tilebridge-lower-accesses"> {
  let summary = "Lowers every memory access of tt to the forms of the bridge IR";
  let description = [{
    Offsets and masks are read back through the arithmetic that made them (`triton-to-linalg/analysis`). A linear offset with a mask
    that is a box becomes a view, its box, and a tensor; other accesses take the next form down of docs/bridge-ir.md, each for
    itself, with a remark that says why. Scalar pointers, descriptors and block pointers become memrefs by
    `builtin.unrealized_conversion_cast`; the type conversion that follows resolves it. Pointer arithmetic without uses is erased.

    A load that is volatile is a relaxed `linalg_ext.atomic_load` where each time counts: of a scalar everywhere, of a block of pointers
    inside of `scf.while`, where it may wait for another program's store. Elsewhere it is read as others are.

    A comparison of which it is seen that it holds for all lanes, such as `i < n` in a loop to a constant n whose steps divide it, becomes
    a constant.

    Before:
    ```mlir
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %n = tt.splat %size : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %range, %n : tensor<64xi32>
    %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
    ```
    After:
    ```mlir
    %b = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<?xf32, strided<[1], offset: ?>>
    %view = memref.reinterpret_cast %b to offset: [0], sizes: [64], strides: [1] : ... to memref<64xf32, strided<[1]>>
    %s = arith.index_cast %size : i32 to index
    %t = arith.maxsi %s, %c0 : index
    %k = arith.minsi %t, %c64 : index
    %box = memref.subview %view[0] [%k] [1] : ... to memref<?xf32, strided<[1]>>
    %in = bufferization.to_tensor %box : ... to tensor<?xf32>
    %h = arith.subi %c64, %k : index
    %v = tensor.pad %in low[0] high[%h] { ^bb0(%i: index): tensor.yield %zero : f32 } : tensor<?xf32> to tensor<64xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::tilebridge::linalg_ext::LinalgExtDialect",
    "::tilebridge::tt::TTDialect"];
}

def ToBridgePass : Pass<"tilebridge-to-bridge", "::mlir::ModuleOp"> {
  let summary = "Lowers all of tt but its memory accesses to the bridge IR";
  let description = [{
    A full conversion: functions with the program's ids as arguments, pointers and descriptors as memrefs, arithmetic on
    tensors as `linalg.generic`, shapes, reductions, scans and products. Memory accesses are lowered before, by
    `tilebridge-lower-accesses`; the casts that it leaves between types of tt and of the bridge go away. An op that has no
    lowering is an error at its place, and nothing is written.

    Before:
    ```mlir
    tt.func public @f(%p: !tt.ptr<f32>, %a: f32) {
      %i = tt.get_program_id x : i32
      %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %m = builtin.unrealized_conversion_cast %q : !tt.ptr<f32> to memref<?xf32, strided<[1], offset: ?>>
      %zero = arith.constant 0 : index
      memref.store %a, %m[%zero] : memref<?xf32, strided<[1], offset: ?>>
      tt.return
    }
    ```
    After:
    ```mlir
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %a: f32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "fp32"]} {
      %base, %offset, %size, %stride = memref.extract_strided_metadata %p : ...
      %i = arith.index_cast %px : i32 to index
      %o = arith.addi %offset, %i : index
      %m = memref.reinterpret_cast %base to offset: [%o], sizes: [%size], strides: [1] : ...
      %zero = arith.constant 0 : index
      memref.store %a, %m[%zero] : memref<?xf32, strided<[1], offset: ?>>
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect", "::mlir::LLVM::LLVMDialect",
    "::tilebridge::linalg_ext::LinalgExtDialect"];
}

def RecognizeMaximaPass : Pass<"tilebridge-recognize-maxima"> {
  let summary = "Reductions by a comparison and a selection become maxima and minima";
  let description = [{
    Code that a compiler wrote, such as torch.compile's, has its own functions for the larger one of two values, that give NaN if one is NaN. In
    the region of a `tt.reduce` or `tt.scan`, and where a loop updates a block that is only reduced by such a region behind it, they become
    `arith.maximumf`, `minimumf`, `maxsi`, `minsi`, `maxui` or `minui`, whose identities backends know. Of floats the flag `nsz` says that either zero may
    be the result of two: the selection takes the second one. Selections elsewhere stay.

    Before:
    ```mlir
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %greater = arith.cmpf ogt, %a, %b : f32
      %nan = arith.cmpf une, %a, %a : f32
      %takes = arith.ori %greater, %nan : i1
      %max = arith.select %takes, %a, %b : f32
      tt.reduce.return %max : f32
    }) : (tensor<64xf32>) -> f32
    ```
    After:
    ```mlir
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %max = arith.maximumf %a, %b fastmath<nsz> : f32
      tt.reduce.return %max : f32
    }) : (tensor<64xf32>) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TranslateAssemblyPass : Pass<"tilebridge-translate-assembly"> {
  let summary = "Inline PTX that only computes becomes arithmetic";
  let description = [{
    Straight-line PTX in a `tt.elementwise_inline_asm` is translated, instruction by instruction, into the region of a
    `tt.map_elementwise`: moves, arithmetic on integers and floats and on pairs of halves, bits, comparisons, predicates,
    conversions (pairs of 8-bit and 4-bit floats and of scales included), and approximations, which become the functions that they approximate.
    Elements narrower than 32 bits share registers as on a GPU. What touches memory, branches or synchronizes is an error that
    names the instruction.

    Before:
    ```mlir
    %y = tt.elementwise_inline_asm "shl.b32 $0, $1, 7;"
        {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<64xi32> -> tensor<64xi32>
    ```
    After:
    ```mlir
    %y = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: i32):
      %seven = arith.constant 7 : i32
      ...
      %b = arith.shli %a, %seven : i32
      tt.map_elementwise.return %b : i32
    }) : (tensor<64xi32>) -> tensor<64xi32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::tilebridge::linalg_ext::LinalgExtDialect",
    "::tilebridge::tt::TTDialect"];
}

#endif
