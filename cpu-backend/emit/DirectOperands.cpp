//===- DirectOperands.cpp - operands that are computed while packed ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The right operand of a product that a loop adds up is packed, row by row, in
// vectors along the row. What is computed element by element, such as weights
// that are unpacked and scaled, is computed right there: it is in no memory
// before. That takes a computation whose reads are contiguous along the row,
// too; those that are not are copied.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DirectOperands.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/RepeatedLanes.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

class Finder {
public:
  Finder(Operation *loop, DirectOperands &found) : loop(loop), found(found) {}

  /// Follows `tensor`, whose last dimension has the lanes, or which is the same
  /// for all of them. What the loop does not compute is computed before.
  bool follow(Value tensor, bool hasLanes) {
    Operation *op = tensor.getDefiningOp();
    if (!op || inner.contains(op) || !loop->isProperAncestor(op))
      return true;
    if (isa<arith::ConstantOp, tensor::EmptyOp, tensor::SplatOp, ub::PoisonOp>(
            op))
      return true;
    if (auto load = matchLoad(tensor))
      return keepIfAcross(op, load->read.getBuffer().getType(), hasLanes);
    // What others need, too, is for the plan to decide.
    if (!op->hasOneUse() && !order.empty())
      return op->getNumResults() == 1;
    if (isElementwise(op))
      return enter(op) && followElementwise(op, hasLanes);
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
      int64_t last = cast<RankedTensorType>(tensor.getType()).getRank() - 1;
      // A row that is computed, and repeated, is computed once.
      if (Operation *row = op->getOperand(0).getDefiningOp();
          row && hasLanes && loop->isProperAncestor(row) &&
          isElementwise(row) && broadcast.getDimensions().front() == 0 &&
          !llvm::is_contained(broadcast.getDimensions(), last)) {
        found.kept.insert(row);
        return enter(op);
      }
      return enter(op) &&
             follow(op->getOperand(0),
                    hasLanes &&
                        !llvm::is_contained(broadcast.getDimensions(), last));
    }
    // Words that are repeated for the weights in them are spread over the
    // lanes; a row of them, for all rows, is written down.
    if (auto repeated = RepeatedLanes::match(op); repeated && hasLanes) {
      Operation *wide = op->getOperand(0).getDefiningOp();
      auto type = cast<RankedTensorType>(tensor.getType());
      if (type.getRank() > 1 && wide->hasOneUse())
        return enter(op) && enter(wide) && follow(repeated->source, true);
    }
    // Other lanes that a reshape makes of several dimensions are written down
    // first.
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        (!hasLanes || keepsLast(op)))
      return enter(op) && follow(op->getOperand(0), hasLanes);
    if (kindOf(op) == OpKind::Inlineable)
      found.kept.insert(op);
    return true;
  }

  void commit() { found.inner.insert(order.begin(), order.end()); }
  bool isComputed() const { return !order.empty(); }

private:
  bool enter(Operation *op) {
    inner.insert(op);
    order.push_back(op);
    return op->getNumResults() == 1;
  }

  bool followElementwise(Operation *op, bool hasLanes) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()) ||
          (linalgOp && linalgOp.getMatchingBlockArgument(&operand).use_empty()))
        continue;
      bool hasThere = hasLanes;
      if (linalgOp) {
        AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
        for (unsigned i = 0; i + 1 < map.getNumResults(); ++i)
          if (hasLanes &&
              map.getResult(i).isFunctionOfDim(map.getNumDims() - 1))
            return false;
        hasThere &= map.getNumResults() > 0 &&
                    map.getResult(map.getNumResults() - 1)
                        .isFunctionOfDim(map.getNumDims() - 1);
      }
      if (!follow(operand.get(), hasThere))
        return false;
    }
    return true;
  }

  /// The last dimension stays one.
  static bool keepsLast(Operation *op) {
    auto wide = cast<RankedTensorType>(isa<tensor::ExpandShapeOp>(op)
                                           ? op->getResult(0).getType()
                                           : op->getOperand(0).getType());
    auto groups =
        isa<tensor::ExpandShapeOp>(op)
            ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
            : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    int64_t last = wide.getRank() - 1;
    return !groups.empty() && wide.getDimSize(last) > 1 &&
           llvm::all_of(groups.back(), [&](int64_t d) {
             return d == last || wide.getDimSize(d) == 1;
           });
  }

  /// A copy whose rows are contiguous takes the place of a block that is
  /// contiguous along another dimension.
  bool keepIfAcross(Operation *op, Type memory, bool hasLanes) {
    auto type = dyn_cast<MemRefType>(memory);
    if (!type)
      return false;
    SmallVector<int64_t> strides = type.getStridesAndOffset().first;
    if (hasLanes && strides.size() > 1 && strides.back() != 1)
      found.kept.insert(op);
    return true;
  }

  Operation *loop;
  DirectOperands &found;
  llvm::DenseSet<Operation *> inner;
  SmallVector<Operation *> order;
};

} // namespace

Value tilebridge::cpu::packedValue(linalg::MatmulOp op) {
  Value operand = op.getInputs()[1];
  if (auto branch = operand.getDefiningOp<scf::IfOp>();
      branch && branch->hasAttr(sharedAttr))
    return branch.thenBlock()->getTerminator()->getOperand(0);
  return operand;
}

/// Gathered rows that only this product reads, in a loop that writes nothing:
/// they are packed from where they lie (MatmulGathered.cpp,
/// MatmulGatheredRows.cpp).
static Operation *findGatheredRows(linalg::MatmulOp op) {
  auto rows = op.getInputs()[0].getDefiningOp<linalg_ext::GatherRowsOp>();
  Operation *loop = op->getParentOp();
  AffineMap straight =
      AffineMap::getMultiDimMapWithTargets(3, {0, 2}, op->getContext());
  bool isIt = rows && rows.getDim() == 0 && rows->hasOneUse() &&
              !op->hasAttr(maskedRowsAttr) &&
              rows->getBlock() == op->getBlock() &&
              op.getIndexingMapsArray()[0] == straight &&
              !anyInside(loop, [](Operation *inner) {
                return inner->getNumRegions() == 0 && mayWrite(inner);
              });
  return isIt ? rows.getOperation() : nullptr;
}

void tilebridge::cpu::findDirectOperands(func::FuncOp func,
                                         DirectOperands &found) {
  func.walk([&](linalg::MatmulOp op) {
    if (op->hasAttr(deepAttr))
      if (Operation *rows = findGatheredRows(op))
        found.inner.insert(rows);
    Value tensor = packedValue(op);
    Operation *def = tensor.getDefiningOp();
    if (!def)
      return;
    def->removeAttr(directAttr);
    auto type = cast<RankedTensorType>(tensor.getType());
    AffineMap map = op.getIndexingMapsArray()[1];
    if (!op->hasAttr(deepAttr) || !tensor.hasOneUse() || matchLoad(tensor) ||
        type.getElementType().isInteger(1) || map.getNumResults() != 2 ||
        map != AffineMap::getMultiDimMapWithTargets(3, {2, 1},
                                                    func.getContext()) ||
        !op->getParentOp()->isAncestor(def) ||
        op.getInputs()[0] == op.getInputs()[1])
      return;
    DirectOperands here;
    Finder finder(op->getParentOp(), here);
    if (!finder.follow(tensor, /*hasLanes=*/true) || !finder.isComputed())
      return;
    finder.commit();
    found.inner.insert(here.inner.begin(), here.inner.end());
    found.kept.insert(here.kept.begin(), here.kept.end());
    def->setAttr(directAttr, UnitAttr::get(func.getContext()));
  });
}
