//===- WantedMasks.cpp - masks that say which rows somebody sees ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The mask of a block often is that of its rows, and of its columns, and of
// what else a kernel asks for. What is false for a whole row is said by a mask
// of rank 1.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Element i of `tensor`, of rank 1, is i.
static bool isItsIndex(Value tensor) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || !isElementwise(generic))
    return false;
  Value value = generic.getBody()->getTerminator()->getOperand(0);
  while (Operation *cast = value.getDefiningOp()) {
    if (isa<linalg::IndexOp>(cast))
      return true;
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(cast))
      return false;
    value = cast->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  return argument.getOwner() == generic.getBody() &&
         argument.getArgNumber() < generic.getNumDpsInputs() &&
         isItsIndex(generic.getInputs()[argument.getArgNumber()]);
}

/// `value` is the number of indices that a box has of a dimension of `size`:
/// none of them is negative, nor too many.
static bool isSizeOf(Value value, int64_t size) {
  auto most = value.getDefiningOp<arith::MinSIOp>();
  auto least = most ? most.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  if (!least)
    return false;
  auto end = constantOf(most.getRhs()), begin = constantOf(least.getRhs());
  return end && begin && *end <= size && *begin >= 0;
}

OpFoldResult tilebridge::cpu::countOfFirst(Value mask) {
  auto generic = mask.getDefiningOp<linalg::GenericOp>();
  int64_t size = cast<RankedTensorType>(mask.getType()).getDimSize(0);
  if (!generic || !isElementwise(generic) || generic.getInputs().size() != 2)
    return {};
  Block &body = *generic.getBody();
  auto compare =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      compare.getLhs() != body.getArgument(0) ||
      compare.getRhs() != body.getArgument(1) ||
      !isItsIndex(generic.getInputs()[0]))
    return {};
  Value bound = generic.getInputs()[1];
  APInt number;
  if (matchPattern(bound, m_ConstantInt(&number)))
    return IntegerAttr::get(
        IndexType::get(mask.getContext()),
        std::clamp<int64_t>(number.getSExtValue(), 0, size));
  auto splat = bound.getDefiningOp<tensor::SplatOp>();
  auto cast =
      splat ? splat.getInput().getDefiningOp<arith::IndexCastOp>() : nullptr;
  if (cast && cast.getIn().getType().isIndex() && isSizeOf(cast.getIn(), size))
    return cast.getIn();
  return {};
}

namespace {

/// Finds masks of rows that are true wherever another mask is.
class RowMasks {
public:
  using Found = SmallVector<Value, 2>;

  /// Those of `mask` along its dimension `dim`.
  Found of(Value mask, unsigned dim) {
    auto type = dyn_cast<RankedTensorType>(mask.getType());
    if (!type || --budget < 0)
      return {};
    if (type.getRank() == 1)
      return {mask};
    Operation *op = mask.getDefiningOp();
    if (!op)
      return {};
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return ofBranches(branch, cast<OpResult>(mask).getResultNumber(), dim);
    if (isShapeOfMemory(op))
      return ofShape(op, dim);
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
      return ofOperand(broadcast.getDpsInputOperand(0), dim);
    if (isa<arith::AndIOp>(op))
      return either(of(op->getOperand(0), dim), of(op->getOperand(1), dim));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !isElementwise(op) || generic.getNumResults() != 1)
      return {};
    return ofCondition(generic,
                       generic.getBody()->getTerminator()->getOperand(0), dim);
  }

  /// Those of a condition of the scalar code of `op`, along a dimension of its
  /// loops.
  Found ofCondition(linalg::GenericOp op, Value condition, unsigned dim) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return either(ofCondition(op, both.getLhs(), dim),
                    ofCondition(op, both.getRhs(), dim));
    auto argument = dyn_cast<BlockArgument>(condition);
    if (!argument || argument.getOwner() != op.getBody())
      return {};
    return ofOperand(&op->getOpOperand(argument.getArgNumber()), dim);
  }

private:
  static Found either(Found left, const Found &right) {
    llvm::append_range(left, right);
    return left;
  }

  /// Those of an operand, along the dimension that a loop runs along, if it has
  /// that.
  Found ofOperand(OpOperand *operand, unsigned loop) {
    AffineMap map = cast<linalg::LinalgOp>(operand->getOwner())
                        .getMatchingIndexingMap(operand);
    for (auto [d, place] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(place);
          dim && dim.getPosition() == loop)
        return of(operand->get(), d);
    return {};
  }

  /// Those of both branches.
  Found ofBranches(scf::IfOp branch, unsigned result, unsigned dim) {
    Found found = of(branch.thenYield().getOperand(result), dim),
          others = of(branch.elseYield().getOperand(result), dim);
    llvm::erase_if(
        found, [&](Value mask) { return !llvm::is_contained(others, mask); });
    return found;
  }

  /// Those of what a transpose, or a reshape by dimensions of one element, is
  /// of.
  Found ofShape(Operation *op, unsigned dim) {
    Value source = op->getOperand(0);
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
      return of(source, transpose.getPermutation()[dim]);
    // Dimensions of more than one element are in order.
    auto position = [](Value tensor, unsigned upTo) {
      auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
      return llvm::count_if(shape.take_front(upTo),
                            [](int64_t size) { return size != 1; });
    };
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto from = cast<RankedTensorType>(source.getType());
    if (type.getDimSize(dim) == 1)
      return {};
    auto number = position(op->getResult(0), dim);
    for (int64_t d = 0; d < from.getRank(); ++d)
      if (from.getDimSize(d) != 1 && number-- == 0)
        return of(source, d);
    return {};
  }

  int budget = 64;
};

} // namespace

/// That of which the fewest loops are around.
static Value outermost(ArrayRef<Value> masks) {
  auto loopsAround = [](Value mask) {
    unsigned count = 0;
    for (Operation *op = mask.getParentRegion()->getParentOp(); op;
         op = op->getParentOp())
      count += isa<LoopLikeOpInterface>(op);
    return count;
  };
  auto best = llvm::min_element(masks, [&](Value left, Value right) {
    return loopsAround(left) < loopsAround(right);
  });
  return best == masks.end() ? Value() : *best;
}

SmallVector<Value, 2> tilebridge::cpu::findRowMasks(Value mask, unsigned dim) {
  return RowMasks().of(mask, dim);
}

SmallVector<Value, 2> tilebridge::cpu::findRowMasks(linalg::GenericOp op,
                                                    Value condition,
                                                    unsigned dim) {
  return RowMasks().ofCondition(op, condition, dim);
}

Value tilebridge::cpu::findRowMask(Value mask, unsigned dim) {
  return outermost(RowMasks().of(mask, dim));
}

Value tilebridge::cpu::findSelectingRows(OpOperand &use, unsigned dim) {
  Operation *user = use.getOwner();
  if (isa<arith::SelectOp>(user)) {
    Value condition = user->getOperand(0);
    return use.getOperandNumber() == 1 &&
                   isa<RankedTensorType>(condition.getType())
               ? findRowMask(condition, dim)
               : Value();
  }
  auto generic = dyn_cast<linalg::GenericOp>(user);
  if (!generic || !isElementwise(user) || generic.isDpsInit(&use))
    return {};
  auto loop = dyn_cast<AffineDimExpr>(
      generic.getMatchingIndexingMap(&use).getResult(dim));
  BlockArgument element = generic.getMatchingBlockArgument(&use);
  Value condition;
  for (Operation *reader : element.getUsers()) {
    auto select = dyn_cast<arith::SelectOp>(reader);
    if (!select || select.getTrueValue() != element ||
        select.getFalseValue() == element ||
        (condition && condition != select.getCondition()))
      return {};
    condition = select.getCondition();
  }
  if (!loop || !condition)
    return {};
  return outermost(
      RowMasks().ofCondition(generic, condition, loop.getPosition()));
}
