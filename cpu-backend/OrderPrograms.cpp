//===- OrderPrograms.cpp - tilebridge-cpu-order-programs ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A grid says which programs there are, not in which order they run. A thread
// runs its programs one after the other, and should go through memory as it
// does within one: pages that follow one another, which the CPU's own looking
// ahead and its table of pages are made for. So the axis counts fastest along
// which blocks lie near the ones before; which one that is depends on strides,
// and is asked once for many programs.
//===----------------------------------------------------------------------===//

#include "cpu-backend/OrderPrograms.h"

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/SharedOrder.h"
#include "cpu-backend/UsualGrowth.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/merge/FewRows.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUORDERPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

static constexpr int64_t pageBytes = 4096;
/// What a block counts that lies on another page than the one before, against
/// one that lies on the same. A program waits for what it reads from memory,
/// and not for what it writes: of a large transpose (4096 x 4096 in blocks of
/// 64 x 64) the blocks that are read follow one another. In a cache (512 x 512)
/// it is better if those do that are written.
static constexpr int64_t farCost = 3, farReadCost = 4, farWriteCost = 2;
/// Where something lies between a block and the one before, the CPU's looking
/// ahead ends, and it costs nearly as much as on another page: rows of 512
/// bytes that are 1 to 4 KiB apart are read at a third of the rate of those
/// that follow one another (Zen 4). Costs are counted in such parts.
static constexpr int64_t costUnit = 16;
/// What is read in a loop counts more often than what is read once.
static constexpr int64_t loopWeight = 4;

namespace {
/// A block that is read or written: a view, with the tensor of numbers that
/// chooses its rows, if one does, or elements at a tensor of places.
struct AccessedBlock {
  Value view, rows, places;
  int64_t elementBytes, bytes, weight;
  bool isWritten;
  /// How it moves along each axis.
  struct Move {
    UsualGrowth::Known growth;
    bool isElsewhere = false, isOtherRow = false;
  };
  SmallVector<Move, 3> moves = {};
};
} // namespace

static Value viewOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([](bufferization::ToTensorOp op) { return op.getBuffer(); })
      .Case([](bufferization::MaterializeInDestinationOp op) {
        return op.getDest();
      })
      .Case<linalg_ext::MaskedLoadOp, linalg_ext::MaskedStoreOp,
            linalg_ext::GatherRowsOp, linalg_ext::ScatterRowsOp>(
          [](auto op) { return op.getView(); })
      .Default([](Operation *) { return Value(); });
}

static Value rowsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<linalg_ext::GatherRowsOp, linalg_ext::ScatterRowsOp>(
          [](auto op) { return op.getRows(); })
      .Default([](Operation *) { return Value(); });
}

/// What `value` is computed from, or where that is read, is up to the argument.
static bool dependsOn(Value value, Value argument) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  if (value.getDefiningOp() && failed(getBackwardSlice(value, &slice, options)))
    return true;
  return value == argument || llvm::any_of(slice, [&](Operation *op) {
           return llvm::is_contained(op->getOperands(), argument);
         });
}

static Value placesOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<linalg_ext::GatherOp, linalg_ext::ScatterOp>(
          [](auto op) { return op.getOffsets(); })
      .Default([](Operation *) { return Value(); });
}

static SmallVector<AccessedBlock> blocksOf(func::FuncOp func) {
  SmallVector<AccessedBlock> blocks;
  func.walk([&](Operation *op) {
    Value view = viewOf(op), places = placesOf(op);
    Value memory =
        places ? op->getOperand(isa<linalg_ext::ScatterOp>(op)) : view;
    auto type = memory ? dyn_cast<MemRefType>(memory.getType()) : MemRefType();
    if (!type)
      return;
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    int64_t elements =
        places ? cast<RankedTensorType>(places.getType()).getNumElements()
               : elementsOf(view);
    int64_t blockBytes = elements * bytes,
            weight = blockBytes * (isInLoop ? loopWeight : 1);
    bool isWritten = isa<bufferization::MaterializeInDestinationOp,
                         linalg_ext::MaskedStoreOp, linalg_ext::ScatterRowsOp,
                         linalg_ext::ScatterOp>(op);
    blocks.push_back(
        {view, rowsOf(op), places, bytes, blockBytes, weight, isWritten});
  });
  return blocks;
}

/// Finds out how blocks move. Places that nothing is known of decide nothing.
static void findMoves(SmallVectorImpl<AccessedBlock> &blocks,
                      MutableArrayRef<UsualGrowth> growths) {
  for (UsualGrowth &growth : growths)
    for (AccessedBlock &block : blocks) {
      if (block.view)
        block.moves.push_back(
            {growth.ofView(block.view), false,
             block.rows && dependsOn(block.rows, growth.program())});
      else
        block.moves.push_back(
            {growth.ofPlaces(block.places), growth.areRead(block.places)});
    }
  llvm::erase_if(blocks, [](const AccessedBlock &block) {
    return block.places &&
           llvm::any_of(block.moves, [](const AccessedBlock::Move &move) {
             return !move.growth;
           });
  });
}

/// What a block costs that lies `distance` elements, at least one, from the one
/// before: one unit if they follow one another or overlap, from three quarters
/// of `far` on, which is what it costs behind a page.
static Value nearCost(OpBuilder &b, Location loc, const AccessedBlock &block,
                      Value distance, Value far) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t page = pageBytes / block.elementBytes,
          own = std::min(block.bytes / block.elementBytes, page);
  // The quarter that is left grows up to a page.
  Value missing = arith::MaxSIOp::create(
      b, loc, number(0), arith::SubIOp::create(b, loc, number(page), distance));
  Value less = arith::DivUIOp::create(
      b, loc, arith::MulIOp::create(b, loc, missing, far), number(4 * page));
  return arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, distance,
                            number(own)),
      number(costUnit), arith::SubIOp::create(b, loc, far, less));
}

/// What goes through memory along this axis costs, if it has several programs.
/// `isLarge`, an i1: what the launch reads comes from memory.
static Value costAlong(OpBuilder &b, Location loc, unsigned axis,
                       ArrayRef<AccessedBlock> blocks, Value isLarge) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value cost = number(0);
  for (const AccessedBlock &block : blocks) {
    Value far = arith::SelectOp::create(
        b, loc, isLarge,
        number(costUnit * (block.isWritten ? farWriteCost : farReadCost)),
        number(costUnit * farCost));
    Value each = far;
    const AccessedBlock::Move &move = block.moves[axis];
    if (move.growth && !move.isOtherRow) {
      Value distance = toValue(b, loc, *move.growth);
      Value back = arith::SubIOp::create(b, loc, number(0), distance);
      distance = arith::MaxSIOp::create(b, loc, distance, back);
      Value isSame = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           distance, number(0));
      each = nearCost(b, loc, block, distance, far);
      each = arith::SelectOp::create(b, loc, isSame,
                                     number(costUnit * move.isElsewhere), each);
    }
    cost = arith::AddIOp::create(
        b, loc, cost,
        arith::MulIOp::create(b, loc, each, number(block.weight)));
  }
  return cost;
}

/// Products share operands between programs in the order that the kernel's
/// author thought of, or in one that shares them (SharedOrder.cpp); atomics and
/// what is read again and again may wait for programs before; prints are read
/// in order.
static bool mayBeInAnyOrder(func::FuncOp func) {
  return !hasOrder(func) && !anyInside(func, isProduct);
}

/// A function of the kernel's arguments that returns an order.
static func::FuncOp createOrder(OpBuilder &b, func::FuncOp func) {
  b.setInsertionPointAfter(func);
  auto order = func::FuncOp::create(
      b, func.getLoc(), (func.getName() + ".order").str(),
      b.getFunctionType(func.getArgumentTypes(), b.getI32Type()));
  order.setPrivate();
  b.setInsertionPointToStart(order.addEntryBlock());
  func->setAttr(orderAttr, FlatSymbolRefAttr::get(order.getNameAttr()));
  return order;
}

/// Of programs that only pack the same block so many follow one another: it is
/// packed rarely enough then, and their rows of `a` are still in the last cache
/// when the next column of programs reads them.
static constexpr int64_t packedTogether = 16;

/// Programs that multiply with the same block follow one another.
static void makeSharedOrder(func::FuncOp func, bool hasTwoFmas) {
  SharedOrder shared =
      hasOrder(func) ? SharedOrder() : findSharedOrder(func, hasTwoFmas);
  if (!shared.distance && shared.axis == 0)
    return;
  OpBuilder b(func.getContext());
  func::FuncOp order = createOrder(b, func);
  if (shared.distance)
    order->setAttr(apartAttr,
                   b.getI64IntegerAttr(shared.isComputed ? 0 : packedTogether));
  IRMapping map;
  map.map(func.getArguments(), order.getArguments());
  returnSharedOrder(b, func.getLoc(), map, shared,
                    order.getArguments().take_back(kProgramArguments / 2));
  if (Decision::isWanted(func.getContext()))
    Decision(func.getLoc(), "ordered")
        .report(shared.isComputed
                    ? "programs that multiply with the same computed block "
                      "follow one another, so that it is computed once"
                    : "programs that multiply with the same block follow one "
                      "another, so that it is packed once");
}

/// Whether all programs together read so many bytes; `counts`: of the axes.
static Value readsAsMuch(OpBuilder &b, Location loc,
                         ArrayRef<AccessedBlock> blocks, ValueRange counts,
                         int64_t largeRead) {
  int64_t bytes = 0;
  for (const AccessedBlock &block : blocks)
    bytes += block.isWritten ? 0 : block.bytes;
  if (bytes == 0 || largeRead <= 0)
    return arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  // A grid has less than 2^31 programs along each axis: as floats, so that
  // products do not wrap around.
  Type f64 = b.getF64Type();
  Value total = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(bytes));
  for (Value count : counts)
    total = arith::MulFOp::create(b, loc, total,
                                  arith::UIToFPOp::create(b, loc, f64, count));
  return arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::OGE, total,
      arith::ConstantOp::create(b, loc, b.getF64FloatAttr(largeRead)));
}

/// A function of the kernel's arguments that returns the axis that counts
/// fastest.
static void makeOrder(func::FuncOp func, int64_t largeRead) {
  SmallVector<AccessedBlock> blocks = blocksOf(func);
  auto programs = func.getArguments().take_back(kProgramArguments);
  if (blocks.empty() || (programs[1].use_empty() && programs[2].use_empty()))
    return;
  OpBuilder b(func.getContext());
  Location loc = func.getLoc();
  func::FuncOp order = createOrder(b, func);
  IRMapping map;
  map.map(func.getArguments(), order.getArguments());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto axisNumber = [&](int64_t axis) -> Value {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), axis);
  };
  SmallVector<UsualGrowth, 3> growths;
  for (Value id : programs.take_front(3))
    growths.emplace_back(b, map, id);
  findMoves(blocks, growths);
  Value isLarge = readsAsMuch(
      b, loc, blocks, order.getArguments().take_back(kProgramArguments / 2),
      largeRead);
  Value none = index(int64_t(1) << 48);
  Value fastest = axisNumber(0), least;
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value cost = costAlong(b, loc, axis, blocks, isLarge);
    Value isAlone =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                              map.lookup(programs[3 + axis]), axisNumber(1));
    cost = arith::SelectOp::create(b, loc, isAlone, none, cost);
    if (axis == 0) {
      least = cost;
      continue;
    }
    // Not for a little.
    Value isBetter =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              arith::MulIOp::create(b, loc, cost, index(4)),
                              arith::MulIOp::create(b, loc, least, index(3)));
    fastest =
        arith::SelectOp::create(b, loc, isBetter, axisNumber(axis), fastest);
    least = arith::SelectOp::create(b, loc, isBetter, cost, least);
  }
  func::ReturnOp::create(b, loc, fastest);
  if (Decision::isWanted(func.getContext()))
    Decision(loc, "ordered")
        .report("programs follow one another along the axis along which blocks "
                "lie near the ones before, by the strides of the launch");
}

namespace {
struct OrderProgramsPass
    : public tilebridge::cpu::impl::CpuOrderProgramsPassBase<
          OrderProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    // Programs that run together have an order of their own, which that of the
    // others is beside where launches have more rows.
    if (llvm::any_of(functions, [](func::FuncOp func) {
          return func->hasAttr(mergedCountAttr) &&
                 !func->hasAttr(mergedRowsAttr);
        }))
      return;
    for (func::FuncOp func : functions)
      if (func->hasAttr("tilebridge.kernel") && func.getBody().hasOneBlock()) {
        if (mayBeInAnyOrder(func))
          makeOrder(func, largeRead);
        else
          makeSharedOrder(func, twoFmas);
      }
  }
};
} // namespace
