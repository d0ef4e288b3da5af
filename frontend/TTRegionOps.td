//===- TTRegionOps.td - region ops of dialect tt -----------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTREGIONOPS
#define TILEBRIDGE_FRONTEND_TTREGIONOPS

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTTypes.td"

// The region may assert or print, so what the op does to memory is what its region does.
class TT_RegionOp<string mnemonic, list<Trait> traits = []> :
  TT_Op<mnemonic, !listconcat([RecursiveMemoryEffects, RecursivelySpeculatable], traits)>;

class TT_RegionReturnOp<string mnemonic, string parent> :
  TT_Op<mnemonic, [Pure, Terminator, ReturnLike, HasParent<parent>]> {
  let arguments = (ins Variadic<AnyType>:$result);
}

def TT_ReduceOp : TT_RegionOp<"reduce", [SingleBlock]> {
  let summary = "combines the elements along one axis";
  let description = [{
    The region combines two groups of values into one; a group has one value of each operand. The
    order of combination is not defined. A tensor of rank 1 is reduced to scalars.

    Constraints:
    - (RD1) at least one operand, all of one shape;
    - (RD2) `axis` is a dimension of the operands;
    - (RD3) result `i` is operand `i` without the axis, or its element type if none is left;
    - (RD4) the region takes two groups of the operands' element types;
    - (RD5) the region returns one group.

    ```mlir
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16x32xf32>) -> tensor<16xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Any>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ReduceReturnOp : TT_RegionReturnOp<"reduce.return", "ReduceOp"> {
  let summary = "gives the combined group of a reduction";
  let description = [{
    ```mlir
    tt.reduce.return %c : f32
    ```
  }];
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_ScanOp : TT_RegionOp<"scan", [SingleBlock]> {
  let summary = "running combination along one axis";
  let description = [{
    Element `i` on the axis is the combination of all up to and including `i`; with `reverse`, of all
    from the last one down to `i`.

    Constraints:
    - (SC1) at least one operand, all of one shape;
    - (SC2) `axis` is a dimension of the operands;
    - (SC3) result `i` has the type of operand `i`;
    - (SC4) the region takes two groups of the operands' element types;
    - (SC5) the region returns one group.

    ```mlir
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ScanReturnOp : TT_RegionReturnOp<"scan.return", "ScanOp"> {
  let summary = "gives the combined group of a scan";
  let description = [{
    ```mlir
    tt.scan.return %c : f32
    ```
  }];
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_MapElementwiseOp : TT_RegionOp<"map_elementwise"> {
  let summary = "runs scalar code for each element, or for each `pack` elements";
  let description = [{
    The region takes `pack` elements of the first operand, then of the second, and so on, and returns
    `pack` of each result. It may hold several blocks.

    Constraints:
    - (ME1) at least one operand, and all operands and results have one shape;
    - (ME2) `pack` is at least 1 and divides the number of elements;
    - (ME3) the region takes `pack` values of each operand's element type;
    - (ME4) it returns `pack` values of each result's element type.

    ```mlir
    %y = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: i32):
      %c = arith.addi %a, %a : i32
      tt.map_elementwise.return %c : i32
    }) : (tensor<64xi32>) -> tensor<64xi32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region MinSizedRegion<1>:$scalarOp);
  let hasVerifier = 1;
}

def TT_MapElementwiseReturnOp : TT_RegionReturnOp<"map_elementwise.return", "MapElementwiseOp"> {
  let summary = "gives the elements that a map computed";
  let description = [{
    ```mlir
    tt.map_elementwise.return %c : i32
    ```
  }];
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
  let hasVerifier = 1;
}

#endif
