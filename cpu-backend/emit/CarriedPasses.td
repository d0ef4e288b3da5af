//===- CarriedPasses.td - passes on what loops carry -------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPUBACKEND_EMIT_CARRIEDPASSES
#define TILEBRIDGE_CPUBACKEND_EMIT_CARRIEDPASSES

include "mlir/Pass/PassBase.td"

def CpuNarrowAccumulatorsPass : Pass<"tilebridge-cpu-narrow-accumulators", "::mlir::func::FuncOp"> {
  let summary = "Reduces in the loop what is only reduced behind it";
  let description = [{
    A loop that adds blocks to a block, of which only the sum is used, reads and writes all of that block in each iteration. Here
    each block is reduced first, and the loop carries the result. Sums of floats are taken in another order, as those of every
    reduction are. Only where the loop begins with the identity (or, as for a maximum, with any one value), and where at
    least 64 elements become one, or 2 if they lie one above the other: the last dimension stays, or what is read lies in memory along
    others that do, as in kernels that reduce columns with these as the first dimension. A mask that keeps the old
    value in some elements (`tl.where(mask, acc + x, acc)`) combines them with what the loop begins with.

    Before:
    ```mlir
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<1024xf32>) {
      %sum = linalg.generic ins(%acc, %x : ...) { arith.addf } -> tensor<1024xf32>
      scf.yield %sum
    }
    %r = linalg.reduce { arith.addf } ins(%t : tensor<1024xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    ```
    After:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<f32>) {
      %part = linalg.reduce { arith.addf } ins(%x : tensor<1024xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      %sum = linalg.generic ins(%acc, %part : ...) { arith.addf } -> tensor<f32>
      scf.yield %sum
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def CpuNumberStartsPass : Pass<"tilebridge-cpu-number-starts", "::mlir::func::FuncOp"> {
  let summary = "Begins maxima with -inf, not NaN, where nobody sees the difference";
  let description = [{
    A maximum that ignores NaN is NaN if there was nothing else, and so it begins with NaN. Where its result is only compared, by the same
    function, with what is never NaN, such as the largest element so far of a loop that began with -inf, it begins with -inf: then what
    was found is a number at each step, and tilebridge-cpu-expand-math writes each step on x86 as one instruction. Minima begin with +inf.

    Before:
    ```mlir
    %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<8x64xf32>) outs(%nan : tensor<8xf32>) dimensions = [1]
    %next = linalg.generic ins(%m, %so_far : ...) { arith.maxnumf } -> tensor<8xf32>
    ```
    After:
    ```mlir
    %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<8x64xf32>) outs(%minus_inf : tensor<8xf32>) dimensions = [1]
    %next = linalg.generic ins(%m, %so_far : ...) { arith.maxnumf } -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CpuUniformCarriedPass : Pass<"tilebridge-cpu-uniform-carried", "::mlir::func::FuncOp"> {
  let summary = "Carries one number where all elements of what a loop carries are one";
  let description = [{
    A tensor that a loop carries, and that has one number in all its elements before the loop and after each iteration, such as how many
    elements each lane of a block has seen, is carried as that number. Each is computed from numbers and from such tensors,
    element by element and without indices. What is chosen from two such tensors by a mask that ends where the loop does (`i + lane < n`,
    in blocks of no more lanes than the loop's step) is one number until the last iteration: the loop also carries what that one chooses
    from and its index, and the choice stands behind the loop.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zeros) -> (tensor<1024xf32>) {
      %next = linalg.generic ins(%count : ...) { arith.addf %in, %one } -> tensor<1024xf32>
      scf.yield %next : tensor<1024xf32>
    }
    ```
    After:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> (f32) {
      %next = arith.addf %count, %one : f32
      scf.yield %next : f32
    }
    %s = tensor.splat %r : tensor<1024xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def CpuUnrollCarriedPass : Pass<"tilebridge-cpu-unroll-carried", "::mlir::func::FuncOp"> {
  let summary = "Writes the iterations of short loops that carry blocks one after another";
  let description = [{
    A loop that combines a block with others, element by element, such as the maximum over a window, reads and writes all of that block in
    each iteration. Where the number of iterations is known, and they have no more than 400 operations together, they are written one after
    another, as those of `tl.static_range` are. Only loops that do nothing but to load and to compute, not those whose
    block is reduced behind them (tilebridge-cpu-narrow-accumulators), and with more than two iterations not those that load elements which lie apart
    and need not be there from the first one on, as a stride of 2 does at a picture's edge.

    Before:
    ```mlir
    %t = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %init) -> (tensor<1024xf32>) {
      %view = memref.subview %x[%i] [1024] [1] : ...
      %block = bufferization.to_tensor %view : ...
      %most = linalg.generic ins(%acc, %block : ...) { arith.maximumf } -> tensor<1024xf32>
      scf.yield %most
    }
    ```
    After:
    ```mlir
    %v0 = memref.subview %x[0] [1024] [1] : ...
    %b0 = bufferization.to_tensor %v0 : ...
    %m0 = linalg.generic ins(%init, %b0 : ...) { arith.maximumf } -> tensor<1024xf32>
    %v1 = memref.subview %x[1] [1024] [1] : ...
    %b1 = bufferization.to_tensor %v1 : ...
    %t = linalg.generic ins(%m0, %b1 : ...) { arith.maximumf } -> tensor<1024xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CpuRaiseProductsPass : Pass<"tilebridge-cpu-raise-products", "::mlir::func::FuncOp"> {
  let summary = "Makes products of blocks of loops that have one step along K in each iteration";
  let description = [{
    A loop that adds a column by a row to a block in each iteration is a product as it is defined. It becomes a loop that adds
    products of blocks with several steps along K, as those of `tl.dot` are: 8 of them, or, if it is known how many there are, all up to 64, or 16 to 64 that divide them. In
    the last block those that are none are zero. What the factors are computed from, element by element, is computed for blocks, and is loads at places that grow evenly,
    numbers and what stays the same. Masks that compare what grows from iteration to iteration with what stays, and rows of descriptors, which are nothing outside of the
    array, are ranges of steps. Several products that an iteration adds are added one after the other: sums of floats may be in another order. Sums that are stored
    by columns, as those of `tilebridge-cpu-merge-rows`, are computed as the transposed product.

    A number by a row is such a product only if rows of the array lie along K. Only sums of f32, f64 and i32, of 32 elements and 16 columns or more, in loops that write
    nothing and count up by a constant, not fewer than 8 times. A product that is rounded to a narrower type before it is added stays. What else the loop carries is
    computed by itself.

    Before:
    ```mlir
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16x64xf32>) : i32 {
      %column = bufferization.to_tensor %a_k : ... to tensor<16xf32>
      %row = bufferization.to_tensor %b_k : ... to tensor<64xf32>
      %sum = linalg.generic ... { %acc + %column * %row } -> tensor<16x64xf32>
      scf.yield %sum
    }
    ```
    After:
    ```mlir
    %t = scf.for %k = %c0 to %n step %c8 iter_args(%acc = %init) -> (tensor<16x64xf32>) {
      %columns = tensor.pad (bufferization.to_tensor %a_k) : ... to tensor<16x8xf32>
      %rows = tensor.pad (bufferization.to_tensor %b_k) : ... to tensor<8x64xf32>
      %sum = linalg.matmul ins(%columns, %rows : ...) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %sum
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CpuGroupIterationsPass : Pass<"tilebridge-cpu-group-iterations", "::mlir::func::FuncOp"> {
  let summary = "Takes four steps of a loop at once that adds products up in a block";
  let description = [{
    A loop that multiplies a number by a row, or a column by a row, in each iteration, and adds that to a block element by element, reads and writes
    all of the block each time. Four iterations become one, which does so once; a second loop does those that are left. Sums keep their order. Only loops of
    floats that count up from a number that is not negative, by a constant, and hardly do more than that: no functions, gathers or reductions, and at most
    8 operations for each element.

    Before:
    ```mlir
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64xf32>) {
      %x = memref.load %a[%k] : ...
      %row = bufferization.to_tensor ...
      %sum = linalg.generic ... { %acc + %x * %row } -> tensor<64xf32>
      scf.yield %sum
    }
    ```
    After:
    ```mlir
    %u:2 = scf.for %k = %c0 to %n_3 step %c4 iter_args(%acc = %init, %next = %c0) -> (tensor<64xf32>, index) {
      ...
      scf.yield %sum3, %k4 : tensor<64xf32>, index
    }
    %t = scf.for %k = %u#1 to %n step %c1 iter_args(%acc = %u#0) -> (tensor<64xf32>) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
