//===- SplitBlock.cpp - blocks whose dimensions are two in memory ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/SplitBlock.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::ttl;

RankedTensorType SplitBlock::type(RankedTensorType block) const {
  SmallVector<int64_t> sizes;
  for (auto [size, part] : llvm::zip_equal(shape, inner)) {
    if (part)
      sizes.push_back(size / part);
    sizes.push_back(part ? part : size);
  }
  return block.clone(sizes);
}

SmallVector<ReassociationIndices> SplitBlock::groups() const {
  SmallVector<ReassociationIndices> groups;
  int64_t to = 0;
  for (int64_t part : inner) {
    groups.push_back({to++});
    if (part)
      groups.back().push_back(to++);
  }
  return groups;
}

static DimTerm linear(const Expr *stride) {
  DimTerm term;
  if (stride->isConstant(0))
    return term;
  term.kind = DimTerm::Kind::Linear;
  term.stride = stride;
  return term;
}

TensorForm SplitBlock::form(const TensorForm &form, ExprPool &pool) const {
  TensorForm result;
  result.width = form.width;
  result.uniform = form.uniform;
  for (auto [dim, term] : llvm::enumerate(form.terms)) {
    if (!inner[dim]) {
      result.shape.push_back(shape[dim]);
      result.terms.push_back(term);
      continue;
    }
    result.shape.append({shape[dim] / inner[dim], inner[dim]});
    if (term.linear->outer) {
      result.terms.push_back(linear(term.linear->outer));
    } else {
      result.terms.push_back(term);
      result.terms.back().linear.reset();
    }
    result.terms.push_back(linear(term.linear->stride));
  }
  return result;
}

/// The number of whole inner ranges of `size` lanes below a bound; null where
/// it may lie within one.
static const Expr *wholeRanges(const Expr *bound, int64_t size,
                               ExprPool &pool) {
  if (std::optional<int64_t> constant = bound->asConstant())
    return *constant % size == 0 ? pool.constant(64, *constant / size)
                                 : nullptr;
  if (!llvm::isPowerOf2_64(size) || bound->zeros < llvm::Log2_64(size))
    return nullptr;
  return pool.division(Expr::Kind::DivU, bound, pool.constant(64, size));
}

std::optional<MaskForm> SplitBlock::mask(const MaskForm &mask,
                                         ExprPool &pool) const {
  MaskForm result;
  result.conditions = mask.conditions;
  if (!mask.residuals.empty())
    return std::nullopt;
  for (auto [bounds, size] : llvm::zip_equal(mask.dims, inner)) {
    result.dims.push_back(bounds);
    if (!size)
      continue;
    for (auto *list : {&result.dims.back().lower, &result.dims.back().upper})
      for (const Expr *&bound : *list) {
        bound = wholeRanges(bound, size, pool);
        if (!bound)
          return std::nullopt;
      }
    result.dims.emplace_back();
  }
  return result;
}

unsigned SplitBlock::outerOf(unsigned dim) const {
  unsigned to = dim;
  for (int64_t part : ArrayRef(inner).take_front(dim))
    to += part != 0;
  return to;
}

Value SplitBlock::expand(OpBuilder &builder, Location loc, Value tensor) const {
  auto block = cast<RankedTensorType>(tensor.getType());
  if (!isSplit())
    return tensor;
  return tensor::ExpandShapeOp::create(builder, loc, type(block), tensor,
                                       groups());
}

Value SplitBlock::collapse(OpBuilder &builder, Location loc,
                           Value tensor) const {
  if (!isSplit())
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups());
}
