//===- WantedRows.cpp - rows of a product that somebody sees ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The last block of rows is stored in part, and the only one of a single row
// almost not at all, as are the blocks of a mixture of experts: what is stored
// of the sums of a loop is known before the loop, and no more of them needs to
// be computed.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The rows of all slices that are taken of `tensor`, and of all stores of rows
/// by a mask; false where anything else is done with it.
static bool collectSlices(Value tensor, SmallVectorImpl<WantedRows> &slices) {
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                                strides = slice.getMixedStrides();
      auto size = dyn_cast<Value>(slice.getMixedSizes().front());
      if (!size || constantOf(strides.front()) != 1)
        return false;
      slices.push_back({offsets.front(), size, Value()});
      continue;
    }
    if (auto rows = dyn_cast<tilebridge::linalg_ext::ScatterRowsOp>(user)) {
      if (use.get() != rows.getValue() || rows.getDim() != 0 ||
          !rows.getRowmask())
        return false;
      slices.push_back({OpFoldResult(), Value(), rows.getRowmask()});
      continue;
    }
    if (!isElementwise(user) || user->getNumResults() != 1)
      return false;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    if (linalgOp && !linalgOp.getMatchingIndexingMap(&use).isIdentity())
      return false;
    if (cast<RankedTensorType>(user->getResult(0).getType()).getShape() !=
            cast<RankedTensorType>(tensor.getType()).getShape() ||
        !collectSlices(user->getResult(0), slices))
      return false;
  }
  return true;
}

/// What decides, wherever it is computed.
static std::optional<WantedRows> rowsOf(linalg::MatmulOp op) {
  auto loop = cast<scf::ForOp>(op->getParentOp());
  OpOperand &yielded = *op->getResult(0).use_begin();
  SmallVector<WantedRows> slices;
  if (!collectSlices(loop.getResult(yielded.getOperandNumber()), slices) ||
      slices.empty())
    return std::nullopt;
  const WantedRows &first = slices.front();
  bool isOne = llvm::all_of(slices, [&](const WantedRows &slice) {
    return slice.low == first.low && slice.size == first.size &&
           slice.mask == first.mask;
  });
  return isOne ? std::optional(first) : std::nullopt;
}

static bool isBefore(Value value, Operation *loop) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp()->isProperAncestor(loop);
  Operation *def = value.getDefiningOp();
  Operation *ancestor = def->getBlock()->findAncestorOpInBlock(*loop);
  return ancestor && def->isBeforeInBlock(ancestor);
}

/// Moves what `value` is computed from before the loop; false where that cannot
/// be.
static bool hoist(Value value, Operation *loop, unsigned depth) {
  if (isBefore(value, loop))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || depth == 0 || def->getBlock() != loop->getBlock() ||
      def->getNumRegions() != 0 || !isMemoryEffectFree(def) ||
      kindOf(def) != OpKind::Scalar ||
      !llvm::all_of(def->getOperands(), [&](Value operand) {
        return hoist(operand, loop, depth - 1);
      }))
    return false;
  def->moveBefore(loop);
  return true;
}

void tilebridge::cpu::hoistWantedRows(func::FuncOp func) {
  constexpr unsigned mostOps = 16;
  func.walk([&](linalg::MatmulOp op) {
    if (!op->hasAttr(deepAttr))
      return;
    std::optional<WantedRows> rows = rowsOf(op);
    if (!rows || rows->mask || !hoist(rows->size, op->getParentOp(), mostOps))
      return;
    if (auto low = dyn_cast<Value>(rows->low))
      hoist(low, op->getParentOp(), mostOps);
  });
}

std::optional<WantedRows> tilebridge::cpu::findWantedRows(linalg::MatmulOp op) {
  std::optional<WantedRows> rows = rowsOf(op);
  if (!rows ||
      !isBefore(rows->mask ? rows->mask : rows->size, op->getParentOp()))
    return std::nullopt;
  if (rows->mask)
    return rows;
  auto low = dyn_cast<Value>(rows->low);
  if (low && !isBefore(low, op->getParentOp()))
    return std::nullopt;
  return rows;
}
