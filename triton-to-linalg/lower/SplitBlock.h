//===- SplitBlock.h - blocks whose dimensions are two in memory --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A flat index that a kernel takes apart, `x // 64` and `x % 64`, moves in two
// dimensions of memory: the access has one dimension more than its block, and
// the block's tensor is reshaped. Halves that are exchanged, `x ^ 2`, make it
// three.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace tilebridge::ttl {

class SplitBlock {
public:
  explicit SplitBlock(llvm::ArrayRef<int64_t> shape)
      : shape(shape), inner(shape.size(), 0), half(shape.size(), 0) {}

  /// Dimension `dim` of the block is two, the inner one of `size`; that is two
  /// itself where its halves are `exchanged`.
  void split(unsigned dim, int64_t size, bool exchanged = false) {
    inner[dim] = size;
    half[dim] = exchanged ? size / 2 : 0;
  }
  bool isSplit() const {
    return llvm::any_of(inner, [](int64_t size) { return size != 0; });
  }

  /// Leaves exchanged halves of `form` only where `mask` begins and ends
  /// between whole runs: or else long ones are runs at any places, and short
  /// ones have no linear case.
  void settleExchanges(TensorForm &form, const MaskForm &mask,
                       ExprPool &pool) const;

  /// The dimension of memory that `dim` is, or the outer one of its two.
  unsigned outerOf(unsigned dim) const;

  /// The block's type and offsets with the dimensions of memory. A dimension
  /// that is split has a linear case in `form`.
  mlir::RankedTensorType type(mlir::RankedTensorType block) const;
  TensorForm form(const TensorForm &form, ExprPool &pool) const;
  /// The mask in these dimensions; nothing where a bound is not known to lie
  /// between two inner ranges.
  std::optional<MaskForm> mask(const MaskForm &mask, ExprPool &pool) const;

  /// A tensor of the block, with the dimensions of memory, and back.
  mlir::Value expand(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value tensor) const;
  mlir::Value collapse(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value tensor) const;

private:
  llvm::SmallVector<mlir::ReassociationIndices> groups() const;
  /// The inner dimensions that a split one has.
  llvm::SmallVector<int64_t, 2> partsOf(unsigned dim) const;

  llvm::SmallVector<int64_t> shape, inner, half;
};

} // namespace tilebridge::ttl
