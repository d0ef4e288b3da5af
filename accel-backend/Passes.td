//===- Passes.td - passes of accel-backend ----------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PASSES
#define TILEBRIDGE_ACCEL_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Tensors: what is copied, what is computed (lower/)
//===----------------------------------------------------------------------===//

def AccelKernelsPass : Pass<"tilebridge-accel-kernels", "::mlir::ModuleOp"> {
  let summary = "Leaves kernels only, each without calls";
  let description = [{
    Every call has been inlined before; one that is left is that of a function that calls itself, for which a scratchpad has
    no room of known size: an error. Private functions go, and kernels are marked as kernels of this backend.

    Before:
    ```mlir
    func.func private @unused(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) {
      return
    }
    func.func @f(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = []} {
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = []} {
      return
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect"];
}

def AccelCopiesPass : Pass<"tilebridge-accel-copies"> {
  let summary = "Makes accesses to blocks of the chip's memory copies";
  let description = [{
    Each load and store of a block becomes an `accel.copy` where it stands, with what the load has outside of its box as
    padding or as the block that the copy writes into. A load whose block is padded later, behind a write to memory, stays at
    its place, and its padding moves up to it. Accesses by element offsets are copies of rows of one element, and have a
    remark. Atomic accesses to blocks become `accel.atomic`; scalar accesses stay.

    Before:
    ```mlir
    func.func @f(%box: memref<?xf32, strided<[1], offset: ?>>, %high: index, %zero: f32) -> tensor<64xf32> {
      %0 = bufferization.to_tensor %box : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
      %1 = tensor.pad %0 low[0] high[%high] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<?xf32> to tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%box: memref<?xf32, strided<[1], offset: ?>>, %high: index, %zero: f32) -> tensor<64xf32> {
      %init = tensor.empty() : tensor<64xf32>
      %0 = accel.copy %box to %init pad %zero
          : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xf32>, f32) -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect"];
}

def AccelWrapComputePass : Pass<"tilebridge-accel-wrap-compute"> {
  let summary = "Gives tensor ops that linalg has not a destination";
  let description = [{
    Scans, reductions with any combiner, histograms, lookups and constants whose elements differ move into the body of an
    `accel.compute`, whose `outs` say where the result goes; `print` and `assert` of blocks as well, with no outs. Blocks of
    one value are filled with it.

    Before:
    ```mlir
    func.func @f(%x: tensor<8xi32>) -> tensor<4xi32> {
      %0 = linalg_ext.histogram %x : tensor<8xi32> -> tensor<4xi32>
      return %0 : tensor<4xi32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<8xi32>) -> tensor<4xi32> {
      %init = tensor.empty() : tensor<4xi32>
      %0 = accel.compute vector ins(%x : tensor<8xi32>) outs(%init : tensor<4xi32>) {
      ^bb0(%in: tensor<8xi32>, %out: tensor<4xi32>):
        %1 = linalg_ext.histogram %in : tensor<8xi32> -> tensor<4xi32>
        accel.yield %1 : tensor<4xi32>
      } -> tensor<4xi32>
      return %0 : tensor<4xi32>
    }
    ```
  }];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def AccelFusePass : Pass<"tilebridge-accel-fuse"> {
  let summary = "Computes what follows element by element in one op";
  let description = [{
    Upstream's fusion of elementwise ops, with one difference: a change of shape does not move across a product of blocks. As a product of
    another shape that would have no name, and the matrix unit could not compute it.

    Before:
    ```mlir
    %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %w = tensor.expand_shape %p [[0], [1, 2]] output_shape [64, 1, 64] : tensor<64x64xf32> into tensor<64x1x64xf32>
    %e = linalg.generic ... ins(%w : tensor<64x1x64xf32>) { ^bb0(%x: f32, %o: f32): %y = arith.negf %x : f32 ... }
    %s = linalg.generic ... ins(%e : tensor<64x1x64xf32>) { ^bb0(%x: f32, %o: f32): %y = math.exp2 %x : f32 ... }
    ```
    After:
    ```mlir
    %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %w = tensor.expand_shape %p [[0], [1, 2]] output_shape [64, 1, 64] : tensor<64x64xf32> into tensor<64x1x64xf32>
    %s = linalg.generic ... ins(%w : tensor<64x1x64xf32>) { ^bb0(%x: f32, %o: f32): %n = arith.negf %x : f32  %y = math.exp2 %n : f32 ... }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Programs on PEs, and what fits (plan/)
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Buffers and transfers (lower/)
//===----------------------------------------------------------------------===//

def AccelBufferizePass : Pass<"tilebridge-accel-bufferize"> {
  let summary = "Puts blocks into buffers of local memory";
  let description = [{
    Upstream's one-shot bufferization, with buffers that are `accel.alloc`. A block that a loop carries stays in one buffer: what
    the loop yields is computed there, or copied there at the end of an iteration where its old contents are still read. An
    elementwise op writes over an operand that nobody reads later, unless a transfer fills that.

    Before:
    ```mlir
    func.func @f(%x: memref<8xf32>) attributes {accel.kernel} {
      %init = tensor.empty() : tensor<8xf32>
      %0 = accel.copy %x to %init : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      accel.copy %0 to %x : (tensor<8xf32>, memref<8xf32>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<8xf32>) attributes {accel.kernel} {
      %buffer = accel.alloc : memref<8xf32, #accel.memory<"local">>
      accel.copy %x to %buffer : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> ()
      accel.copy %buffer to %x : (memref<8xf32, #accel.memory<"local">>, memref<8xf32>) -> ()
      return
    }
    ```
  }];
  let options = [Option<"memory", "memory", "std::string", "\"local\"", "the memory that compute works on">];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def AccelPipelinePass : Pass<"tilebridge-accel-pipeline-copies"> {
  let summary = "Lets transfers run beside compute";
  let description = [{
    Each `accel.copy` becomes an `accel.copy_start` and an `accel.wait`. A loop that loads has several buffers for what it loads
    (`accel.depth` of the copy, or the option): the load of an iteration is started iterations ahead, the first ones before the
    loop, each only if there is such an iteration. For a load of rows, or one with a mask, what computes these blocks is done again for
    that iteration, in buffers of their own; loads that it reads are one more iteration ahead, with one more buffer. An address
    may come from a scalar of memory that the loop does not write. A store of a loop has two buffers, and is waited for at the same store of
    the next iteration, and behind the loop; if an iteration goes on to write where it has stored from, it is waited for at once. Both happen only where no access of the loop can touch the same bytes: other
    arguments, one of which is `accel.noalias`. Elsewhere a transfer is waited for before the first op that needs it.

    Before:
    ```mlir
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {accel.kernel} {
      %a = accel.alloc : memref<8xf32, #accel.memory<"local">>
      %b = accel.alloc : memref<8xf32, #accel.memory<"local">>
      accel.copy %x to %a : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> ()
      accel.copy %y to %b : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> ()
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {accel.kernel} {
      %a = accel.alloc : memref<8xf32, #accel.memory<"local">>
      %b = accel.alloc : memref<8xf32, #accel.memory<"local">>
      %t = accel.copy_start %x to %a : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> !accel.token
      %u = accel.copy_start %y to %b : (memref<8xf32>, memref<8xf32, #accel.memory<"local">>) -> !accel.token
      accel.wait %t
      accel.wait %u
      return
    }
    ```
  }];
  let options = [Option<"depth", "depth", "int64_t", "2", "buffers of a load in a loop, where its copy does not say">];
  let dependentDialects = ["::tilebridge::accel::AccelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// Lines of PEs, places of buffers (plan/)
//===----------------------------------------------------------------------===//

#endif
