//===- MaskedRows.cpp - products of rows that a mask chooses --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block of tokens that are sorted by their experts is multiplied with the
// weights of each of these in turn, and rows of other experts' tokens are
// zeros. As the sums go on from expert to expert, all of their rows are wanted,
// and no end of what is stored says which ones need not be multiplied: the mask
// does.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The number that all elements of a tensor are, if an op says so.
static Value elementOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  return value;
}

bool tilebridge::cpu::keepsZero(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

/// A number, or all elements of a tensor, are zero, whatever its sign.
static bool isZero(Value value) {
  value = elementOf(value);
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// The same, and adding zeros to it changes nothing: -0.0 + 0.0 is 0.0.
static bool isZeroOfSums(Value value) {
  value = elementOf(value);
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

namespace {

/// Finds masks of rank 1 such that rows of a tensor are zeros wherever one is
/// false.
class ZeroRows {
public:
  using Found = SmallVector<Value, 2>;

  /// Those along dimension `dim`.
  Found of(Value tensor, unsigned dim) {
    Operation *op = tensor.getDefiningOp();
    if (!op || --budget < 0)
      return {};
    if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op))
      return static_cast<unsigned>(rows.getDim()) == dim && rows.getRowmask() &&
                     isZeroOrNone(rows.getOther())
                 ? Found{rows.getRowmask()}
                 : Found();
    if (auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op))
      return ofMask(load.getMask(), load.getOther(), dim);
    if (auto gather = dyn_cast<linalg_ext::GatherOp>(op))
      return gather.getMask() ? ofMask(gather.getMask(), gather.getOther(), dim)
                              : Found();
    if (isa<arith::SelectOp>(op)) {
      if (!isa<RankedTensorType>(op->getOperand(0).getType()))
        return {};
      Found found = ofMask(op->getOperand(0), op->getOperand(2), dim);
      if (isZero(op->getOperand(2)))
        llvm::append_range(found, of(op->getOperand(1), dim));
      return found;
    }
    if (keepsZero(op))
      return of(op->getOperand(0), dim);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !isElementwise(op) || generic.getNumResults() != 1)
      return {};
    return ofElement(generic, generic.getBody()->getTerminator()->getOperand(0),
                     dim);
  }

private:
  static bool isZeroOrNone(Value other) { return !other || isZero(other); }

  static Found ofMask(Value mask, Value other, unsigned dim) {
    return isZeroOrNone(other) ? findRowMasks(mask, dim) : Found();
  }

  /// Those of a value of the scalar code of `op`, along a dimension of its
  /// loops.
  Found ofElement(linalg::GenericOp op, Value value, unsigned dim) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBody() ||
          argument.getArgNumber() >= op.getNumDpsInputs())
        return {};
      OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
      AffineMap map = op.getMatchingIndexingMap(operand);
      for (auto [d, place] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(place);
            loop && loop.getPosition() == dim)
          return of(operand->get(), d);
      return {};
    }
    Operation *code = value.getDefiningOp();
    if (code->getBlock() != op.getBody())
      return {};
    if (keepsZero(code))
      return ofElement(op, code->getOperand(0), dim);
    auto select = dyn_cast<arith::SelectOp>(code);
    if (!select || !isZeroElement(op, select.getFalseValue()))
      return {};
    Found found = findRowMasks(op, select.getCondition(), dim);
    llvm::append_range(found, ofElement(op, select.getTrueValue(), dim));
    return found;
  }

  static bool isZeroElement(linalg::GenericOp op, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return isZero(value);
    return argument.getOwner() == op.getBody() &&
           argument.getArgNumber() < op.getNumDpsInputs() &&
           isZero(op.getDpsInputOperand(argument.getArgNumber())->get());
  }

  int budget = 32;
};

} // namespace

/// It is computed from what the program reads, as the experts of tokens are.
/// What indices alone give, such as the pixels beyond a picture's edges, leaves
/// out few rows, and others in each iteration.
static bool dependsOnMemory(Value mask) {
  constexpr size_t most = 64;
  llvm::SetVector<Operation *> ops;
  bool isGiven = false;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && ops.size() < most)
      ops.insert(op);
    // A block that is an argument of the function.
    isGiven |= !op && isa<RankedTensorType>(value.getType()) &&
               isa<func::FuncOp>(value.getParentBlock()->getParentOp());
  };
  add(mask);
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i];
    if (isGiven || mayRead(op) ||
        llvm::any_of(op->getResults(),
                     [](Value value) { return matchLoad(value).has_value(); }))
      return true;
    llvm::for_each(op->getOperands(), add);
  }
  return isGiven;
}

/// Nothing happens to `argument` on the way to `value` but that products are
/// added to it.
static bool isAddedTo(Value value, Value argument) {
  while (value != argument) {
    if (auto product = value.getDefiningOp<linalg::MatmulOp>()) {
      value = product.getDpsInits()[0];
      continue;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    if (!loop)
      return false;
    auto result = cast<OpResult>(value);
    BlockArgument carried = loop.getTiedLoopRegionIterArg(result);
    if (!isAddedTo(loop.getTiedLoopYieldedValue(carried)->get(), carried))
      return false;
    value = loop.getTiedLoopInit(result)->get();
  }
  return true;
}

Value tilebridge::cpu::findMaskedRows(linalg::MatmulOp op) {
  // Fewer rows are one or two tiles of registers.
  constexpr int64_t leastRows = 16;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto straight = AffineMap::getMultiDimMapWithTargets(
      3, ArrayRef<unsigned>{0, 2}, op.getContext());
  if (!type || !type.hasStaticShape() || type.getDimSize(0) < leastRows ||
      type.getDimSize(1) == 1 || op.getIndexingMapsArray()[0] != straight)
    return {};
  ZeroRows::Found masks = ZeroRows().of(op.getInputs()[0], 0);
  if (masks.empty())
    return {};
  SmallVector<scf::ForOp> loops;
  Value sums = op.getDpsInits()[0];
  while (auto argument = dyn_cast<BlockArgument>(sums)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop ||
        !isAddedTo(loop.getTiedLoopYieldedValue(argument)->get(), argument))
      return {};
    loops.push_back(loop);
    sums = loop.getTiedLoopInit(argument)->get();
  }
  if (!isZeroOfSums(sums))
    return {};
  for (Value mask : masks)
    if (cast<RankedTensorType>(mask.getType()).getDimSize(0) ==
            type.getDimSize(0) &&
        dependsOnMemory(mask) && llvm::any_of(loops, [&](scf::ForOp loop) {
          return loop.getRegion().isAncestor(mask.getParentRegion());
        }))
      return mask;
  return {};
}

linalg::MatmulOp tilebridge::cpu::maskedProductOf(Value tensor) {
  if (!tensor || !tensor.hasOneUse())
    return {};
  OpOperand &use = *tensor.use_begin();
  auto op = dyn_cast<linalg::MatmulOp>(use.getOwner());
  return op && use.getOperandNumber() == 0 && op->hasAttr(maskedRowsAttr)
             ? op
             : linalg::MatmulOp();
}

void tilebridge::cpu::markMaskedRows(func::FuncOp func) {
  func.walk([](linalg::MatmulOp op) {
    op->removeAttr(maskedRowsAttr);
    if (findMaskedRows(op))
      op->setAttr(maskedRowsAttr, UnitAttr::get(op.getContext()));
  });
}
