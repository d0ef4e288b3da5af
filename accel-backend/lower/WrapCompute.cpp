//===- WrapCompute.cpp - tensor ops that linalg has not -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelOps.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELWRAPCOMPUTEPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct AccelWrapCompute
    : public accel::impl::AccelWrapComputePassBase<AccelWrapCompute> {
  void runOnOperation() override;
};
} // namespace

/// An op of linalg_ext whose operands or results are blocks, or a constant
/// block whose elements differ.
static std::optional<UnitKind> unitOf(Operation *op) {
  if (isa<linalg_ext::ScanOp, linalg_ext::ReduceOp, linalg_ext::HistogramOp,
          linalg_ext::GatherAlongOp>(op))
    return UnitKind::Vector;
  auto isBlock = [](Type type) { return isa<RankedTensorType>(type); };
  if (isa<linalg_ext::PrintOp, linalg_ext::AssertOp>(op) &&
      llvm::any_of(op->getOperandTypes(), isBlock))
    return UnitKind::Scalar;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (isBlock(constant.getType()))
      return UnitKind::Vector;
  return std::nullopt;
}

/// A block of one value is filled with it.
static bool fillBlock(IRRewriter &rewriter, Operation *op) {
  Value value;
  rewriter.setInsertionPoint(op);
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    value = splat.getInput();
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements)
      return false;
    value = arith::ConstantOp::create(
        rewriter, op->getLoc(),
        cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  } else if (isa<ub::PoisonOp>(op)) {
    // Whatever it is, it is the same wherever it is used.
    value = arith::ConstantOp::create(
        rewriter, op->getLoc(),
        rewriter.getZeroAttr(getElementTypeOrSelf(op->getResultTypes()[0])));
  } else {
    return false;
  }
  auto type = dyn_cast<RankedTensorType>(op->getResultTypes().front());
  if (!type || !type.hasStaticShape())
    return false;
  Value init = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                       type.getElementType());
  rewriter.replaceOp(
      op,
      linalg::FillOp::create(rewriter, op->getLoc(), value, init).getResults());
  return true;
}

/// Moves the op into the body of an accel.compute that stands in its place.
static void wrap(IRRewriter &rewriter, Operation *op, UnitKind unit) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  llvm::SetVector<Value> inputs;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      inputs.insert(operand);
  SmallVector<Value> outs;
  for (Type type : op->getResultTypes()) {
    auto block = cast<RankedTensorType>(type);
    outs.push_back(tensor::EmptyOp::create(rewriter, loc, block.getShape(),
                                           block.getElementType()));
  }
  auto compute = ComputeOp::create(rewriter, loc, op->getResultTypes(), unit,
                                   inputs.getArrayRef(), outs);
  Block *body = rewriter.createBlock(&compute.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), loc));
  for (Value out : outs)
    body->addArgument(out.getType(), loc);
  rewriter.setInsertionPointToEnd(body);
  Operation *inner = rewriter.clone(*op, mapping);
  YieldOp::create(rewriter, loc, inner->getResults());
  rewriter.replaceOp(op, compute.getResults());
}

void AccelWrapCompute::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<Operation *> ops;
  // What is in a body already stays there, and what is in an op moves with it.
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ComputeOp>(op))
      return WalkResult::skip();
    ops.push_back(op);
    return unitOf(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : ops) {
    if (op->getNumRegions() == 0 && fillBlock(rewriter, op))
      continue;
    if (std::optional<UnitKind> unit = unitOf(op))
      wrap(rewriter, op, *unit);
  }
}
