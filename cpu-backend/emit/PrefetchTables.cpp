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
// says there is read without harm.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Plan.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// What values of a loop's body are in its next iteration.
class NextIteration {
public:
  NextIteration(OpBuilder &b, scf::ForOp loop) : b(b), loop(loop) {}

  /// It is computed from the loop's index, and from memory.
  bool canCopy(Value value) { return visit(value) && usesIndex && readsMemory; }

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

/// The dimension along which the elements of a block are neighbours; -1 where
/// that is not known of one, or rows are so many that to ask for all of them
/// takes longer than they are waited for.
static int contiguousDim(const View &view) {
  constexpr int64_t mostLines = 512;
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
  Value index = loop.getInductionVar(), step = loop.getStep(),
        left = arith::SubIOp::create(b, loc, loop.getUpperBound(), index),
        exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, step,
                                       left);
  auto branch = scf::IfOp::create(
      b, loc, arith::AndIOp::create(b, loc, exists, isFarRead(fe, view, loc)),
      /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  Value at = next.copy(offset, arith::AddIOp::create(b, loc, index, step));
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
