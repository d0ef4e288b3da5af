//===- NarrowMaxima.cpp - maxima of bf16 as integers ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Bits of bf16 are in the order of the numbers, as signed integers, if those of
// negative ones are inverted but for the sign. NaNs are above infinity then and
// below -infinity: all of them are below -infinity where 127 is added, which
// carries those above over to the lowest integers, and above infinity where 127
// is taken away. So a maximum that NaN is missing for is the integers' maximum:
// four operations for 32 elements, where widening, comparing and looking for
// NaN are ten.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUNARROWMAXIMAPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// What is added to the integers of a maximum, or taken from those of a
/// minimum.
static constexpr int16_t pastNans = 127;

/// As an integer in the order of the numbers; the other way is the same.
static int16_t ordered(int16_t bits) {
  return static_cast<int16_t>(bits ^ (bits < 0 ? 0x7fff : 0));
}

namespace {
/// The vectors that a maximum (or minimum) is made of, as keys: integers in the
/// order of its numbers.
class Maximum {
public:
  explicit Maximum(OperationName name)
      : name(name),
        isMaximum(name.getStringRef() == arith::MaxNumFOp::getOperationName()) {
  }

  /// Whether the loop does nothing with this argument but to take the maximum
  /// with bf16 that is widened for that, and begins with what has keys.
  bool canCarry(scf::ForOp loop, BlockArgument argument) {
    Operation *op = argument.hasOneUse() ? *argument.user_begin() : nullptr;
    OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
    return isOne(op) && op->getBlock() == loop.getBody() && op->hasOneUse() &&
           yielded->get() == op->getResult(0) && widened(op, argument) &&
           startOf(loop.getTiedLoopInit(argument)->get()).has_value();
  }

  void carry(scf::ForOp loop, BlockArgument argument) {
    Operation *op = *argument.user_begin();
    arith::ExtFOp wide = widened(op, argument);
    OpOperand *init = loop.getTiedLoopInit(argument);
    OpResult result = loop.getTiedLoopResult(argument);
    auto type = cast<VectorType>(argument.getType());
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type keyType = type.clone(b.getI16Type());
    Value start = *startOf(init->get());
    if (!start)
      start = keyOfConstant(b, init->get());
    init->set(start);
    argument.setType(keyType);
    result.setType(keyType);
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    Value next = join(b, argument, keyOf(b, wide.getIn()));
    op->replaceAllUsesWith(ValueRange{next});
    op->erase();
    wide.erase();
    b.setInsertionPointAfter(loop);
    Value numbers = number(b, result);
    result.replaceUsesWithIf(numbers, [&](OpOperand &use) {
      return !made.contains(use.getOwner());
    });
    follow(numbers);
  }

  /// Removes what nobody asked for after all.
  void clean() {
    for (Operation *op : llvm::reverse(numbersMade))
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  bool isOne(Operation *op) const { return op && op->getName() == name; }

  static arith::ExtFOp widened(Operation *op, BlockArgument argument) {
    Value other = op->getOperand(op->getOperand(0) == argument ? 1 : 0);
    auto wide = other.getDefiningOp<arith::ExtFOp>();
    auto type = dyn_cast<VectorType>(other.getType());
    bool isFine = wide && wide->hasOneUse() && type && type.getRank() == 1 &&
                  !type.isScalable() && type.getElementType().isF32() &&
                  getElementTypeOrSelf(wide.getIn().getType()).isBF16();
    return isFine ? wide : arith::ExtFOp();
  }

  /// The keys that a value has: null for a constant, which has some.
  std::optional<Value> startOf(Value value) {
    if (Value key = keys.lookup(value))
      return key;
    DenseFPElementsAttr numbers;
    if (!matchPattern(value, m_Constant(&numbers)) || !numbers.isSplat())
      return std::nullopt;
    APFloat start = numbers.getSplatValue<APFloat>();
    bool isShort =
        start.isNaN() || (start.bitcastToAPInt().getZExtValue() & 0xffff) == 0;
    return isShort ? std::optional<Value>(Value()) : std::nullopt;
  }

  Value keyOfConstant(ImplicitLocOpBuilder &b, Value value) {
    DenseFPElementsAttr numbers;
    matchPattern(value, m_Constant(&numbers));
    APFloat start = numbers.getSplatValue<APFloat>();
    // A quiet NaN is as little as any.
    auto bits = static_cast<int16_t>(
        start.isNaN() ? 0x7fc0 : start.bitcastToAPInt().getZExtValue() >> 16);
    auto type = cast<VectorType>(value.getType()).clone(b.getI16Type());
    int key = ordered(bits) + (isMaximum ? pastNans : -pastNans);
    return constant(b, type, static_cast<int16_t>(key));
  }

  static Value constant(ImplicitLocOpBuilder &b, Type type, int16_t value) {
    TypedAttr attr = b.getI16IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, attr);
  }

  static Value invertNegative(ImplicitLocOpBuilder &b, Value bits) {
    Type type = bits.getType();
    Value sign = arith::ShRSIOp::create(b, bits, constant(b, type, 15));
    Value size = arith::AndIOp::create(b, sign, constant(b, type, 0x7fff));
    return arith::XOrIOp::create(b, bits, size);
  }

  Value keyOf(ImplicitLocOpBuilder &b, Value bf16) {
    Type type = cast<VectorType>(bf16.getType()).clone(b.getI16Type());
    Value bits = arith::BitcastOp::create(b, type, bf16);
    return arith::AddIOp::create(
        b, invertNegative(b, bits),
        constant(b, type, isMaximum ? pastNans : -pastNans));
  }

  /// f32 of keys.
  Value number(ImplicitLocOpBuilder &b, Value key) {
    auto like = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(key.getType()))
        return vector.clone(element);
      return element;
    };
    Type type = key.getType();
    auto taken = arith::SubIOp::create(
        b, key, constant(b, type, isMaximum ? pastNans : -pastNans));
    made.insert(taken);
    Value bits = invertNegative(b, taken);
    Value bf16 = arith::BitcastOp::create(b, like(b.getBF16Type()), bits);
    Value wide = arith::ExtFOp::create(b, like(b.getF32Type()), bf16);
    for (Operation *op = taken, *last = wide.getDefiningOp();;
         op = op->getNextNode()) {
      numbersMade.push_back(op);
      if (op == last)
        break;
    }
    keys[wide] = key;
    return wide;
  }

  Value join(ImplicitLocOpBuilder &b, Value x, Value y) {
    if (isMaximum)
      return arith::MaxSIOp::create(b, x, y);
    return arith::MinSIOp::create(b, x, y);
  }

  /// The lanes' maximum: shuffles of what has keys, and maxima of these.
  void follow(Value first) {
    SmallVector<Value> pending = {first};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      // A shuffle may have it twice.
      llvm::SetVector<Operation *> users(value.user_begin(), value.user_end());
      for (Operation *user : users) {
        ImplicitLocOpBuilder b(user->getLoc(), user);
        Value key;
        auto of = [&](unsigned operand) {
          return keys.lookup(user->getOperand(operand));
        };
        if (auto shuffle = dyn_cast<vector::ShuffleOp>(user)) {
          if (of(0) && of(1))
            key = vector::ShuffleOp::create(b, of(0), of(1), shuffle.getMask());
        } else if (auto extract = dyn_cast<vector::ExtractOp>(user)) {
          if (extract.getNumIndices() == 1 && !extract.hasDynamicPosition())
            key = vector::ExtractOp::create(b, of(0),
                                            extract.getStaticPosition());
        } else if (isOne(user) && of(0) && of(1)) {
          key = join(b, of(0), of(1));
        }
        if (!key)
          continue;
        Value numbers = number(b, key);
        user->replaceAllUsesWith(ValueRange{numbers});
        user->erase();
        pending.push_back(numbers);
      }
    }
  }

  OperationName name;
  bool isMaximum;
  DenseMap<Value, Value> keys;
  DenseSet<Operation *> made;
  SmallVector<Operation *> numbersMade;
};

struct CpuNarrowMaximaPass
    : public tilebridge::cpu::impl::CpuNarrowMaximaPassBase<
          CpuNarrowMaximaPass> {
  void runOnOperation() override {
    // What follows a loop is replaced: none is looked for meanwhile.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (StringRef name : {arith::MaxNumFOp::getOperationName(),
                           arith::MinNumFOp::getOperationName()}) {
      Maximum maximum(OperationName(name, &getContext()));
      for (scf::ForOp loop : loops)
        for (BlockArgument argument : loop.getRegionIterArgs())
          if (maximum.canCarry(loop, argument))
            maximum.carry(loop, argument);
      maximum.clean();
    }
  }
};
} // namespace
