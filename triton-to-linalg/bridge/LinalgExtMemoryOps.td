//===- LinalgExtMemoryOps.td - memory ops of dialect linalg_ext -*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_BRIDGE_LINALGEXTMEMORYOPS
#define TILEBRIDGE_BRIDGE_LINALGEXTMEMORYOPS

include "triton-to-linalg/bridge/LinalgExtDialect.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def LinalgExt_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic read-modify-write does", [
  I32EnumAttrCase<"And", 1, "and">, I32EnumAttrCase<"Or", 2, "or">, I32EnumAttrCase<"Xor", 3, "xor">,
  I32EnumAttrCase<"Add", 4, "add">, I32EnumAttrCase<"FAdd", 5, "fadd">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Min", 7, "min">,
  I32EnumAttrCase<"UMax", 8, "umax">, I32EnumAttrCase<"UMin", 9, "umin">,
  I32EnumAttrCase<"Xchg", 10, "exch">,
  I32EnumAttrCase<"Inc", 11, "inc">, I32EnumAttrCase<"Dec", 12, "dec">]> {
  let cppNamespace = "::tilebridge::linalg_ext";
}
def LinalgExt_MemSem : I32EnumAttr<"MemSem", "memory order of an atomic access", [
  I32EnumAttrCase<"Relaxed", 1, "relaxed">, I32EnumAttrCase<"Acquire", 2, "acquire">,
  I32EnumAttrCase<"Release", 3, "release">, I32EnumAttrCase<"AcquireRelease", 4, "acq_rel">]> {
  let cppNamespace = "::tilebridge::linalg_ext";
}
def LinalgExt_MemScope : I32EnumAttr<"MemScope", "which observers an atomic access is atomic for", [
  I32EnumAttrCase<"Gpu", 1, "gpu">, I32EnumAttrCase<"Cta", 2, "cta">, I32EnumAttrCase<"Sys", 3, "sys">]> {
  let cppNamespace = "::tilebridge::linalg_ext";
}

// A pointer: memref<?xT, strided<[1], offset: ?>>, counted in elements.
def LinalgExt_Base : MemRefRankOf<[AnyType], [1]>;
def LinalgExt_Offsets : RankedTensorOf<[I32, I64]>;
def LinalgExt_Mask : RankedTensorOf<[I1]>;
def LinalgExt_Rows : 1DTensorOf<[I64]>;
def LinalgExt_RowMask : 1DTensorOf<[I1]>;
def LinalgExt_ScalarOrTensorOffset : AnyTypeOf<[I64, LinalgExt_Offsets]>;
def LinalgExt_ScalarOrTensorMask : AnyTypeOf<[I1, LinalgExt_Mask]>;

// Every op here prints its operands' types as one function type.
class LinalgExt_MemoryOp<string mnemonic, list<Trait> traits = []> : LinalgExt_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elements by offset
//===----------------------------------------------------------------------===//

def LinalgExt_GatherOp : LinalgExt_MemoryOp<"gather", [AttrSizedOperandSegments]> {
  let summary = "reads elements at offsets from one base";
  let description = [{
    `result[i] = mask[i] ? base[offsets[i]] : other`. Offsets are signed elements, counted from the base (its own offset is
    applied too), and may be negative. A lane whose mask is false is not read. Without `mask` all lanes are read; without
    `other` masked lanes are zero. `other` is a scalar or a tensor of the result's type.
    Constraints: (c1) offsets, mask and result have one shape; (c2) base, result and other have one element type.

    ```mlir
    %t = linalg_ext.gather %base[%offsets] mask %m other %zero
        : (memref<?xf32, strided<[1], offset: ?>>, tensor<64x32xi64>, tensor<64x32xi1>, f32) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Arg<LinalgExt_Base, "", [MemRead]>:$base, LinalgExt_Offsets:$offsets,
                       Optional<LinalgExt_Mask>:$mask, Optional<AnyType>:$other);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $base `[` $offsets `]` (`mask` $mask^)? (`other` $other^)? attr-dict `:`
                          functional-type(operands, results) }];
}

def LinalgExt_ScatterOp : LinalgExt_MemoryOp<"scatter"> {
  let summary = "writes elements at offsets from one base";
  let description = [{
    `if mask[i]: base[offsets[i]] = value[i]`. A lane whose mask is false is not touched. Where offsets are equal the last
    lane in row-major order wins.
    Constraints: (c1) value, offsets and mask have one shape; (c2) base and value have one element type.

    ```mlir
    linalg_ext.scatter %value into %base[%offsets] mask %m
        : (tensor<128xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xi1>) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<LinalgExt_Base, "", [MemWrite]>:$base, LinalgExt_Offsets:$offsets,
                       Optional<LinalgExt_Mask>:$mask);
  let assemblyFormat = [{ $value `into` $base `[` $offsets `]` (`mask` $mask^)? attr-dict `:`
                          functional-type(operands, results) }];
}

//===----------------------------------------------------------------------===//
// Rows: one indexed dimension, the others strided
//===----------------------------------------------------------------------===//

def LinalgExt_GatherRowsOp : LinalgExt_MemoryOp<"gather_rows", [AttrSizedOperandSegments]> {
  let summary = "reads a strided view whose rows are chosen by a 1-D tensor";
  let description = [{
    With `d` = `dim`: `result[.., r, ..] = rowmask[r] ? view[.., rows[r], ..] : other`, r at position d. Rows are signed and
    multiply the view's stride of d; the view's size there (dynamic) bounds nothing. The other sizes of the view are at most the
    result's; elements of the result outside of them are `other`, and so are rows that are masked off: neither is read. Without
    `other` it is zero.
    Constraints: (c1) view and result have one rank and element type; (c2) `dim` is a dimension of the view, dynamic there;
    (c3) rows and rowmask have the result's size of `dim`; (c4) a static size of the view is not larger than the result's;
    (c5) other is a scalar of the element type.

    ```mlir
    %t = linalg_ext.gather_rows %view[%rows] dim 0 rowmask %m other %zero
        : (memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$view, LinalgExt_Rows:$rows, I64Attr:$dim,
                       Optional<LinalgExt_RowMask>:$rowmask, Optional<AnyType>:$other);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $view `[` $rows `]` `dim` $dim (`rowmask` $rowmask^)? (`other` $other^)? attr-dict `:`
                          functional-type(operands, results) }];
}

def LinalgExt_ScatterRowsOp : LinalgExt_MemoryOp<"scatter_rows"> {
  let summary = "writes a strided view whose rows are chosen by a 1-D tensor";
  let description = [{
    The store that belongs to `gather_rows`: `if rowmask[r]: view[.., rows[r], ..] = value[.., r, ..]`, for the positions of
    value that lie in the view's other sizes. Where rows are equal the last one wins.
    Constraints: as those of `gather_rows`, with value in the place of the result.

    ```mlir
    linalg_ext.scatter_rows %value into %view[%rows] dim 0 rowmask %m
        : (tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>, tensor<64xi1>) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<AnyMemRef, "", [MemWrite]>:$view, LinalgExt_Rows:$rows, I64Attr:$dim,
                       Optional<LinalgExt_RowMask>:$rowmask);
  let assemblyFormat = [{ $value `into` $view `[` $rows `]` `dim` $dim (`rowmask` $rowmask^)? attr-dict `:`
                          functional-type(operands, results) }];
}

//===----------------------------------------------------------------------===//
// Strided views with masks that are not boxes
//===----------------------------------------------------------------------===//

def LinalgExt_MaskedLoadOp : LinalgExt_MemoryOp<"masked_load"> {
  let summary = "reads the lanes of a strided view that a mask allows";
  let description = [{
    `result[i] = mask[i] ? view[i] : other`. A lane whose mask is false is not read. Without `other` it is zero; else `other` is a
    scalar or a tensor of the result's type. The mask may be true outside of no bounds: every size is static.
    Constraints: (c1) view, mask and result have one static shape; (c2) view, result and other have one element type.

    ```mlir
    %t = linalg_ext.masked_load %view, %mask other %x
        : (memref<64x32xf32, strided<[?, 1], offset: ?>>, tensor<64x32xi1>, f32) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$view, LinalgExt_Mask:$mask, Optional<AnyType>:$other);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $view `,` $mask (`other` $other^)? attr-dict `:` functional-type(operands, results) }];
}

def LinalgExt_MaskedStoreOp : LinalgExt_MemoryOp<"masked_store"> {
  let summary = "writes the lanes of a strided view that a mask allows";
  let description = [{
    `if mask[i]: view[i] = value[i]`. A lane whose mask is false is not touched (neither read nor written back). Where lanes
    overlap (a stride of 0) the last one in row-major order wins.
    Constraints: (c1) value, view and mask have one static shape; (c2) value and view have one element type.

    ```mlir
    linalg_ext.masked_store %value, %view, %mask
        : (tensor<64x32xf32>, memref<64x32xf32, strided<[?, 1], offset: ?>>, tensor<64x32xi1>) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<AnyMemRef, "", [MemWrite]>:$view, LinalgExt_Mask:$mask);
  let assemblyFormat = [{ $value `,` $view `,` $mask attr-dict `:` functional-type(operands, results) }];
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

// Atomic accesses order other memory as well (acquire, release), so their effects name no operand: nothing moves over them.
class LinalgExt_AtomicOp<string mnemonic, list<Trait> traits = []>
    : LinalgExt_MemoryOp<mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

def LinalgExt_AtomicRMWOp : LinalgExt_AtomicOp<"atomic_rmw"> {
  let summary = "atomic read-modify-write of elements, giving the old values";
  let description = [{
    For every lane whose mask is true, atomically: `old = base[offset]; base[offset] = kind(old, value); result = old`.
    Lanes are separate atomic accesses, done in row-major order; lanes masked off are not touched and give zero.
    Offset, value, mask and result are tensors of one shape, or all scalars. Every kind but `fadd` and `exch` wants integers
    (`max`, `min`, ... signed; `umax`, `umin` unsigned), `fadd` wants floats. `inc` is `old >= value ? 0 : old + 1` and `dec`
    `old == 0 || old > value ? value : old - 1`, unsigned.
    Constraints: (c1) one shape; (c2) base, value and result have one element type; (c3) the kind fits the element type.

    ```mlir
    %old = linalg_ext.atomic_rmw fadd acq_rel gpu %base[%offsets], %value mask %m
        : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
    %n = linalg_ext.atomic_rmw add relaxed gpu %counts[%o], %one : (memref<?xi32, strided<[1], offset: ?>>, i64, i32) -> i32
    ```
  }];
  let arguments = (ins LinalgExt_AtomicKind:$kind, LinalgExt_MemSem:$sem, LinalgExt_MemScope:$scope, LinalgExt_Base:$base,
                       LinalgExt_ScalarOrTensorOffset:$offset, AnyType:$value, Optional<LinalgExt_ScalarOrTensorMask>:$mask);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{ $kind $sem $scope $base `[` $offset `]` `,` $value (`mask` $mask^)? attr-dict `:`
                          functional-type(operands, results) }];
}

def LinalgExt_AtomicCASOp : LinalgExt_AtomicOp<"atomic_cas"> {
  let summary = "atomic compare-and-swap of elements, giving the old values";
  let description = [{
    For every lane, atomically: `old = base[offset]; if old == compare (as bits): base[offset] = value; result = old`.
    Any element type of 1, 2, 4 or 8 bytes.
    Constraints: (c1) offset, compare, value and result have one shape (or are scalars); (c2) one element type.

    ```mlir
    %old = linalg_ext.atomic_cas acq_rel gpu %base[%o], %compare, %value
        : (memref<?xi32, strided<[1], offset: ?>>, i64, i32, i32) -> i32
    ```
  }];
  let arguments = (ins LinalgExt_MemSem:$sem, LinalgExt_MemScope:$scope, LinalgExt_Base:$base,
                       LinalgExt_ScalarOrTensorOffset:$offset, AnyType:$compare, AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{ $sem $scope $base `[` $offset `]` `,` $compare `,` $value attr-dict `:`
                          functional-type(operands, results) }];
}

def LinalgExt_AtomicLoadOp : LinalgExt_AtomicOp<"atomic_load"> {
  let summary = "atomic read of elements";
  let description = [{
    Reads every lane whose mask is true atomically; others give zero.
    Constraints: as those of `atomic_rmw`.

    ```mlir
    %v = linalg_ext.atomic_load acquire gpu %base[%o] mask %m : (memref<?xi32, strided<[1], offset: ?>>, i64, i1) -> i32
    ```
  }];
  let arguments = (ins LinalgExt_MemSem:$sem, LinalgExt_MemScope:$scope, LinalgExt_Base:$base,
                       LinalgExt_ScalarOrTensorOffset:$offset, Optional<LinalgExt_ScalarOrTensorMask>:$mask);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{ $sem $scope $base `[` $offset `]` (`mask` $mask^)? attr-dict `:`
                          functional-type(operands, results) }];
}

def LinalgExt_AtomicStoreOp : LinalgExt_AtomicOp<"atomic_store"> {
  let summary = "atomic write of elements";
  let description = [{
    Writes every lane whose mask is true atomically; the others are not touched.
    Constraints: as those of `atomic_rmw`.

    ```mlir
    linalg_ext.atomic_store release gpu %value into %base[%o] mask %m
        : (i32, memref<?xi32, strided<[1], offset: ?>>, i64, i1) -> ()
    ```
  }];
  let arguments = (ins LinalgExt_MemSem:$sem, LinalgExt_MemScope:$scope, AnyType:$value, LinalgExt_Base:$base,
                       LinalgExt_ScalarOrTensorOffset:$offset, Optional<LinalgExt_ScalarOrTensorMask>:$mask);
  let assemblyFormat = [{ $sem $scope $value `into` $base `[` $offset `]` (`mask` $mask^)? attr-dict `:`
                          functional-type(operands, results) }];
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

def LinalgExt_ViewAddressOp : LinalgExt_MemoryOp<"view_address", [Pure]> {
  let summary = "the memory at a byte address, as a memref";
  let description = [{
    Makes a pointer of an integer: the result's aligned pointer is the address, its offset 0, its size not known.
    Accesses by addresses that share no base use `view_address` of 0 and count elements from there.

    ```mlir
    %base = linalg_ext.view_address %address : (i64) -> memref<?xf32, strided<[1], offset: ?>>
    ```
  }];
  let arguments = (ins I64:$address);
  let results = (outs LinalgExt_Base:$result);
  let assemblyFormat = [{ $address attr-dict `:` functional-type(operands, results) }];
}

#endif
