//===- ElementFlow.cpp - where elements come from and go to ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

using Values = SmallVector<Value, 4>;

/// Computes each element by a region. Others, as products do, compute what is
/// not written out.
static linalg::LinalgOp withBody(Operation *op) {
  return isa_and_nonnull<linalg::GenericOp, linalg::ReduceOp>(op)
             ? cast<linalg::LinalgOp>(op)
             : linalg::LinalgOp();
}

/// The operand that the results of `op` are made of, or several.
static bool onlyMoves(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::SplatOp, tensor::ExtractOp, tensor::FromElementsOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
             tensor::InsertOp>(op);
}

static bool copiesInput(Operation *op) {
  return isa<linalg::BroadcastOp, linalg::TransposeOp, linalg::FillOp>(op);
}

static std::optional<Values> sourcesOf(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto op = withBody(owner)) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (op.isDpsInput(operand))
      return Values{operand->get()};
    OpResult result = op->getResult(
        argument.getArgNumber() - static_cast<unsigned>(op.getNumDpsInputs()));
    return Values{operand->get(), op.getBlock()->getTerminator()->getOperand(
                                      result.getResultNumber())};
  }
  auto loop = dyn_cast_or_null<scf::ForOp>(owner);
  if (!loop || argument == loop.getInductionVar())
    return std::nullopt;
  return Values{loop.getTiedLoopInit(argument)->get(),
                loop.getTiedLoopYieldedValue(argument)->get()};
}

std::optional<Values> tilebridge::cpu::sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ::sourcesOf(argument);
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (onlyMoves(op)) {
    Values sources;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
        sources.push_back(operand);
    return sources;
  }
  if (copiesInput(op))
    return Values{op->getOperand(0)};
  if (auto body = withBody(op))
    return Values{body.getBlock()->getTerminator()->getOperand(number)};
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return Values{select.getTrueValue(), select.getFalseValue()};
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return Values{pad.getSource(),
                  pad.getBody()->getTerminator()->getOperand(0)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return ::sourcesOf(loop.getTiedLoopRegionIterArg(result));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return Values{branch.thenYield().getOperand(number),
                  branch.elseYield().getOperand(number)};
  return std::nullopt;
}

/// Of what a region gives on.
static std::optional<Values> targetsOfYield(OpOperand &use) {
  Operation *parent = use.getOwner()->getParentOp();
  unsigned number = use.getOperandNumber();
  if (auto op = withBody(parent))
    return Values{op->getResult(number),
                  op.getMatchingBlockArgument(op.getDpsInitOperand(number))};
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return Values{loop.getResult(number), loop.getRegionIterArg(number)};
  if (isa<scf::IfOp, tensor::PadOp>(parent))
    return Values{parent->getResult(number)};
  return std::nullopt;
}

std::optional<Values> tilebridge::cpu::targetsOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<linalg::YieldOp, scf::YieldOp, tensor::YieldOp>(op))
    return targetsOfYield(use);
  if (isa<tensor::DimOp>(op))
    return Values{};
  if (onlyMoves(op) || isa<tensor::PadOp>(op))
    return Values{op->getResult(0)};
  if (copiesInput(op))
    return use.getOperandNumber() == 0 ? Values{op->getResult(0)} : Values{};
  if (auto body = withBody(op))
    return Values{body.getMatchingBlockArgument(&use)};
  if (isa<arith::SelectOp>(op) && use.getOperandNumber() != 0)
    return Values{op->getResult(0)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    if (BlockArgument carried = loop.getTiedLoopRegionIterArg(&use))
      return Values{carried, loop.getTiedLoopResult(&use)};
  return std::nullopt;
}
