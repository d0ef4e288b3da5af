//===- NeverNan.cpp - values that are known to be numbers -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Maxima for which NaN counts as missing, and that began with -inf. A loop
// carries such a number if it begins with one, and gives one where it was given
// one: what is asked for already is taken for one meanwhile. As nothing is kept
// from one question to the next, what was taken for one wrongly is forgotten.
//===----------------------------------------------------------------------===//

#include "cpu-backend/NeverNan.h"
#include "cpu-backend/ConstantNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// Values that are looked at for one question: chains of maxima are short.
static constexpr int mostSteps = 100;

namespace {
class Question {
public:
  bool isNumber(Value value) {
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
        ++steps > mostSteps)
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isNumber(argument);
    Operation *op = value.getDefiningOp();
    if (op->hasTrait<OpTrait::ConstantLike>())
      return tilebridge::cpu::isConstantOf(
          op, [](const APFloat &number) { return !number.isNaN(); });
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      return true;
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      return isNumber(op->getOperand(0)) || isNumber(op->getOperand(1));
    if (isa<arith::SelectOp>(op))
      return isNumber(op->getOperand(1)) && isNumber(op->getOperand(2));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return isNumber(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return isNumber(generic.getBody()->getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber()));
    // All elements come from the first operand, or from the first two.
    if (isa<linalg::BroadcastOp, linalg::TransposeOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::CastOp, tensor::SplatOp,
            tensor::ExtractOp, vector::BroadcastOp, vector::ExtractOp,
            vector::ExtractStridedSliceOp, vector::ShapeCastOp, arith::ExtFOp,
            arith::MaximumFOp, arith::MinimumFOp, tensor::FromElementsOp,
            vector::FromElementsOp, vector::InsertOp,
            vector::InsertStridedSliceOp, vector::ShuffleOp>(op))
      return areNumbers(op);
    return false;
  }

private:
  /// All that `op` takes floats from.
  bool areNumbers(Operation *op) {
    OperandRange operands = op->getOperands();
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      operands = operands.take_front(structured.getNumDpsInputs());
    return llvm::all_of(operands, [&](Value operand) {
      return !isa<FloatType>(getElementTypeOrSelf(operand.getType())) ||
             isNumber(operand);
    });
  }

  bool isNumber(BlockArgument argument) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(owner)) {
      OpOperand *operand = generic.getMatchingOpOperand(argument);
      return generic.isDpsInput(operand) && isNumber(operand->get());
    }
    auto loop = dyn_cast_or_null<scf::ForOp>(owner);
    if (!loop || argument == loop.getInductionVar())
      return false;
    if (llvm::is_contained(asked, argument))
      return true;
    asked.push_back(argument);
    bool isOne = isNumber(loop.getTiedLoopInit(argument)->get()) &&
                 isNumber(loop.getTiedLoopYieldedValue(argument)->get());
    asked.pop_back();
    return isOne;
  }

  SmallVector<BlockArgument> asked;
  int steps = 0;
};
} // namespace

bool tilebridge::cpu::isNeverNan(Value value) {
  return Question().isNumber(value);
}
