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

def FoldViewsPass : Pass<"tilebridge-fold-views"> {
  let summary = "Accesses see all that is known of the memory they work on";
  let description = [{
    Canonicalization makes sizes, strides and offsets of views static where it can, and leaves a `memref.cast` to what
    they were. An access of the bridge takes the view before the cast, so that a backend sees a contiguous dimension as
    one; sizes and offsets of a `memref.reinterpret_cast` are read where they come from. A size that is known in this way is
    known of the access's tensor, too, which a `tensor.cast` hides until canonicalization.

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
