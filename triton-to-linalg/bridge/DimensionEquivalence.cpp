//===- DimensionEquivalence.cpp - dimensions that are one -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/DimensionEquivalence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::linalg_ext;

int64_t tilebridge::linalg_ext::rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

//===----------------------------------------------------------------------===//
// Numbers and ties
//===----------------------------------------------------------------------===//

unsigned DimensionEquivalence::number(Value tensor, unsigned dim) {
  auto [it, isNew] = numbers.try_emplace({tensor, dim}, numbered.size());
  if (isNew) {
    numbered.push_back({tensor, dim});
    joined.grow(numbered.size());
  }
  return it->second;
}

void DimensionEquivalence::numberAll(Value tensor) {
  for (unsigned dim = 0, rank = rankOf(tensor); dim < rank; ++dim)
    number(tensor, dim);
}

void DimensionEquivalence::tie(Value a, unsigned aDim, Value b, unsigned bDim) {
  unsigned first = number(a, aDim), second = number(b, bDim);
  joined.join(first, second);
}

void DimensionEquivalence::tieAll(Value a, Value b) {
  if (rankOf(a) != rankOf(b))
    return;
  for (unsigned dim = 0, rank = rankOf(a); dim < rank; ++dim)
    tie(a, dim, b, dim);
}

void DimensionEquivalence::tieAll(ValueRange a, ValueRange b) {
  for (auto [first, second] : llvm::zip(a, b))
    tieAll(first, second);
}

void DimensionEquivalence::fixAll(Value tensor, Operation *because) {
  for (unsigned dim = 0, rank = rankOf(tensor); dim < rank; ++dim)
    fix(tensor, dim, because);
}

void DimensionEquivalence::fixAll(Operation *op) {
  for (Value operand : op->getOperands())
    fixAll(operand, op);
  for (Value result : op->getResults())
    fixAll(result, op);
}

std::optional<unsigned> DimensionEquivalence::classOf(Value tensor,
                                                      unsigned dim) const {
  auto it = numbers.find({tensor, dim});
  if (it == numbers.end())
    return std::nullopt;
  return joined[it->second];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool DimensionEquivalence::visitControlFlow(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::ForOp loop) {
        tieAll(loop.getResults(), loop.getInitArgs());
        tieAll(loop.getResults(), loop.getRegionIterArgs());
        tieAll(loop.getResults(), loop.getYieldedValues());
        return true;
      })
      .Case([&](scf::IfOp branch) {
        if (branch.getNumResults()) {
          tieAll(branch.getResults(), branch.thenYield().getOperands());
          tieAll(branch.getResults(), branch.elseYield().getOperands());
        }
        return true;
      })
      .Case([&](scf::IndexSwitchOp branch) {
        for (Region *region : branch.getRegions())
          tieAll(branch.getResults(),
                 region->front().getTerminator()->getOperands());
        return true;
      })
      .Case([&](scf::WhileOp loop) {
        tieAll(loop.getInits(), loop.getBeforeArguments());
        tieAll(loop.getInits(), loop.getYieldOp().getOperands());
        ValueRange passed = loop.getConditionOp().getArgs();
        tieAll(loop.getResults(), passed);
        tieAll(loop.getAfterArguments(), passed);
        return true;
      })
      // The op around them has tied what they pass.
      .Case<scf::YieldOp, scf::ConditionOp>([](Operation *end) {
        return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(
            end->getParentOp());
      })
      .Default(false);
}

/// An operation of linalg says by its maps which iterator runs over which
/// dimension: all dimensions of one iterator are tied.
bool DimensionEquivalence::visitLinalg(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics())
    return false;
  SmallVector<SmallVector<Place>> places(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto iterator = dyn_cast<AffineDimExpr>(expr);
      if (!iterator) {
        fix(operand.get(), dim, op);
        continue;
      }
      auto &along = places[iterator.getPosition()];
      along.push_back({&operand, unsigned(dim)});
      auto [first, firstDim] = along.front();
      tie(first->get(), firstDim, operand.get(), dim);
    }
  }
  tieAll(linalgOp.getDpsInits(), op->getResults());
  visitIterators(linalgOp, places);
  return true;
}

/// A dimension that keeps its size among ones is the same dimension; where
/// several become one, or the reverse, positions are rearranged.
template <typename ReshapeT>
bool DimensionEquivalence::visitReshape(ReshapeT op, Value narrow, Value wide) {
  auto type = cast<RankedTensorType>(wide.getType());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    SmallVector<int64_t> larger = llvm::filter_to_vector(
        group, [&](int64_t i) { return type.getDimSize(i) != 1; });
    if (larger.size() == 1) {
      tie(narrow, dim, wide, larger.front());
    } else if (larger.size() > 1) {
      fix(narrow, dim, op);
      for (int64_t i : larger)
        fix(wide, i, op);
    }
  }
  return true;
}

bool DimensionEquivalence::visitShared(Operation *op) {
  if (visitControlFlow(op) || visitLinalg(op))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::ExpandShapeOp reshape) {
        return visitReshape(reshape, reshape.getSrc(), reshape.getResult());
      })
      .Case([&](tensor::CollapseShapeOp reshape) {
        return visitReshape(reshape, reshape.getResult(), reshape.getSrc());
      })
      .Case([](arith::ConstantOp constant) {
        return isa<SplatElementsAttr>(constant.getValue());
      })
      .Case<tensor::EmptyOp, tensor::SplatOp>([](Operation *) { return true; })
      .Default(false);
}

void DimensionEquivalence::visitAll(func::FuncOp func) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func)
      return;
    // What is not known, and what takes a block as a whole: a print, an element
    // at an index, an atomic access, whose order matters, a call.
    if (!visitOwn(op) && !visitShared(op))
      fixAll(op);
    // Dimensions of one element, which reshapes are not asked about.
    for (Value result : op->getResults())
      numberAll(result);
  });
}
