//===- Combiners.cpp - what a reduction does with two numbers -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

Operation *tilebridge::cpu::combinerOf(Block &block) {
  if (llvm::range_size(block.without_terminator()) != 1)
    return nullptr;
  Operation *op = &block.front();
  Operation *yield = block.getTerminator();
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      yield->getNumOperands() != 1 ||
      yield->getOperand(0) != op->getResult(0) || block.getNumArguments() < 2)
    return nullptr;
  Value x = block.getArgument(0), y = block.getArgument(1);
  bool both = (op->getOperand(0) == x && op->getOperand(1) == y) ||
              (op->getOperand(0) == y && op->getOperand(1) == x);
  return both ? op : nullptr;
}

bool tilebridge::cpu::staysWhenCombined(Operation *combiner, Attribute value) {
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
          arith::MinUIOp, arith::AndIOp, arith::OrIOp>(combiner))
    return true;
  bool isProduct = isa<arith::MulFOp, arith::MulIOp>(combiner);
  if (!isProduct && !isa<arith::AddFOp, arith::AddIOp, arith::XOrIOp>(combiner))
    return false;
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return isProduct ? number.getValue().isExactlyValue(1.0)
                     : number.getValue().isZero();
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  return integer &&
         (isProduct ? integer.getValue().isOne() : integer.getValue().isZero());
}
