//===- PrefetchTables.cpp - blocks that a table chooses -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A loop over the pages of an attention's keys reads in each iteration which
// page is next, and then waits for memory: the CPU foresees no page. The place
// of the next iteration's block is computed as that of this one's is, and asked
// for where this one is read. It is read in a moment, so that what the table
// says there is read without harm. So are the numbers of gathered rows, such as
// those of a token's keys.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Plan.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {
/// What values of a loop's body are in its next iteration.
class NextIteration {
public:
  NextIteration(OpBuilder &b, scf::ForOp loop) : b(b), loop(loop) {}

  /// It is computed from the loop's index, and from memory.
  bool canCopy(Value value) {
    return canCompute(value) && usesIndex && readsMemory;
  }

  /// It is computed from what is known before the loop, from its index, and
  /// from memory.
  bool canCompute(Value value) { return visit(value); }

  /// What was visited so far depends on the index.
  bool dependsOnIndex() const { return usesIndex; }

  /// The same with another index.
  Value copy(Value value, Value index) {
    map.map(loop.getInductionVar(), index);
    return copy(value);
  }

private:
  bool isOutside(Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  }

  bool visit(Value value) {
    if (isOutside(value) || !seen.insert(value).second)
      return true;
    if (value == loop.getInductionVar())
      return usesIndex = true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0)
      return false;
    bool isRead = isa<memref::LoadOp>(op);
    readsMemory |= isRead;
    return (isRead || isPure(op)) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return visit(operand); });
  }

  Value copy(Value value) {
    if (isOutside(value))
      return value;
    if (Value known = map.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      map.map(operand, copy(operand));
    b.clone(*op, map);
    return map.lookup(value);
  }

  OpBuilder &b;
  scf::ForOp loop;
  IRMapping map;
  llvm::DenseSet<Value> seen;
  bool usesIndex = false, readsMemory = false;
};
} // namespace

/// An iteration takes so long that the CPU is not in the next one before this
/// one's end: sums of rows took 1.3 times as long with so many requests.
static bool takesLong(Operation *loop) {
  return loop && (anyInside(loop, isProduct) || callsMathFunction(loop));
}

/// To ask for more takes longer than they are waited for.
static constexpr int64_t mostLines = 512;

/// The dimension along which the elements of a block are neighbours; -1 where
/// that is not known of one, or rows are too many.
static int contiguousDim(const View &view) {
  int64_t rows = 1;
  int result = -1;
  for (auto [d, stride] : llvm::enumerate(view.strides)) {
    if (view.shape[d] == 1 || constantOf(stride) == 0)
      continue;
    if (constantOf(stride) == 1 && result < 0)
      result = static_cast<int>(d);
    else
      rows *= view.shape[d];
  }
  if (result < 0)
    return -1;
  int64_t bits =
      view.shape[result] * view.elementType().getIntOrFloatBitWidth();
  return rows * llvm::divideCeil(bits, 8 * lineBytes) <= mostLines ? result
                                                                   : -1;
}

/// The launch reads so much by `view` that the second cache has little of it.
Value NestEmitter::isFarRead(FunctionEmitter &fe, const View &view,
                             Location loc) {
  // An eighth of what comes from memory is a few MiB.
  Nest none{loc, {}, {}, {}};
  NestEmitter launch(fe, none);
  int64_t bytes = bytesOf(view), threshold = fe.target().prefetchBytes / 8;
  return arith::CmpIOp::create(
      launch.b, loc, arith::CmpIPredicate::sge, launch.runsInLaunch(),
      launch.constant(llvm::divideCeil(threshold, bytes)));
}

/// The next iteration is one of the loop, and the block comes from memory; code
/// for that case follows.
static void onlyIfNext(OpBuilder &b, Location loc, scf::ForOp loop,
                       Value condition) {
  Value left = arith::SubIOp::create(b, loc, loop.getUpperBound(),
                                     loop.getInductionVar()),
        exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       loop.getStep(), left);
  auto branch = scf::IfOp::create(
      b, loc, arith::AndIOp::create(b, loc, exists, condition),
      /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
}

static Value nextIndex(OpBuilder &b, Location loc, scf::ForOp loop) {
  return arith::AddIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
}

void NestEmitter::askForTableBlock(FunctionEmitter &fe, const View &view,
                                   Location loc) {
  OpBuilder &b = fe.builder();
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = loopAround(b);
  auto offset = dyn_cast<Value>(view.offset);
  if (fe.target().prefetchBytes <= 0 || !loop || !offset || view.rows ||
      b.getInsertionBlock() != loop.getBody() || bytesOf(view) < lineBytes ||
      !takesLong(fe.oldLoops.lookup(loop)))
    return;
  int dim = contiguousDim(view);
  NextIteration next(b, loop);
  if (dim < 0 || !next.canCopy(offset))
    return;
  onlyIfNext(b, loc, loop, isFarRead(fe, view, loc));
  Value at = next.copy(offset, nextIndex(b, loc, loop));
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  for (auto [d, stride] : llvm::enumerate(view.strides)) {
    if (view.shape[d] == 1 || constantOf(stride) == 0 ||
        static_cast<int>(d) == dim)
      continue;
    auto rows =
        scf::ForOp::create(b, loc, number(0), number(view.shape[d]), number(1));
    b.setInsertionPoint(rows.getBody()->getTerminator());
    at = toValue(
        b, loc,
        addIndex(b, loc, at, mulIndex(b, loc, rows.getInductionVar(), stride)));
  }
  prefetchLater(b, loc, view.base, at, {number(0), {}}, view.shape[dim]);
}

/// The numbers of a block's rows in the next iteration, as those of this one
/// are computed: from numbers, and from what is read where they say.
class NestEmitter::NextRows {
public:
  NextRows(FunctionEmitter &fe, scf::ForOp loop, scf::ForOp oldLoop)
      : fe(fe), next(fe.builder(), loop), oldLoop(oldLoop) {}

  bool canCompute(Value rows) {
    bool result = true;
    fe.walkCone(rows, ownIndices(1), nullptr,
                [&](Value value, ArrayRef<Index> at) {
                  bool goesOn = false;
                  if (!isKnown(value))
                    result &= visit(value, at, goesOn);
                  return result && goesOn;
                });
    return result && !read.empty() && next.dependsOnIndex();
  }

  /// What is computed from now on is that of an iteration with another index.
  void enter(Value index) {
    for (std::unique_ptr<View> *view : views()) {
      saved.push_back(std::move(*view));
      *view = std::make_unique<View>(moved(*saved.back(), index));
    }
    for (Value number : numbers) {
      Value here = fe.mapScalar(number);
      savedNumbers.push_back(here);
      fe.map.map(number, next.copy(here, index));
    }
  }

  void leave() {
    for (auto [view, here] : llvm::zip_equal(views(), saved))
      *view = std::move(here);
    for (auto [number, here] : llvm::zip_equal(numbers, savedNumbers))
      fe.map.map(number, here);
  }

private:
  bool isKnown(Value value) { return oldLoop.isDefinedOutsideOfLoop(value); }

  bool visit(Value value, ArrayRef<Index> at, bool &goesOn) {
    if (fe.buffers.count(value))
      return false;
    if (auto load = fe.loads.find(value); load != fe.loads.end()) {
      read.insert(value);
      return canMove(*load->second);
    }
    goesOn = true;
    Operation *op = value.getDefiningOp();
    auto place = fe.irregular.find(value);
    if (place == fe.irregular.end())
      return op && canCopy(op);
    // What another read says where to read may change until then, and there
    // need not be memory where it said before.
    auto gather = dyn_cast<linalg_ext::GatherOp>(op);
    read.insert(value);
    return gather && canMove(*place->second) &&
           !fe.readsMemory(gather.getOffsets(), at) &&
           !(gather.getMask() && fe.readsMemory(gather.getMask(), at));
  }

  /// Beside blocks, `op` computes from numbers that are known in time.
  bool canCopy(Operation *op) {
    if (hasOrder(op) || mayWrite(op))
      return false;
    bool result = true;
    op->walk([&](Operation *inner) {
      // What it would divide by may be zero yet.
      if (inner->getNumRegions() == 0 &&
          !inner->hasTrait<OpTrait::IsTerminator>())
        result &= isPure(inner);
      for (Value operand : inner->getOperands()) {
        Region *region = operand.getParentRegion();
        if (isKnown(operand) || matchPattern(operand, m_Constant()) ||
            region->getParentOp() == op ||
            op->isProperAncestor(region->getParentOp()))
          continue;
        Value number = fe.map.lookupOrNull(operand);
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
          result &= inner == op && type.getRank() > 0;
        else if (number && next.canCompute(number))
          numbers.insert(operand);
        else
          result = false;
      }
    });
    return result;
  }

  bool canMove(const View &view) {
    // A copy has this iteration's elements only.
    if (view.rows || view.other || view.original ||
        (view.pad && !isKnown(view.pad)))
      return false;
    auto isComputed = [&](OpFoldResult index) {
      auto value = dyn_cast<Value>(index);
      return !value || next.canCompute(value);
    };
    return isComputed(view.offset) && llvm::all_of(view.strides, isComputed) &&
           llvm::all_of(view.lo, isComputed) &&
           llvm::all_of(view.hi, isComputed);
  }

  View moved(const View &view, Value index) {
    View result = view;
    auto move = [&](OpFoldResult &place) {
      if (auto value = dyn_cast<Value>(place))
        place = next.copy(value, index);
    };
    move(result.offset);
    llvm::for_each(result.strides, move);
    llvm::for_each(result.lo, move);
    llvm::for_each(result.hi, move);
    return result;
  }

  SmallVector<std::unique_ptr<View> *> views() {
    return llvm::map_to_vector(read, [&](Value value) {
      auto load = fe.loads.find(value);
      return load != fe.loads.end() ? &load->second : &fe.irregular[value];
    });
  }

  FunctionEmitter &fe;
  NextIteration next;
  scf::ForOp oldLoop;
  llvm::SmallSetVector<Value, 4> read, numbers;
  SmallVector<std::unique_ptr<View>> saved;
  SmallVector<Value> savedNumbers;
};

/// The dimension along which gathered rows of one piece lie in memory, or -1.
static int rowsAlong(const View &view) {
  int result = -1;
  for (auto [d, stride] : llvm::enumerate(view.strides)) {
    if (static_cast<int>(d) == view.rowDim || view.shape[d] == 1)
      continue;
    if (result >= 0 || constantOf(stride) != 1)
      return -1;
    result = static_cast<int>(d);
  }
  if (result < 0)
    return -1;
  int64_t bits =
      view.shape[result] * view.elementType().getIntOrFloatBitWidth();
  return view.shape[view.rowDim] * llvm::divideCeil(bits, 8 * lineBytes) <=
                 mostLines
             ? result
             : -1;
}

/// The same for rows whose numbers the loop reads. A block of short rows is too
/// small to ask for its later rows early enough while it is read.
void NestEmitter::askForTableRows(FunctionEmitter &fe, const View &view,
                                  Location loc) {
  OpBuilder &b = fe.builder();
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = loopAround(b), oldLoop = fe.oldLoops.lookup(loop);
  if (fe.target().prefetchBytes <= 0 || !loop || !oldLoop ||
      b.getInsertionBlock() != loop.getBody() || bytesOf(view) < lineBytes ||
      !takesLong(oldLoop))
    return;
  int dim = rowsAlong(view);
  if (dim < 0)
    return;
  NextRows rows(fe, loop, oldLoop);
  if (!rows.canCompute(view.rows))
    return;
  onlyIfNext(b, loc, loop, isFarRead(fe, view, loc));
  rows.enter(nextIndex(b, loc, loop));
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Frame own;
  own.open(b);
  own.lanes = 1;
  Frame *outer = std::exchange(fe.frame, &own);
  Indices at(view.shape.size());
  for (auto [d, place] : llvm::enumerate(at))
    place = {number(0), 0, 0, static_cast<int>(d)};
  at[view.rowDim] =
      own.openLoop(b, loc, view.rowDim, number(0),
                   number(view.shape[view.rowDim]), 1, /*hasLanes=*/false);
  Value place = fe.address(view, at, -1, loc);
  prefetchLater(b, loc, view.base, place, {number(0), {}}, view.shape[dim]);
  fe.frame = outer;
  rows.leave();
}
