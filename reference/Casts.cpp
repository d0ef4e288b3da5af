//===- Casts.cpp - conversions of numbers ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace tilebridge::reference {

static llvm::RoundingMode roundingOf(arith::TruncFOp op) {
  switch (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even)) {
  case arith::RoundingMode::to_nearest_even:
    return llvm::RoundingMode::NearestTiesToEven;
  case arith::RoundingMode::downward:
    return llvm::RoundingMode::TowardNegative;
  case arith::RoundingMode::upward:
    return llvm::RoundingMode::TowardPositive;
  case arith::RoundingMode::toward_zero:
    return llvm::RoundingMode::TowardZero;
  case arith::RoundingMode::to_nearest_away:
    return llvm::RoundingMode::NearestTiesToAway;
  }
  llvm_unreachable("all roundings are listed");
}

static LogicalResult convertFloat(Program &program, Operation *op,
                                  llvm::RoundingMode rounding) {
  LaneReader x(program.lanes(op->getOperand(0)));
  auto from = cast<FloatType>(op->getOperand(0).getType());
  auto to = cast<FloatType>(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) {
    return fromDouble(toDouble(x[i], from), to, rounding);
  });
  return success();
}

/// An integer rounded to a float: to bf16 by way of f32, as PyTorch and the
/// CPU do it, to other types once.
static LogicalResult fromInteger(Program &program, Operation *op,
                                 bool isSigned) {
  LaneReader x(program.lanes(op->getOperand(0)));
  unsigned width = widthOf(op->getOperand(0).getType());
  auto type = cast<FloatType>(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) {
    llvm::APFloat result(type.isBF16() ? llvm::APFloat::IEEEsingle()
                                       : type.getFloatSemantics());
    result.convertFromAPInt(llvm::APInt(width, x[i]), isSigned,
                            llvm::RoundingMode::NearestTiesToEven);
    bool isExact;
    result.convert(type.getFloatSemantics(),
                   llvm::RoundingMode::NearestTiesToEven, &isExact);
    return fromAPFloat(result);
  });
  return success();
}

/// What is out of range is undefined. NaN is zero here, and the rest the
/// nearest integer that there is.
static LogicalResult toInteger(Program &program, Operation *op, bool isSigned) {
  LaneReader x(program.lanes(op->getOperand(0)));
  auto type = cast<FloatType>(op->getOperand(0).getType());
  unsigned width = widthOf(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) -> uint64_t {
    llvm::APSInt result(width, /*isUnsigned=*/!isSigned);
    bool isExact;
    toAPFloat(x[i], type)
        .convertToInteger(result, llvm::RoundingMode::TowardZero, &isExact);
    return result.getZExtValue();
  });
  return success();
}

void addCastHandlers(HandlerTable &table) {
  table.add<arith::ExtFOp>([](Program &program, Operation *op) {
    return convertFloat(program, op, llvm::RoundingMode::NearestTiesToEven);
  });
  table.add<arith::TruncFOp>([](Program &program, Operation *op) {
    return convertFloat(program, op, roundingOf(cast<arith::TruncFOp>(op)));
  });
  table.add<arith::SIToFPOp>([](Program &program, Operation *op) {
    return fromInteger(program, op, /*isSigned=*/true);
  });
  table.add<arith::UIToFPOp>([](Program &program, Operation *op) {
    return fromInteger(program, op, /*isSigned=*/false);
  });
  table.add<arith::FPToSIOp>([](Program &program, Operation *op) {
    return toInteger(program, op, /*isSigned=*/true);
  });
  table.add<arith::FPToUIOp>([](Program &program, Operation *op) {
    return toInteger(program, op, /*isSigned=*/false);
  });
  auto asSigned = [](uint64_t x, unsigned width) {
    return signedValue(x, width);
  };
  auto asUnsigned = [](uint64_t x, unsigned) { return x; };
  addIntegerUnary<arith::ExtSIOp>(table, asSigned);
  addIntegerUnary<arith::IndexCastOp>(table, asSigned);
  addIntegerUnary<arith::ExtUIOp>(table, asUnsigned);
  addIntegerUnary<arith::IndexCastUIOp>(table, asUnsigned);
  addIntegerUnary<arith::TruncIOp>(table, asUnsigned);
  addIntegerUnary<arith::BitcastOp>(table, asUnsigned);
}

} // namespace tilebridge::reference
