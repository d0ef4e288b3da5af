//===- Passes.td - passes of frontend ----------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_PASSES
#define TILEBRIDGE_FRONTEND_PASSES

include "mlir/Pass/PassBase.td"

def NormalizePass : Pass<"tilebridge-normalize", "::mlir::ModuleOp"> {
  let summary = "Brings what Triton's versions write differently into one form";
  let description = [{
    After it only the spelling of the newest version is left:
    - cache hints are a `cachePolicy`, and only where they say something;
    - `gpu.barrier` is `ttg.barrier all`;
    - assembly text that waits for or launches dependent grids is the op for it;
    - products, minima, sums and choices of single bits are `andi`, `ori` and `xori`;
    - constants that bits choose (`tl.where(i < n, 1, 0)`), compared with a constant, are the bits;
    - names of private functions consist of letters, digits, `_`, `.` and `$`.

    Block pointers stay, and so does a negation written as `0 - x`: it differs from `arith.negf` in the sign of a zero.

    Before:
    ```mlir
    %a = tt.load %p cacheModifier = cg : !tt.ptr<f32>
    gpu.barrier
    %m = arith.muli %x, %y : i1
    %number = arith.select %inside, %one, %zero : tensor<16xi1>, tensor<16xi32>
    %mask = arith.cmpi ne, %number, %zero : tensor<16xi32>
    ```
    After:
    ```mlir
    %a = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<f32>
    ttg.barrier all
    %m = arith.andi %x, %y : i1
    ```
    and `%inside` in the place of `%mask`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tilebridge::tt::TTDialect", "::tilebridge::tt::TTGDialect"];
}

def DefinePoisonPass : Pass<"tilebridge-define-poison", "::mlir::ModuleOp"> {
  let summary = "Values that the kernel does not define become 0, with a warning";
  let description = [{
    A loop's variable has no value behind its loop (`for i in range(n): ...` and then `x + i`): Triton writes `ub.poison`. What computes with it
    may do anything; here it computes with 0, and the line is named in a warning. Poison pointers stay.

    Before:
    ```mlir
    %i = ub.poison : i32
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    ```
    After:
    ```mlir
    %i = arith.constant 0 : i32
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LiftControlFlowPass : Pass<"tilebridge-lift-control-flow", "::mlir::ModuleOp"> {
  let summary = "Turns branches between blocks into scf";
  let description = [{
    Functions with early returns and `tt.map_elementwise` regions become one block. Blocks that are never reached, as behind
    a return, are dropped. A value that is not computed on some path is poison there.

    Before:
    ```mlir
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      tt.return
    ^bb2:
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    ```
    After:
    ```mlir
      scf.if %c {
      } else {
        tt.store %p, %x : !tt.ptr<f32>
      }
      tt.return
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect"];
}

def InlinePass : Pass<"tilebridge-inline", "::mlir::ModuleOp"> {
  let summary = "Inlines calls, but those of noinline functions, and drops functions that are not called";
  let description = [{
    Runs after `tilebridge-lift-control-flow`, so that a function with an early return can go into a loop. A call of a
    function without a body and functions that call each other in a circle are errors.

    Before:
    ```mlir
    tt.func public @k(%p: !tt.ptr<f32>) {
      %v = tt.call @one() : () -> f32
      tt.store %p, %v : !tt.ptr<f32>
      tt.return
    }
    tt.func private @one() -> f32 attributes {noinline = false} {
      %c = arith.constant 1.0 : f32
      tt.return %c : f32
    }
    ```
    After:
    ```mlir
    tt.func public @k(%p: !tt.ptr<f32>) {
      %c = arith.constant 1.0 : f32
      tt.store %p, %c : !tt.ptr<f32>
      tt.return
    }
    ```
  }];
}

#endif
