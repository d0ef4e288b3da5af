//===- SpreadSelects.cpp - a choice between blocks, element by element ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::linalg_ext {
#define GEN_PASS_DEF_SPREADSELECTSPASS
#include "triton-to-linalg/bridge/Passes.h.inc"
} // namespace tilebridge::linalg_ext

using namespace mlir;

namespace {

struct SpreadSelectsPass
    : public tilebridge::linalg_ext::impl::SpreadSelectsPassBase<
          SpreadSelectsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](arith::SelectOp op) {
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (type && type.hasStaticShape())
        spread(op, type);
    });
  }

private:
  static void spread(arith::SelectOp op, RankedTensorType type) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Value> inputs = {op.getTrueValue(), op.getFalseValue()};
    // A scalar condition is used where it stands.
    bool isScalar = !isa<RankedTensorType>(op.getCondition().getType());
    if (!isScalar)
      inputs.push_back(op.getCondition());
    Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                         type.getElementType());
    SmallVector<AffineMap> maps(inputs.size() + 1,
                                builder.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange(type), inputs, init, maps, iterators,
        [&](OpBuilder &nested, Location at, ValueRange elements) {
          Value condition = isScalar ? op.getCondition() : elements[2];
          Value chosen = arith::SelectOp::create(nested, at, condition,
                                                 elements[0], elements[1]);
          linalg::YieldOp::create(nested, at, chosen);
        });
    op.replaceAllUsesWith(generic.getResult(0));
    op.erase();
  }
};

} // namespace
