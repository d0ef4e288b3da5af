//===- TTDescriptorOps.td - descriptor ops of dialect tt ---*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTDESCRIPTOROPS
#define TILEBRIDGE_FRONTEND_TTDESCRIPTOROPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTAttrs.td"
include "frontend/TTTypes.td"

def TT_OffsetTensor : TT_TensorOf<[I16, I32]>;

def TT_MakeTensorDescriptorOp : TT_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "makes a tensor descriptor";
  let description = [{
    `shape` and `strides` say how the tensor lies in memory, in elements. Elements of a block that are
    outside of it are read as what `padding` names and are not written.

    Constraints:
    - (MTD1) a shape and a stride for each dimension of the block;
    - (MTD2) `base` points to the block's element, signs aside;
    - (MTD3) `padding = nan` needs float elements.

    ```mlir
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : <f16>, <32x64xf16>
    ```
  }];
  let arguments = (ins TT_ElementPtr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
      DefaultValuedAttr<TT_PaddingOption, "PaddingOption::PAD_ZERO">:$padding);
  let results = (outs TT_TensorDescType:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorLoadOp : TT_Op<"descriptor_load"> {
  let summary = "reads a block of a tensor descriptor";
  let description = [{
    `indices` are the block's offsets in elements; they may be negative or past the bounds.

    Constraints:
    - (DL1) an index for each dimension of the descriptor;
    - (DL2) the result has the block's element type and as many elements; dimensions of size 1 may be
      dropped or added.

    ```mlir
    %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<1x64xf16> -> tensor<64xf16>
    ```
  }];
  let arguments = (ins Arg<TT_TensorDescType, "", [MemRead]>:$desc, Variadic<I32>:$indices,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::NONE">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::NORMAL">:$evict,
      OptionalAttr<AnyAttr>:$cachePolicy);
  let results = (outs TT_NumberTensor:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorStoreOp : TT_Op<"descriptor_store"> {
  let summary = "writes a block of a tensor descriptor";
  let description = [{
    Elements outside of the bounds are not written.

    Constraints:
    - (DS1) an index for each dimension of the descriptor;
    - (DS2) the source has the block's element type and as many elements; dimensions of size 1 may be
      dropped or added.

    ```mlir
    tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Arg<TT_TensorDescType, "", [MemWrite]>:$desc, TT_NumberTensor:$src,
      Variadic<I32>:$indices);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorReduceOp : TT_Op<"descriptor_reduce"> {
  let summary = "combines a block into memory, atomically for each element";
  let description = [{
    `min` and `max` of integers take the sign of the descriptor's element. `inc` and `dec` wrap around at
    the source's value.

    Constraints:
    - (DR1) an index for each dimension of the descriptor;
    - (DR2) the source has the block's element type and as many elements; dimensions of size 1 may be
      dropped or added;
    - (DR3) `and`, `or`, `xor`, `inc` and `dec` need integers.

    ```mlir
    tt.descriptor_reduce or, %d[%i, %j], %v : !tt.tensordesc<32x64xsi32>, tensor<32x64xi32>
    ```
  }];
  let arguments = (ins TT_DescriptorReduceKind:$kind,
      Arg<TT_TensorDescType, "", [MemRead, MemWrite]>:$desc, TT_NumberTensor:$src,
      Variadic<I32>:$indices);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict `:`
    qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorGatherOp : TT_Op<"descriptor_gather"> {
  let summary = "reads rows of a tensor descriptor, each at its own offset";
  let description = [{
    Row `i` of the result is the block at row `x_offsets[i]` and column `y_offset`.

    Constraints:
    - (DG1) the descriptor's block is one row: rank 2, first dimension 1;
    - (DG2) `x_offsets` has rank 1;
    - (DG3) the tensor has a row for each offset, the block's width and its element type.

    ```mlir
    %v = tt.descriptor_gather %d[%rows, %col]
        : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Arg<TT_TensorDescType, "", [MemRead]>:$desc, TT_OffsetTensor:$x_offsets,
      I32:$y_offset);
  let results = (outs TT_NumberTensor:$result);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorScatterOp : TT_Op<"descriptor_scatter"> {
  let summary = "writes rows of a tensor descriptor, each at its own offset";
  let description = [{
    Constraints:
    - (DG1) to (DG3) of `tt.descriptor_gather`, with the source in place of the result.

    ```mlir
    tt.descriptor_scatter %d[%rows, %col], %v
        : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Arg<TT_TensorDescType, "", [MemWrite]>:$desc, TT_OffsetTensor:$x_offsets,
      I32:$y_offset, TT_NumberTensor:$src);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif
