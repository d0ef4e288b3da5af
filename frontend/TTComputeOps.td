//===- TTComputeOps.td - arithmetic, dot, reductions of dialect tt -*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTCOMPUTEOPS
#define TILEBRIDGE_FRONTEND_TTCOMPUTEOPS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTAttrs.td"
include "frontend/TTTypes.td"

//===----------------------------------------------------------------------===//
// Casts that arith does not have
//===----------------------------------------------------------------------===//

class TT_CastOp<string mnemonic> : TT_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def TT_IntToPtrOp : TT_CastOp<"int_to_ptr"> {
  let summary = "an address as a pointer";
  let description = [{
    ```mlir
    %p = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
    ```
  }];
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
}

def TT_PtrToIntOp : TT_CastOp<"ptr_to_int"> {
  let summary = "a pointer's address in bytes";
  let description = [{
    ```mlir
    %i = tt.ptr_to_int %p : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    ```
  }];
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
}

def TT_BitcastOp : TT_CastOp<"bitcast"> {
  let summary = "the same bits as another type";
  let description = [{
    Constraints:
    - (BT1) both are pointers, or numbers of one width.

    ```mlir
    %i = tt.bitcast %f : tensor<64xf32> -> tensor<64xi32>
    %p = tt.bitcast %q : !tt.ptr<i1> -> !tt.ptr<i8>
    ```
  }];
  let arguments = (ins TT_Any:$src);
  let results = (outs TT_Any:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_FpToFpOp : TT_CastOp<"fp_to_fp"> {
  let summary = "converts between float types, 8-bit ones included";
  let description = [{
    Constraints:
    - (FF1) a cast to a narrower type has a rounding.

    ```mlir
    %a = tt.fp_to_fp %x, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
    %b = tt.fp_to_fp %a : tensor<64xf8E5M2> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = [{
    $src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic that arith and math do not have
//===----------------------------------------------------------------------===//

class TT_ArithOp<string mnemonic> : TT_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]>;

def TT_ClampFOp : TT_ArithOp<"clampf"> {
  let summary = "a value limited to a range";
  let description = [{
    With `propagateNan = all` a NaN in `x` stays; with `none` it becomes `min`.

    ```mlir
    %c = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max,
      TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = [{
    $x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)
  }];
}

def TT_PreciseSqrtOp : TT_ArithOp<"precise_sqrt"> {
  let summary = "correctly rounded square root";
  let description = [{
    ```mlir
    %s = tt.precise_sqrt %x : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def TT_PreciseDivFOp : TT_ArithOp<"precise_divf"> {
  let summary = "correctly rounded quotient";
  let description = [{
    ```mlir
    %q = tt.precise_divf %x, %y : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_ApproxDivFOp : TT_ArithOp<"approx_divf"> {
  let summary = "quotient that may be off by 2.5 units in the last place (Triton 3.9)";
  let description = [{
    ```mlir
    %q = tt.approx_divf %x, %y : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_F32Like:$x, TT_F32Like:$y);
  let results = (outs TT_F32Like:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_MulhiUIOp : TT_ArithOp<"mulhiui"> {
  let summary = "upper half of an unsigned product";
  let description = [{
    ```mlir
    %h = tt.mulhiui %x, %y : tensor<64xi32>
    ```
  }];
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

def TT_DotOp : TT_Op<"dot", [
    Pure, TypesMatchWith<"'c' and 'd' have one type", "d", "c", "$_self">]> {
  let summary = "matrix product plus an accumulator, batched in rank 3";
  let description = [{
    `inputPrecision` says what f32 inputs may be rounded to; `ieee` is the default and is not printed.

    Constraints:
    - (DT1) all have rank 2, or all rank 3;
    - (DT2) in rank 3 all have one batch size;
    - (DT3) shapes are MxK, KxN and MxN;
    - (DT4) operands and accumulator are all floats, or all integers; integers accumulate in i32.

    ```mlir
    %d = tt.dot %a, %b, %c, inputPrecision = tf32
        : tensor<64x32xf32> * tensor<32x16xf32> -> tensor<64x16xf32>
    ```
  }];
  let arguments = (ins TT_NumberTensor:$a, TT_NumberTensor:$b, TT_NumberTensor:$c,
      DefaultValuedAttr<TT_InputPrecision, "InputPrecision::IEEE">:$inputPrecision,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_NumberTensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
    type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def TT_DotScaledOp : TT_Op<"dot_scaled", [
    Pure, AttrSizedOperandSegments,
    TypesMatchWith<"'c' and 'd' have one type", "d", "c", "$_self">]> {
  let summary = "matrix product of block-scaled operands plus an accumulator";
  let description = [{
    Each run of K elements of a row of `a` (of a column of `b`) shares one scale, an e8m0 in an i8 or an
    8-bit float. Scales are MxG and NxG. Elements of `e2m1` are packed in pairs into an i8, along K
    or, where `lhs_k_pack` (`rhs_k_pack`) is false, along M (N).

    Constraints:
    - (SD1) all have rank 2, or all rank 3 with one batch size;
    - (SD2) unpacked shapes are MxK, KxN and MxN;
    - (SD3) an element type fits its format: i8 for e2m1, i8 or 8 bits for other fp8, bf16, f16;
    - (SD4) a scale has one row an M (N), and its columns divide K;
    - (SD5) only e2m1 is packed along M or N.

    ```mlir
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false}
        : tensor<128x32xi8>, tensor<128x2xi8> * tensor<64x64xf8E5M2> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins TT_TensorOf<[TT_Float, I8]>:$a, TT_TensorOf<[TT_Float, I8]>:$b,
      TT_FloatTensor:$c, Optional<TT_TensorOf<[TT_Float, I8]>>:$a_scale,
      Optional<TT_TensorOf<[TT_Float, I8]>>:$b_scale, TT_ScaleDotElemType:$a_elem_type,
      TT_ScaleDotElemType:$b_elem_type, BoolAttr:$fastMath,
      DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
      DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_FloatTensor:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c
    `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict `:`
    type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Histogram, and code from elsewhere
//===----------------------------------------------------------------------===//

def TT_HistogramOp : TT_Op<"histogram", [
    Pure, OptionalTypesMatchWith<"'mask' is an i1 for each element of 'src'", "src", "mask",
                                 "maskTypeOf($_self)">]> {
  let summary = "counts how often each number occurs";
  let description = [{
    Element `i` of the result is how many elements of the source, of those not masked off, equal `i`.

    Constraints:
    - (HG1) source and result have rank 1.

    ```mlir
    %h = tt.histogram %x, %m : tensor<128xi32> -> tensor<32xi32>
    ```
  }];
  let arguments = (ins TT_IntTensor:$src, Optional<TT_BoolLike>:$mask);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

class TT_ForeignOp<string mnemonic, list<Trait> traits = []> : TT_Op<mnemonic, !listconcat(traits, [
    Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>])>;

def TT_ExternElementwiseOp : TT_ForeignOp<"extern_elementwise"> {
  let summary = "calls a function of a library for each element";
  let description = [{
    Constraints:
    - (EX1) `symbol` is not empty.

    ```mlir
    %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_asinf"}
        : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Any>:$srcs, StrAttr:$libname, StrAttr:$libpath,
      StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Any:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_ElementwiseInlineAsmOp : TT_ForeignOp<"elementwise_inline_asm"> {
  let summary = "runs assembly text for each group of elements";
  let description = [{
    Constraints:
    - (IA1) `packed_element` is at least 1.

    ```mlir
    %y = tt.elementwise_inline_asm "shl.b32 $0, $1, 7;"
        {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<64xi32> -> tensor<64xi32>
    ```
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure,
      I32Attr:$packed_element, Variadic<TT_Any>:$args);
  let results = (outs Variadic<TT_Any>:$result);
  let assemblyFormat = [{
    $asm_string attr-dict ($args^ `:` type($args))? `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif
