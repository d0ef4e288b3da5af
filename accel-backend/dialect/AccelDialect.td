//===- AccelDialect.td - the dialect accel ------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_DIALECT
#define TILEBRIDGE_ACCEL_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Accel_Dialect : Dialect {
  let name = "accel";
  let cppNamespace = "::tilebridge::accel";
  let summary = "Machines of processing elements with scratchpads and DMA engines";
  let description = [{
    A grid of processing elements (PEs) runs one kernel. Each PE has memory of its own, which its compute units work on; what
    is in the chip's memory is copied there and back by DMA engines. docs/accel-ir.md says which ops stand where.

    A PE has a row (coordinate 0) and a column (coordinate 1). A list of coordinates, as `multicast [1]` has one, names the
    coordinates that vary: `[1]` is all PEs of one row, `[0]` all of one column, `[0, 1]` all of the grid.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Accel_CombiningKind : I32EnumAttr<"CombiningKind", "how two elements become one", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
  I32EnumAttrCase<"MaxNum", 6, "maxnum">, I32EnumAttrCase<"MinNum", 7, "minnum">,
  I32EnumAttrCase<"And", 8, "and">, I32EnumAttrCase<"Or", 9, "or">, I32EnumAttrCase<"Xor", 10, "xor">]> {
  let cppNamespace = "::tilebridge::accel";
}
def Accel_LineAlgorithm : I32EnumAttr<"LineAlgorithm", "the order in which PEs of a line are combined", [
  I32EnumAttrCase<"Chain", 0, "chain">, I32EnumAttrCase<"Tree", 1, "tree">]> {
  let cppNamespace = "::tilebridge::accel";
}
def Accel_UnitKind : I32EnumAttr<"UnitKind", "a kind of compute unit", [
  I32EnumAttrCase<"Scalar", 0, "scalar">, I32EnumAttrCase<"Vector", 1, "vector">,
  I32EnumAttrCase<"Matrix", 2, "matrix">]> {
  let cppNamespace = "::tilebridge::accel";
}
def Accel_AtomicAction : I32EnumAttr<"AtomicAction", "what an atomic access does to an element", [
  I32EnumAttrCase<"And", 1, "and">, I32EnumAttrCase<"Or", 2, "or">, I32EnumAttrCase<"Xor", 3, "xor">,
  I32EnumAttrCase<"Add", 4, "add">, I32EnumAttrCase<"FAdd", 5, "fadd">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Min", 7, "min">,
  I32EnumAttrCase<"UMax", 8, "umax">, I32EnumAttrCase<"UMin", 9, "umin">,
  I32EnumAttrCase<"Xchg", 10, "exch">, I32EnumAttrCase<"Inc", 11, "inc">, I32EnumAttrCase<"Dec", 12, "dec">,
  I32EnumAttrCase<"CompareAndSwap", 13, "cas">,
  I32EnumAttrCase<"Load", 14, "load">, I32EnumAttrCase<"Store", 15, "store">]> {
  let cppNamespace = "::tilebridge::accel";
}
def Accel_AssignmentKind : I32EnumAttr<"AssignmentKind", "which programs a PE runs", [
  I32EnumAttrCase<"Interleaved", 0, "interleaved">, I32EnumAttrCase<"Blocked", 1, "blocked">,
  I32EnumAttrCase<"Grid", 2, "grid">, I32EnumAttrCase<"Table", 3, "table">]> {
  let cppNamespace = "::tilebridge::accel";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

class Accel_Attr<string name, string mnem> : AttrDef<Accel_Dialect, name> {
  let mnemonic = mnem;
}

def Accel_MemoryAttr : Accel_Attr<"Memory", "memory"> {
  let summary = "The memory that a memref is in";
  let description = [{
    The name of a memory of the target. A memref without a memory space is in the chip's memory, where the kernel's arguments
    live; which one of the target's that is, the target or `accel.placed` says.

    ```mlir
    %a = accel.alloc : memref<64x32xf16, #accel.memory<"local">>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

def Accel_AssignmentAttr : Accel_Attr<"Assignment", "assignment"> {
  let summary = "Which program a PE runs in which step";
  let description = [{
    With P PEs, numbered row by row, and the programs numbered x first, then y, then z:
    - `interleaved`: PE p runs program `step * P + p`.
    - `blocked : [n]`: PE p runs program `p * n + step`, for steps below n.
    - `grid : [r, c]`: dimension r of the launch grid goes over the rows and dimension c over the columns (-1: nothing
      does), each in strides of the number of rows and columns; the steps go over what is left, x first.
    - `table = dense<..> : tensor<SxRxCxi32>`: program of step, row and column; -1 where the PE has none.

    Constraints: (c1) `blocked` has one value, above 0; (c2) `grid` has two, different, from -1 to 2, not both -1;
    (c3) `table` has a table of rank 3 of i32, and no other kind has one; (c4) `interleaved` and `table` have no values.

    ```mlir
    %p:4 = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<interleaved>}
    %q:4 = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<blocked : [4]>}
    %r:4 = accel.program %step counts(%nx, %ny, %nz) {assignment = #accel.assignment<grid : [1, 0]>}
    %s:4 = accel.program %step counts(%nx, %ny, %nz)
        {assignment = #accel.assignment<table = dense<[[[0, 1], [2, -1]]]> : tensor<1x2x2xi32>>}
    ```
  }];
  let parameters = (ins EnumParameter<Accel_AssignmentKind>:$kind, OptionalArrayRefParameter<"int64_t">:$values,
                        OptionalParameter<"::mlir::DenseIntElementsAttr">:$table);
  let assemblyFormat = "`<` $kind (`:` `[` $values^ `]`)? (`=` $table^)? `>`";
  let genVerifyDecl = 1;
}

def Accel_TokenType : TypeDef<Accel_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "A transfer that is under way";
  let description = [{
    What `accel.copy_start` gives and `accel.wait` takes. Loops carry tokens and branches yield them.
  }];
}

#endif
