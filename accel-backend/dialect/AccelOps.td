//===- AccelOps.td - ops of the dialect accel --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_OPS
#define TILEBRIDGE_ACCEL_OPS

include "accel-backend/dialect/AccelDialect.td"
include "triton-to-linalg/bridge/LinalgExtMemoryOps.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Accel_Op<string mnemonic, list<Trait> traits = []> : Op<Accel_Dialect, mnemonic, traits>;

def Accel_Block : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef], "ranked tensor or strided memref">;
def Accel_Buffer : AnyTypeOf<[AnyStridedMemRef]>;
def Accel_Coordinate : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>;

//===----------------------------------------------------------------------===//
// The grid of PEs and the programs they run
//===----------------------------------------------------------------------===//

def Accel_PeIdOp : Accel_Op<"pe_id", [Pure]> {
  let summary = "The row or the column of this PE";
  let description = [{
    Coordinate 0 is the row, coordinate 1 the column.

    ```mlir
    %row = accel.pe_id 0 : index
    ```
  }];
  let arguments = (ins Accel_Coordinate:$coordinate);
  let results = (outs Index:$result);
  let assemblyFormat = "$coordinate attr-dict `:` type($result)";
}

def Accel_PeCountOp : Accel_Op<"pe_count", [Pure]> {
  let summary = "The number of rows or of columns of the grid of PEs";
  let description = [{
    ```mlir
    %columns = accel.pe_count 1 : index
    ```
  }];
  let arguments = (ins Accel_Coordinate:$coordinate);
  let results = (outs Index:$result);
  let assemblyFormat = "$coordinate attr-dict `:` type($result)";
}

def Accel_ProgramOp : Accel_Op<"program", [Pure]> {
  let summary = "The program that this PE runs in a step";
  let description = [{
    The ids x, y and z of the program that `assignment` gives this PE in the step, and whether there is one. Where there is
    none the ids are those of another program of the grid, so that loads of it are harmless; what it would store must not be
    stored. `counts` is the launch grid, each count at least 1.

    ```mlir
    %x, %y, %z, %active = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
    ```
  }];
  let arguments = (ins Index:$step, I32:$count_x, I32:$count_y, I32:$count_z, Accel_AssignmentAttr:$assignment);
  let results = (outs I32:$x, I32:$y, I32:$z, I1:$active);
  let assemblyFormat = "$step `counts` `(` $count_x `,` $count_y `,` $count_z `)` attr-dict";
}

//===----------------------------------------------------------------------===//
// Scratchpad memory
//===----------------------------------------------------------------------===//

def Accel_AllocOp : Accel_Op<"alloc"> {
  let summary = "A buffer in a memory of the target";
  let description = [{
    Its contents are undefined. `offset` is its place, in bytes from where its memory begins, and `bank` the bank that it
    lies in; both are chosen when the buffers are placed. A buffer lives from its first use to its last, or to its
    `accel.dealloc`; one that is allocated in a loop is another one in each iteration.
    Constraints: (c1) the memref's shape is static, its layout the identity; (c2) its memory space is an `#accel.memory`;
    (c3) `offset` and `bank` are not negative.

    ```mlir
    %a = accel.alloc {offset = 4096 : i64} : memref<64x32xf16, #accel.memory<"local">>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$bank);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = "attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

def Accel_DeallocOp : Accel_Op<"dealloc"> {
  let summary = "Ends the life of a buffer";
  let description = [{
    ```mlir
    accel.dealloc %a : memref<64x32xf16, #accel.memory<"local">>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

// The operands of a transfer, and what accel.copy and accel.copy_start have in common.
class Accel_Transfer<string mnemonic, list<Trait> traits> : Accel_Op<mnemonic, traits # [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins
    Accel_Block:$source, Accel_Block:$dest,
    Optional<Accel_Block>:$rows, DefaultValuedAttr<I64Attr, "0">:$dim, UnitAttr:$scatter,
    Variadic<Index>:$low, Optional<AnyType>:$pad, Optional<Accel_Block>:$mask,
    OptionalAttr<Accel_CombiningKind>:$accumulate, OptionalAttr<DenseI64ArrayAttr>:$multicast);
  code transferFormat = [{
    $source `to` $dest (`rows` `[` $rows^ `]` `dim` $dim)? (`scatter` $scatter^)? (`low` `[` $low^ `]`)?
    (`pad` $pad^)? (`mask` $mask^)? (`accumulate` $accumulate^)? (`multicast` $multicast^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let assemblyFormat = transferFormat;
  let hasVerifier = 1;
}

def Accel_CopyOp : Accel_Transfer<"copy", [
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>,
    DestinationStyleOpInterface]> {
  let summary = "Copies a box of elements from one memory to another";
  let description = [{
    Copies `source` into the box of `dest` that begins at `low` (0 without it) and has the source's sizes. A source with
    fewer elements than its type can hold is no special case: sizes may be dynamic, and 0. Where there is a `pad` value,
    what is in dest outside of the box becomes that value; otherwise it stays.

    With `rows`, a 1-D block of integers, the source is indexed by them in dimension `dim`: position r there is taken from
    `source[.., rows[r], ..]`. Rows are signed and multiply the stride of that dimension, whose size bounds nothing. With
    `scatter` it is dest that is indexed: position r of the source goes to `dest[.., rows[r], ..]`; of equal rows the last one
    wins. Elements anywhere in a memory are rows of one element of a memref of rank 1.

    `mask` says which elements of the source take part, or which rows where there are `rows`: the others are neither read nor
    written, and what they would have written becomes the pad value or stays.

    `accumulate` combines each element with what is in dest. `multicast` names the coordinates along which PEs take part (see
    the dialect): all PEs of such a line execute the same sequence of copies that are multicast along it, with the same
    source; it is read once, and written to the dest of each.

    Strides may be anything, also 0 and negative. One of source and dest may be a tensor; where it is dest the result is what
    it becomes. `rows` and `mask` may be tensors too.

    Constraints: (c1) source and dest are not both tensors, and there is a result if, and only if, dest is one, of its type;
    (c2) one element type, and one rank; (c3) the box fits: low plus the source's size is not larger than the size of
    dest, where both are known; (c4) `low` has one value for each dimension; (c5) `rows` is of rank 1, has integers of 32 or
    64 bits, and `dim` is a dimension; the other side has as many positions there as there are rows, and `scatter` needs
    rows; (c6) the mask is of i1, of the shape of the source or, with rows, of that of the rows; (c7) `pad` is a scalar of the
    element type; (c8) `accumulate` needs a memref as dest, fits the element type, and there is no `pad` then; (c9) coordinates
    of `multicast` are 0 or 1, each once, and it is not on a store.

    ```mlir
    %a = accel.copy %box to %init low [%c0, %l1] pad %zero
        : (memref<64x?xf16, strided<[?, 1], offset: ?>>, tensor<64x32xf16>, index, index, f16) -> tensor<64x32xf16>
    accel.copy %part to %out : (tensor<?x?xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>) -> ()
    accel.copy %rows_of to %buffer rows [%r] dim 0 pad %zero mask %m multicast [1]
        : (memref<?x32xf16, strided<[?, 1]>>, memref<64x32xf16, #accel.memory<"local">>,
           memref<64xi64, #accel.memory<"local">>, f16, memref<64xi1, #accel.memory<"local">>) -> ()
    ```
  }];
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
  }];
}

def Accel_CopyStartOp : Accel_Transfer<"copy_start", []> {
  let summary = "Starts a transfer";
  let description = [{
    As `accel.copy`, but does not wait: source, rows and mask must not be written, and dest neither read nor written, before
    the token has been waited for. When in between the source is read is not defined. There are no tensors.

    ```mlir
    %t = accel.copy_start %box to %buffer
        : (memref<64x32xf16, strided<[?, 1], offset: ?>>, memref<64x32xf16, #accel.memory<"local">>) -> !accel.token
    ```
  }];
  let results = (outs Accel_TokenType:$token);
}

def Accel_CompletedOp : Accel_Op<"completed", [Pure]> {
  let summary = "A token of no transfer";
  let description = [{
    To be yielded where a branch starts none. It may be waited for any number of times, which takes no time.

    ```mlir
    %t = accel.completed : !accel.token
    ```
  }];
  let results = (outs Accel_TokenType:$token);
  let assemblyFormat = "attr-dict `:` type($token)";
}

def Accel_WaitOp : Accel_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until transfers are complete";
  let description = [{
    The token of a transfer is waited for exactly once on every path.

    ```mlir
    accel.wait %t, %u
    ```
  }];
  let arguments = (ins Variadic<Accel_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
}

//===----------------------------------------------------------------------===//
// PEs together
//===----------------------------------------------------------------------===//

def Accel_ReduceLineOp : Accel_Op<"reduce_line", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Combines the buffers of the PEs of a line";
  let description = [{
    A collective of all PEs along `coordinates`: each element of `buffer` becomes the combination of that element of all PEs
    of the line, in the PE whose number in the line is `target`, or in all of them where there is no target; in the
    others it is undefined afterwards. A `chain` combines them in the order of their numbers, a `tree` neighbours first.
    Constraints: (c1) coordinates are 0 or 1, each once, at least one; (c2) the kind fits the element type.

    ```mlir
    accel.reduce_line add %acc along [1] to %c0 algorithm chain : memref<64x64xf32, #accel.memory<"local">>
    ```
  }];
  let arguments = (ins Accel_CombiningKind:$kind, Accel_Buffer:$buffer, DenseI64ArrayAttr:$coordinates,
                       Optional<Index>:$target, Accel_LineAlgorithm:$algorithm);
  let assemblyFormat = [{ $kind $buffer `along` $coordinates (`to` $target^)? `algorithm` $algorithm attr-dict `:`
                          type($buffer) }];
  let hasVerifier = 1;
}

def Accel_BarrierOp : Accel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until all PEs of a line are here";
  let description = [{
    What they wrote to the chip's memory before is seen by all of them afterwards.
    Constraint (c1): coordinates are 0 or 1, each once, at least one.

    ```mlir
    accel.barrier [0, 1]
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$coordinates);
  let assemblyFormat = "$coordinates attr-dict";
  let hasVerifier = 1;
}

def Accel_AtomicOp : Accel_Op<"atomic", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>]> {
  let summary = "Atomic accesses to elements of the chip's memory";
  let description = [{
    For each element of `offsets`, in row-major order, where `mask` is true: an access to `base[offset]`, as those of
    `linalg_ext.atomic_rmw`, `atomic_cas` (action `cas`), `atomic_load` and `atomic_store`, whose descriptions hold. `values` is
    what is combined, swapped in or stored, `compare` what is compared. The old value goes to `old`, zero where the mask is
    false. Accesses to one element by one PE are done in this order, those by other PEs at any time between them.
    Constraints: (c1) offsets, mask, values, compare and old have one shape; (c2) base, values, compare and old have one
    element type; (c3) there are `values` if, and only if, the action is not `load`, `compare` if it is `cas`, `old`
    if it is not `store`; (c4) there is a result if, and only if, `old` is a tensor, and of its type.

    ```mlir
    %old = accel.atomic fadd acq_rel gpu %base[%offsets] values(%v) mask(%m) old(%init)
        : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>, tensor<128xi1>, tensor<128xf32>)
        -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Accel_AtomicAction:$action, LinalgExt_MemSem:$sem, LinalgExt_MemScope:$scope,
                       Accel_Buffer:$base, Accel_Block:$offsets, Optional<Accel_Block>:$values,
                       Optional<Accel_Block>:$compare, Optional<Accel_Block>:$mask, Optional<Accel_Block>:$old);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $action $sem $scope $base `[` $offsets `]` (`values` `(` $values^ `)`)? (`compare` `(` $compare^ `)`)?
    (`mask` `(` $mask^ `)`)? (`old` `(` $old^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOldMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

def Accel_ComputeOp : Accel_Op<"compute", [
    AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize", "hasTensorSemantics"]>]> {
  let summary = "Computes whole blocks on one unit";
  let description = [{
    For what linalg cannot say: a scan, a reduction with any combiner, a lookup, a histogram. The body computes with tensors:
    its arguments are the contents of `inputs` and then of `outs`, and what it yields is what the outs become. It may use
    scalars from outside of it. Inputs and outs are tensors, and memrefs after bufferization; the body stays as it is.
    Constraints: (c1) the body's arguments are tensors of the shapes and element types of inputs and outs; (c2) it yields one
    tensor for each of outs, of its type; (c3) there is a result for each of outs that is a tensor, of its type; (c4) the
    body uses no tensor or memref from outside, and its ops are of `arith`, `math`, `linalg`, `linalg_ext`, `scf`, `tensor` and `ub`.

    ```mlir
    %sums = accel.compute vector ins(%x : tensor<128xf32>) outs(%init : tensor<128xf32>) {
    ^bb0(%in: tensor<128xf32>, %out: tensor<128xf32>):
      %0 = linalg_ext.scan(%in) dimension = 0 {
      ^bb0(%sum: f32, %element: f32):
        %1 = arith.addf %sum, %element : f32
        linalg_ext.yield %1 : f32
      } : (tensor<128xf32>) -> tensor<128xf32>
      accel.yield %0 : tensor<128xf32>
    } -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Accel_UnitKind:$unit, Variadic<Accel_Block>:$inputs, Variadic<Accel_Block>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $unit (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)? $body attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
  let hasRegionVerifier = 1;
}

def Accel_YieldOp : Accel_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"ComputeOp">]> {
  let summary = "Ends the body of accel.compute";
  let description = [{
    ```mlir
    accel.yield %0 : tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif
