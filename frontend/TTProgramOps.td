//===- TTProgramOps.td - program ops of dialect tt ---------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTPROGRAMOPS
#define TILEBRIDGE_FRONTEND_TTPROGRAMOPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/TTAttrs.td"
include "frontend/TTTypes.td"

//===----------------------------------------------------------------------===//
// The launch grid
//===----------------------------------------------------------------------===//

class TT_GridOp<string mnemonic> : TT_Op<mnemonic, [Pure]> {
  let arguments = (ins TT_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def TT_GetProgramIdOp : TT_GridOp<"get_program_id"> {
  let summary = "which program of the grid this is, along one axis";
  let description = [{
    ```mlir
    %i = tt.get_program_id x : i32
    ```
  }];
}

def TT_GetNumProgramsOp : TT_GridOp<"get_num_programs"> {
  let summary = "how many programs the grid has along one axis";
  let description = [{
    ```mlir
    %n = tt.get_num_programs x : i32
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Order and messages: effects on memory keep these in their places
//===----------------------------------------------------------------------===//

def TT_GridDependencyWaitOp : TT_Op<"grid_dependency_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the kernels that this one depends on (Triton 3.9)";
  let description = [{
    ```mlir
    tt.grid_dependency_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TT_GridDependencyLaunchDependentsOp
    : TT_Op<"grid_dependency_launch_dependents", [MemoryEffects<[MemWrite]>]> {
  let summary = "lets kernels that depend on this one begin (Triton 3.9)";
  let description = [{
    ```mlir
    tt.grid_dependency_launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a text and values";
  let description = [{
    Constraints:
    - (PR1) `isSigned` has an entry for each value; more entries say nothing.

    ```mlir
    tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %n : i32
    ```
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Any>:$args,
      DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the launch with a message unless a condition holds everywhere";
  let description = [{
    ```mlir
    tt.assert %c, "n must be positive" : tensor<64xi1>
    ```
  }];
  let arguments = (ins TT_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif
