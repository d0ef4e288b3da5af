//===- Access.cpp - elements of views ----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/StridedLanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// `op` stands behind `place`, which is near the end of their block: to ask for
/// their order would number all ops of the block again, each time.
static bool standsBehind(Operation *op, Operation *place) {
  for (Operation *at = place; at; at = at->getNextNode())
    if (at == op)
      return true;
  return false;
}

/// The element of `view.base` that the indices choose; the index of
/// `contiguousDim`, if that is not -1, is left to the access. (Not a memref
/// that begins there: offsets of memrefs must not be negative, these may be.)
/// Where `isAny` (null: true) is false, nothing there is accessed: a place
/// where there is memory. If that is known before all loops, it costs nothing
/// in them.
Value FunctionEmitter::address(const View &view, ArrayRef<Index> indices,
                               int contiguousDim, Location loc, Value isAny) {
  Level &outermost = *frame->levels.front();
  bool isKnownFirst = isAny && isAny.getParentBlock() == outermost.block &&
                      (!outermost.hasLoop || !isAny.getDefiningOp() ||
                       !standsBehind(isAny.getDefiningOp(), outermost.before));
  if (isAny && !isKnownFirst)
    return placeIfAny(address(view, indices, contiguousDim, loc), isAny, loc);
  Indices row(indices);
  for (Index &index : row)
    index.step = 0;
  if (contiguousDim >= 0)
    row[contiguousDim] = Index();
  unsigned level = levelOf(row);
  Level &remembers = *frame->levels[level];
  auto &memo =
      (isAny ? remembers.maskedRows : remembers.rows)[view.identity.get()];
  for (auto &[key, value] : memo)
    if (key == row)
      return value;
  OpBuilder::InsertionGuard guard(rewriter);
  OpFoldResult offset = view.offset;
  if (isAny && constantOf(offset) != 0) {
    moveTo(0);
    offset = placeIfAny(toValue(rewriter, loc, offset), isAny, loc);
  }
  moveTo(level);
  for (auto [d, index] : llvm::enumerate(row)) {
    if (static_cast<int>(d) == contiguousDim)
      continue;
    OpFoldResult at = static_cast<int>(d) == view.rowDim
                          ? OpFoldResult(rowNumber(view, index, loc))
                          : index.begin(rewriter);
    offset = addIndex(rewriter, loc, offset,
                      mulIndex(rewriter, loc, at, view.strides[d]));
  }
  Value result = toValue(rewriter, loc, offset);
  memo.push_back({row, result});
  return result;
}

static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  return toValue(b, loc, addIndex(b, loc, x, y));
}

/// By vectors of one element: the lowering of memref.load takes an index as
/// unsigned.
Value FunctionEmitter::loadElement(Value base, Value at, Location loc) {
  auto element = cast<MemRefType>(base.getType()).getElementType();
  Value one = vector::LoadOp::create(rewriter, loc,
                                     VectorType::get({1}, element), base, at);
  return vector::ExtractOp::create(rewriter, loc, one, ArrayRef<int64_t>{0});
}

void FunctionEmitter::storeElement(Value base, Value at, Value value,
                                   Location loc) {
  vector::StoreOp::create(rewriter, loc, toLanes(value, 1), base, at);
}

/// Element steps from lane to lane.
static OpFoldResult laneStride(OpBuilder &builder, const View &view,
                               const Index &index, unsigned dim, Location loc) {
  return mulIndex(builder, loc, view.strides[dim],
                  builder.getIndexAttr(index.step));
}

/// It has been clamped to -1, 0 and 1 (tilebridge-cpu-version-strides).
static bool isNear(OpFoldResult stride) {
  auto value = dyn_cast<Value>(stride);
  while (auto cast =
             value ? value.getDefiningOp<arith::IndexCastOp>() : nullptr)
    value = cast.getIn();
  auto clamp = value ? value.getDefiningOp<arith::MaxSIOp>() : nullptr;
  auto most = clamp ? clamp.getLhs().getDefiningOp<arith::MinSIOp>() : nullptr;
  return most && getConstantIntValue(clamp.getRhs()) == -1 &&
         getConstantIntValue(most.getRhs()) == 1;
}

static Value strideVector(OpBuilder &builder, Location loc, OpFoldResult stride,
                          int64_t lanes) {
  auto type = VectorType::get({lanes}, builder.getIndexType());
  Value steps = vector::StepOp::create(builder, loc, type);
  Value factor = vector::BroadcastOp::create(builder, loc, type,
                                             toValue(builder, loc, stride));
  return arith::MulIOp::create(builder, loc, steps, factor);
}

/// The lanes in the opposite order; null stays null.
static Value reversed(OpBuilder &builder, Location loc, Value lanes) {
  if (!lanes)
    return lanes;
  int64_t count = cast<VectorType>(lanes.getType()).getNumElements();
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, count)));
  return vector::ShuffleOp::create(builder, loc, lanes, lanes, order);
}

/// Where the last of the lanes is in memory, if they are neighbours that run
/// backwards from `start`.
static Value endOfReversed(OpBuilder &builder, Location loc, Value start,
                           int64_t lanes) {
  Value before = arith::ConstantIndexOp::create(builder, loc, lanes - 1);
  return arith::SubIOp::create(builder, loc, start, before);
}

namespace {
/// What to do for one distance of the lanes, in elements.
struct StrideCase {
  int64_t stride;
  function_ref<Value()> emit;
};
} // namespace

/// Runs the case of the stride, or else `strided`; decided at run time only if
/// the stride is not known. Of strides that are near, the last case is the only
/// one that is left.
static Value byStride(OpBuilder &builder, Location loc, OpFoldResult stride,
                      Type resultType, ArrayRef<StrideCase> cases,
                      function_ref<Value()> strided) {
  if (auto known = constantOf(stride)) {
    for (const StrideCase &each : cases)
      if (each.stride == *known)
        return each.emit();
    return strided();
  }
  if (cases.empty())
    return strided();
  if (cases.size() == 1 && isNear(stride))
    return cases.front().emit();
  Value number =
      arith::ConstantIndexOp::create(builder, loc, cases.front().stride);
  Value isIt = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     toValue(builder, loc, stride), number);
  SmallVector<Type> types;
  if (resultType)
    types.push_back(resultType);
  auto branch =
      scf::IfOp::create(builder, loc, types, isIt, /*withElseRegion=*/true);
  auto rest = [&] {
    return byStride(builder, loc, stride, resultType, cases.drop_front(),
                    strided);
  };
  for (auto [block, emit] :
       {std::pair(branch.thenBlock(), cases.front().emit),
        std::pair(branch.elseBlock(), function_ref<Value()>(rest))}) {
    OpBuilder::InsertionGuard guard(builder);
    if (resultType)
      builder.setInsertionPointToEnd(block);
    else
      builder.setInsertionPoint(block->getTerminator());
    Value value = emit();
    if (resultType)
      scf::YieldOp::create(builder, loc, value);
  }
  return resultType ? branch.getResult(0) : Value();
}

/// Lanes of memory: as vectors, elements as they are in memory.
Value FunctionEmitter::loadLanes(const View &view, ArrayRef<Index> indices,
                                 unsigned laneDim, LaneMask on,
                                 Value passThrough, Location loc) {
  Value mask = on.lanes;
  auto type = VectorType::get({frame->lanes}, view.elementType());
  const Index &index = indices[laneDim];
  OpFoldResult stride = laneStride(rewriter, view, index, laneDim, loc);
  if (constantOf(stride) == 0 && !mask) {
    return loadElement(view.base, address(view, indices, -1, loc), loc);
  }
  // Addresses are made outside of the branches, so that they can be remembered.
  bool maybeContiguous = !constantOf(stride) || constantOf(stride) == 1;
  Value row = maybeContiguous && constantOf(stride)
                  ? address(view, indices, laneDim, loc, on.isAny)
                  : Value();
  Value start = row ? Value() : address(view, indices, -1, loc, on.isAny);
  if (mask && !passThrough)
    passThrough = toLanes(zeroOf(view.elementType(), loc), frame->lanes);
  auto contiguous = [&]() -> Value {
    Value at = row ? add(rewriter, loc, row, index.base) : start;
    if (mask)
      return vector::MaskedLoadOp::create(rewriter, loc, type, view.base, at,
                                          mask, passThrough);
    return vector::LoadOp::create(rewriter, loc, type, view.base, at);
  };
  auto backwards = [&]() -> Value {
    Value at = endOfReversed(rewriter, loc, start, frame->lanes);
    if (!mask) {
      auto later = frame->prefetches.find(&view);
      if (later != frame->prefetches.end())
        prefetchLater(rewriter, loc, view.base, at, later->second,
                      frame->lanes);
      return reversed(
          rewriter, loc,
          vector::LoadOp::create(rewriter, loc, type, view.base, at));
    }
    return reversed(
        rewriter, loc,
        vector::MaskedLoadOp::create(rewriter, loc, type, view.base, at,
                                     reversed(rewriter, loc, mask),
                                     reversed(rewriter, loc, passThrough)));
  };
  // A dimension that is broadcast: one element, which exists if any lane does.
  auto repeated = [&]() -> Value {
    auto load = [&] {
      return toLanes(loadElement(view.base, start, loc), frame->lanes);
    };
    if (!mask)
      return load();
    Value exists = vector::ReductionOp::create(rewriter, loc,
                                               vector::CombiningKind::OR, mask);
    auto branch = scf::IfOp::create(rewriter, loc, type, exists, true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(
        rewriter, loc,
        arith::SelectOp::create(rewriter, loc, mask, load(), passThrough)
            .getResult());
    rewriter.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, passThrough);
    return branch.getResult(0);
  };
  StrideCase cases[] = {{1, contiguous}, {0, repeated}, {-1, backwards}};
  return byStride(rewriter, loc, stride, type, cases, [&]() -> Value {
    StridedLanes near{view.base, start, constantOf(stride).value_or(0),
                      frame->lanes, target().vectorBits};
    if (near.canLoad(mask != nullptr)) {
      onlyStreams = false;
      return near.load(rewriter, loc, mask, passThrough);
    }
    Value lanes = strideVector(rewriter, loc, stride, frame->lanes);
    Value all = mask ? mask : allLanes(rewriter, loc, frame->lanes);
    Value other = passThrough
                      ? passThrough
                      : toLanes(zeroOf(view.elementType(), loc), frame->lanes);
    return vector::GatherOp::create(rewriter, loc, type, view.base, start,
                                    lanes, all, other);
  });
}

/// Around the caches where `streams` (null: always) holds. `at` is then the
/// begin of a line, or a multiple of the vector's size behind one, and all
/// lanes of `mask` (null: all) are on.
void FunctionEmitter::storeStream(const View &view, Value at, Value value,
                                  Value mask, Value streams, Location loc) {
  auto store = [&](bool around) {
    auto op =
        vector::StoreOp::create(rewriter, loc, value, view.base, at, around);
    auto type = cast<VectorType>(value.getType());
    int64_t bytes =
        type.getNumElements() * view.elementType().getIntOrFloatBitWidth() / 8;
    if (around)
      op.setAlignment(std::min<int64_t>(bytes & -bytes, 64));
  };
  if (!streams)
    return store(true);
  auto branch = scf::IfOp::create(rewriter, loc, streams, true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  store(true);
  rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
  if (mask) {
    vector::MaskedStoreOp::create(rewriter, loc, view.base, at, mask, value);
  } else {
    claimLines(view, at, loc);
    store(false);
  }
}

void FunctionEmitter::storeLanes(const View &view, ArrayRef<Index> indices,
                                 unsigned laneDim, LaneMask on, Value value,
                                 Location loc) {
  Value mask = on.lanes;
  const Index &index = indices[laneDim];
  OpFoldResult stride = laneStride(rewriter, view, index, laneDim, loc);
  Value row = constantOf(stride) == 1
                  ? address(view, indices, laneDim, loc, on.isAny)
                  : Value();
  Value start = row ? Value() : address(view, indices, -1, loc, on.isAny);
  auto contiguous = [&]() -> Value {
    Value at = row ? add(rewriter, loc, row, index.base) : start;
    auto streams = frame->streams.find(&view);
    if (streams != frame->streams.end() && (frame->interior || frame->edgeMask))
      storeStream(view, at, value, mask, streams->second, loc);
    else if (mask)
      vector::MaskedStoreOp::create(rewriter, loc, view.base, at, mask, value);
    else {
      claimLines(view, at, loc);
      vector::StoreOp::create(rewriter, loc, value, view.base, at);
    }
    return {};
  };
  auto backwards = [&]() -> Value {
    Value at = endOfReversed(rewriter, loc, start, frame->lanes);
    Value lanes = reversed(rewriter, loc, value);
    if (mask)
      vector::MaskedStoreOp::create(rewriter, loc, view.base, at,
                                    reversed(rewriter, loc, mask), lanes);
    else
      vector::StoreOp::create(rewriter, loc, lanes, view.base, at);
    return {};
  };
  byStride(rewriter, loc, stride, Type(), {{1, contiguous}, {-1, backwards}},
           [&]() -> Value {
             StridedLanes near{view.base, start, constantOf(stride).value_or(0),
                               frame->lanes, target().vectorBits};
             if (near.canStore()) {
               onlyStreams = false;
               near.store(rewriter, loc, mask, value);
               return {};
             }
             Value lanes = strideVector(rewriter, loc, stride, frame->lanes);
             Value all = mask ? mask : allLanes(rewriter, loc, frame->lanes);
             vector::ScatterOp::create(rewriter, loc, Type(), view.base, start,
                                       lanes, all, value);
             return {};
           });
}
