//===- Libm.cpp - linalg_ext.libm and linalg_ext.directed -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Elementwise.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include <cmath>

using namespace mlir;

namespace tilebridge::reference {

static double callOfOne(llvm::StringRef name, double x) {
  if (name == "j0")
    return ::j0(x);
  if (name == "j1")
    return ::j1(x);
  if (name == "y0")
    return ::y0(x);
  if (name == "y1")
    return ::y1(x);
  return name == "tgamma" ? std::tgamma(x) : std::lgamma(x);
}

static LogicalResult evaluateLibm(Program &program, Operation *op) {
  StringRef name = cast<linalg_ext::LibmOp>(op).getFunction();
  LaneReader first(program.lanes(op->getOperand(0)));
  LaneReader last(program.lanes(op->getOperands().back()));
  auto type = cast<FloatType>(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) {
    double y = toDouble(last[i], type);
    if (op->getNumOperands() == 1)
      return fromDouble(callOfOne(name, y), type);
    int order = static_cast<int>(signedValue(first[i], 32));
    if (name == "jn")
      return fromDouble(::jn(order, y), type);
    if (name == "yn")
      return fromDouble(::yn(order, y), type);
    double x = toDouble(first[i], type);
    return fromDouble(name == "hypot" ? std::hypot(x, y) : std::remainder(x, y),
                      type);
  });
  return success();
}

/// The root in the direction that is asked for: the nearest one, or the float
/// next to it, by the sign of what its square lacks.
static llvm::APFloat root(const llvm::APFloat &x, llvm::RoundingMode mode) {
  double value = x.convertToDouble();
  llvm::APFloat nearest(std::sqrt(value));
  bool lost;
  nearest.convert(x.getSemantics(), llvm::RoundingMode::NearestTiesToEven,
                  &lost);
  if (!nearest.isFiniteNonZero())
    return nearest;
  // Squares of 53 bits are exact in a quadruple.
  auto square = [&](llvm::APFloat candidate) {
    candidate.convert(llvm::APFloat::IEEEquad(),
                      llvm::RoundingMode::NearestTiesToEven, &lost);
    candidate.multiply(candidate, llvm::RoundingMode::NearestTiesToEven);
    return candidate;
  };
  llvm::APFloat exact = x;
  exact.convert(llvm::APFloat::IEEEquad(),
                llvm::RoundingMode::NearestTiesToEven, &lost);
  bool isAbove = square(nearest) > exact, isBelow = square(nearest) < exact;
  if (mode == llvm::RoundingMode::TowardPositive ? isBelow : isAbove)
    nearest.next(/*nextDown=*/isAbove);
  return nearest;
}

static LogicalResult evaluateDirected(Program &program, Operation *op) {
  auto directed = cast<linalg_ext::DirectedOp>(op);
  StringRef name = directed.getFunction();
  llvm::RoundingMode mode =
      directed.getRounding() == arith::RoundingMode::upward
          ? llvm::RoundingMode::TowardPositive
      : directed.getRounding() == arith::RoundingMode::downward
          ? llvm::RoundingMode::TowardNegative
          : llvm::RoundingMode::TowardZero;
  SmallVector<LaneReader> in;
  for (Value operand : op->getOperands())
    in.emplace_back(program.lanes(operand));
  Type from = op->getOperand(0).getType();
  auto type = cast<FloatType>(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) {
    if (name.ends_with("itofp")) {
      llvm::APFloat result(type.getFloatSemantics());
      result.convertFromAPInt(llvm::APInt(widthOf(from), in[0][i]),
                              name == "sitofp", mode);
      return fromAPFloat(result);
    }
    auto operand = [&](unsigned k) {
      return toAPFloat(in[k][i], cast<FloatType>(from));
    };
    llvm::APFloat x = operand(0);
    bool lost;
    if (name == "truncf")
      x.convert(type.getFloatSemantics(), mode, &lost);
    else if (name == "sqrt")
      x = root(x, mode);
    else if (name == "add")
      x.add(operand(1), mode);
    else if (name == "sub")
      x.subtract(operand(1), mode);
    else if (name == "mul")
      x.multiply(operand(1), mode);
    else if (name == "div")
      x.divide(operand(1), mode);
    else
      x.fusedMultiplyAdd(operand(1), operand(2), mode);
    return fromAPFloat(x);
  });
  return success();
}

void addLibmHandlers(HandlerTable &table) {
  table.add<linalg_ext::LibmOp>(evaluateLibm);
  table.add<linalg_ext::DirectedOp>(evaluateDirected);
}

} // namespace tilebridge::reference
