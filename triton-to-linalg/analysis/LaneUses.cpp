//===- LaneUses.cpp - who sees a lane of a tensor ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/LaneUses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static RankedTensorType tensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

bool LaneUses::areLeftOut(Value tensor, unsigned dim) {
  RankedTensorType type = tensorType(tensor);
  if (!type || dim >= type.getRank())
    return false;
  if (!count)
    count = type.getDimSize(dim);
  if (type.getDimSize(dim) != count)
    return false;
  if (!visited.insert({tensor, dim}).second)
    return true;
  return visited.size() <= mostValues &&
         llvm::all_of(tensor.getUses(),
                      [&](OpOperand &use) { return visitUse(use, dim); });
}

/// The program ends where a lane of a divisor is zero, seen or not.
static bool isDivisor(OpOperand &use) {
  return use.getOperandNumber() == 1 &&
         isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
             use.getOwner());
}

/// Each element of the results is made of the elements at its place.
static bool isByElement(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) && !isa<tt::ElementwiseInlineAsmOp>(op);
}

bool LaneUses::visitUse(OpOperand &use, unsigned dim) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](tt::LoadOp op) { return visitLoad(op, use, dim); })
      .Case([&](tt::StoreOp op) {
        isAddress |= use.get() == op.getPtr();
        return leavesOut(op.getMask(), dim);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp,
            tt::JoinOp, tt::SplitOp>(
          [&](Operation *op) { return visitShape(op, use, dim); })
      .Case<tt::DotOp, tt::DotScaledOp>(
          [&](Operation *op) { return visitProduct(op, use, dim); })
      .Case<tt::ReduceOp, tt::ScanOp>(
          [&](Operation *op) { return visitReduction(op, dim); })
      .Case([&](scf::ForOp loop) {
        OpResult result = loop.getTiedLoopResult(&use);
        return result && areLeftOut(result, dim) &&
               areLeftOut(loop.getTiedLoopRegionIterArg(&use), dim);
      })
      .Case([&](scf::YieldOp) { return visitYield(use, dim); })
      .Default([&](Operation *op) {
        return isByElement(op) && !isDivisor(use) && visitResults(op, dim);
      });
}

bool LaneUses::visitResults(Operation *op, unsigned dim) {
  return llvm::all_of(op->getResults(),
                      [&](Value result) { return areLeftOut(result, dim); });
}

bool LaneUses::visitLoad(tt::LoadOp load, OpOperand &use, unsigned dim) {
  if (load.getIsVolatile())
    return false;
  isAddress |= use.get() == load.getPtr();
  if (use.get() != load.getOther()) {
    // What such lanes have is not made of them.
    if (leavesOut(load.getMask(), dim))
      return true;
    found.push_back({load, dim});
  }
  return areLeftOut(load.getResult(), dim);
}

/// True if `bounds` has one that leaves out at least as much as `bound` does.
static bool hasBound(ArrayRef<const Expr *> bounds, const Expr *bound,
                     bool isLower) {
  return llvm::any_of(bounds, [&](const Expr *other) {
    std::optional<int64_t> own = bound->asConstant(),
                           given = other->asConstant();
    return other == bound ||
           (own && given && (isLower ? *given >= *own : *given <= *own));
  });
}

bool LaneUses::leavesOut(Value mask, unsigned dim) {
  if (!mask)
    return false;
  MaskForm form = analysis.mask(mask);
  const DimBounds &own = taken.dims[takenDim], &given = form.dims[dim];
  auto has = [&](bool isLower) {
    return llvm::all_of(isLower ? own.lower : own.upper, [&](const Expr *e) {
      return hasBound(isLower ? given.lower : given.upper, e, isLower);
    });
  };
  auto hasPart = [&](const ResidualMask &part) {
    return llvm::any_of(form.residuals, [&](const ResidualMask &other) {
      return other.lanes == part.lanes && other.dim == dim;
    });
  };
  return has(true) && has(false) &&
         llvm::all_of(taken.conditions,
                      [&](const Expr *condition) {
                        return llvm::is_contained(form.conditions, condition);
                      }) &&
         llvm::all_of(taken.residuals, hasPart);
}

bool LaneUses::visitShape(Operation *op, OpOperand &use, unsigned dim) {
  int64_t rank = tensorType(use.get()).getRank();
  // What is joined is told apart by a new last dimension.
  if (auto split = dyn_cast<tt::SplitOp>(op))
    return dim + 1 < rank && visitResults(split, dim);
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op))
    return visitResults(op, dim >= expand.getAxis() ? dim + 1 : dim);
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    ArrayRef<int32_t> order = trans.getOrder();
    return visitResults(op, llvm::find(order, static_cast<int32_t>(dim)) -
                                order.begin());
  }
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape)
    return visitResults(op, dim);
  if (reshape.getAllowReorder())
    return false;
  // The dimension with as many elements before it.
  auto before = [](ArrayRef<int64_t> shape, unsigned d) {
    int64_t product = 1;
    for (int64_t size : shape.take_front(d))
      product *= size;
    return product;
  };
  ArrayRef<int64_t> from = tensorType(use.get()).getShape(),
                    to = tensorType(reshape.getResult()).getShape();
  for (unsigned d = 0; d < to.size(); ++d)
    if (to[d] == from[dim] && before(to, d) == before(from, dim))
      return visitResults(op, d);
  return false;
}

/// Rows of the left operand and columns of the right one are the result's.
bool LaneUses::visitProduct(Operation *op, OpOperand &use, unsigned dim) {
  enum { Left, Right, Sum, LeftScale, RightScale };
  unsigned role = use.getOperandNumber();
  auto scaled = dyn_cast<tt::DotScaledOp>(op);
  if (role == LeftScale && !scaled.getAScale())
    role = RightScale;
  unsigned rank = tensorType(op->getResult(0)).getRank(), row = rank - 2,
           column = rank - 1;
  bool isBatch = rank == 3 && dim == 0;
  if (role == Sum || isBatch)
    return visitResults(op, dim);
  // Scales of both operands have a row for each of those.
  if (role == RightScale)
    return dim == row && visitResults(op, column);
  unsigned kept = role == Right ? column : row;
  return dim == kept && visitResults(op, kept);
}

bool LaneUses::visitReduction(Operation *op, unsigned dim) {
  unsigned axis = isa<tt::ReduceOp>(op) ? cast<tt::ReduceOp>(op).getAxis()
                                        : cast<tt::ScanOp>(op).getAxis();
  if (dim == axis || !isMemoryEffectFree(op))
    return false;
  return visitResults(op, isa<tt::ReduceOp>(op) && dim > axis ? dim - 1 : dim);
}

bool LaneUses::visitYield(OpOperand &use, unsigned dim) {
  Operation *parent = use.getOwner()->getParentOp();
  unsigned number = use.getOperandNumber();
  if (isa<scf::IfOp>(parent))
    return areLeftOut(parent->getResult(number), dim);
  auto loop = dyn_cast<scf::ForOp>(parent);
  // The lanes that the next iteration's stores leave out are others.
  return loop && !loop->isProperAncestor(origin) &&
         areLeftOut(loop.getResult(number), dim) &&
         areLeftOut(loop.getRegionIterArg(number), dim);
}
