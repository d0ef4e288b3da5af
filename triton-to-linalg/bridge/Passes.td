//===- Passes.td - passes over the bridge IR --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_BRIDGE_PASSES
#define TILEBRIDGE_BRIDGE_PASSES

include "mlir/Pass/PassBase.td"

def VerifyBridgePass : Pass<"tilebridge-verify-bridge", "::mlir::ModuleOp"> {
  let summary = "Checks that a module is bridge IR";
  let description = [{
    Checks the contract of docs/bridge-ir.md, which every backend relies on, and changes nothing. A message begins with the
    number of the rule in its section "What the verifier checks".

    Before, and after it passed:
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
        attributes {tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
      return
    }
    ```
    Without the last argument:
    ```
    error: (B2) the last 6 arguments of a function are the program's ids and their counts, all i32
    ```
  }];
}

def SpreadSelectsPass : Pass<"tilebridge-spread-selects"> {
  let summary = "Writes a choice between blocks as one between their elements";
  let description = [{
    Canonicalization makes an `arith.select` of an `scf.if` that only chooses, and of blocks too, which the bridge IR does not
    have (B9). It becomes the body of a `linalg.generic`.

    Before:
    ```mlir
    func.func @f(%c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %0 = arith.select %c, %x, %y : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %init = tensor.empty() : tensor<8xf32>
      %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
          ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%init : tensor<8xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %1 = arith.select %c, %a, %b : f32
        linalg.yield %1 : f32
      } -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldReversalsPass : Pass<"tilebridge-fold-reversals"> {
  let summary = "Writes chains of exchanges as blocks in the opposite order";
  let description = [{
    `tl.flip` takes a dimension apart into dimensions of size 2, and exchanges the halves of each one by the exclusive or
    with the exclusive or of both. Where neighbouring dimensions are all exchanged, they are one dimension again that is
    reversed: a `linalg_ext.gather_along` whose index is the last one minus the place (`isReversal()`), which a backend may
    read as memory in the opposite order. It comes before a bitcast of its operand, such as that of floats to integers. A single exchange in a block
    that only has dimensions of size 2 is a step of `tl.sort`, and is left as it is.

    Before:
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %zero = arith.constant dense<0> : tensor<2xi32>
      %init = tensor.empty() : tensor<2x2xi32>
      %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
      %1 = linalg.reduce { arith.xori } ins(%0 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [0]
      %2 = linalg.broadcast ins(%1 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [0]
      %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%0, %2 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
      ^bb0(%a: i32, %b: i32, %out: i32):
        %xor = arith.xori %a, %b : i32
        linalg.yield %xor : i32
      } -> tensor<2x2xi32>
      %4 = linalg.reduce { arith.xori } ins(%3 : tensor<2x2xi32>) outs(%zero : tensor<2xi32>) dimensions = [1]
      %5 = linalg.broadcast ins(%4 : tensor<2xi32>) outs(%init : tensor<2x2xi32>) dimensions = [1]
      %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%3, %5 : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) {
      ^bb0(%a: i32, %b: i32, %out: i32):
        %xor = arith.xori %a, %b : i32
        linalg.yield %xor : i32
      } -> tensor<2x2xi32>
      %7 = tensor.collapse_shape %6 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
      return %7 : tensor<4xi32>
    }
    ```
    After:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %c3 = arith.constant 3 : index
      %init = tensor.empty() : tensor<4xi32>
      %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%init : tensor<4xi32>) {
      ^bb0(%out: i32):
        %i = linalg.index 0 : index
        %opposite = arith.subi %c3, %i : index
        %number = arith.index_cast %opposite : index to i32
        linalg.yield %number : i32
      } -> tensor<4xi32>
      %1 = linalg_ext.gather_along %x[%0] dimension = 0 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
      return %1 : tensor<4xi32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::tilebridge::linalg_ext::LinalgExtDialect"];
}

def FoldViewsPass : Pass<"tilebridge-fold-views"> {
  let summary = "Accesses see all that is known of the memory they work on";
  let description = [{
    Canonicalization makes sizes, strides and offsets of views static where it can, and leaves a `memref.cast` to what
    they were. An access of the bridge takes the view before the cast, so that a backend sees a contiguous dimension as
    one; sizes and offsets of a `memref.reinterpret_cast` are read where they come from. A size that is known in this way is
    known of the access's tensor, too, which a `tensor.cast` hides until canonicalization. What a load with a mask and a
    block as `other` reads, and a store with the same mask writes, folds to a copy of a part: it becomes a block again, padded
    with zeros that are not stored.

    Before:
    ```mlir
    %whole = memref.reinterpret_cast %p to offset: [%o], sizes: [%m, %n], strides: [%n, 1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %size = memref.dim %whole, %c0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
    %cast = memref.cast %whole : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %t = bufferization.to_tensor %cast : memref<?x?xf32, strided<[?, ?], offset: ?>> to tensor<?x?xf32>
    ```
    After, with `%size` being `%m`:
    ```mlir
    %whole = memref.reinterpret_cast %p to offset: [%o], sizes: [%m, %n], strides: [%n, 1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %whole : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif
