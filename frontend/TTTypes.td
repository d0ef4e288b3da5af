//===- TTTypes.td - types of dialect tt --------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTTYPES
#define TILEBRIDGE_FRONTEND_TTTYPES

include "mlir/IR/AttrTypeBase.td"
include "frontend/TTAttrs.td"

def TT_PointerType : TypeDef<TT_Dialect, "Pointer"> {
  let mnemonic = "ptr";
  let summary = "address of elements in memory, or a block pointer";
  let description = [{
    `!tt.ptr<f32>` is the address of an `f32`; offsets added to it count elements.
    `!tt.ptr<tensor<16x32xf32>>` (Triton 3.6 and 3.7) is a block pointer: a strided tensor in memory
    with its bounds, and the place of a block of 16x32 elements in it.

    The address space is printed when it is not global memory. Versions before 3.9 wrote its number,
    3.9 writes its name as a string; both are read, and a bare name.

    Constraints:
    - (PT1) the pointee is an integer, a float, a pointer, or a tensor of static shape of these.

    ```mlir
    tt.func @f(%a: !tt.ptr<f16>, %b: tensor<128x!tt.ptr<i1>>, %c: !tt.ptr<i8, "descriptor">)
    ```
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, "PtrAddrSpace":$addressSpace);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType,
        CArg<"PtrAddrSpace", "PtrAddrSpace::Global">:$addressSpace), [{
      return $_get(pointeeType.getContext(), pointeeType, addressSpace);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True for a pointer to a tensor: a block pointer.
    bool isBlockPointer() const;
  }];
}

def TT_TensorDescType : TypeDef<TT_Dialect, "TensorDesc"> {
  let mnemonic = "tensordesc";
  let summary = "strided tensor in memory with its bounds, read and written in blocks of one shape";
  let description = [{
    The type says the shape of a block and its element type; an integer element may carry a sign,
    which only a reducing store looks at. A layout after a comma is kept and means nothing here.
    Versions 3.6 and 3.7 wrote the block as a tensor type; both forms are read, the newer is printed.

    Constraints:
    - (TD1) at least one dimension, every one positive;
    - (TD2) the element is an integer or a float.

    ```mlir
    tt.func @f(%a: !tt.tensordesc<16x32xf32>, %b: !tt.tensordesc<tensor<64xui8>>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$sharedLayout);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
        "::mlir::Type":$elementType, CArg<"::mlir::Attribute", "{}">:$sharedLayout), [{
      return $_get(elementType.getContext(), shape, elementType, sharedLayout);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tensor that a load of one block gives: the element without its sign.
    ::mlir::RankedTensorType getSignlessBlockType() const;
  }];
}

// Scalars.
def TT_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64],
                         "floating-point">;
def TT_Int : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "integer">;
def TT_Ptr : DialectType<TT_Dialect,
                         CPred<"::mlir::isa<::tilebridge::tt::PointerType>($_self)">,
                         "pointer", "::tilebridge::tt::PointerType">;
def TT_ElementPtr : DialectType<TT_Dialect, And<[TT_Ptr.predicate,
    CPred<"!::mlir::cast<::tilebridge::tt::PointerType>($_self).isBlockPointer()">]>,
    "pointer to an element", "::tilebridge::tt::PointerType">;
def TT_BlockPtr : DialectType<TT_Dialect, And<[TT_Ptr.predicate,
    CPred<"::mlir::cast<::tilebridge::tt::PointerType>($_self).isBlockPointer()">]>,
    "block pointer", "::tilebridge::tt::PointerType">;

// Tensors, and scalars or tensors.
class TT_TensorOf<list<Type> elements> : StaticShapeTensorOf<elements>;
def TT_FloatTensor : TT_TensorOf<[TT_Float]>;
def TT_IntTensor : TT_TensorOf<[TT_Int]>;
def TT_NumberTensor : TT_TensorOf<[TT_Float, TT_Int]>;
def TT_Tensor : TT_TensorOf<[TT_Float, TT_Int, TT_ElementPtr]>;
def TT_FloatLike : AnyTypeOf<[TT_Float, TT_FloatTensor]>;
def TT_IntLike : AnyTypeOf<[TT_Int, TT_IntTensor]>;
def TT_BoolLike : AnyTypeOf<[I1, TT_TensorOf<[I1]>]>;
def TT_I64Like : AnyTypeOf<[I64, TT_TensorOf<[I64]>]>;
def TT_F32Like : AnyTypeOf<[F32, TT_TensorOf<[F32]>]>;
def TT_PtrLike : AnyTypeOf<[TT_ElementPtr, TT_TensorOf<[TT_ElementPtr]>]>;
def TT_AnyPtrLike : AnyTypeOf<[TT_PtrLike, TT_BlockPtr]>;
def TT_Any : AnyTypeOf<[TT_FloatLike, TT_IntLike, TT_PtrLike]>;

#endif
