//===- Integers.cpp - arithmetic of integers ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/bit.h"

#include <optional>

using namespace mlir;

namespace tilebridge::reference {

static std::optional<Lanes> constantLanes(Attribute value) {
  auto bitsOf = [](const llvm::APInt &bits) { return bits.getZExtValue(); };
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return Lanes{bitsOf(integer.getValue())};
  if (auto real = dyn_cast<FloatAttr>(value))
    return Lanes{fromAPFloat(real.getValue())};
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return std::nullopt;
  Lanes lanes;
  if (isa<FloatType>(elements.getElementType()))
    for (const llvm::APFloat &one : elements.getValues<llvm::APFloat>())
      lanes.push_back(fromAPFloat(one));
  else
    for (const llvm::APInt &one : elements.getValues<llvm::APInt>())
      lanes.push_back(bitsOf(one));
  return lanes;
}

static LogicalResult evaluateConstant(Program &program, Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  std::optional<Lanes> lanes = constantLanes(constant.getValue());
  if (!lanes)
    return op->emitError("the reference evaluator does not know constants such "
                         "as ")
           << constant.getValue();
  program.set(constant.getResult(), std::move(*lanes));
  return success();
}

/// What is undefined is zero here, as it is in compiled kernels.
static LogicalResult evaluatePoison(Program &program, Operation *op) {
  Type type = op->getResult(0).getType();
  if (auto memref = dyn_cast<MemRefType>(type)) {
    View view;
    for (int64_t size : memref.getShape()) {
      view.sizes.push_back(ShapedType::isDynamic(size) ? 0 : size);
      view.strides.push_back(1);
    }
    program.set(op->getResult(0), Datum(memref.getElementType(), view));
    return success();
  }
  auto block = dyn_cast<RankedTensorType>(type);
  program.set(op->getResult(0), Lanes(block ? block.getNumElements() : 1, 0));
  return success();
}

static bool compare(arith::CmpIPredicate predicate, uint64_t x, uint64_t y,
                    unsigned width) {
  int64_t sx = signedValue(x, width), sy = signedValue(y, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return sx < sy;
  case arith::CmpIPredicate::sle:
    return sx <= sy;
  case arith::CmpIPredicate::sgt:
    return sx > sy;
  case arith::CmpIPredicate::sge:
    return sx >= sy;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  llvm_unreachable("all predicates are listed");
}

static LogicalResult evaluateCompare(Program &program, Operation *op) {
  auto cmp = cast<arith::CmpIOp>(op);
  LaneReader x(program.lanes(cmp.getLhs())), y(program.lanes(cmp.getRhs()));
  unsigned width = widthOf(cmp.getLhs().getType());
  setElements(program, op, [&](size_t i) {
    return compare(cmp.getPredicate(), x[i], y[i], width);
  });
  return success();
}

static LogicalResult evaluateSelect(Program &program, Operation *op) {
  mlir::Value condition = op->getOperand(0);
  // Pointers and whole blocks are chosen by a scalar.
  if (!isa<IntegerType, FloatType, IndexType>(op->getResult(0).getType())) {
    bool isTrue = program.lanes(condition).front() != 0;
    program.set(op->getResult(0), program.get(op->getOperand(isTrue ? 1 : 2)));
    return success();
  }
  LaneReader c(program.lanes(condition)), x(program.lanes(op->getOperand(1))),
      y(program.lanes(op->getOperand(2)));
  setElements(program, op, [&](size_t i) { return c[i] ? x[i] : y[i]; });
  return success();
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

/// What divides by zero or overflows is undefined, and must not end the
/// process: it divides by one, as in compiled kernels.
static int64_t signedDivisor(uint64_t x, uint64_t y, unsigned width) {
  int64_t divisor = signedValue(y, width);
  int64_t least = signedValue(uint64_t(1) << (width - 1), width);
  bool overflows = divisor == -1 && signedValue(x, width) == least;
  return divisor == 0 || overflows ? 1 : divisor;
}

static void addDivisions(HandlerTable &table) {
  auto quotient = [](uint64_t x, uint64_t y, unsigned width) {
    return signedValue(x, width) / signedDivisor(x, y, width);
  };
  auto remainder = [](uint64_t x, uint64_t y, unsigned width) {
    return signedValue(x, width) % signedDivisor(x, y, width);
  };
  addIntegerBinary<arith::DivSIOp>(table, quotient);
  addIntegerBinary<arith::RemSIOp>(table, remainder);
  addIntegerBinary<arith::FloorDivSIOp>(
      table, [=](uint64_t x, uint64_t y, unsigned width) {
        int64_t rest = remainder(x, y, width);
        bool isBelow = rest && (rest < 0) != (signedDivisor(x, y, width) < 0);
        return quotient(x, y, width) - isBelow;
      });
  addIntegerBinary<arith::CeilDivSIOp>(
      table, [=](uint64_t x, uint64_t y, unsigned width) {
        int64_t rest = remainder(x, y, width);
        bool isAbove = rest && (rest < 0) == (signedDivisor(x, y, width) < 0);
        return quotient(x, y, width) + isAbove;
      });
  addIntegerBinary<arith::DivUIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x / (y ? y : 1); });
  addIntegerBinary<arith::RemUIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x % (y ? y : 1); });
  addIntegerBinary<arith::CeilDivUIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) {
        uint64_t divisor = y ? y : 1;
        return x / divisor + (x % divisor != 0);
      });
}

//===----------------------------------------------------------------------===//
// Results of twice the width
//===----------------------------------------------------------------------===//

template <typename OpT> static void addWideProduct(HandlerTable &table) {
  table.add<OpT>([](Program &program, Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    LaneReader y(program.lanes(op->getOperand(1)));
    unsigned width = widthOf(op->getOperand(0).getType());
    auto product = [&](size_t i) -> unsigned __int128 {
      if (std::is_same_v<OpT, arith::MulSIExtendedOp>)
        return static_cast<unsigned __int128>(
            __int128(signedValue(x[i], width)) * signedValue(y[i], width));
      return static_cast<unsigned __int128>(x[i]) * y[i];
    };
    setElements(program, op, [&](size_t i) {
      return truncated(uint64_t(product(i)), width);
    });
    setElements(
        program, op,
        [&](size_t i) {
          return truncated(uint64_t(product(i) >> width), width);
        },
        1);
    return success();
  });
}

static LogicalResult evaluateAddExtended(Program &program, Operation *op) {
  LaneReader x(program.lanes(op->getOperand(0)));
  LaneReader y(program.lanes(op->getOperand(1)));
  unsigned width = widthOf(op->getOperand(0).getType());
  setElements(program, op,
              [&](size_t i) { return truncated(x[i] + y[i], width); });
  setElements(
      program, op,
      [&](size_t i) { return truncated(x[i] + y[i], width) < x[i]; }, 1);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addBitOperations(HandlerTable &table) {
  addIntegerBinary<arith::AndIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x & y; });
  addIntegerBinary<arith::OrIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x | y; });
  addIntegerBinary<arith::XOrIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x ^ y; });
  // A distance of the width or more is undefined; all bits leave here.
  addIntegerBinary<arith::ShLIOp>(table,
                                  [](uint64_t x, uint64_t y, unsigned width) {
                                    return y >= width ? 0 : x << y;
                                  });
  addIntegerBinary<arith::ShRUIOp>(table,
                                   [](uint64_t x, uint64_t y, unsigned width) {
                                     return y >= width ? 0 : x >> y;
                                   });
  addIntegerBinary<arith::ShRSIOp>(
      table, [](uint64_t x, uint64_t y, unsigned width) {
        return signedValue(x, width) >> std::min<uint64_t>(y, width - 1);
      });
  addIntegerUnary<math::CtPopOp>(
      table, [](uint64_t x, unsigned) { return llvm::popcount(x); });
  addIntegerUnary<math::CountLeadingZerosOp>(
      table, [](uint64_t x, unsigned width) {
        return llvm::countl_zero(x) - (64 - width);
      });
  addIntegerUnary<math::CountTrailingZerosOp>(
      table, [](uint64_t x, unsigned width) {
        return x ? unsigned(llvm::countr_zero(x)) : width;
      });
}

void addIntegerHandlers(HandlerTable &table) {
  table.add<arith::ConstantOp>(evaluateConstant);
  table.add<ub::PoisonOp>(evaluatePoison);
  table.add<arith::CmpIOp>(evaluateCompare);
  table.add<arith::SelectOp>(evaluateSelect);
  addIntegerBinary<arith::AddIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x + y; });
  addIntegerBinary<arith::SubIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x - y; });
  addIntegerBinary<arith::MulIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return x * y; });
  addIntegerBinary<arith::MaxSIOp>(
      table, [](uint64_t x, uint64_t y, unsigned width) {
        return signedValue(x, width) > signedValue(y, width) ? x : y;
      });
  addIntegerBinary<arith::MinSIOp>(
      table, [](uint64_t x, uint64_t y, unsigned width) {
        return signedValue(x, width) < signedValue(y, width) ? x : y;
      });
  addIntegerBinary<arith::MaxUIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return std::max(x, y); });
  addIntegerBinary<arith::MinUIOp>(
      table, [](uint64_t x, uint64_t y, unsigned) { return std::min(x, y); });
  addIntegerUnary<math::AbsIOp>(table, [](uint64_t x, unsigned width) {
    return signedValue(x, width) < 0 ? 0 - x : x;
  });
  addBitOperations(table);
  addDivisions(table);
  addWideProduct<arith::MulSIExtendedOp>(table);
  addWideProduct<arith::MulUIExtendedOp>(table);
  table.add<arith::AddUIExtendedOp>(evaluateAddExtended);
}

} // namespace tilebridge::reference
