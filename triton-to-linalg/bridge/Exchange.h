//===- Exchange.h - blocks whose halves change places -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Triton's library has no op that moves elements along a dimension. It
// exchanges the two halves of a dimension of size 2 by exclusive or with the
// exclusive or of both: `tl.flip`, `tl.sort` and `tl.topk` are made of that.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tilebridge::linalg_ext {

/// The block in which the two halves of `dim` have changed places.
struct Swap {
  mlir::Value source;
  int64_t dim;
};

/// `value` as such a block, computed by exclusive or; nothing if it is none.
std::optional<Swap> matchSwap(mlir::Value value);

/// A reduction of both halves of a dimension of size 2, which both halves get:
/// of `source` along `dim`, whose indices are a power of two of elements apart.
struct Pairs {
  mlir::linalg::ReduceOp reduce;
  mlir::Value source;
  int64_t dim;
};

/// `value` as what such halves get; nothing if it is anything else.
std::optional<Pairs> matchPairs(mlir::Value value);

/// Elements of a block from one index of `dim` to the next.
int64_t strideOf(mlir::RankedTensorType type, int64_t dim);

/// `op` applies one operation, of type `Op`, to its inputs, element by element.
template <typename Op> bool isOnly(mlir::linalg::GenericOp op) {
  if (op.getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumLoops() != op.getNumParallelLoops() || !keepsOrder(op) ||
      !llvm::hasNItems(*op.getBody(), 2))
    return false;
  auto only = mlir::dyn_cast<Op>(op.getBody()->front());
  return only && only->getNumOperands() == op.getNumDpsInputs() &&
         op.getBody()->getTerminator()->getOperand(0) == only->getResult(0) &&
         llvm::all_of(llvm::enumerate(only->getOperands()), [&](auto operand) {
           return operand.value() == op.getBody()->getArgument(operand.index());
         });
}

/// `source` in another order along `dim`: `placeOf` gives the index of an
/// element there from its index in the result, both of type index.
mlir::Value pickedAlong(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
    int64_t dim,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> placeOf);

/// `source` in the opposite order along `dim`.
mlir::Value reversedAlong(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value source, int64_t dim);

/// Element i is element `i ^ stride` of `source` along `dim`. The stride is a
/// power of two, and twice of it divides the dimension.
mlir::Value exchangedAlong(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value source, int64_t dim, int64_t stride);

} // namespace tilebridge::linalg_ext
