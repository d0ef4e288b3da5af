//===- Wanted.cpp - the part of a tensor that somebody sees ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The last block of rows is stored in part, and one that is padded, such as
// that of the few heads that share a key, or a single token's, almost not at
// all. How many rows are stored is often known before they are computed: then
// others need not be. What is summed over rows may want those of a mask alone.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Wanted.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// Follows what is computed from a tensor to all of its ends.
class Search {
public:
  Search(Value tensor, unsigned dim, WantedBy by, ArrayRef<Operation *> besides)
      : root(tensor), by(by), besides(besides),
        found{cast<RankedTensorType>(tensor.getType()).getDimSize(dim), {}} {}

  std::optional<WantedRange> run(unsigned dim) {
    if (!visit(root, dim) || found.parts.empty())
      return std::nullopt;
    // A value of another iteration is another number.
    return found.of([&](Value value) {
      return llvm::none_of(around, [&](scf::ForOp loop) {
        return loop.getRegion().isAncestor(value.getParentRegion());
      });
    });
  }

private:
  /// Larger functions are not searched to the end.
  static constexpr unsigned mostValues = 200, mostVisits = 600;
  /// What says more is not worth asking for.
  static constexpr size_t mostParts = 4;

  /// False where all indices may be wanted.
  bool visit(Value tensor, unsigned dim) {
    if (!visited.insert({tensor, dim}))
      return true;
    return visited.size() <= mostValues && ++visits <= mostVisits &&
           llvm::all_of(tensor.getUses(),
                        [&](OpOperand &use) { return visitUse(use, dim); });
  }

  /// The branches that `user` is in, and the tensor is not.
  SmallVector<std::pair<Value, bool>, 1> conditionsOf(Operation *user) {
    SmallVector<std::pair<Value, bool>, 1> result;
    for (Operation *op = user, *parent = op->getParentOp();
         parent && !parent->isAncestor(root.getParentRegion()->getParentOp());
         op = parent, parent = op->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(parent))
        result.push_back({branch.getCondition(),
                          op->getParentRegion() == &branch.getThenRegion()});
    return result;
  }

  bool add(WantedPart part, Operation *user) {
    part.conditions = conditionsOf(user);
    for (WantedPart &other : found.parts)
      if (other.hasSameIndices(part) &&
          (other.conditions.empty() || other.conditions == part.conditions))
        return true;
    if (part.conditions.empty() && addConstants(part))
      return true;
    found.parts.push_back(std::move(part));
    return found.parts.size() <= mostParts;
  }

  /// All indices, if they are wanted in some branch alone.
  bool addAll(Operation *user) {
    return !conditionsOf(user).empty() &&
           add({index(0), index(found.length)}, user);
  }

  /// Of ranges of known numbers, all from the first one to the last one.
  bool addConstants(const WantedPart &part) {
    auto low = constantOf(part.low), size = constantOf(part.size);
    if (part.mask || !low || !size)
      return false;
    for (WantedPart &other : found.parts) {
      if (other.mask || !other.conditions.empty())
        continue;
      auto otherLow = constantOf(other.low), otherSize = constantOf(other.size);
      if (!otherLow || !otherSize)
        continue;
      int64_t first = std::min(*low, *otherLow),
              end = std::max(*low + *size, *otherLow + *otherSize);
      other = {index(first), index(end - first)};
      return true;
    }
    return false;
  }

  OpFoldResult index(int64_t value) {
    return IntegerAttr::get(IndexType::get(root.getContext()), value);
  }

  bool visitUse(OpOperand &use, unsigned dim) {
    Operation *user = use.getOwner();
    if (llvm::is_contained(besides, user))
      return true;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return constantOf(slice.getMixedStrides()[dim]) == 1
                 ? add({slice.getMixedOffsets()[dim],
                        slice.getMixedSizes()[dim]},
                       user)
                 : addAll(user);
    if (auto rows = dyn_cast<linalg_ext::ScatterRowsOp>(user)) {
      if (use.get() != rows.getValue())
        return addAll(user);
      if (static_cast<unsigned>(rows.getDim()) == dim)
        return addRows(rows.getRowmask(), user);
      // Of a row all that its array has.
      OpFoldResult size = sizeAlong(rows.getView(), dim);
      return size ? add({index(0), size}, user) : addAll(user);
    }
    if (auto store = dyn_cast<linalg_ext::MaskedStoreOp>(user))
      return addRows(by == WantedBy::Masks && use.get() == store.getValue()
                         ? findRowMask(store.getMask(), dim)
                         : Value(),
                     user);
    // What is changed by a mask, as each part of a split K changes the sums.
    if (auto atomic = dyn_cast<linalg_ext::AtomicRMWOp>(user))
      return addRows(by == WantedBy::Masks && atomic.getMask() &&
                             &use == &atomic.getValueMutable()
                         ? findRowMask(atomic.getMask(), dim)
                         : Value(),
                     user);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(user))
      return visitSelected(use, dim,
                           [&] { return visitLinalg(linalgOp, use, dim); });
    if (auto reduce = dyn_cast<linalg_ext::ReduceOp>(user)) {
      auto reduced = static_cast<unsigned>(reduce.getDimension());
      if (dim == reduced)
        return addAll(user);
      return llvm::all_of(reduce->getResults(), [&](Value result) {
        return visit(result, dim > reduced ? dim - 1 : dim);
      });
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return visitReshape(user, dim);
    // What a load gives where it does not read.
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return matchLoad(insert.getResult()) && use.get() == insert.getDest()
                 ? visit(insert.getResult(), dim)
                 : addAll(user);
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      OpResult result = loop.getTiedLoopResult(&use);
      return result && visit(result, dim) &&
             visit(loop.getTiedLoopRegionIterArg(&use), dim);
    }
    if (isa<scf::YieldOp>(user))
      return visitYield(user->getParentOp(), use.getOperandNumber(), dim);
    if (isElementwise(user))
      return visitSelected(use, dim,
                           [&] { return visit(user->getResult(0), dim); });
    return addAll(user);
  }

  /// Rows of a mask, or all if it is null.
  bool addRows(Value mask, Operation *user) {
    if (!mask)
      return addAll(user);
    if (OpFoldResult count = countOfFirst(mask))
      return add({index(0), count}, user);
    return add({OpFoldResult(), OpFoldResult(), mask}, user);
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

  /// Where what an elementwise op gives is wanted at any index, elements of the
  /// operand may be wanted only where a mask of rows lets them through.
  bool visitSelected(OpOperand &use, unsigned dim,
                     llvm::function_ref<bool()> visitResults) {
    if (by != WantedBy::Masks)
      return visitResults();
    size_t seen = visited.size(), loops = around.size();
    auto parts = found.parts;
    if (visitResults())
      return true;
    Value mask = findSelectingRows(use, dim);
    if (!mask)
      return false;
    // What has been seen on the way to there is not known to be wanted in part.
    while (visited.size() > seen)
      visited.pop_back();
    around.truncate(loops);
    found.parts = std::move(parts);
    return addRows(mask, use.getOwner());
  }

  bool visitLinalg(linalg::LinalgOp op, OpOperand &use, unsigned dim) {
    auto loop =
        dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&use).getResult(dim));
    if (!loop || !op.hasPureTensorSemantics())
      return addAll(op);
    SmallVector<std::pair<Value, unsigned>> results;
    for (OpResult result : op->getResults()) {
      AffineMap map = op.getIndexingMapMatchingResult(result);
      const AffineExpr *place = llvm::find(map.getResults(), loop);
      if (place == map.getResults().end())
        return addAll(op);
      results.push_back({result, place - map.getResults().begin()});
    }
    return llvm::all_of(results, [&](std::pair<Value, unsigned> result) {
      return visit(result.first, result.second);
    });
  }

  bool visitReshape(Operation *op, unsigned dim) {
    Value result = op->getResult(0);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      ReassociationIndices dims = expand.getReassociationIndices()[dim];
      if (std::optional<unsigned> same = findDim(result, dims))
        return visit(result, *same);
      return llvm::all_of(result.getUses(), [&](OpOperand &use) {
        return visitSplit(expand, use, dim);
      });
    }
    for (auto [d, group] : llvm::enumerate(
             cast<tensor::CollapseShapeOp>(op).getReassociationIndices()))
      if (llvm::is_contained(group, static_cast<int64_t>(dim)))
        if (auto same = findDim(result, {static_cast<int64_t>(d)}))
          return visit(result, *same);
    return addAll(op);
  }

  /// That of `dims` of `result` that the dimension is, if the others have one
  /// element.
  std::optional<unsigned> findDim(Value result, ArrayRef<int64_t> dims) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t d : dims)
      if (found.length > 1 && type.getDimSize(d) == found.length)
        return static_cast<unsigned>(d);
    return std::nullopt;
  }

  /// Dimension `dim` becomes several, such as tokens and heads: a store may
  /// have a mask that becomes these, too.
  bool visitSplit(tensor::ExpandShapeOp expand, OpOperand &use, unsigned dim) {
    auto store = dyn_cast<linalg_ext::MaskedStoreOp>(use.getOwner());
    if (!store || use.get() != store.getValue())
      return addAll(use.getOwner());
    auto mask = store.getMask().getDefiningOp<tensor::ExpandShapeOp>();
    bool isSame = by == WantedBy::Masks && mask &&
                  mask.getReassociation() == expand.getReassociation() &&
                  cast<ShapedType>(mask.getSrc().getType()).getShape() ==
                      cast<ShapedType>(expand.getSrc().getType()).getShape();
    return addRows(isSame ? findRowMask(mask.getSrc(), dim) : Value(), store);
  }

  Value root;
  WantedBy by;
  ArrayRef<Operation *> besides;
  llvm::SetVector<std::pair<Value, unsigned>> visited;
  unsigned visits = 0;
  /// Loops from one iteration of which to the next one the search has gone.
  SmallVector<scf::ForOp> around;
  WantedRange found;
};

} // namespace

SmallVector<Value> WantedPart::values() const {
  SmallVector<Value> result;
  for (OpFoldResult number : {low, size})
    if (auto value = dyn_cast_if_present<Value>(number))
      result.push_back(value);
  if (mask)
    result.push_back(mask);
  return result;
}

std::optional<WantedRange>
WantedRange::of(function_ref<bool(Value)> isKnown) const {
  WantedRange result{length, {}};
  for (const WantedPart &part : parts) {
    WantedPart known = part;
    llvm::erase_if(known.conditions, [&](std::pair<Value, bool> condition) {
      return !isKnown(condition.first);
    });
    bool isAll = !part.mask && constantOf(part.low) == 0 &&
                 constantOf(part.size) == length;
    if (!llvm::all_of(part.values(), isKnown) ||
        (isAll && known.conditions.empty()))
      return std::nullopt;
    result.parts.push_back(std::move(known));
  }
  return result;
}

std::optional<WantedRange>
tilebridge::cpu::findWanted(Value tensor, unsigned dim, WantedBy by,
                            ArrayRef<Operation *> besides) {
  return Search(tensor, dim, by, besides).run(dim);
}

std::optional<WantedRange> tilebridge::cpu::findWantedRows(Operation *product) {
  Value result = product->getResult(0);
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  return rank < 2 ? std::nullopt
                  : findWanted(result, rank - 2, WantedBy::Masks);
}

std::optional<WantedRange>
tilebridge::cpu::findWantedColumns(Operation *product) {
  Value result = product->getResult(0);
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  return rank < 2 ? std::nullopt
                  : findWanted(result, rank - 1, WantedBy::Masks);
}
