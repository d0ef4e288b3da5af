//===- HoistWanted.cpp - rows that are known before they are computed -----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel computes which rows it stores where it stores them, often in a
// branch. What that is computed from is mostly there before.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static bool isBefore(Value value, Operation *op) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp()->isProperAncestor(op);
  Operation *def = value.getDefiningOp();
  Operation *ancestor = def->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && def->isBeforeInBlock(ancestor);
}

std::optional<WantedRange>
tilebridge::cpu::knownBefore(const WantedRange &range, Operation *op) {
  return range.of([&](Value value) { return isBefore(value, op); });
}

namespace {

/// Moves ops, and what they are computed from, before a place.
class Hoist {
public:
  explicit Hoist(Operation *place) : place(place) {}

  /// False where that cannot be; then nothing is moved.
  bool run(Value value) {
    if (!collect(value, mostOps))
      return false;
    for (Operation *op : ops)
      op->moveBefore(place);
    return true;
  }

private:
  static constexpr unsigned mostOps = 16;

  /// A number, or a block of rank 1, such as a mask, that is computed from
  /// others without memory. It may be out of a branch that it stands in:
  /// divisions do not trap (SafeDivision.h).
  static bool mayMove(Operation *op) {
    if (!isMemoryEffectFree(op))
      return false;
    if (kindOf(op) == OpKind::Scalar)
      return op->getNumRegions() == 0;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    return op->getNumResults() == 1 && type && type.getRank() == 1 &&
           (isElementwise(op) || isShapeOfMemory(op) ||
            isa<tensor::SplatOp, tensor::EmptyOp, arith::ConstantOp>(op));
  }

  bool collect(Value value, unsigned depth) {
    if (isBefore(value, place))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0)
      return false;
    if (ops.contains(op))
      return true;
    // It stands behind the place, or in a branch or a loop there.
    Operation *ancestor = place->getBlock()->findAncestorOpInBlock(*op);
    if (!ancestor || op == place || ancestor->isBeforeInBlock(place) ||
        !mayMove(op))
      return false;
    llvm::SetVector<Value> operands;
    getUsedValuesDefinedAbove(op->getRegions(), operands);
    operands.insert(op->operand_begin(), op->operand_end());
    if (!llvm::all_of(operands, [&](Value operand) {
          return collect(operand, depth - 1);
        }))
      return false;
    ops.insert(op);
    return true;
  }

  Operation *place;
  /// In order.
  llvm::SetVector<Operation *> ops;
};

} // namespace

/// What is stored is known before the first tensor of its block is computed.
static void hoistNumbers(Operation *op) {
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
      Hoist(place).run(value);
}

/// Which rows, or columns, of a product are wanted is known before the loops
/// around it, as far out as can be.
static void hoistRange(Operation *product,
                       const std::optional<WantedRange> &range) {
  if (!range)
    return;
  SmallVector<Operation *> places = {product};
  for (Operation *op = product->getParentOp(); op; op = op->getParentOp())
    if (isa<scf::ForOp>(op))
      places.push_back(op);
  SmallVector<Value> values;
  for (const WantedPart &part : range->parts) {
    llvm::append_range(values, part.values());
    for (auto [condition, holds] : part.conditions)
      values.push_back(condition);
  }
  for (Value value : values)
    for (Operation *place : llvm::reverse(places))
      if (Hoist(place).run(value))
        break;
}

void tilebridge::cpu::hoistWanted(func::FuncOp func) {
  SmallVector<Operation *> ops, products;
  func.walk(
      [&](Operation *op) { (isProduct(op) ? products : ops).push_back(op); });
  llvm::for_each(ops, hoistNumbers);
  for (Operation *product : products) {
    hoistRange(product, findWantedRows(product));
    hoistRange(product, findWantedColumns(product));
  }
}
