//===- PairHalves.cpp - bf16 widened where it lies ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// To widen bf16 in its order takes x86 a shuffle and a shift for each vector of
// f32. Read as words of two, the even elements are the words shifted, and the
// odd ones what is left of the words without their lower half: two cheap
// instructions for two vectors. A loop whose lanes never meet can have them in
// that order all along, and is back in memory's order where it stores bf16: by
// the same two instructions, or where one rounds two vectors, by a shuffle.
//===----------------------------------------------------------------------===//

#include "cpu-backend/PairedBuffer.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/ShortNans.h"
#include "cpu-backend/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUPAIRHALVESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// Lanes of the vector that the value is, 0 where it is none.
static int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector && vector.getRank() == 1 && !vector.isScalable()
             ? vector.getNumElements()
             : 0;
}

/// All lanes are equal.
static bool isSplat(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSource().getType());
  DenseElementsAttr values;
  return op && matchPattern(value, m_Constant(&values)) && values.isSplat();
}

/// The lanes of several of these become one number in any order.
static bool isReduction(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp, arith::MulIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
             arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op);
}

/// What a loop does with an accumulator: operations of one kind, one behind the
/// other, of which the last one's result is carried on. Null if it is used in
/// another way.
static Operation *accumulation(scf::ForOp loop, BlockArgument carried) {
  Value value = carried, next = loop.getTiedLoopYieldedValue(carried)->get();
  Operation *op = nullptr;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (op && value == next && isa<scf::YieldOp>(user))
      return op;
    if (!isReduction(user) || user->getBlock() != loop.getBody() ||
        (op && op->getName() != user->getName()))
      return nullptr;
    op = user;
    value = op->getResult(0);
  }
  return nullptr;
}

/// Nothing is made of the lanes of `value` but one number, by operations of
/// this name: in further loops, then in halves.
static bool hasNoOrder(Value value, OperationName by) {
  if (lanesOf(value) == 1)
    return true;
  if (value.use_empty())
    return true;
  if (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    BlockArgument carried =
        loop ? loop.getTiedLoopRegionIterArg(&use) : BlockArgument();
    Operation *op = carried ? accumulation(loop, carried) : nullptr;
    return op && op->getName() == by &&
           hasNoOrder(loop.getTiedLoopResult(&use), by);
  }
  // Two shuffles, each with half of the lanes, and their sum.
  Operation *sum = nullptr;
  llvm::SmallBitVector seen(lanesOf(value));
  int64_t taken = 0;
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    auto half = dyn_cast<vector::ShuffleOp>(user);
    if (!half || half.getV1() != value || !half->hasOneUse())
      return false;
    Operation *next = *half->user_begin();
    if (next->getName() != by || (sum && sum != next))
      return false;
    if (sum == next && taken == lanesOf(value))
      continue; // the second operand of the last shuffle
    sum = next;
    for (int64_t lane : half.getMask()) {
      if (lane < 0)
        return false;
      lane %= lanesOf(value);
      taken += !seen.test(lane);
      seen.set(lane);
    }
  }
  return sum && seen.all() && hasNoOrder(sum->getResult(0), by);
}

static bool cutsOff(arith::TruncFOp round) {
  return round.getRoundingmode() == arith::RoundingMode::toward_zero;
}

/// tilebridge-cpu-expand-float-types refuses others.
static bool isKnownRounding(arith::TruncFOp round) {
  return cutsOff(round) || round.getRoundingmode().value_or(
                               arith::RoundingMode::to_nearest_even) ==
                               arith::RoundingMode::to_nearest_even;
}

namespace {
/// One loop without loops inside.
class PairedLoop {
public:
  PairedLoop(scf::ForOp loop, int64_t lanes, bool rounds)
      : loop(loop), group(2 * lanes), rounds(rounds) {}

  scf::ForOp getLoop() const { return loop; }
  bool widens() const { return !widened.empty(); }

  /// Finds what is to be changed; false if lanes meet, or nothing is gained.
  /// `kept` has the buffers whose lanes may be in that order, too.
  bool find(ArrayRef<PairedBuffer> kept) {
    buffers = kept;
    widened.clear();
    stored.clear();
    readsBuffer = false;
    WalkResult result = loop.getBody()->walk([&](Operation *op) {
      return isFine(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted() || (widened.empty() && !readsBuffer))
      return false;
    for (BlockArgument carried : loop.getRegionIterArgs()) {
      if (!isa<VectorType>(carried.getType()))
        continue;
      Operation *op = accumulation(loop, carried);
      if (!op || !hasNoOrder(loop.getTiedLoopResult(carried), op->getName()))
        return false;
    }
    return true;
  }

  void rewrite() {
    for (arith::ExtFOp op : widened)
      widen(op);
    for (Value value : stored)
      reorder(value);
  }

private:
  bool isFine(Operation *op) {
    bool hasVector =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
    if (isa<scf::YieldOp>(op))
      return op->getParentOp() == loop || !hasVector;
    if (isa<scf::IfOp>(op))
      return !hasVector;
    if (op->getNumRegions() != 0)
      return false;
    if (!hasVector)
      return true;
    if (auto load = dyn_cast<vector::LoadOp>(op))
      return isLoad(load);
    if (auto store = dyn_cast<vector::StoreOp>(op))
      return isStore(store);
    if (op->getNumResults() != 1)
      return false;
    if (isSplat(op->getResult(0)))
      return true;
    if (!OpTrait::hasElementwiseMappableTraits(op))
      return false;
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()) && !isKnown(operand))
        return false;
    return true;
  }

  /// Computed here, or the same in all lanes.
  bool isKnown(Value value) {
    if (lanesOf(value) == 0)
      return false;
    return isSplat(value) ||
           loop.getRegion().isAncestor(value.getParentRegion());
  }

  bool isInBuffer(Operation *access) {
    return llvm::any_of(buffers, [&](const PairedBuffer &buffer) {
      return buffer.contains(access);
    });
  }

  bool isLoad(vector::LoadOp load) {
    int64_t lanes = lanesOf(load.getResult());
    if (isInBuffer(load))
      return readsBuffer = true;
    if (!load.getVectorType().getElementType().isBF16() || lanes == 0 ||
        lanes % group != 0)
      return false;
    for (Operation *user : load->getUsers()) {
      // What is only moved is in memory's order all the way.
      if (isa<vector::StoreOp>(user))
        continue;
      auto extend = dyn_cast<arith::ExtFOp>(user);
      if (!extend || !getElementTypeOrSelf(extend.getType()).isF32())
        return false;
      widened.push_back(extend);
    }
    return true;
  }

  bool isStore(vector::StoreOp store) {
    Value value = store.getValueToStore();
    if (isSplat(value))
      return true;
    if (isInBuffer(store))
      return isKnown(value);
    // What is only moved is in memory's order, but for a buffer's.
    if (auto load = value.getDefiningOp<vector::LoadOp>())
      return !isInBuffer(load);
    auto round = value.getDefiningOp<arith::TruncFOp>();
    if (!round || !isKnown(value) || lanesOf(value) % group != 0 ||
        !getElementTypeOrSelf(value.getType()).isBF16() ||
        !getElementTypeOrSelf(round.getIn().getType()).isF32() ||
        !isKnownRounding(round))
      return false;
    stored.insert(value);
    return true;
  }

  /// Even elements, then odd ones, of each two vectors.
  void widen(arith::ExtFOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    int64_t lanes = lanesOf(op.getIn()), half = lanes / 2, native = group / 2;
    auto words = VectorType::get(half, b.getI32Type());
    auto floats = VectorType::get(half, b.getF32Type());
    auto constant = [&](uint32_t value) -> Value {
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(words, APInt(32, value)));
    };
    Value pairs = vector::BitCastOp::create(b, words, op.getIn());
    Value even = arith::ShLIOp::create(b, pairs, constant(16));
    Value odd = arith::AndIOp::create(b, pairs, constant(0xffff0000));
    SmallVector<int64_t> order;
    for (int64_t at = 0; at < half; at += native)
      for (int64_t first : {at, half + at})
        for (int64_t lane = 0; lane < native; ++lane)
          order.push_back(first + lane);
    Value all = vector::ShuffleOp::create(
        b, arith::BitcastOp::create(b, floats, even),
        arith::BitcastOp::create(b, floats, odd), order);
    op.replaceAllUsesWith(all);
    op.erase();
  }

  /// Back to memory's order, where it is stored.
  void reorder(Value value) {
    ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
    b.setInsertionPointAfterValue(value);
    bool isRounded = rounds && !cutsOff(value.getDefiningOp<arith::TruncFOp>());
    Value inOrder = isRounded ? orderLanes(b, value, group, /*back=*/true)
                              : interleave(b, value);
    value.replaceUsesWithIf(inOrder, [](OpOperand &use) {
      return isa<vector::StoreOp>(use.getOwner());
    });
  }

  /// Words of an even element, as the lower half, and an odd one.
  Value interleave(ImplicitLocOpBuilder &b, Value value) {
    auto type = cast<VectorType>(value.getType());
    auto round = value.getDefiningOp<arith::TruncFOp>();
    SmallFloatConverter converter(b, {});
    Value bits = converter.bitsWithShortNans(round.getIn(),
                                             round->hasAttr(shortNansAttr));
    SmallVector<int64_t> evens, odds;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
      (lane % group < group / 2 ? evens : odds).push_back(lane);
    Value codes = converter.roundPairs(
        vector::ShuffleOp::create(b, bits, bits, evens),
        vector::ShuffleOp::create(b, bits, bits, odds), cutsOff(round));
    return arith::BitcastOp::create(b, type, codes);
  }

  scf::ForOp loop;
  /// Elements of bf16 in a native vector, and whether one instruction rounds to
  /// such.
  int64_t group;
  bool rounds;
  SmallVector<arith::ExtFOp> widened;
  llvm::SetVector<Value> stored;
  ArrayRef<PairedBuffer> buffers;
  bool readsBuffer = false;
};

struct PairHalvesPass
    : public tilebridge::cpu::impl::CpuPairHalvesPassBase<PairHalvesPass> {
  using Base::Base;

  void runOnOperation() override {
    // Elsewhere one instruction widens and shifts.
    if (vectorBits < 256)
      return;
    SmallVector<PairedLoop> loops;
    getOperation().walk([&](scf::ForOp loop) {
      loops.emplace_back(loop, vectorBits / 32, bf16Rounding);
    });
    SmallVector<PairedBuffer> buffers;
    getOperation().walk([&](memref::ViewOp view) {
      PairedBuffer buffer(view, vectorBits / 16);
      if (buffer.find())
        buffers.push_back(buffer);
    });
    findTogether(loops, buffers);
    for (PairedBuffer &buffer : buffers)
      buffer.rewrite(
          [&](Operation *access) { return loopOf(access, loops) != nullptr; });
    for (PairedLoop &loop : loops)
      loop.rewrite();
  }

private:
  static PairedLoop *loopOf(Operation *op, MutableArrayRef<PairedLoop> loops) {
    auto around = op->getParentOfType<scf::ForOp>();
    auto *found = llvm::find_if(
        loops, [&](PairedLoop &loop) { return loop.getLoop() == around; });
    return found == loops.end() ? nullptr : found;
  }

  /// A vector at a row's end.
  static bool isMasked(Operation *access) {
    auto loop = access->getParentOfType<scf::ForOp>();
    return loop && loop.getBody()
                       ->walk([](vector::MaskedLoadOp) {
                         return WalkResult::interrupt();
                       })
                       .wasInterrupted();
  }

  /// Leaves the loops that can be changed, and the buffers which all others
  /// only use at rows' ends.
  void findTogether(SmallVectorImpl<PairedLoop> &loops,
                    SmallVectorImpl<PairedBuffer> &buffers) {
    SmallVector<PairedLoop> all(loops.begin(), loops.end());
    while (true) {
      loops.assign(all.begin(), all.end());
      llvm::erase_if(loops,
                     [&](PairedLoop &loop) { return !loop.find(buffers); });
      auto *wrong = llvm::find_if(buffers, [&](const PairedBuffer &buffer) {
        return llvm::any_of(buffer.getAccesses(),
                            [&](Operation *access) {
                              return !loopOf(access, loops) &&
                                     !isMasked(access);
                            }) ||
               llvm::none_of(buffer.getAccesses(), [&](Operation *access) {
                 PairedLoop *loop = loopOf(access, loops);
                 return loop && loop->widens();
               });
      });
      if (wrong == buffers.end())
        return;
      buffers.erase(wrong);
    }
  }
};
} // namespace
