//===- Prefetch.cpp - the rows that the next iterations read --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A loop over blocks of several rows reads each row in pieces, or rows that lie
// far apart: the CPU foresees neither, as it looks ahead along one row only.
// While a row is read, the same row of a block some iterations later is asked
// for, into the second cache: requests from the first one are few. This costs
// a little where the data is in a cache already, so that a launch asks only if
// it reads much.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Bytes of what the CPU moves between memory and caches.
static constexpr int64_t lineBytes = 64;
/// So many bytes are read while those that were asked for arrive.
static constexpr int64_t bytesAhead = 8192;
static constexpr int64_t mostIterationsAhead = 16;

namespace {
/// How much a value grows from one iteration of a loop to the next.
class Growth {
public:
  Growth(OpBuilder &b, Location loc, scf::ForOp loop,
         function_ref<Value(BlockArgument)> carriedStep)
      : b(b), loc(loc), loop(loop), carriedStep(carriedStep) {}

  /// Of type index; nothing where it is not known.
  std::optional<OpFoldResult> of(Value value) {
    if (loop.isDefinedOutsideOfLoop(value))
      return zero();
    if (--budget < 0)
      return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop.getBody())
        return std::nullopt;
      Value step = argument == loop.getInductionVar() ? loop.getStep()
                                                      : carriedStep(argument);
      if (!step)
        return std::nullopt;
      return inIndex(step);
    }
    Operation *op = value.getDefiningOp();
    if (!isPure(op) || op->getNumRegions() != 0)
      return std::nullopt;
    SmallVector<OpFoldResult, 4> parts;
    bool grows = false;
    for (Value operand : op->getOperands()) {
      auto part = of(operand);
      if (!part)
        return std::nullopt;
      parts.push_back(*part);
      grows |= constantOf(*part) != 0;
    }
    if (!grows)
      return zero();
    if (isa<arith::AddIOp>(op))
      return addIndex(b, loc, parts[0], parts[1]);
    if (isa<arith::SubIOp>(op))
      return subIndex(b, loc, parts[0], parts[1]);
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return parts[0];
    for (unsigned i : {0, 1}) {
      if (op->getNumOperands() != 2 || constantOf(parts[1 - i]) != 0)
        continue;
      Value fixed = op->getOperand(1 - i);
      if (isa<arith::MulIOp>(op) && loop.isDefinedOutsideOfLoop(fixed))
        return mulIndex(b, loc, parts[i], inIndex(fixed));
      // Cut to the bounds of a tensor, at its ends.
      if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
        return parts[i];
    }
    return std::nullopt;
  }

private:
  OpFoldResult zero() { return b.getIndexAttr(0); }
  OpFoldResult inIndex(Value value) {
    if (auto known = getConstantIntValue(value))
      return b.getIndexAttr(*known);
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value)
        .getResult();
  }

  OpBuilder &b;
  Location loc;
  scf::ForOp loop;
  function_ref<Value(BlockArgument)> carriedStep;
  int budget = 64;
};
} // namespace

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

/// The loads of blocks of rows that move with the loop around the nest, each
/// with how far ahead it is to ask, and whether.
void NestEmitter::findPrefetches() {
  int64_t threshold = fe.target().streamBytes;
  if (threshold <= 0 || nest.isCold || frame.vecDim < 0)
    return;
  Operation *parent = b.getInsertionBlock()->getParentOp();
  while (isa_and_nonnull<scf::IfOp>(parent))
    parent = parent->getParentOp();
  auto around = dyn_cast_or_null<scf::ForOp>(parent);
  if (!around || around.getUnsignedCmp())
    return;
  Value runs;
  auto visit = [&](Value value, ArrayRef<Index>) {
    auto it = fe.loads.find(value);
    if (it == fe.loads.end() || fe.viewIfInMemory(value) != it->second.get())
      return true;
    const View &view = *it->second;
    if (view.rowDim >= 0 || frame.prefetches.count(&view))
      return true;
    int64_t rows = 1, elements = 1;
    for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides)) {
      elements *= size;
      rows *= constantOf(stride) == 1 ? 1 : size;
    }
    int64_t bits = view.elementType().getIntOrFloatBitWidth();
    auto offset = dyn_cast<Value>(view.offset);
    if (rows < 2 || !offset || frame.lanes * bits < 128)
      return true;
    auto growth = Growth(b, loc, around, [&](BlockArgument argument) {
                    return fe.carriedStep(around, argument);
                  }).of(offset);
    if (!growth || constantOf(*growth) == 0)
      return true;
    int64_t bytes = elements * bits / 8;
    int64_t ahead =
        std::clamp<int64_t>(bytesAhead / bytes, 1, mostIterationsAhead);
    if (!runs)
      runs = runsInLaunch();
    Value isLarge =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, runs,
                              constant((threshold + bytes - 1) / bytes));
    // The last iterations would ask for what nobody reads.
    Value step = around.getStep();
    Type type = step.getType();
    Value distance = arith::MulIOp::create(
        b, loc, step,
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, ahead)));
    Value left = arith::SubIOp::create(b, loc, around.getUpperBound(),
                                       around.getInductionVar());
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           distance, left);
    frame.prefetches[&view] = {
        toValue(b, loc, mulIndex(b, loc, *growth, b.getIndexAttr(ahead))),
        arith::AndIOp::create(b, loc, isLarge, isInside)};
    return true;
  };
  Indices any(nest.shape.size());
  for (auto [d, index] : llvm::enumerate(any))
    index.dim = d;
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

/// Asks for what stands where the lanes are, some iterations of the loop around
/// the nest later.
void FunctionEmitter::prefetchLaterBlock(const View &view,
                                         ArrayRef<Index> indices,
                                         unsigned laneDim, Location loc) {
  auto it = frame->prefetches.find(&view);
  if (it == frame->prefetches.end() || constantOf(view.strides[laneDim]) != 1)
    return;
  auto [distance, condition] = it->second;
  Value at = address(view, indices, laneDim, loc);
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  int64_t inLine = std::max<int64_t>(8 * lineBytes / bits, 1);
  auto branch = scf::IfOp::create(rewriter, loc, condition, false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  at = arith::AddIOp::create(rewriter, loc, at, indices[laneDim].base);
  at = arith::AddIOp::create(rewriter, loc, at, distance);
  for (int64_t lane = 0; lane < frame->lanes; lane += inLine) {
    Value line =
        lane == 0
            ? at
            : toValue(rewriter, loc,
                      addIndex(rewriter, loc, at, rewriter.getIndexAttr(lane)));
    memref::PrefetchOp::create(rewriter, loc, view.base, line,
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
}
