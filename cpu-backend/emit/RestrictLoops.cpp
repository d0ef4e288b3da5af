//===- RestrictLoops.cpp - loops over the part that somebody sees ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a nest stores to one box is computed in that box; what it leaves in
// memory for others, where these read it for such boxes in turn.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/MaskTails.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Wanted.h"

using namespace mlir;
using namespace tilebridge::cpu;

FunctionEmitter::Interval FunctionEmitter::mapWanted(const WantedPart &part,
                                                     Location loc) {
  if (part.mask)
    return {rewriter.getIndexAttr(0), endsOfMasks.lookup(part.mask)};
  SmallVector<OpFoldResult> numbers = mapAll({part.low, part.size});
  return {numbers[0], addIndex(rewriter, loc, numbers[0], numbers[1])};
}

/// `value` stands in a block around the builder's.
bool FunctionEmitter::isHere(Value value) {
  for (Block *block = rewriter.getInsertionBlock(); block;) {
    if (block == value.getParentBlock())
      return true;
    Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return false;
}

/// The interval of all indices of `range`, by values that are known here.
std::optional<FunctionEmitter::Interval>
FunctionEmitter::intervalOf(const WantedRange &range, Location loc) {
  auto known = range.of([&](Value value) {
    Value here = isa<RankedTensorType>(value.getType())
                     ? endsOfMasks.lookup(value)
                     : map.lookupOrNull(value);
    return here && isHere(here);
  });
  if (!known)
    return std::nullopt;
  if (const WantedPart *only = known->only())
    return mapWanted(*only, loc);
  for (const auto &[other, interval] : intervals)
    if (other == *known && isHere(cast<Value>(interval.second)))
      return interval;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0), last;
  for (const WantedPart &part : known->parts) {
    Value end = toValue(rewriter, loc, mapWanted(part, loc).second);
    for (auto [condition, holds] : part.conditions)
      end = arith::SelectOp::create(rewriter, loc, mapScalar(condition),
                                    holds ? end : zero, holds ? zero : end);
    last = last ? arith::MaxSIOp::create(rewriter, loc, last, end).getResult()
                : end;
  }
  Interval result = {rewriter.getIndexAttr(0), last};
  intervals.push_back({*known, result});
  return result;
}

/// The indices along `dim` of a tensor that somebody sees: those of an interval
/// whose ends are known here.
std::optional<FunctionEmitter::Interval>
FunctionEmitter::wantedHere(Value tensor, unsigned dim, WantedBy by,
                            ArrayRef<Operation *> besides) {
  auto range = findWanted(tensor, dim, by, besides);
  return range ? intervalOf(*range, tensor.getLoc()) : std::nullopt;
}

/// Before `op`, a product or a loop of some: where rows end that are known
/// there by masks.
LogicalResult FunctionEmitter::openMasks(Operation *op) {
  return failure(
      op->walk([&](Operation *product) {
          if (!isProduct(product))
            return WalkResult::advance();
          for (auto range :
               {findWantedRows(product), findWantedColumns(product)}) {
            auto known = range ? knownBefore(*range, op) : std::nullopt;
            if (!known)
              continue;
            for (const WantedPart &part : known->parts) {
              Value end = part.mask ? endsOfMasks.lookup(part.mask) : Value();
              if (!part.mask || (end && isHere(end)))
                continue;
              Value behind =
                  MaskTails(*this).behindLastTrue(part.mask, product->getLoc());
              if (!behind)
                return WalkResult::interrupt();
              endsOfMasks[part.mask] = behind;
            }
            intervalOf(*range, product->getLoc());
          }
          return WalkResult::advance();
        }).wasInterrupted());
}

Value FunctionEmitter::stepsOf(linalg::LinalgOp product, bool &isTail) {
  return MaskTails(*this).stepsOf(product, &isTail);
}

/// Of rows all that is known says where they end. Panels of columns have one
/// end in all branches.
Value FunctionEmitter::wantedEnd(Value tensor, unsigned dim) {
  Operation *product = tensor.getDefiningOp();
  bool isOfRows = dim + 2 == cast<RankedTensorType>(tensor.getType()).getRank();
  if (failed(openMasks(product)))
    return {};
  auto range = isOfRows ? findWantedRows(product) : findWantedColumns(product);
  if (!range || (!isOfRows && !range->only()))
    return {};
  auto interval = intervalOf(*range, tensor.getLoc());
  return interval ? toValue(rewriter, tensor.getLoc(), interval->second)
                  : Value();
}

int64_t tilebridge::cpu::rowsAtEnd(int64_t rows, int64_t length) {
  constexpr int64_t most = 4, mostElements = 256, mostRows = 16;
  // Of more rows no loop is unrolled.
  int64_t result = rows <= mostRows ? most : 1;
  while (result > 1 && (result * length > mostElements || rows % result))
    result /= 2;
  return result;
}

/// The indices along the nest's dimension `d` that somebody sees of what
/// `output` keeps in scratch memory.
std::optional<FunctionEmitter::Interval>
NestEmitter::wantedOf(const NestOutput &output, unsigned d) {
  if (!output.reduce && output.source)
    return std::nullopt;
  // Others of a product's left operand are not multiplied.
  if (auto product = maskedProductOf(output.tensor); product && d == 0)
    if (std::optional<MaskedRows> rows = fe.maskedRowsOf(product))
      return {{rows->first, rows->end}};
  if (!output.reduce)
    return fe.wantedHere(output.tensor, d, WantedBy::Masks);
  unsigned dim = d;
  for (int64_t reduced : nest.reduceDims) {
    if (static_cast<unsigned>(reduced) == d)
      return std::nullopt;
    dim -= static_cast<unsigned>(reduced) < d;
  }
  std::optional<FunctionEmitter::Interval> found;
  for (Value result : output.reduce->getResults()) {
    auto range = fe.wantedHere(result, dim, WantedBy::Masks);
    if (!range || (found && *found != *range))
      return std::nullopt;
    found = range;
  }
  return found;
}

/// Where what the nest copies need not be written any more.
Value NestEmitter::endOfCopy(unsigned d) const {
  if (nest.ends.size() != nest.shape.size() || nest.outputs.size() != 1)
    return {};
  auto type = cast<RankedTensorType>(nest.outputs.front().tensor.getType());
  return type.getShape() == ArrayRef(nest.shape) ? nest.ends[d] : Value();
}

/// Before the nest is written: the intervals that its loops run over.
void NestEmitter::findRanges() {
  ranges.assign(nest.shape.size(), {});
  for (auto [d, size] : llvm::enumerate(nest.shape)) {
    std::pair<OpFoldResult, OpFoldResult> whole = {b.getIndexAttr(0),
                                                   b.getIndexAttr(size)};
    ranges[d] = whole;
    bool isLanes = static_cast<int>(d) == frame.vecDim, isFirst = true;
    for (const NestOutput &output : nest.outputs) {
      auto range = whole;
      if (output.isStore) {
        if (!output.view.isFull(d))
          range = {output.view.lo[d], output.view.hi[d]};
      } else if (!isLanes && size > 1 && !isWhole()) {
        if (auto wanted = wantedOf(output, d))
          range = *wanted;
      }
      if (range == whole || (!isFirst && range != ranges[d])) {
        ranges[d] = whole;
        break;
      }
      ranges[d] = range;
      isFirst = false;
    }
    if (ranges[d] != whole)
      restricted.insert(d);
    else if (Value end = MaskTails(fe).endOfNest(nest, d))
      ranges[d].second = end;
    else if (Value end = endOfCopy(d))
      ranges[d].second =
          isLanes
              ? MaskTails(fe).roundUp(end, nest.outputs.front().tensor, size)
              : end;
  }
  if (part)
    ranges[part->dim] = {part->begin, part->end};
}

/// The outputs are whole as far as the loops run.
void NestEmitter::restrictToBox() {
  for (unsigned d : restricted) {
    if (static_cast<int>(d) != frame.vecDim) {
      for (NestOutput &output : nest.outputs)
        if (output.isStore) {
          output.view.lo[d] = b.getIndexAttr(0);
          output.view.hi[d] = b.getIndexAttr(nest.shape[d]);
        }
      continue;
    }
    // A scan begins with the first element, whether that is stored or not.
    if (!scans.empty())
      ranges[d].first = b.getIndexAttr(0);
  }
}

/// How many indices of the loop at `position` are computed in a row, wanted or
/// not: a loop of a known number of short rows is unrolled, and the ends of
/// several rows, such as the trees that add up their lanes, overlap. All nests
/// of one shape compute the same rows.
int64_t NestEmitter::rowsInStep(unsigned position) const {
  unsigned d = order[position];
  if (!restricted.count(d) || nest.isCold ||
      llvm::any_of(nest.outputs,
                   [](const NestOutput &output) { return output.isStore; }))
    return 1;
  int64_t length = 1;
  for (auto [dim, size] : llvm::enumerate(nest.shape))
    if (dim > d)
      length *= size;
  return rowsAtEnd(nest.shape[d], length);
}

/// Where the loop over dimension `d` begins if it takes so many rows at once,
/// which divide those of the block: those around what is wanted are there.
Value NestEmitter::firstOfRows(unsigned d, int64_t rows) {
  return arith::AndIOp::create(b, loc, toValue(b, loc, ranges[d].first),
                               constant(-rows));
}

/// A loop of steps of so many rows, which divide those of the block.
LogicalResult NestEmitter::emitRowsInSteps(unsigned position, int64_t rows) {
  unsigned d = order[position];
  return loop(firstOfRows(d, rows), toValue(b, loc, ranges[d].second), rows,
              [&](Value first, unsigned) {
                return loop(constant(0), constant(rows), 1,
                            [&](Value row, unsigned level) {
                              Value iv =
                                  arith::AddIOp::create(b, loc, first, row);
                              indices[d] = {iv, 0, level, static_cast<int>(d)};
                              LogicalResult result = emitLoops(position + 1);
                              indices[d] = {Value(), 0, 0, static_cast<int>(d)};
                              return result;
                            });
              });
}

/// Zeros in what nobody sees of the results of reductions: vectors of these are
/// computed with as a whole, and what was left there may be subnormal, which
/// some CPUs compute with slowly.
void NestEmitter::clearUnwanted() {
  if (nest.isCold)
    return;
  for (const NestOutput &output : nest.outputs) {
    if (!output.reduce)
      continue;
    for (Value result : output.reduce->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      if (type.getRank() != 1)
        continue;
      unsigned d = 0;
      while (llvm::is_contained(nest.reduceDims, static_cast<int64_t>(d)))
        ++d;
      if (!restricted.count(d))
        continue;
      int64_t size = type.getDimSize(0);
      Value memref = fe.buffers[result]->memref;
      Type element = cast<MemRefType>(memref.getType()).getElementType();
      int64_t lanes = lanesAlong(size, fe.target().vectorBits /
                                           element.getIntOrFloatBitWidth());
      auto vector = VectorType::get(lanes, element);
      Value end = toValue(b, loc, ranges[d].second);
      Value begin = arith::AndIOp::create(b, loc, end, constant(-lanes));
      auto loop =
          scf::ForOp::create(b, loc, begin, constant(size), constant(lanes));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar();
      Value seen = arith::SubIOp::create(b, loc, end, at);
      seen = arith::MaxSIOp::create(b, loc, seen, constant(0));
      Value mask = vector::CreateMaskOp::create(
          b, loc, VectorType::get(lanes, b.getI1Type()), seen);
      mask = arith::XOrIOp::create(b, loc, mask, allLanes(b, loc, lanes));
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
      vector::MaskedStoreOp::create(b, loc, memref, at, mask, zero);
    }
  }
}
