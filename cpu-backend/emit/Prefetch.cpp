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

static OpFoldResult inIndex(OpBuilder &b, Location loc, Value value) {
  if (auto known = getConstantIntValue(value))
    return b.getIndexAttr(*known);
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value)
      .getResult();
}

namespace {
/// How much a value grows where something else grows by one step.
class Growth {
public:
  using Known = std::optional<OpFoldResult>;
  /// `ofArgument` tells it for arguments of blocks, `isFixed` which values stay
  /// as they are.
  Growth(OpBuilder &b, Location loc, function_ref<bool(Value)> isFixed,
         function_ref<Known(BlockArgument)> ofArgument)
      : b(b), loc(loc), isFixed(isFixed), ofArgument(ofArgument) {}

  /// Of type index; nothing where it is not known.
  Known of(Value value) {
    if (isFixed(value))
      return zero();
    if (--budget < 0)
      return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
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
      if (isa<arith::MulIOp>(op))
        return mulIndex(b, loc, parts[i], inIndex(b, loc, fixed));
      // Cut to the bounds of a tensor, at its ends.
      if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
        return parts[i];
    }
    return std::nullopt;
  }

private:
  OpFoldResult zero() { return b.getIndexAttr(0); }

  OpBuilder &b;
  Location loc;
  function_ref<bool(Value)> isFixed;
  function_ref<Known(BlockArgument)> ofArgument;
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

/// How much `offset` grows from one iteration of `loop` to the next.
static Growth::Known
growthInLoop(OpBuilder &b, Location loc, Value offset, scf::ForOp loop,
             function_ref<Value(BlockArgument)> carriedStep) {
  auto isFixed = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  };
  auto ofArgument = [&](BlockArgument argument) -> Growth::Known {
    if (argument.getOwner() != loop.getBody())
      return std::nullopt;
    Value step = argument == loop.getInductionVar() ? loop.getStep()
                                                    : carriedStep(argument);
    return step ? Growth::Known(inIndex(b, loc, step)) : std::nullopt;
  };
  return Growth(b, loc, isFixed, ofArgument).of(offset);
}

/// How much it grows from one program to the next one along x.
static Growth::Known growthOfProgram(OpBuilder &b, Location loc, Value offset,
                                     Value program) {
  auto isFixed = [](Value) { return false; };
  function_ref<Growth::Known(BlockArgument)> ofArgument;
  auto tell = [&](BlockArgument argument) -> Growth::Known {
    if (argument == program)
      return b.getIndexAttr(1);
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return b.getIndexAttr(0);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return std::nullopt;
    Value start = argument == loop.getInductionVar()
                      ? loop.getLowerBound()
                      : loop.getTiedLoopInit(argument)->get();
    return Growth(b, loc, isFixed, ofArgument).of(start);
  };
  ofArgument = tell;
  return Growth(b, loc, isFixed, ofArgument).of(offset);
}

/// The loads of blocks of rows that move with the loop around the nest, each
/// with how far ahead it is to ask, and whether. The last iterations ask for
/// what the first ones of the next program read.
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
  ValueRange ids = fe.oldFunc.getArguments().take_back(6);
  Value program = fe.mapScalar(ids[0]), programs = fe.mapScalar(ids[3]);
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
    auto growth =
        growthInLoop(b, loc, offset, around, [&](BlockArgument argument) {
          return fe.carriedStep(around, argument);
        });
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
    auto next = growthOfProgram(b, loc, offset, program);
    if (!next || constantOf(*next) == 0) {
      frame.prefetches[&view] = {
          distance, arith::AndIOp::create(b, loc, isLarge, isInside)};
      return true;
    }
    // Of `count` iterations, i asks for i + ahead - count of the next program.
    Value length = arith::SubIOp::create(b, loc, around.getUpperBound(),
                                         around.getLowerBound());
    Value count = toValue(
        b, loc,
        inIndex(b, loc, arith::CeilDivSIOp::create(b, loc, length, step)));
    Value back = arith::SubIOp::create(
        b, loc, count, arith::MinSIOp::create(b, loc, count, constant(ahead)));
    Value further = toValue(
        b, loc, subIndex(b, loc, *next, mulIndex(b, loc, *growth, back)));
    Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
    Value hasNext = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt,
        arith::AddIOp::create(b, loc, program, one), programs);
    // One block a program, often behind that of the one before: in order.
    hasNext = arith::AndIOp::create(
        b, loc, hasNext,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count,
                              constant(1)));
    frame.prefetches[&view] = {
        arith::SelectOp::create(b, loc, isInside, distance, further),
        arith::AndIOp::create(b, loc, isLarge,
                              arith::OrIOp::create(b, loc, isInside, hasNext))};
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
