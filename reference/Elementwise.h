//===- Elementwise.h - operations on each element -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An operation of arith or math is written once, for scalars. In the body of an
// op of linalg its operands are whole blocks: it then runs for all elements
// before the next one does, which changes nothing, as bodies have no control
// flow.
#pragma once

#include "reference/Float.h"
#include "reference/Program.h"

namespace tilebridge::reference {

/// An operand as one word for each element; a scalar is there for all of them.
class LaneReader {
public:
  explicit LaneReader(const Lanes &lanes)
      : data(lanes.data()), step(lanes.size() == 1 ? 0 : 1) {}
  uint64_t operator[](size_t lane) const { return data[lane * step]; }

private:
  const uint64_t *data;
  size_t step;
};

/// Sets a result of an op whose operands are scalars, or lanes of one block:
/// `element(i)` is the result's bits in lane i.
template <typename F>
void setElements(Program &program, mlir::Operation *op, F element,
                 unsigned result = 0) {
  llvm::ArrayRef<int64_t> shape;
  size_t count = 1;
  for (mlir::Value operand : op->getOperands()) {
    const Datum &datum = program.get(operand);
    if (datum.lanes().size() != 1 || shape.empty())
      shape = datum.shape();
    if (datum.lanes().size() != 1)
      count = datum.lanes().size();
  }
  Lanes lanes(count);
  for (size_t i = 0; i < count; ++i)
    lanes[i] = element(i);
  mlir::Value value = op->getResult(result);
  program.set(value, Datum(value.getType(), shape, std::move(lanes)));
}

/// `compute(x, width)` on integers; the result is cut to its own width.
template <typename OpT, typename F>
void addIntegerUnary(HandlerTable &table, F compute) {
  table.add<OpT>([compute](Program &program, mlir::Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    unsigned width = widthOf(op->getOperand(0).getType());
    unsigned resultWidth = widthOf(op->getResult(0).getType());
    setElements(program, op, [&](size_t i) {
      return truncated(uint64_t(compute(x[i], width)), resultWidth);
    });
    return mlir::success();
  });
}

/// `compute(x, y, width)` on integers.
template <typename OpT, typename F>
void addIntegerBinary(HandlerTable &table, F compute) {
  table.add<OpT>([compute](Program &program, mlir::Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    LaneReader y(program.lanes(op->getOperand(1)));
    unsigned width = widthOf(op->getOperand(0).getType());
    setElements(program, op, [&](size_t i) {
      return truncated(uint64_t(compute(x[i], y[i], width)), width);
    });
    return mlir::success();
  });
}

/// `compute(x)` on floats as doubles; the result is rounded to its type.
template <typename OpT, typename F>
void addFloatUnary(HandlerTable &table, F compute) {
  table.add<OpT>([compute](Program &program, mlir::Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    auto type = llvm::cast<mlir::FloatType>(op->getOperand(0).getType());
    setElements(program, op, [&](size_t i) {
      return fromDouble(compute(toDouble(x[i], type)), type);
    });
    return mlir::success();
  });
}

/// `compute(x, y)` on floats as doubles.
template <typename OpT, typename F>
void addFloatBinary(HandlerTable &table, F compute) {
  table.add<OpT>([compute](Program &program, mlir::Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    LaneReader y(program.lanes(op->getOperand(1)));
    auto type = llvm::cast<mlir::FloatType>(op->getOperand(0).getType());
    setElements(program, op, [&](size_t i) {
      return fromDouble(compute(toDouble(x[i], type), toDouble(y[i], type)),
                        type);
    });
    return mlir::success();
  });
}

} // namespace tilebridge::reference
