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

#include "llvm/ADT/bit.h"

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

/// The types of most blocks as C++ has them, so that loops over their elements
/// do not ask for the type of each.
inline double asDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }
inline double singleAsDouble(uint64_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}
inline uint64_t bitsOfSingle(double value) {
  return llvm::bit_cast<uint32_t>(float(value));
}

/// Sets a float result of an op: `value(i, read)` is it, where `read(bits)` is
/// an operand's element as a double; it is rounded to the type.
template <typename F>
void setFloats(Program &program, mlir::Operation *op, mlir::FloatType type,
               F value) {
  if (type.isF32())
    return setElements(program, op, [&](size_t i) {
      return bitsOfSingle(value(i, singleAsDouble));
    });
  if (type.isF64())
    return setElements(program, op, [&](size_t i) {
      return llvm::bit_cast<uint64_t>(double(value(i, asDouble)));
    });
  setElements(program, op, [&](size_t i) {
    return fromDouble(
        value(i, [type](uint64_t bits) { return toDouble(bits, type); }), type);
  });
}

/// `compute(x)` on floats as doubles; the result is rounded to its type.
template <typename OpT, typename F>
void addFloatUnary(HandlerTable &table, F compute) {
  table.add<OpT>([compute](Program &program, mlir::Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    auto type = llvm::cast<mlir::FloatType>(op->getOperand(0).getType());
    setFloats(program, op, type,
              [&](size_t i, auto read) { return compute(read(x[i])); });
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
    setFloats(program, op, type, [&](size_t i, auto read) {
      return compute(read(x[i]), read(y[i]));
    });
    return mlir::success();
  });
}

} // namespace tilebridge::reference
