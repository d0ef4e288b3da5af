//===- JoinStores.cpp - stores that fill one another's gaps ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One store writes every second element, and the next one the elements between,
// as those of real and imaginary parts do: their vectors are interleaved, and
// stored as whole ones. Each alone would be a store of each lane, or, with
// AVX-512, stores of twice as many vectors with masks.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/JoinStores.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// An index as a value and a constant that is added to it.
static std::pair<Value, int64_t> takeApart(OpFoldResult index) {
  if (auto known = constantOf(index))
    return {Value(), *known};
  auto value = cast<Value>(index);
  int64_t added = 0;
  APInt constant;
  while (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    if (matchPattern(sum.getRhs(), m_ConstantInt(&constant)))
      value = sum.getLhs();
    else if (matchPattern(sum.getLhs(), m_ConstantInt(&constant)))
      value = sum.getRhs();
    else
      break;
    added += constant.getSExtValue();
  }
  return {value, added};
}

std::optional<int64_t> tilebridge::cpu::distanceBetween(OpFoldResult a,
                                                        OpFoldResult b) {
  auto [from, fromAdded] = takeApart(a);
  auto [to, toAdded] = takeApart(b);
  if (from != to)
    return std::nullopt;
  return toAdded - fromAdded;
}

std::optional<FilledGap> tilebridge::cpu::gapFilledBy(const View &first,
                                                      const View &other) {
  if (sourceOf(first) != sourceOf(other) ||
      first.base.getType() != other.base.getType() || first.rows ||
      other.rows || first.shape != other.shape ||
      first.strides != other.strides || first.isBool != other.isBool)
    return std::nullopt;
  auto distance = distanceBetween(first.offset, other.offset);
  if (!distance || *distance == 0)
    return std::nullopt;
  // Between rows there may be anything but less than a row's own gap: a
  // dimension of one element has no next one.
  FilledGap gap{*distance, 0, {}};
  for (unsigned d = 0; d < first.shape.size(); ++d) {
    if (first.shape[d] == 1)
      continue;
    auto stride = constantOf(first.strides[d]);
    if (!stride)
      gap.strides.push_back(cast<Value>(first.strides[d]));
    else if (*stride > std::abs(*distance) && (!gap.size || *stride < gap.size))
      gap.size = *stride;
  }
  if (!gap.size)
    return std::nullopt;
  // Elements of other rows are whole gaps away.
  for (unsigned d = 0; d < first.shape.size(); ++d)
    if (first.shape[d] != 1 &&
        constantOf(first.strides[d]).value_or(0) % gap.size != 0)
      return std::nullopt;
  return gap;
}

Value tilebridge::cpu::interleaved(OpBuilder &b, Location loc,
                                   ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  // Two by two: of four the even ones and the odd ones first.
  if (parts.size() % 2 == 0) {
    SmallVector<Value> even, odd;
    for (auto [i, part] : llvm::enumerate(parts))
      (i % 2 ? odd : even).push_back(part);
    return vector::InterleaveOp::create(b, loc, interleaved(b, loc, even),
                                        interleaved(b, loc, odd));
  }
  int64_t lanes = cast<VectorType>(parts[0].getType()).getNumElements();
  Value two = vector::InterleaveOp::create(b, loc, parts[0], parts[1]);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.append({2 * lane, 2 * lane + 1, 2 * lanes + lane});
  return vector::ShuffleOp::create(b, loc, two, parts[2], order);
}

/// The outputs from `first` on that fill all gaps of a row, in the order of
/// memory; empty if they are no such.
SmallVector<unsigned> NestEmitter::outputsToJoin(unsigned first) {
  ArrayRef<NestOutput> outputs(nest.outputs);
  const View &view = outputs[first].view;
  int laneDim = -1;
  for (auto [d, index] : llvm::enumerate(indices))
    if (index.step == 1 && index.dim == frame.vecDim)
      laneDim = d;
  if (!frame.interior || frame.edgeMask || laneDim < 0 || view.isBool)
    return {};
  int64_t stride = constantOf(view.strides[laneDim]).value_or(0);
  if (stride < 2 || stride > 4 ||
      first + stride > static_cast<int64_t>(outputs.size()))
    return {};
  SmallVector<std::pair<int64_t, unsigned>> places;
  for (unsigned i = first; i < first + stride; ++i) {
    const NestOutput &output = outputs[i];
    if (output.reduce || output.mask || output.maskSource)
      return {};
    auto gap =
        i == first ? FilledGap{0, stride, {}} : gapFilledBy(view, output.view);
    // Strides that only the launch knows were asked for where the guard is.
    if (!gap || (!gap->strides.empty() && !nest.redirected))
      return {};
    // All lanes here are inside of every box.
    for (unsigned d = 0; d < view.shape.size(); ++d)
      if (int(d) != laneDim &&
          (view.lo[d] != output.view.lo[d] || view.hi[d] != output.view.hi[d]))
        return {};
    places.push_back({gap->distance, i});
  }
  llvm::sort(places);
  SmallVector<unsigned> result;
  for (auto [place, i] : places) {
    if (place != places.front().first + int64_t(result.size()))
      return {};
    result.push_back(i);
  }
  return result;
}

void NestEmitter::writeJoined(ArrayRef<unsigned> joined,
                              ArrayRef<Stored> values) {
  auto parts = llvm::map_to_vector(joined, [&](unsigned i) {
    return fe.toLanes(values[i].value, frame.lanes);
  });
  const View &view = nest.outputs[joined.front()].view;
  Value inside = fe.inBox(view, indices, frame.vecLevel + 1, loc);
  Value at = fe.address(view, indices, -1, loc);
  OpBuilder::InsertionGuard guard(b);
  if (inside) {
    auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  fe.onlyStreams = false;
  vector::StoreOp::create(b, loc, interleaved(b, loc, parts), view.base, at);
}
