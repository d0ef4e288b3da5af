//===- LinalgExtComputeOps.td - compute ops of dialect linalg_ext -*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_BRIDGE_LINALGEXTCOMPUTEOPS
#define TILEBRIDGE_BRIDGE_LINALGEXTCOMPUTEOPS

include "triton-to-linalg/bridge/LinalgExtDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"

// A block of data: static shape, elements that arith can compute with.
def LinalgExt_Block : StaticShapeTensorOf<[AnySignlessInteger, AnyFloat]>;
def LinalgExt_IntBlock : StaticShapeTensorOf<[AnySignlessInteger]>;
def LinalgExt_BoolBlock : StaticShapeTensorOf<[I1]>;
def LinalgExt_Number : AnyTypeOf<[AnySignlessInteger, AnyFloat]>;

def LinalgExt_ReduceOp : LinalgExt_Op<"reduce", [
    Pure, SameOperandsShape, SingleBlock, InferTypeOpAdaptor]> {
  let summary = "Reduces blocks along one dimension, without an initial value";
  let description = [{
    Combines the elements of n blocks of one shape along `dimension`. The region has 2n scalar arguments: the n values
    combined so far, then the n elements to be combined with them, and yields n values. It is associative and
    commutative, as far as its author cares: the order in which elements are combined, and how they are grouped, is
    up to the backend. There is no initial value, so a region without an identity (argmax) is no special case:
    a dimension of one element gives the element, and its region does not run.

    A result has the operand's shape without `dimension`; a reduction of one-dimensional blocks gives rank 0.

    Constraints:
    1. at least one operand, all of one static shape;
    2. `dimension` is a dimension of that shape, and is not empty;
    3. the region has 2n arguments of the element types, and yields n values of them.

    ```mlir
    %max, %where = linalg_ext.reduce(%value, %index) dimension = 1 {
    ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
      %gt = arith.cmpf ogt, %v0, %v1 : f32
      %v = arith.select %gt, %v0, %v1 : f32
      %i = arith.select %gt, %i0, %i1 : i32
      linalg_ext.yield %v, %i : f32, i32
    } : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
    ```
  }];
  let arguments = (ins Variadic<LinalgExt_Block>:$inputs, I64Attr:$dimension);
  let results = (outs Variadic<LinalgExt_Block>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $inputs `)` `dimension` `=` $dimension $combiner attr-dict `:` functional-type($inputs, $results)
  }];
  let hasRegionVerifier = 1;
}

def LinalgExt_ScanOp : LinalgExt_Op<"scan", [
    Pure, SameOperandsAndResultShape, SingleBlock, InferTypeOpAdaptor]> {
  let summary = "Inclusive scan of blocks along one dimension";
  let description = [{
    Element i of a result is the combination of the elements 0 to i of the operand along `dimension`, or with `reverse`
    of the last element down to i. The region has 2n scalar arguments, n values combined so far and n elements, and
    yields n values. It is associative; it need not be commutative: what was combined so far stands left.

    Constraints:
    1. at least one operand, all of one static shape;
    2. `dimension` is a dimension of that shape;
    3. the region has 2n arguments of the element types, and yields n values of them.

    ```mlir
    %sums = linalg_ext.scan(%x) dimension = 0 reverse {
    ^bb0(%sum: f32, %element: f32):
      %0 = arith.addf %sum, %element : f32
      linalg_ext.yield %0 : f32
    } : (tensor<128xf32>) -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<LinalgExt_Block>:$inputs, I64Attr:$dimension, UnitAttr:$reverse);
  let results = (outs Variadic<LinalgExt_Block>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `(` $inputs `)` `dimension` `=` $dimension (`reverse` $reverse^)? $combiner attr-dict
    `:` functional-type($inputs, $results)
  }];
  let hasRegionVerifier = 1;
}

def LinalgExt_YieldOp : LinalgExt_Op<"yield", [
    Pure, ReturnLike, Terminator, ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "Ends the region of a reduce or scan";
  let description = [{
    ```mlir
    linalg_ext.yield %value, %index : f32, i32
    ```
  }];
  let arguments = (ins Variadic<LinalgExt_Number>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def LinalgExt_HistogramOp : LinalgExt_Op<"histogram", [Pure]> {
  let summary = "Counts how often each bin's number is in a block";
  let description = [{
    Element b of the result is the number of elements of `input` that equal b, counted only where `mask` is true if
    there is one. Elements are read as unsigned; those that are no number of a bin are not counted.

    Constraints:
    1. `mask` has the shape of `input`;
    2. the result has one dimension, with at least one bin.

    ```mlir
    %counts = linalg_ext.histogram %x, %mask : tensor<512xi32>, tensor<512xi1> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins LinalgExt_IntBlock:$input, Optional<LinalgExt_BoolBlock>:$mask);
  let results = (outs LinalgExt_IntBlock:$result);
  let assemblyFormat = "$input (`,` $mask^)? attr-dict `:` type($input) (`,` type($mask)^)? `->` type($result)";
  let hasVerifier = 1;
}

def LinalgExt_GatherAlongOp : LinalgExt_Op<"gather_along", [
    Pure, AllElementTypesMatch<["source", "result"]>, AllShapesMatch<["indices", "result"]>]> {
  let summary = "Picks elements of a block along one dimension by index";
  let description = [{
    result[i, j] = source[indices[i, j], j] for `dimension = 0`, and so on. Indices are read as unsigned; one beyond the
    end picks the last element, so that no index reads outside of the block.

    Constraints:
    1. the result has the shape of `indices` and the element type of `source`;
    2. `source` and `indices` have the same rank;
    3. `dimension` is a dimension of them, not empty in `source`;
    4. in every other dimension `indices` is not larger than `source`.

    ```mlir
    %y = linalg_ext.gather_along %x[%i] dimension = 1 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins LinalgExt_Block:$source, LinalgExt_IntBlock:$indices, I64Attr:$dimension);
  let results = (outs LinalgExt_Block:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `dimension` `=` $dimension attr-dict
    `:` type($source) `,` type($indices) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The result is `source` in the opposite order along `dimension`: an
    /// index is the size of that dimension - 1 - its own place, written as one
    /// `linalg.generic`.
    bool isReversal();
    /// Element i is element `i ^ stride` of `source` along `dimension`, an index written as one `linalg.generic`: the
    /// stride, a power of two of which twice as much divides that dimension. 0 if it is not so.
    int64_t getExchangeStride();
  }];
  let hasVerifier = 1;
}

// What an elementwise op takes: scalars in a body of linalg, vectors of one shape in what a backend makes of it.
def LinalgExt_ScalarOrVector : AnyTypeOf<[
  AnySignlessInteger, AnyFloat, VectorOfAnyRankOf<[AnySignlessInteger, AnyFloat]>]>;

def LinalgExt_LibmOp : LinalgExt_Op<"libm", [Pure] # ElementwiseMappable.traits> {
  let summary = "A function of C's math library that the dialect math lacks";
  let description = [{
    Calls the function with this name on each element; that of f32 has an `f` at its end in C. On vectors it is called
    for each lane.

    Constraints:
    1. `function` is one of `hypot`, `j0`, `j1`, `jn`, `lgamma`, `remainder`, `tgamma`, `y0`, `y1`, `yn`;
    2. its operands and result are f32 or f64, all the same; the first operand of `jn` and `yn` is an i32.

    ```mlir
    %y = linalg_ext.libm "tgamma"(%x) : (f64) -> f64
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<LinalgExt_ScalarOrVector>:$operands);
  let results = (outs LinalgExt_ScalarOrVector:$result);
  let assemblyFormat = "$function `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
}

def LinalgExt_DirectedOp : LinalgExt_Op<"directed", [Pure] # ElementwiseMappable.traits> {
  let summary = "Arithmetic that is rounded up, down, or towards zero";
  let description = [{
    The exact result of the operation, rounded once in the direction that `rounding` names. Everything else in the
    bridge IR rounds to the nearest.

    Constraints:
    1. `function` is one of `add`, `sub`, `mul`, `div`, `sqrt`, `fma`, `truncf`, `sitofp`, `uitofp`;
    2. `rounding` is `downward`, `upward` or `toward_zero`;
    3. the result is f32 or f64; operands have its type, but for `truncf` (f64 to f32) and for `sitofp` and `uitofp` (i32
       or i64).

    ```mlir
    %sum = linalg_ext.directed "add" downward(%x, %y) : (f32, f32) -> f32
    ```
  }];
  let arguments = (ins StrAttr:$function, Arith_RoundingModeAttr:$rounding, Variadic<LinalgExt_ScalarOrVector>:$operands);
  let results = (outs LinalgExt_ScalarOrVector:$result);
  let assemblyFormat = "$function $rounding `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
}

def LinalgExt_ClockOp : LinalgExt_Op<"clock", [MemoryEffects<[MemWrite<LinalgExt_Host>]>]> {
  let summary = "The time in nanoseconds";
  let description = [{
    A time that does not go back, from an arbitrary start. It is read where the op stands, among the program's accesses to
    memory.

    ```mlir
    %t = linalg_ext.clock
    ```
  }];
  let results = (outs I64:$time);
  let assemblyFormat = "attr-dict";
}

def LinalgExt_PrintOp : LinalgExt_Op<"print", [MemoryEffects<[MemWrite<LinalgExt_Host>]>]> {
  let summary = "Prints values of one program";
  let description = [{
    Prints `prefix` and each value, the elements of a block one a line with their position, and the ids of the program
    (`programs`, x, y and z). Integers are printed as signed where `signed` says so, and in base 16 with `hex`, floats then
    as C's `%a` does; a pointer is an i64 here.

    Constraint 1: `signed` has one entry for each value.

    ```mlir
    linalg_ext.print " x: " programs(%px, %py, %pz) values(%x, %n) signed = [true, true] hex
        : tensor<64xi32>, i32
    ```
  }];
  let arguments = (ins
    StrAttr:$prefix, I32:$pid_x, I32:$pid_y, I32:$pid_z,
    Variadic<AnyTypeOf<[LinalgExt_Block, LinalgExt_Number]>>:$values,
    DenseBoolArrayAttr:$is_signed, UnitAttr:$hex);
  let assemblyFormat = [{
    $prefix `programs` `(` $pid_x `,` $pid_y `,` $pid_z `)` `values` `(` $values `)`
    `signed` `=` $is_signed (`hex` $hex^)? attr-dict (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

def LinalgExt_AssertOp : LinalgExt_Op<"assert", [MemoryEffects<[MemWrite<LinalgExt_Host>]>]> {
  let summary = "Ends the launch with an error where a condition is false";
  let description = [{
    Where the condition, or any element of it, is false, the launch fails with `message` and the op's location.
    What the other programs of the launch did until then stays done.

    ```mlir
    linalg_ext.assert %mask, "index out of range" : tensor<64xi1>
    ```
  }];
  let arguments = (ins AnyTypeOf<[I1, LinalgExt_BoolBlock]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif
