//===- TTShapeOps.td - shape ops of dialect tt -------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTSHAPEOPS
#define TILEBRIDGE_FRONTEND_TTSHAPEOPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTTypes.td"

def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "the numbers from start to end, exclusive";
  let description = [{
    Constraints:
    - (MR1) the result is an i32 tensor of rank 1;
    - (MR2) it has `end - start` elements, at least one; both are signed.

    ```mlir
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TT_SplatOp : TT_Op<"splat", [Pure]> {
  let summary = "a tensor with one value everywhere";
  let description = [{
    Constraints:
    - (SP1) the source is a scalar of the result's element type.

    ```mlir
    %t = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins TT_Any:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_UnsplatOp : TT_Op<"unsplat", [
    Pure, TypesMatchWith<"'result' has the element type of 'src'", "src", "result",
                         "elementTypeOf($_self)">]> {
  let summary = "the one element of a tensor";
  let description = [{
    Constraints:
    - (US1) the source has one element.

    ```mlir
    %s = tt.unsplat %t : tensor<1xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Any:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure, SameOperandsAndResultElementType]> {
  let summary = "inserts a dimension of size 1";
  let description = [{
    Constraints:
    - (ED1) `axis` is in [0, rank of the source];
    - (ED2) the result's shape is the source's with a 1 inserted at `axis`.

    ```mlir
    %c = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_BroadcastOp : TT_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "repeats a tensor along its dimensions of size 1";
  let description = [{
    Constraints:
    - (BC1) source and result have one rank;
    - (BC2) a dimension differs only where the source's size is 1.

    ```mlir
    %b = tt.broadcast %c : tensor<128x1xi32> -> tensor<128x64xi32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_ReshapeOp : TT_Op<"reshape", [Pure, SameOperandsAndResultElementType]> {
  let summary = "the same elements in another shape";
  let description = [{
    With `allow_reorder` the elements may come in any order; row-major order is one of them.
    `efficient_layout` is a hint.

    Constraints:
    - (RS1) source and result have one number of elements.

    ```mlir
    %a = tt.reshape %t : tensor<64xf32> -> tensor<8x8xf32>
    %b = tt.reshape %t allow_reorder : tensor<64xf32> -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:`
    type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_TransOp : TT_Op<"trans", [Pure, SameOperandsAndResultElementType]> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the source.

    Constraints:
    - (TR1) `order` is a permutation of the source's dimensions;
    - (TR2) the result's shape is the source's, permuted.

    ```mlir
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_CatOp : TT_Op<"cat", [Pure, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "concatenates two tensors along their first dimension";
  let description = [{
    The elements may come in any order; the left tensor's first is one of them.

    Constraints:
    - (CT1) the result's shape is the operands' with the first dimension doubled.

    ```mlir
    %c = tt.cat %a, %b : tensor<64xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_JoinOp : TT_Op<"join", [Pure, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "interleaves two tensors along a new last dimension of size 2";
  let description = [{
    Constraints:
    - (JN1) the result's shape is the operands' with a 2 appended.

    ```mlir
    %j = tt.join %a, %b : tensor<4x8xf32> -> tensor<4x8x2xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_SplitOp : TT_Op<"split", [
    Pure, TypesMatchWith<"both results have one type", "outLHS", "outRHS", "$_self">]> {
  let summary = "takes apart the two halves of a last dimension of size 2";
  let description = [{
    Constraints:
    - (SL1) the source's last dimension is 2;
    - (SL2) the results' type is the source's without its last dimension.

    ```mlir
    %a, %b = tt.split %j : tensor<4x8x2xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}

def TT_GatherOp : TT_Op<"gather", [Pure]> {
  let summary = "picks elements of a tensor along one axis";
  let description = [{
    `result[.., i, ..] = src[.., indices[.., i, ..], ..]` with `i` on `axis`. Indices outside of the
    source give undefined elements.

    Constraints:
    - (GA1) source and indices have one rank, and `axis` is one of the dimensions;
    - (GA2) the result has the shape of the indices and the source's element type;
    - (GA3) off the axis, no dimension of the indices is larger than the source's.

    ```mlir
    %g = tt.gather %t[%i] {axis = 0 : i32} : (tensor<128x16xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, TT_IntTensor:$indices, I32Attr:$axis,
      UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
