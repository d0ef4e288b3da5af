//===- TTMemoryOps.td - memory ops of dialect tt -----------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTMEMORYOPS
#define TILEBRIDGE_FRONTEND_TTMEMORYOPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTAttrs.td"
include "frontend/TTTypes.td"

// Types that follow from another operand's. The functions are in TTTypes.h.
class TT_PointeeOf<string value, string ptr> :
  TypesMatchWith<"type of '" # value # "' is what '" # ptr # "' points to", ptr, value,
                 "pointeeTypeOf($_self)">;
class TT_MaskOf<string mask, string ptr> :
  OptionalTypesMatchWith<"'" # mask # "' is an i1 for each element of '" # ptr # "'", ptr, mask,
                         "maskTypeOf(pointeeTypeOf($_self))">;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

def TT_LoadOp : TT_Op<"load", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TT_PointeeOf<"result", "ptr">, TT_MaskOf<"mask", "ptr">,
    OptionalTypesMatchWith<"type of 'other' is what 'ptr' points to", "ptr", "other",
                           "pointeeTypeOf($_self)">]> {
  let summary = "reads memory through one pointer, a pointer an element, or a block pointer";
  let description = [{
    Elements whose `mask` is false are not read; their value is `other`, or undefined without it.
    A block pointer has no mask: `boundaryCheck` lists the dimensions in which elements outside of the
    tensor are not read and take the value that `padding` names.

    `cachePolicy` (3.9), `cacheModifier` and `evictionPolicy` (before) are hints.

    Constraints:
    - (LD1) `other` comes with a mask;
    - (LD2) a load through a block pointer has neither mask nor other;
    - (LD3) each `boundaryCheck` is a dimension of the block, named once;
    - (LD4) `boundaryCheck` and `padding` need a block pointer;
    - (LD5) `padding = nan` needs float elements.

    ```mlir
    %a = tt.load %p, %m, %z : tensor<64x!tt.ptr<f32>>
    %b = tt.load %p cacheModifier = cg evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
    %c = tt.load %block {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<64xf32>>
    ```
  }];
  let arguments = (ins TT_AnyPtrLike:$ptr, Optional<TT_BoolLike>:$mask, Optional<TT_Any>:$other,
      DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
      OptionalAttr<TT_PaddingOption>:$padding,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::NONE">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::NORMAL">:$evict,
      OptionalAttr<AnyAttr>:$cachePolicy, DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Any:$result);
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

def TT_StoreOp : TT_Op<"store", [TT_PointeeOf<"value", "ptr">, TT_MaskOf<"mask", "ptr">]> {
  let summary = "writes memory through one pointer, a pointer an element, or a block pointer";
  let description = [{
    Elements whose `mask` is false are not written. Through a block pointer, `boundaryCheck` lists the
    dimensions in which elements outside of the tensor are not written. If two elements have one
    address, the value of one of them is stored.

    Constraints:
    - (ST1) a store through a block pointer has no mask;
    - (ST2) each `boundaryCheck` is a dimension of the block, named once;
    - (ST3) `boundaryCheck` needs a block pointer.

    ```mlir
    tt.store %p, %v, %m : tensor<64x!tt.ptr<f32>>
    tt.store %block, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
    ```
  }];
  let arguments = (ins Arg<TT_AnyPtrLike, "", [MemWrite]>:$ptr, TT_Any:$value,
      Optional<TT_BoolLike>:$mask,
      DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::NONE">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::NORMAL">:$evict,
      OptionalAttr<AnyAttr>:$cachePolicy, UnitAttr:$ignore_cta);
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Atomics: each both reads and writes, so that none is dropped, merged or moved
//===----------------------------------------------------------------------===//

class TT_AtomicOp<string mnemonic, list<Trait> traits = []>
    : TT_Op<mnemonic, !listconcat([MemoryEffects<[MemRead, MemWrite]>], traits)>;

def TT_AtomicRMWOp : TT_AtomicOp<"atomic_rmw", [
    TT_PointeeOf<"val", "ptr">, TT_PointeeOf<"result", "ptr">, TT_MaskOf<"mask", "ptr">]> {
  let summary = "combines a value into memory and gives what was there before";
  let description = [{
    The result of an element whose mask is false is undefined.

    Constraints:
    - (RMW1) `fadd` combines floats, `exch` numbers of any kind, every other operation integers.

    ```mlir
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m
        : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_RMWOp:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Any:$val,
      Optional<TT_BoolLike>:$mask, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Any:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def TT_AtomicCASOp : TT_AtomicOp<"atomic_cas", [
    TT_PointeeOf<"cmp", "ptr">, TT_PointeeOf<"val", "ptr">, TT_PointeeOf<"result", "ptr">]> {
  let summary = "stores a value where memory equals another, and gives what was there before";
  let description = [{
    Floats are compared by their bits.

    ```mlir
    %old = tt.atomic_cas acq_rel, gpu, %p, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Any:$cmp, TT_Any:$val, TT_MemSemantic:$sem,
      TT_MemSyncScope:$scope);
  let results = (outs TT_Any:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)
  }];
}

def TT_AtomicLoadOp : TT_AtomicOp<"atomic_load", [
    TT_PointeeOf<"result", "ptr">, TT_MaskOf<"mask", "ptr">]> {
  let summary = "reads memory atomically";
  let description = [{
    Constraints:
    - (AL1) the memory order is relaxed or acquire.

    ```mlir
    %v = tt.atomic_load acquire, gpu, %p, %m : (!tt.ptr<i32>, i1) -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_BoolLike>:$mask, TT_MemSemantic:$sem,
      TT_MemSyncScope:$scope);
  let results = (outs TT_Any:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def TT_AtomicStoreOp : TT_AtomicOp<"atomic_store", [
    TT_PointeeOf<"value", "ptr">, TT_MaskOf<"mask", "ptr">]> {
  let summary = "writes memory atomically";
  let description = [{
    Constraints:
    - (AS1) the memory order is relaxed or release.

    ```mlir
    tt.atomic_store release, gpu, %p, %v, %m : tensor<64x!tt.ptr<i32>>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Any:$value, Optional<TT_BoolLike>:$mask,
      TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

def TT_AtomicPollOp : TT_AtomicOp<"atomic_poll", [
    TT_PointeeOf<"expected", "ptr">,
    TypesMatchWith<"'result' is an i1 for each element of 'expected'", "expected", "result",
                   "maskTypeOf($_self)">]> {
  let summary = "waits until memory holds a value, or a time has passed";
  let description = [{
    Each element is read until it equals `expected`, at least once. The result says which did; only
    with a `timeout` can one be false. All elements share the time.

    Constraints:
    - (AP1) the memory order is relaxed or acquire.

    ```mlir
    %ok = tt.atomic_poll acquire, gpu, %p, %one : !tt.ptr<i32>, i32 -> i1
    %by = tt.atomic_poll acquire, gpu, %p, %one timeout %ns : !tt.ptr<i32>, i32 -> i1
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$expected, Optional<I64>:$timeout,
      TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_BoolLike:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:`
    type($ptr) `,` type($expected) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

def TT_AddPtrOp : TT_Op<"addptr", [
    Pure, Elementwise, SameOperandsAndResultShape,
    TypesMatchWith<"'ptr' and 'result' have one type", "result", "ptr", "$_self">]> {
  let summary = "adds an offset, in elements, to a pointer or to each of a tensor of pointers";
  let description = [{
    The offset is signed. An i1 in memory takes a byte.

    ```mlir
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %s = tt.addptr %r, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

def TT_MakeTensorPtrOp : TT_Op<"make_tensor_ptr", [
    Pure, SameVariadicOperandSize,
    TypesMatchWith<"'base' points to the element of the block", "result", "base",
                   "elementPointerOf($_self)">]> {
  let summary = "makes a block pointer (Triton 3.6 and 3.7)";
  let description = [{
    `shape` and `strides` say how the tensor lies in memory, in elements; `offsets` is the place of the
    block in it. `order` lists the dimensions from the one that changes fastest; it is a hint.

    Constraints:
    - (MTP1) a shape, a stride and an offset for each dimension of the block;
    - (MTP2) `order` is a permutation of the dimensions.

    ```mlir
    %b = tt.make_tensor_ptr %p, [%m, %n], [%n, %one], [%i, %zero] {order = array<i32: 1, 0>}
        : <tensor<32x64xf16>>
    ```
  }];
  let arguments = (ins TT_ElementPtr:$base, Variadic<I64>:$shape, Variadic<I64>:$strides,
      Variadic<I32>:$offsets, DenseI32ArrayAttr:$order);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def TT_AdvanceOp : TT_Op<"advance", [
    Pure, TypesMatchWith<"'ptr' and 'result' have one type", "result", "ptr", "$_self">]> {
  let summary = "moves a block pointer by offsets in elements (Triton 3.6 and 3.7)";
  let description = [{
    Constraints:
    - (ADV1) an offset for each dimension of the block.

    ```mlir
    %c = tt.advance %b, [%zero, %k] : <tensor<32x64xf16>>
    ```
  }];
  let arguments = (ins TT_BlockPtr:$ptr, Variadic<I32>:$offsets);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = "$ptr `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
