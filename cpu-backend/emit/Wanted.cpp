//===- Wanted.cpp - the part of a tensor that somebody sees ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The last block of rows is stored in part, and one that is padded, such as
// that of the few heads that share a key, or a single token's, almost not at
// all. How many rows are stored is often known before they are computed: then
// others need not be.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Wanted.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
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

/// The number n of a mask that says i < n, as those of boxes are where rows are
/// stored one by one; null if it is another mask.
static OpFoldResult countOfFirst(Value mask) {
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

/// Follows what is computed from a tensor to all of its ends.
class Search {
public:
  Search(MLIRContext *context, ArrayRef<Operation *> besides)
      : context(context), besides(besides) {}

  std::optional<WantedRange> run(Value tensor, unsigned dim) {
    if (!visit(tensor, dim) || !found)
      return std::nullopt;
    // A value of another iteration is another number.
    for (Value value : found->values())
      if (llvm::any_of(around, [&](scf::ForOp loop) {
            return loop.getRegion().isAncestor(value.getParentRegion());
          }))
        return std::nullopt;
    if (!found->mask && constantOf(found->low) == 0 &&
        constantOf(found->size) ==
            cast<RankedTensorType>(tensor.getType()).getDimSize(dim))
      return std::nullopt;
    return found;
  }

private:
  /// Larger functions are not searched to the end.
  static constexpr unsigned mostValues = 200;

  /// False where all indices may be wanted.
  bool visit(Value tensor, unsigned dim) {
    if (!visited.insert({tensor, dim}).second)
      return true;
    return visited.size() <= mostValues &&
           llvm::all_of(tensor.getUses(),
                        [&](OpOperand &use) { return visitUse(use, dim); });
  }

  bool add(const WantedRange &range) {
    if (!found)
      found = range;
    return *found == range || addConstants(range);
  }

  /// Of ranges of known numbers, all from the first one to the last one.
  bool addConstants(const WantedRange &range) {
    if (range.mask || found->mask)
      return false;
    std::optional<int64_t> low = constantOf(range.low),
                           size = constantOf(range.size),
                           otherLow = constantOf(found->low),
                           otherSize = constantOf(found->size);
    if (!low || !size || !otherLow || !otherSize)
      return false;
    int64_t first = std::min(*low, *otherLow),
            end = std::max(*low + *size, *otherLow + *otherSize);
    found = {index(first), index(end - first), Value()};
    return true;
  }

  OpFoldResult index(int64_t value) {
    return IntegerAttr::get(IndexType::get(context), value);
  }

  bool visitUse(OpOperand &use, unsigned dim) {
    Operation *user = use.getOwner();
    if (llvm::is_contained(besides, user))
      return true;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return constantOf(slice.getMixedStrides()[dim]) == 1 &&
             add({slice.getMixedOffsets()[dim], slice.getMixedSizes()[dim],
                  Value()});
    if (auto rows = dyn_cast<linalg_ext::ScatterRowsOp>(user)) {
      if (use.get() != rows.getValue() || !rows.getRowmask() ||
          static_cast<unsigned>(rows.getDim()) != dim)
        return false;
      if (OpFoldResult count = countOfFirst(rows.getRowmask()))
        return add({index(0), count, Value()});
      return add({OpFoldResult(), OpFoldResult(), rows.getRowmask()});
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(user))
      return visitLinalg(linalgOp, use, dim);
    if (auto reduce = dyn_cast<linalg_ext::ReduceOp>(user)) {
      auto reduced = static_cast<unsigned>(reduce.getDimension());
      return dim != reduced &&
             llvm::all_of(reduce->getResults(), [&](Value result) {
               return visit(result, dim > reduced ? dim - 1 : dim);
             });
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user))
      return visitReshape(expand.getResult(),
                          expand.getReassociationIndices()[dim], use.get(),
                          dim);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      for (auto [d, group] :
           llvm::enumerate(collapse.getReassociationIndices()))
        if (llvm::is_contained(group, static_cast<int64_t>(dim)))
          return visitReshape(collapse.getResult(), {static_cast<int64_t>(d)},
                              use.get(), dim);
      return false;
    }
    // What a load gives where it does not read.
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return matchLoad(insert.getResult()) && use.get() == insert.getDest() &&
             visit(insert.getResult(), dim);
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      OpResult result = loop.getTiedLoopResult(&use);
      return result && visit(result, dim) &&
             visit(loop.getTiedLoopRegionIterArg(&use), dim);
    }
    if (isa<scf::YieldOp>(user))
      return visitYield(user->getParentOp(), use.getOperandNumber(), dim);
    return isElementwise(user) && visit(user->getResult(0), dim);
  }

  bool visitYield(Operation *parent, unsigned number, unsigned dim) {
    if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
      return visit(parent->getResult(number), dim);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return false;
    if (!llvm::is_contained(around, loop))
      around.push_back(loop);
    return visit(loop.getResult(number), dim) &&
           visit(loop.getRegionIterArg(number), dim);
  }

  bool visitLinalg(linalg::LinalgOp op, OpOperand &use, unsigned dim) {
    auto loop =
        dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&use).getResult(dim));
    if (!loop || !op.hasPureTensorSemantics())
      return false;
    for (OpResult result : op->getResults()) {
      AffineMap map = op.getIndexingMapMatchingResult(result);
      const AffineExpr *place = llvm::find(map.getResults(), loop);
      if (place == map.getResults().end() ||
          !visit(result, place - map.getResults().begin()))
        return false;
    }
    return true;
  }

  /// One of `dims` of `result` is dimension `dim` of `tensor`, the others have
  /// one element.
  bool visitReshape(Value result, ArrayRef<int64_t> dims, Value tensor,
                    unsigned dim) {
    int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t d : dims)
      if (size > 1 && type.getDimSize(d) == size)
        return visit(result, static_cast<unsigned>(d));
    return false;
  }

  MLIRContext *context;
  ArrayRef<Operation *> besides;
  llvm::DenseSet<std::pair<Value, unsigned>> visited;
  /// Loops from one iteration of which to the next one the search has gone.
  SmallVector<scf::ForOp> around;
  std::optional<WantedRange> found;
};

} // namespace

SmallVector<Value> WantedRange::values() const {
  SmallVector<Value> result;
  for (OpFoldResult number : {low, size})
    if (auto value = dyn_cast_if_present<Value>(number))
      result.push_back(value);
  if (mask)
    result.push_back(mask);
  return result;
}

std::optional<WantedRange>
tilebridge::cpu::findWanted(Value tensor, unsigned dim,
                            ArrayRef<Operation *> besides) {
  return Search(tensor.getContext(), besides).run(tensor, dim);
}

static bool isBefore(Value value, Operation *op) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp()->isProperAncestor(op);
  Operation *def = value.getDefiningOp();
  Operation *ancestor = def->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && def->isBeforeInBlock(ancestor);
}

bool tilebridge::cpu::isKnownBefore(const WantedRange &range, Operation *op) {
  return llvm::all_of(range.values(),
                      [&](Value value) { return isBefore(value, op); });
}

/// Moves what `value` is computed from before `place`; false where that cannot
/// be.
static bool hoist(Value value, Operation *place, unsigned depth) {
  if (isBefore(value, place))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || depth == 0 || def->getBlock() != place->getBlock() ||
      def->getNumRegions() != 0 || !isMemoryEffectFree(def) ||
      kindOf(def) != OpKind::Scalar ||
      !llvm::all_of(def->getOperands(), [&](Value operand) {
        return hoist(operand, place, depth - 1);
      }))
    return false;
  def->moveBefore(place);
  return true;
}

void tilebridge::cpu::hoistWanted(func::FuncOp func) {
  constexpr unsigned mostOps = 16;
  func.walk([&](Operation *op) {
    SmallVector<OpFoldResult> numbers;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      numbers = slice.getMixedOffsets();
      llvm::append_range(numbers, slice.getMixedSizes());
    } else if (auto rows = dyn_cast<linalg_ext::ScatterRowsOp>(op)) {
      if (rows.getRowmask())
        numbers.push_back(countOfFirst(rows.getRowmask()));
    }
    if (numbers.empty())
      return;
    Operation *place = nullptr;
    for (Operation &other : *op->getBlock()) {
      place = &other;
      if (kindOf(&other) != OpKind::Scalar)
        break;
    }
    for (OpFoldResult number : numbers)
      if (auto value = dyn_cast_if_present<Value>(number))
        hoist(value, place, mostOps);
  });
}
