//===- WideCombiner.cpp - sums of narrow floats in f32 --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/WideCombiner.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilebridge;

bool ttl::isNarrowFloat(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

bool ttl::canCombineInF32(Block &body) {
  if (!llvm::all_of(body.getArgumentTypes(), isNarrowFloat))
    return false;
  bool rounds = false;
  for (Operation &op : body.without_terminator()) {
    rounds |=
        isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op);
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
             arith::ConstantOp>(op))
      return false;
    // A value from elsewhere would have to be widened, too.
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body)
        return false;
  }
  return rounds;
}

SmallVector<Value> ttl::cloneInF32(OpBuilder &b, Block &body, Region &region) {
  Type f32 = b.getF32Type();
  Block *block = b.createBlock(&region);
  IRMapping map;
  for (BlockArgument argument : body.getArguments())
    map.map(argument, block->addArgument(f32, argument.getLoc()));
  for (Operation &op : body.without_terminator()) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto number =
        constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    if (number) {
      map.map(
          op.getResult(0),
          arith::ConstantOp::create(
              b, op.getLoc(), b.getFloatAttr(f32, number.getValueAsDouble())));
      continue;
    }
    for (OpResult result : b.clone(op, map)->getResults())
      if (isNarrowFloat(result.getType()))
        result.setType(f32);
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  return results;
}

SmallVector<Value> ttl::widenBlocks(OpBuilder &b, Location loc,
                                    ValueRange blocks) {
  SmallVector<Value> results;
  for (Value block : blocks) {
    auto type = cast<RankedTensorType>(block.getType());
    results.push_back(mapElements(
        b, loc, type.clone(b.getF32Type()), block,
        [](OpBuilder &nested, Location at, ValueRange in) -> Value {
          return arith::ExtFOp::create(nested, at, nested.getF32Type(), in[0]);
        }));
  }
  return results;
}

SmallVector<Value> ttl::narrowBlocks(OpBuilder &b, Location loc,
                                     ValueRange blocks, TypeRange types) {
  SmallVector<Value> results;
  for (auto [block, type] : llvm::zip_equal(blocks, types)) {
    Type element = getElementTypeOrSelf(type);
    results.push_back(mapElements(
        b, loc, type, block,
        [=](OpBuilder &nested, Location at, ValueRange in) -> Value {
          return arith::TruncFOp::create(nested, at, element, in[0]);
        }));
  }
  return results;
}
