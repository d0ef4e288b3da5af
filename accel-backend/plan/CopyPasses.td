//===- CopyPasses.td - blocks and their transfers ----------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PLAN_COPY_PASSES
#define TILEBRIDGE_ACCEL_PLAN_COPY_PASSES

include "mlir/Pass/PassBase.td"

def AccelAccumulatePass : Pass<"tilebridge-accel-accumulate", "::mlir::func::FuncOp"> {
  let summary = "Adds blocks to memory by copies, where the target's engine adds";
  let description = [{
    `linalg_ext.atomic_rmw` of a block (`add`, `fadd`) whose old values nobody reads, and whose offsets are a base and a stride for each dimension,
    becomes an `accel.copy` that accumulates: for an engine with `accumulate` from the local memory to that of the argument. Masks that are a box make
    it smaller; other masks become the copy's. The engine adds each element at once, so that no addition is lost, and elements of a block
    that meet are each added. In which order PEs add is not fixed: sums of integers are exact, those of floats may differ in their last bits, as with
    atomic accesses one by one. An access that orders others (any but `relaxed`) stays what it is in a kernel that observes atomic accesses:
    reads old values, compares and swaps, or loads atomically.

    Before:
    ```mlir
    %old = linalg_ext.atomic_rmw fadd acq_rel gpu %c[%offsets], %v mask %m
        : (memref<?xf32, strided<[1], offset: ?>>, tensor<128xi64>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
    ```
    After, for offsets from `%o` and a mask of the first `%n`:
    ```mlir
    %view = memref.reinterpret_cast %c to offset: [%o], sizes: [128], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<128xf32, strided<[1], offset: ?>>
    %box = memref.subview %view[0] [%n] [1] : memref<128xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %part = tensor.extract_slice %v[0] [%n] [1] : tensor<128xf32> to tensor<?xf32>
    accel.copy %part to %box accumulate add : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def AccelTilePass : Pass<"tilebridge-accel-tile", "::mlir::func::FuncOp"> {
  let summary = "Makes blocks as small as their accel.tile says";
  let description = [{
    `accel.tile` on an operation that gives or stores a block has the size that each of its dimensions is to have. All blocks whose
    positions depend on one another along such a dimension (its class) become smaller with it. A dimension whose positions do not
    see one another gets a loop over its parts around the whole program; one that products, reductions or histograms combine gets a
    loop around these and the loads of their operands, in which they go on from what the parts before gave. What is loaded and
    stored are the parts of the boxes.

    An error says why a dimension cannot be tiled: it is scanned, reshaped, needed once more after it was reduced, or a part would
    see what another part stores.

    Before:
    ```mlir
    %t = accel.copy %v to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
    accel.copy %t to %w : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c256 step %c64 {
      %p = memref.subview %v[%i] [64] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      %t = accel.copy %p to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      %q = memref.subview %w[%i] [64] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      accel.copy %t to %q : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def AccelHoistCopiesPass : Pass<"tilebridge-accel-hoist-copies", "::mlir::func::FuncOp"> {
  let summary = "Loads before a loop what each iteration loads, and once what is loaded twice";
  let description = [{
    A load whose address and bounds do not change from iteration to iteration goes out of the loop, if the loop runs at least once
    and nothing in it may write there: weights that every program uses are loaded once for all steps of a PE. Of
    two equal loads in a block with no such write between them the second one uses what the first one loaded.

    Before:
    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      %t = accel.copy %w to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
      ...
    }
    ```
    After:
    ```mlir
    %t = accel.copy %w to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      ...
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

def AccelBranchOncePass : Pass<"tilebridge-accel-branch-once", "::mlir::func::FuncOp"> {
  let summary = "Makes branches of loops that run once or not at all";
  let description = [{
    `tilebridge-accel-even-loops` makes such loops, because what loops carry stays in its buffer. Once blocks are buffers, a branch says better
    how often its body is run. A loop that still carries buffers stays as it is.

    Before:
    ```mlir
    %times = arith.select %is_own, %c1, %c0 : index
    scf.for %once = %c0 to %times step %c1 {
      linalg.add ins(%sum, %k : memref<64xf32, #accel.memory<"local">>, memref<64xf32, #accel.memory<"local">>) outs(%sum : memref<64xf32, #accel.memory<"local">>)
    }
    ```
    After:
    ```mlir
    scf.if %is_own {
      linalg.add ins(%sum, %k : memref<64xf32, #accel.memory<"local">>, memref<64xf32, #accel.memory<"local">>) outs(%sum : memref<64xf32, #accel.memory<"local">>)
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def AccelLegalizePass : Pass<"tilebridge-accel-legalize", "::mlir::func::FuncOp"> {
  let summary = "Splits transfers into descriptors that the target's engines have";
  let description = [{
    One descriptor of an engine has so many dimensions, extents up to a limit, strides up to a limit and perhaps not 0, and perhaps no
    padding and no indices. Neighbouring dimensions that are one for both sides count once. What is more becomes a loop of transfers:
    over the outermost dimension, over parts of an extent, over rows whose indices the PE reads itself. Padding is a fill before the
    transfer, which is left out where the box is as large as the block. A transfer that was split keeps one token: each
    part waits for the one before it when it has itself been started. A mask of elements is the engine's byte enables, and split
    with what it is for.

    Kernels get `accel.legalized`.

    Before, on an engine that copies one run of at most 4096 elements:
    ```mlir
    accel.copy %v to %b : (memref<64x32xf16, strided<[128, 1], offset: ?>>, memref<64x32xf16, #accel.memory<"local">>) -> ()
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c64 step %c1 {
      %s = memref.subview %v[%i, 0] [1, 32] [1, 1] : memref<64x32xf16, strided<[128, 1], offset: ?>> to memref<1x32xf16, strided<[128, 1], offset: ?>>
      %d = memref.subview %b[%i, 0] [1, 32] [1, 1] : memref<64x32xf16, #accel.memory<"local">> to memref<1x32xf16, strided<[32, 1], offset: ?>, #accel.memory<"local">>
      accel.copy %s to %d : (memref<1x32xf16, strided<[128, 1], offset: ?>>, memref<1x32xf16, strided<[32, 1], offset: ?>, #accel.memory<"local">>) -> ()
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect"];
}

#endif
