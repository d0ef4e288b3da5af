//===- Prefetch.cpp - the rows that the next iterations read --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A loop over blocks of several rows reads each row in pieces, or rows that lie
// far apart; so do programs with a tile each. The CPU foresees neither, as it
// looks ahead along one row only. While a row is read, the same row of a block
// some iterations or programs later is asked for, into the second cache: more
// requests are open there than from the first one. This costs a little where
// the data is in a cache already, so that a launch asks only if it reads much.
//
// A kernel that goes over its block several times, such as a softmax, waits for
// memory the first time and computes the second time, while memory idles: the
// second time asks for the next block, if that is so far away that the CPU does
// not look ahead into it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/NextProgram.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// So many bytes are read while those that were asked for arrive.
static constexpr int64_t bytesAhead = 8192;
static constexpr int64_t mostAhead = 16;
/// The same, of a row that runs backwards from block to block: reversing 33 MB
/// of f32 took 0.70 of the time, with 8192 bytes 0.78 (Zen 4).
static constexpr int64_t bytesBefore = 2048;
/// The CPU drops some of what is asked for while much is under way: the third
/// time that a block is gone over, the block behind the next one is asked for,
/// and the second time the rest of the next one.
static constexpr unsigned mostAsking = 2;

/// What the old loop adds to the value that became `argument`, a value of the
/// new function from outside of the loop; null if it is no such sum.
Value FunctionEmitter::carriedStep(scf::ForOp loop, BlockArgument argument) {
  scf::ForOp old = oldLoops.lookup(loop);
  if (!old || !argument.getType().isIntOrIndex())
    return {};
  for (auto [oldArgument, yielded] :
       llvm::zip_equal(old.getRegionIterArgs(), old.getYieldedValues())) {
    if (map.lookupOrNull(oldArgument) != argument)
      continue;
    auto sum = yielded.getDefiningOp<arith::AddIOp>();
    for (unsigned i : {0, 1})
      if (sum && sum->getOperand(i) == oldArgument &&
          old.isDefinedOutsideOfLoop(sum->getOperand(1 - i)))
        return mapScalar(sum->getOperand(1 - i));
  }
  return {};
}

std::optional<OpFoldResult>
FunctionEmitter::growthOf(const View &view, scf::ForOp around, Location loc) {
  return growthInLoop(
      rewriter, loc, toValue(rewriter, loc, view.placed().offset), around,
      [&](BlockArgument argument) { return carriedStep(around, argument); });
}

std::optional<OpFoldResult> NestEmitter::growthOf(const View &view,
                                                  scf::ForOp around) {
  return fe.growthOf(view, around, loc);
}

scf::ForOp tilebridge::cpu::loopAround(OpBuilder &b) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  while (isa_and_nonnull<scf::IfOp>(parent))
    parent = parent->getParentOp();
  auto around = dyn_cast_or_null<scf::ForOp>(parent);
  return around && !around.getUnsignedCmp() ? around : nullptr;
}

/// The loops around the code here, outermost first.
static SmallVector<Operation *> loopsAround(OpBuilder &b) {
  SmallVector<Operation *> loops;
  for (Operation *at = b.getInsertionBlock()->getParentOp();
       at && !isa<func::FuncOp>(at); at = at->getParentOp())
    if (isa<LoopLikeOpInterface>(at))
      loops.push_back(at);
  std::reverse(loops.begin(), loops.end());
  return loops;
}

/// The launch reads so much by this view that it comes from memory.
Value NestEmitter::isLargeRead(const View &view) {
  int64_t bytes = bytesOf(view), threshold = fe.target().prefetchBytes;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                               runsInLaunch(),
                               constant((threshold + bytes - 1) / bytes));
}

std::optional<Later> NestEmitter::laterBlock(const View &view) {
  int64_t ahead = std::clamp<int64_t>(bytesAhead / bytesOf(view), 1, mostAhead);
  return laterBlock(view, loopAround(b), ahead, /*evenInOrder=*/false);
}

/// How far away the block is that is read in place of `view` so many iterations
/// or programs `ahead`, and whether it is to be asked for: of a later
/// iteration, in the last ones of the next program; without a loop, of a later
/// program. Nothing where that is not known, or the block is always the same.
/// `evenInOrder`: also of the next program where each reads one block only.
std::optional<Later> NestEmitter::laterBlock(const View &view,
                                             scf::ForOp around, int64_t ahead,
                                             bool evenInOrder) {
  auto offset = dyn_cast<Value>(view.placed().offset);
  if (fe.target().prefetchBytes <= 0 || !offset)
    return std::nullopt;
  NextProgram next(fe, loc, offset);
  std::optional<OpFoldResult> growth;
  if (around)
    growth = growthOf(view, around);
  if (around ? !growth || constantOf(*growth) == 0 : !next)
    return std::nullopt;
  Value isLarge = isLargeRead(view);
  auto onlyIf = [&](Value condition) -> Value {
    return arith::AndIOp::create(b, loc, isLarge, condition);
  };
  if (!around)
    return Later{
        toValue(b, loc, mulIndex(b, loc, next.growth(), b.getIndexAttr(ahead))),
        onlyIf(next.exists(ahead))};

  Value step = around.getStep();
  Value reach = arith::MulIOp::create(
      b, loc, step,
      arith::ConstantOp::create(b, loc,
                                b.getIntegerAttr(step.getType(), ahead)));
  Value left = arith::SubIOp::create(b, loc, around.getUpperBound(),
                                     around.getInductionVar());
  Value isInside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, reach, left);
  Value distance =
      toValue(b, loc, mulIndex(b, loc, *growth, b.getIndexAttr(ahead)));
  if (!next)
    return Later{distance, onlyIf(isInside)};
  // Of `count` iterations, i asks for i + ahead - count of the next program.
  Value length = arith::SubIOp::create(b, loc, around.getUpperBound(),
                                       around.getLowerBound());
  Value count = toValue(
      b, loc,
      inIndex(b, loc, arith::CeilDivSIOp::create(b, loc, length, step)));
  Value back = arith::SubIOp::create(
      b, loc, count, arith::MinSIOp::create(b, loc, count, constant(ahead)));
  Value further = toValue(
      b, loc, subIndex(b, loc, next.growth(), mulIndex(b, loc, *growth, back)));
  Value hasNext = next.exists(1);
  if (!evenInOrder)
    hasNext = arith::AndIOp::create(
        b, loc, hasNext,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count,
                              constant(1)));
  return Later{arith::SelectOp::create(b, loc, isInside, distance, further),
               onlyIf(arith::OrIOp::create(b, loc, isInside, hasNext))};
}

/// More than `gap` elements of memory between the rows of a block are left out:
/// null where it is known that so many are not.
Value NestEmitter::rowsAreApart(const View &view, int64_t gap) {
  OpFoldResult length = b.getIndexAttr(0);
  for (auto [d, stride] : llvm::enumerate(view.strides))
    if (constantOf(stride) == 1)
      length = subIndex(b, loc, view.hi[d], view.lo[d]);
  length = addIndex(b, loc, length, b.getIndexAttr(gap));
  Value result;
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides)) {
    auto known = constantOf(stride), inRow = constantOf(length);
    if (size == 1 || known == 1 || (known && inRow && *known <= *inRow))
      continue;
    Value isApart =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                              toValue(b, loc, stride), toValue(b, loc, length));
    result = result ? arith::OrIOp::create(b, loc, result, isApart).getResult()
                    : isApart;
  }
  return result;
}

/// The row behind the next is asked for, too, if rows come from memory.
void NestEmitter::findGatheredRows(const View &view) {
  if (view.rowDim >= 0 && fe.target().prefetchBytes > 0 &&
      !frame.largeRows.count(&view))
    frame.largeRows[&view] = isLargeRead(view);
}

static int64_t bitsOf(const View &view) {
  return view.elementType().getIntOrFloatBitWidth();
}

static bool hasRows(const View &view) {
  int64_t rows = 1;
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
    rows *= constantOf(stride) == 1 ? 1 : size;
  return rows >= 2;
}

/// Whether lanes along dimension `d` are neighbours that run backwards, or may:
/// no CPU looks ahead of what is read in pieces that do.
static bool mayRunBackwards(const View &view, unsigned d) {
  auto stride = constantOf(view.strides[d]);
  return !stride || stride == -1;
}

/// The loop of such a load has another one of rows, from another argument, that
/// a nest reads which `own` are not of.
bool NestEmitter::readsOtherRows(Value load,
                                 const llvm::SmallDenseSet<Value, 8> &own) {
  Value argument = argumentOf(fe.loads.at(load)->placed().base);
  return llvm::any_of(fe.loads, [&](const auto &entry) {
    Value other = entry.first;
    const std::unique_ptr<View> &view = entry.second;
    return !own.contains(other) &&
           other.getParentBlock() == load.getParentBlock() &&
           fe.viewIfInMemory(other) == view.get() && hasRows(*view) &&
           argumentOf(view->placed().base) != argument;
  });
}

/// Visits what outputs and reductions are computed from, at any index.
void NestEmitter::walkInputs(function_ref<bool(Value, ArrayRef<Index>)> visit) {
  Indices any = ownIndices(nest.shape.size());
  for (const NestOutput &output : nest.outputs) {
    if (output.source)
      continue;
    if (!output.reduce) {
      fe.walkCone(output.tensor, any, nullptr, visit);
      continue;
    }
    for (Value input : reduceInputs(output.reduce))
      fe.walkCone(input, any, nullptr, visit);
  }
}

/// The loads of blocks of rows that move with the loop around the nest, or, if
/// there is none, from program to program.
void NestEmitter::findPrefetches() {
  if (nest.isCold || frame.vecDim < 0)
    return;
  SmallVector<Operation *> loops = loopsAround(b);
  llvm::SmallSetVector<Value, 4> arguments;
  bool isInLoop = static_cast<bool>(loopAround(b));
  llvm::SmallDenseSet<Value, 8> own;
  SmallVector<std::pair<Value, const View *>> blocks;
  auto visit = [&](Value value, ArrayRef<Index> place) {
    if (auto rows = fe.irregular.find(value); rows != fe.irregular.end())
      findGatheredRows(*rows->second);
    auto it = fe.loads.find(value);
    if (it == fe.loads.end() || fe.viewIfInMemory(value) != it->second.get())
      return true;
    const View &view = *it->second;
    own.insert(value);
    if (view.rowDim >= 0 || frame.prefetches.count(&view))
      return true;
    bool isFirst = true;
    if (Value argument = argumentOf(view.placed().base)) {
      arguments.insert(argument);
      auto first = fe.readers.find(argument);
      isFirst = first == fe.readers.end();
      if (!isFirst && findNextBlock(view, first->second, loops))
        return true;
    }
    if (auto later = isFirst ? laterInOrder(view, place) : std::nullopt) {
      frame.prefetches[&view] = *later;
      return true;
    }
    if (frame.lanes * bitsOf(view) < 128)
      return true;
    if (findReversedBlock(view, place))
      return true;
    if (hasRows(view))
      blocks.emplace_back(value, &view);
    return true;
  };
  walkInputs(visit);
  for (Value argument : arguments)
    fe.readers.try_emplace(argument, FirstReader{loops, 0});
  for (auto [value, view] : blocks) {
    // CPUs with two multiply-adds a cycle read as fast from memory without, and
    // 1.2 times as fast from the last cache, which is large there; but while
    // another nest of the loop computes, they look ahead along its block only.
    if (isInLoop && fe.target().hasTwoFmas && !readsOtherRows(value, own))
      continue;
    auto later = laterBlock(*view);
    Value isApart = later && !isInLoop ? rowsAreApart(*view) : Value();
    if (isApart)
      later->condition =
          arith::AndIOp::create(b, loc, later->condition, isApart);
    if (later && (isInLoop || isApart))
      frame.prefetches[view] = *later;
  }
}

/// One row, whose lanes may run backwards: that of a later iteration or program
/// is asked for where they do; where that is not known, what stands before.
bool NestEmitter::findReversedBlock(const View &view, ArrayRef<Index> place) {
  for (auto [d, index] : llvm::enumerate(place))
    if (index.dim == frame.vecDim ? !mayRunBackwards(view, d)
                                  : view.shape[d] != 1)
      return false;
  if (fe.target().prefetchBytes <= 0)
    return false;
  auto later = laterBlock(view);
  if (!later)
    later = {constant(-8 * bytesBefore / bitsOf(view)), isLargeRead(view)};
  // Asking for what is read here costs less than a branch would.
  Value distance = arith::SelectOp::create(b, loc, later->condition,
                                           later->distance, constant(0));
  frame.prefetches[&view] = {distance, {}};
  return true;
}

/// Another nest has read the argument before. The next block is that of the
/// next iteration of the loop around both, or of the next program. False if it
/// is not known, or nests enough ask.
bool NestEmitter::findNextBlock(const View &view, FirstReader &first,
                                ArrayRef<Operation *> loops) {
  int64_t bits = bitsOf(view);
  if (first.asking >= mostAsking || frame.lanes * bits < 128)
    return false;
  // An RMS norm of short rows took 0.85 of the time without (Zen 4); on a Xeon
  // rows of 4 KiB 1.1 times as long, and of 1 KiB 0.95.
  int64_t shortBytes = fe.target().hasTwoFmas ? bytesAhead / 4 : bytesAhead / 2;
  if (view.original && bits >= 32 && bytesOf(view) <= shortBytes)
    return false;
  size_t common = 0;
  while (common < loops.size() && common < first.loops.size() &&
         loops[common] == first.loops[common])
    ++common;
  scf::ForOp around;
  if (common > 0) {
    around = loopAround(b);
    if (!around || around != loops[common - 1])
      return false;
  }
  int64_t ahead = 1 + first.asking;
  auto next = laterBlock(view, around, ahead, /*evenInOrder=*/true);
  if (!next)
    return false;
  // Of rows of a page the one behind the next: what follows in memory comes
  // unasked, and one row's time is less than memory takes. CPUs with two
  // multiply-adds a cycle need that of shorter rows, too (Xeon with AMX, rows
  // of 2 KiB: softmax 1.2 to 1.5 times as fast, RMS norm 1.3 to 1.5); Zen 4 is
  // slower by up to a tenth.
  int64_t bytes = bytesOf(view);
  bool asksFurther =
      bytes == bytesAhead / 2 ||
      (fe.target().hasTwoFmas && bytes < bytesAhead && bytes >= 1024);
  auto further =
      asksFurther
          ? laterBlock(view, around,
                       first.asking + llvm::divideCeil(bytesAhead, bytes),
                       /*evenInOrder=*/true)
          : std::nullopt;
  // Asking for what is read here anyway costs less than a branch would.
  Value distance = constant(0);
  int64_t farAway = std::max<int64_t>(8 * bytesAhead / bits, 1);
  for (const auto &later : {next, further}) {
    if (!later)
      continue;
    // Before or behind what is read here.
    Value isFar = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::uge,
        arith::AddIOp::create(b, loc, later->distance, constant(farAway)),
        constant(2 * farAway));
    Value asks = arith::AndIOp::create(b, loc, later->condition, isFar);
    distance = arith::SelectOp::create(b, loc, asks, later->distance, distance);
  }
  // CPUs with two multiply-adds a cycle compute so quickly that the second
  // cache is far away; the first one has 48 KiB, of which this row needs a
  // part.
  constexpr int64_t mostBytes = 16 * 1024;
  bool isNear = fe.target().hasTwoFmas && bytesOf(view) <= mostBytes;
  frame.prefetches[&view] = {
      distance, {}, isNear ? NearestCache::First : NearestCache::Second};
  ++first.asking;
  return true;
}
