//===- NarrowMaxima.cpp - maxima of bf16 as integers ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Bits of bf16 that are not negative are in the order of the numbers, as
// integers, and those of negative ones in the opposite order. So the largest
// number is either the largest one from zero on, or, where there is none, the
// smallest of the other integers: a loop that looks for both takes three
// operations for 32 elements, where widening, comparing and looking for NaN are
// ten. NaN is missing: of the integers that 127 was added to, those of NaNs are
// carried over to where they are smaller than those of all numbers from zero
// on, and none is the smallest integer while there is a negative number. (Of a
// minimum integers have no sign: the largest negative one, with 127 added, is
// the least number, or else the smallest of all is.)
//
// What comes behind the loops, the maximum of lanes, is that of one integer in
// the order of the numbers: negative ones are inverted but for the sign, and
// with 127 added (taken away) all NaNs are lowest (highest).
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

/// Infinity is that far from the end of its integers.
static constexpr int16_t pastNans = 127;

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
  /// with bf16 that is widened for that, and begins with what has integers.
  bool canCarry(scf::ForOp loop, BlockArgument argument) {
    Operation *op = argument.hasOneUse() ? *argument.user_begin() : nullptr;
    OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
    return isOne(op) && op->getBlock() == loop.getBody() && op->hasOneUse() &&
           yielded->get() == op->getResult(0) && widened(op, argument) &&
           hasStart(loop.getTiedLoopInit(argument)->get());
  }

  /// Returns the loop that there is then.
  scf::ForOp carry(scf::ForOp loop, BlockArgument argument) {
    Operation *op = *argument.user_begin();
    arith::ExtFOp wide = widened(op, argument);
    OpOperand *init = loop.getTiedLoopInit(argument);
    unsigned index = loop.getTiedLoopResult(argument).getResultNumber();
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Found start = startOf(b, init->get());
    init->set(start.shifted);
    argument.setType(start.shifted.getType());
    loop.getResult(index).setType(start.shifted.getType());
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    Value bits = bitsOf(b, wide.getIn());
    Value next = largest(b, argument, shift(b, bits));
    op->replaceAllUsesWith(ValueRange{next});
    op->erase();
    wide.erase();
    IRRewriter rewriter(loop->getContext());
    rewriter.setInsertionPoint(loop);
    FailureOr<LoopLikeOpInterface> both = loop.replaceWithAdditionalYields(
        rewriter, start.bits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> added) {
          ImplicitLocOpBuilder b(loc, builder);
          return SmallVector<Value>{smallest(b, added.front(), bits)};
        });
    loop = cast<scf::ForOp>(*both);
    b.setInsertionPointAfter(loop);
    b.setLoc(loop.getLoc());
    OpResult result = loop->getResult(index);
    Found found{result, loop->getResults().back()};
    Value numbers = number(b, found);
    result.replaceUsesWithIf(numbers, [&](OpOperand &use) {
      return !made.contains(use.getOwner());
    });
    follow(numbers);
    return loop;
  }

  /// Removes what nobody asked for after all.
  void clean() {
    for (Operation *op : llvm::reverse(numbersMade))
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  /// What a loop has found: the largest one of all bits with 127 added, and the
  /// smallest one of all bits.
  struct Found {
    Value shifted, bits;
  };

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

  /// Whether the value's numbers are ones of bf16 that are known as integers.
  bool hasStart(Value value) {
    if (keys.contains(value))
      return true;
    DenseFPElementsAttr numbers;
    if (!matchPattern(value, m_Constant(&numbers)) || !numbers.isSplat())
      return false;
    APFloat start = numbers.getSplatValue<APFloat>();
    return start.isNaN() ||
           (start.bitcastToAPInt().getZExtValue() & 0xffff) == 0;
  }

  Found startOf(ImplicitLocOpBuilder &b, Value value) {
    if (auto known = found.find(value); known != found.end()) {
      auto [isThere, bits] = known->second;
      return {isThere.getLhs(), bits.getFalseValue()};
    }
    Value bits;
    if (Value key = keys.lookup(value)) {
      bits = invertNegative(b, shift(b, key, isMaximum ? -pastNans : pastNans));
    } else {
      DenseFPElementsAttr numbers;
      matchPattern(value, m_Constant(&numbers));
      APFloat start = numbers.getSplatValue<APFloat>();
      // A quiet NaN is as little as any.
      auto upper = static_cast<int16_t>(
          start.isNaN() ? 0x7fc0 : start.bitcastToAPInt().getZExtValue() >> 16);
      auto type = cast<VectorType>(value.getType()).clone(b.getI16Type());
      return {constant(b, type, static_cast<int16_t>(upper + pastNans)),
              constant(b, type, upper)};
    }
    return {shift(b, bits), bits};
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

  static Value shift(ImplicitLocOpBuilder &b, Value bits,
                     int16_t by = pastNans) {
    return arith::AddIOp::create(b, bits, constant(b, bits.getType(), by));
  }

  static Value bitsOf(ImplicitLocOpBuilder &b, Value bf16) {
    Type type = cast<VectorType>(bf16.getType()).clone(b.getI16Type());
    return arith::BitcastOp::create(b, type, bf16);
  }

  Value largest(ImplicitLocOpBuilder &b, Value x, Value y) {
    if (isMaximum)
      return arith::MaxSIOp::create(b, x, y);
    return arith::MaxUIOp::create(b, x, y);
  }
  Value smallest(ImplicitLocOpBuilder &b, Value x, Value y) {
    if (isMaximum)
      return arith::MinSIOp::create(b, x, y);
    return arith::MinUIOp::create(b, x, y);
  }

  /// f32 of what a loop has found, and its keys.
  Value number(ImplicitLocOpBuilder &b, const Found &of) {
    // From zero on, or, of a minimum, -0 and less.
    Type type = of.bits.getType();
    int16_t first = isMaximum ? pastNans : INT16_MIN + pastNans;
    auto predicate =
        isMaximum ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
    auto isThere = arith::CmpIOp::create(b, predicate, of.shifted,
                                         constant(b, type, first));
    Value shifted = shift(b, of.shifted, -pastNans);
    auto bits = arith::SelectOp::create(b, isThere, shifted, of.bits);
    for (Operation *each : {isThere.getOperation(), shifted.getDefiningOp(),
                            bits.getOperation()}) {
      made.insert(each);
      numbersMade.push_back(each);
    }
    Value key =
        shift(b, invertNegative(b, bits), isMaximum ? pastNans : -pastNans);
    Value wide = number(b, key);
    found.try_emplace(wide, isThere, bits);
    return wide;
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
  /// The operations that a number from a loop is made by. (What they take it
  /// from is another loop's result once that one carries more.)
  DenseMap<Value, std::pair<arith::CmpIOp, arith::SelectOp>> found;
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
      for (scf::ForOp &loop : loops)
        for (unsigned i = 0, e = loop.getNumRegionIterArgs(); i < e; ++i)
          if (maximum.canCarry(loop, loop.getRegionIterArg(i)))
            loop = maximum.carry(loop, loop.getRegionIterArg(i));
      maximum.clean();
    }
  }
};
} // namespace
