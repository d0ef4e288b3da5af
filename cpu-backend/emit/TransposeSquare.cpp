//===- TransposeSquare.cpp - rows of registers to columns -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// x86 interleaves the lanes of two registers inside of each 128 bits by one
// instruction, and moves parts of 128 bits by another one; exchanging any other
// lanes takes two, or a register with their numbers.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
class SquareTransposer {
public:
  SquareTransposer(OpBuilder &b, Location loc, VectorType type)
      : b(b), loc(loc), side(type.getNumElements()),
        inPart(std::min<int64_t>(
            side, 128 / type.getElementType().getIntOrFloatBitWidth())) {}

  /// Squares inside of the parts of 128 bits by interleaving, then the squares
  /// themselves.
  SmallVector<Value> run(ArrayRef<Value> rows) {
    int64_t parts = side / inPart;
    SmallVector<SmallVector<Value>> groups;
    for (int64_t group = 0; group < parts; ++group) {
      SmallVector<Value> list(rows.slice(group * inPart, inPart));
      for (int64_t count = 1; count < inPart; count *= 2) {
        SmallVector<Value> next(inPart);
        for (int64_t pair = 0; pair < inPart / 2; ++pair)
          for (bool upper : {false, true})
            next[pair + (upper ? inPart / 2 : 0)] =
                interleave(list[2 * pair], list[2 * pair + 1], count, upper);
        list = next;
      }
      groups.push_back(list);
    }
    // Column k of a square is where k's bits say in reverse.
    auto columnOf = [&](int64_t group, int64_t k) {
      int64_t reversed = 0;
      for (int64_t bit = 1; bit < inPart; bit *= 2, k /= 2)
        reversed = 2 * reversed + k % 2;
      return groups[group][reversed];
    };
    SmallVector<Value> columns(side);
    for (int64_t k = 0; k < inPart; ++k) {
      SmallVector<Value> list;
      for (int64_t group = 0; group < parts; ++group)
        list.push_back(columnOf(group, k));
      transposeParts(list);
      for (int64_t part = 0; part < parts; ++part)
        columns[part * inPart + k] = list[part];
    }
    return columns;
  }

private:
  /// The same with the parts of `list`, as many as vectors.
  void transposeParts(SmallVectorImpl<Value> &list) {
    int64_t parts = list.size();
    // Four parts move by one instruction if two come from each operand.
    if (parts == 4) {
      SmallVector<Value> halves;
      for (int64_t half : {0, 2})
        for (int64_t pair : {0, 2})
          halves.push_back(
              joinParts(list[pair], list[pair + 1], {half, half + 1}));
      for (int64_t part = 0; part < 4; ++part)
        list[part] = joinParts(halves[part & 2], halves[(part & 2) + 1],
                               {part & 1, (part & 1) + 2});
      return;
    }
    for (int64_t step = 1; step < parts; step *= 2)
      for (int64_t at = 0; at < parts; ++at)
        if (!(at & step))
          exchangeParts(list[at], list[at + step], step);
  }

  /// Each part of `y` without the bit `step` of its number takes the place of
  /// that of `x` with the bit.
  void exchangeParts(Value &x, Value &y, int64_t step) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < side; ++lane) {
      bool isUpper = (lane / inPart) & step;
      low.push_back(isUpper ? side + lane - step * inPart : lane);
      high.push_back(isUpper ? side + lane : lane + step * inPart);
    }
    Value first = shuffle(x, y, low);
    y = shuffle(x, y, high);
    x = first;
  }

  Value shuffle(Value x, Value y, ArrayRef<int64_t> from) {
    return vector::ShuffleOp::create(b, loc, x, y, from);
  }

  /// Elements of `x` and `y` in turn, `count` at a time, of the lower or the
  /// upper half of each part of 128 bits: one instruction.
  Value interleave(Value x, Value y, int64_t count, bool upper) {
    SmallVector<int64_t> indices;
    for (int64_t part = 0; part < side; part += inPart)
      for (int64_t i = 0; i < inPart / 2; i += count)
        for (int64_t source : {int64_t(0), side})
          for (int64_t j = 0; j < count; ++j)
            indices.push_back(source + part + (upper ? inPart / 2 : 0) + i + j);
    return shuffle(x, y, indices);
  }

  /// `parts` of 128 bits of x, then of y.
  Value joinParts(Value x, Value y, ArrayRef<int64_t> parts) {
    SmallVector<int64_t> indices;
    for (int64_t source : {int64_t(0), side})
      for (int64_t part : parts)
        for (int64_t i = 0; i < inPart; ++i)
          indices.push_back(source + part * inPart + i);
    return shuffle(x, y, indices);
  }

  OpBuilder &b;
  Location loc;
  /// Lanes of a vector, and of 128 bits.
  int64_t side, inPart;
};
} // namespace

SmallVector<Value> tilebridge::cpu::transposeSquare(OpBuilder &b, Location loc,
                                                    ArrayRef<Value> rows) {
  auto type = cast<VectorType>(rows.front().getType());
  return SquareTransposer(b, loc, type).run(rows);
}
