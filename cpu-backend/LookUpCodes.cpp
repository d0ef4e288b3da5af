//===- LookUpCodes.cpp - floats of integers of 4 bits ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A weight of 4 bits is cut from a word, less its zero, and converted: three
// operations on the units that multiply and add as well. One shuffle does, of
// another unit on some CPUs, which looks at four bits of each index by itself.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathVectors.h"
#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPULOOKUPCODESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

static constexpr unsigned codes = 16;
/// Operations between the code and the float.
static constexpr int mostSteps = 6;

namespace {
/// What an integer is of the lowest four bits of another one.
struct Code {
  Value bits;                  ///< of which the lowest four count
  SmallVector<APInt> integers; ///< for each code
};
} // namespace

static APInt apply(Operation *op, const APInt &a, const APInt &b) {
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::XOrIOp>(op))
    return a ^ b;
  if (isa<arith::OrIOp>(op))
    return a | b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  return a & b;
}

static std::optional<Code> codeOf(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0)
    return std::nullopt;
  unsigned width =
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (isa<arith::ExtUIOp, arith::ExtSIOp>(op)) {
    auto code = codeOf(op->getOperand(0), steps - 1);
    if (code)
      for (APInt &integer : code->integers)
        integer =
            isa<arith::ExtUIOp>(op) ? integer.zext(width) : integer.sext(width);
    return code;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::XOrIOp, arith::OrIOp,
           arith::MulIOp, arith::AndIOp>(op))
    return std::nullopt;
  APInt constant;
  bool isRight = matchPattern(op->getOperand(1), m_ConstantInt(&constant));
  if (!isRight && !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
    return std::nullopt;
  Value other = op->getOperand(isRight ? 0 : 1);
  if (isa<arith::AndIOp>(op) && constant.ult(codes)) {
    Code code{other, {}};
    for (unsigned i = 0; i < codes; ++i)
      code.integers.push_back(APInt(width, i) & constant);
    return code;
  }
  auto code = codeOf(other, steps - 1);
  if (code)
    for (APInt &integer : code->integers)
      integer =
          isRight ? apply(op, integer, constant) : apply(op, constant, integer);
  return code;
}

/// The indices as 32 bits, whatever is in the upper ones.
static Value indicesOf(ImplicitLocOpBuilder &b, Value bits, VectorType type) {
  auto words = type.clone(b.getI32Type());
  unsigned width = getElementTypeOrSelf(bits.getType()).getIntOrFloatBitWidth();
  if (width == 32)
    return bits;
  if (width < 32)
    return arith::ExtUIOp::create(b, words, bits);
  return arith::TruncIOp::create(b, words, bits);
}

static void lookUp(Operation *conversion) {
  auto type = dyn_cast<VectorType>(conversion->getResult(0).getType());
  if (!type || type.getRank() != 1 || type.isScalable() ||
      !type.getElementType().isF32() || type.getNumElements() % codes != 0)
    return;
  auto code = codeOf(conversion->getOperand(0), mostSteps);
  if (!code)
    return;
  SmallVector<float> floats;
  for (const APInt &integer : code->integers) {
    APFloat number(APFloat::IEEEsingle());
    number.convertFromAPInt(integer, isa<arith::SIToFPOp>(conversion),
                            APFloat::rmNearestTiesToEven);
    floats.push_back(number.convertToFloat());
  }
  ImplicitLocOpBuilder b(conversion->getLoc(), conversion);
  Value table = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(codes, b.getF32Type()),
                                ArrayRef(floats)));
  Value found = callForPieces(b, type, "llvm.x86.avx512.permvar.sf.512",
                              {table, indicesOf(b, code->bits, type)});
  conversion->replaceAllUsesWith(ValueRange{found});
  conversion->erase();
}

namespace {
struct LookUpCodesPass
    : public tilebridge::cpu::impl::CpuLookUpCodesPassBase<LookUpCodesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> conversions;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
        conversions.push_back(op);
    });
    for (Operation *conversion : conversions)
      lookUp(conversion);
  }
};
} // namespace
