//===- MaskWraps.cpp - lanes that wrap around and that nobody sees ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// On a GPU a load without a mask is cheaper, so that kernels let the columns of
// the last block wrap around and leave them out where they store. Here it is
// the other way round: columns that are left out from the begin are a box in
// memory, and those that wrap around are gathered one by one.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/LaneUses.h"

#include "frontend/TTOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_MASKWRAPSPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// An index that is another one, or anything where a mask is false.
struct Wrap {
  Operation *op;
  /// The other one.
  Value index;
  Value mask;
};

} // namespace

static bool isIndexTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isSignlessInteger() &&
         !type.getElementType().isInteger(1);
}

/// The tensor n where `value` is n - 1.
static Value successorOf(OpBuilder &builder, Value value) {
  DenseElementsAttr last;
  if (matchPattern(value, m_Constant(&last)) && last.isSplat()) {
    APInt number = last.getSplatValue<APInt>();
    return number.isMaxSignedValue()
               ? Value()
               : arith::ConstantOp::create(
                     builder, value.getLoc(),
                     DenseElementsAttr::get(last.getType(), number + 1));
  }
  auto splat = value.getDefiningOp<tt::SplatOp>();
  Value scalar = splat ? splat.getSrc() : value;
  Operation *op = scalar.getDefiningOp();
  APInt one;
  if (!op || op->getNumOperands() != 2 ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&one)) ||
      !((isa<arith::SubIOp>(op) && one.isOne()) ||
        (isa<arith::AddIOp>(op) && one.isAllOnes())))
    return {};
  return splat ? tt::SplatOp::create(builder, value.getLoc(), value.getType(),
                                     op->getOperand(0))
               : op->getOperand(0);
}

/// The indices that kernels write for lanes beyond an end: `i % n`,
/// `tl.where(i < n, i, 0)`, `tl.where(i < 0, 0, i)`, `tl.minimum(i, n - 1)`
/// and `tl.maximum(i, 0)`.
static std::optional<Wrap> wrapOf(OpBuilder &builder, Operation *op,
                                  AccessAnalysis &analysis) {
  using Pred = arith::CmpIPredicate;
  if (op->getNumResults() != 1 || !isIndexTensor(op->getResult(0)))
    return std::nullopt;
  auto compared = [&](Pred predicate, Value index, Value bound) {
    return Wrap{
        op, index,
        arith::CmpIOp::create(builder, op->getLoc(), predicate, index, bound)};
  };
  auto isUniform = [&](Value value) {
    return analysis.varyingDims(value).none();
  };
  if (isa<arith::RemSIOp>(op))
    return compared(Pred::slt, op->getOperand(0), op->getOperand(1));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!isa<RankedTensorType>(select.getCondition().getType()))
      return std::nullopt;
    if (!isUniform(select.getTrueValue()))
      return Wrap{op, select.getTrueValue(), select.getCondition()};
    if (auto cmp = select.getCondition().getDefiningOp<arith::CmpIOp>())
      return Wrap{
          op, select.getFalseValue(),
          arith::CmpIOp::create(builder, op->getLoc(),
                                arith::invertPredicate(cmp.getPredicate()),
                                cmp.getLhs(), cmp.getRhs())};
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    bool isFirst = !isUniform(op->getOperand(0));
    Value index = op->getOperand(!isFirst), bound = op->getOperand(isFirst);
    if (!isUniform(bound))
      return std::nullopt;
    if (isa<arith::MaxSIOp>(op))
      return compared(Pred::sge, index, bound);
    // Kernels compare with the length.
    Value length = successorOf(builder, bound);
    return length ? compared(Pred::slt, index, length)
                  : compared(Pred::sle, index, bound);
  }
  return std::nullopt;
}

/// The one dimension in which a tensor has several elements.
static std::optional<unsigned> onlyDimOf(Value tensor) {
  std::optional<unsigned> found;
  for (auto [dim, size] :
       llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape())) {
    if (size == 1)
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// `mask`, which has several elements in `from` only, along dimension `dim` of
/// `type`.
static Value maskAlong(OpBuilder &builder, Location loc, Value mask,
                       unsigned dim, RankedTensorType type) {
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[dim] = type.getDimSize(dim);
  auto line = RankedTensorType::get(shape, builder.getI1Type());
  if (mask.getType() != line)
    mask = tt::ReshapeOp::create(builder, loc, line, mask,
                                 /*allow_reorder=*/false,
                                 /*efficient_layout=*/false);
  auto wide = RankedTensorType::get(type.getShape(), builder.getI1Type());
  return line == wide ? mask
                      : tt::BroadcastOp::create(builder, loc, wide, mask);
}

static void leaveOut(LaneLoad load, Value mask) {
  OpBuilder builder(load.op);
  Location loc = load.op.getLoc();
  Value taken = maskAlong(builder, loc, mask, load.dim,
                          cast<RankedTensorType>(load.op.getType()));
  if (Value given = load.op.getMask())
    taken = arith::AndIOp::create(builder, loc, given, taken);
  load.op.getMaskMutable().assign(taken);
}

/// True if `mask` has bounds only.
static bool isBox(const MaskForm &mask) {
  return mask.conditions.empty() && mask.residuals.empty();
}

/// Rewrites the index if what it reads beyond the end is not stored.
static bool rewrite(Operation *op) {
  OpBuilder builder(op);
  ExprPool pool;
  AccessAnalysis analysis(pool);
  std::optional<Wrap> wrap = wrapOf(builder, op, analysis);
  if (!wrap)
    return false;
  Value result = op->getResult(0);
  std::optional<unsigned> dim = onlyDimOf(result);
  if (!dim)
    return true;
  std::optional<TensorForm> form = analysis.integers(result);
  if (form && form->isLinear())
    return true;
  MaskForm mask = analysis.mask(wrap->mask);
  const DimBounds &bounds = mask.dims[*dim];
  bool isRemainder = isa<arith::RemSIOp>(op);
  if (mask.isAll() || llvm::any_of(mask.residuals, [&](ResidualMask &part) {
        return part.dim != dim;
      }))
    return true;
  if (isRemainder &&
      (!isBox(mask) || bounds.upper.size() != 1 || !bounds.lower.empty()))
    return true;
  // Lanes that are chosen one by one do not make a gather any quicker.
  if (!isBox(mask)) {
    std::optional<TensorForm> index = analysis.integers(wrap->index);
    if (!index || !index->isLinear())
      return true;
  }
  LaneUses uses(op, analysis, mask, *dim);
  if (!uses.areLeftOut(result, *dim) || !uses.areAddresses())
    return true;
  if (isRemainder) {
    // The remainder of what is negative is not below it.
    builder.setInsertionPointAfter(op);
    Value index =
        arith::MaxSIOp::create(builder, op->getLoc(), wrap->index, result);
    result.replaceAllUsesExcept(index, index.getDefiningOp());
  } else {
    result.replaceAllUsesWith(wrap->index);
  }
  for (LaneLoad load : uses.loads())
    leaveOut(load, wrap->mask);
  return true;
}

namespace {

struct MaskWrapsPass : ttl::impl::MaskWrapsPassBase<MaskWrapsPass> {
  using MaskWrapsPassBase::MaskWrapsPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    bool isChanged = false;
    for (Operation *op : ops)
      isChanged |= rewrite(op);
    if (!isChanged)
      return;
    // Indices that have become others, and masks that were not needed.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
