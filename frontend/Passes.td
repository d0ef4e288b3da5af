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

def UnflattenLoopsPass : Pass<"tilebridge-unflatten-loops", "::mlir::ModuleOp"> {
  let summary = "One loop over the steps of all tiles becomes a loop over tiles, each with a loop over its steps";
  let description = [{
    Persistent kernels for GPUs count the steps of all their tiles in one loop (`for _ in range(0, k_tiles * tiles_per_program)`), find a
    tile's place `if ki == 0`, and store it `if ki == k_tiles - 1`, where `ki = tl.where(ki == k_tiles - 1, 0, ki + 1)`. Here the loop is two
    again: an accumulator that stays in registers, and whatever else looks for loops over K, finds one. What the first step
    does stands before the inner loop, what the last one does behind it, if neither changes places with other accesses to memory, and each
    knows what it asks for; else the loop stays as it is.

    Before:
    ```mlir
    %all = arith.muli %steps, %tiles : i32
    %r:3 = scf.for %i = %zero to %all step %one iter_args(%c = %minus_one, %t = %first, %acc = %none) -> (i32, i32, f32) : i32 {
      %last = arith.subi %steps, %one : i32
      %ends = arith.cmpi eq, %c, %last : i32
      %more = arith.addi %c, %one : i32
      %k = arith.select %ends, %zero, %more : i32
      %begins = arith.cmpi eq, %k, %zero : i32
      %tile = scf.if %begins -> (i32) {
        %next = arith.addi %t, %one : i32
        scf.yield %next : i32
      } else {
        scf.yield %t : i32
      }
      %x = "test.step"(%tile, %k, %acc) : (i32, i32, f32) -> f32
      %done = arith.cmpi eq, %k, %last : i32
      %sum = arith.select %done, %none, %x : f32
      scf.if %done {
        "test.store"(%tile, %x) : (i32, f32) -> ()
      }
      scf.yield %k, %tile, %sum : i32, i32, f32
    }
    ```
    After:
    ```mlir
    %r:2 = scf.for %i = %zero to %tiles step %one iter_args(%t = %first, %acc = %none) -> (i32, f32) : i32 {
      %tile = arith.addi %t, %one : i32
      %x = scf.for %k = %zero to %steps step %one iter_args(%a = %acc) -> (f32) : i32 {
        %y = "test.step"(%tile, %k, %a) : (i32, i32, f32) -> f32
        scf.yield %y : f32
      }
      "test.store"(%tile, %x) : (i32, f32) -> ()
      scf.yield %tile, %none : i32, f32
    }
    ```
    (there are no tiles where there are no steps).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
