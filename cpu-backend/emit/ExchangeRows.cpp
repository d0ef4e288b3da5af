//===- ExchangeRows.cpp - copies of rows whose lanes change places --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is read at `i ^ 1`, `i ^ 2` or `i ^ 32`, as the steps of butterflies and
// of sorts write it, is copied to scratch memory as a block with dimensions
// that run backwards: `i ^ 2` as n / 4 x 2 x 2, of which the second one does.
// Lanes along these would be two. All elements of such a group are there,
// though, and follow one another with those of the next one: whole vectors are
// loaded, and shuffled before they are stored.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// The dimensions from `first` on are one row in memory, but that those from
/// `group` on run backwards, where `isReversed`.
struct ExchangedRow {
  unsigned first = 0, group = 0;
  int64_t size = 1, groupSize = 1;
  SmallVector<bool> isReversed;
};
} // namespace

/// The longest such row; its first dimension may be a part.
static std::optional<ExchangedRow> findRow(const View &view) {
  unsigned rank = view.shape.size();
  ExchangedRow row;
  row.first = rank;
  row.isReversed.assign(rank, false);
  bool isOpen = true;
  while (row.first > 0 && isOpen) {
    unsigned d = row.first - 1;
    if (view.shape[d] == 1 && view.isFull(d)) {
      row.first = d;
      continue;
    }
    auto stride = constantOf(view.strides[d]);
    bool isReversed = stride == -row.size;
    if ((stride != row.size && !isReversed) || (isReversed && !view.isFull(d)))
      break;
    isOpen = view.isFull(d);
    row.first = d;
    row.size *= view.shape[d];
    if (isReversed) {
      row.isReversed[d] = true;
      row.group = d;
      row.groupSize = row.size;
    }
  }
  // Halves of more are whole lines, which are rows.
  int64_t bytes = llvm::divideCeil(
      row.groupSize * view.elementType().getIntOrFloatBitWidth(), 8);
  if (row.groupSize < 2 || bytes > 2 * lineBytes ||
      !llvm::isPowerOf2_64(row.groupSize))
    return std::nullopt;
  return row;
}

/// From which dimension on all elements of the copy follow one another.
static unsigned firstOfCopy(const View &view) {
  unsigned first = view.shape.size();
  int64_t size = 1;
  while (first > 0 && (view.shape[first - 1] == 1 ||
                       constantOf(view.strides[first - 1]) == size))
    size *= view.shape[--first];
  return first;
}

/// The dimensions from `first` on as the last one. That of `first` may be a
/// part of the block.
static void flattenFrom(View &view, OpBuilder &b, Location loc,
                        unsigned first) {
  unsigned last = view.shape.size() - 1;
  OpFoldResult low = view.lo[first], high = view.hi[first];
  int64_t whole = view.shape[first], size = 1;
  for (unsigned d = first; d <= last; ++d)
    size *= view.shape[d];
  for (unsigned d = first; d < last; ++d) {
    view.shape[d] = 1;
    view.strides[d] = b.getIndexAttr(1);
    view.lo[d] = b.getIndexAttr(0);
    view.hi[d] = b.getIndexAttr(1);
  }
  OpFoldResult inner = b.getIndexAttr(size / whole);
  view.shape[last] = size;
  view.strides[last] = b.getIndexAttr(1);
  view.lo[last] = mulIndex(b, loc, low, inner);
  view.hi[last] = mulIndex(b, loc, high, inner);
}

/// Where each lane of a group lies in memory.
static SmallVector<int64_t> placesOf(const ExchangedRow &row,
                                     ArrayRef<int64_t> shape) {
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < row.groupSize; ++lane) {
    int64_t place = 0, stride = 1, rest = lane;
    for (unsigned d = shape.size(); d-- > row.group;) {
      int64_t at = rest % shape[d];
      rest /= shape[d];
      place += stride * (row.isReversed[d] ? shape[d] - 1 - at : at);
      stride *= shape[d];
    }
    places.push_back(place);
  }
  return places;
}

LoadedViews NestEmitter::exchangeRows(FunctionEmitter &fe, Nest &nest) {
  LoadedViews flat;
  unsigned rank = nest.shape.size();
  if (rank < 2 || nest.outputs.size() != 1 || !nest.reduceDims.empty())
    return flat;
  NestOutput &output = nest.outputs.front();
  if (output.reduce || output.isStore || output.mask || output.source ||
      output.view.isBool || !output.view.isWhole())
    return flat;
  const View *from = fe.viewIfInMemory(output.tensor);
  if (!from || from->rowDim >= 0 || from->isBool || from->other ||
      ArrayRef<int64_t>(from->shape) != ArrayRef<int64_t>(nest.shape))
    return flat;
  std::optional<ExchangedRow> row = findRow(*from);
  if (!row || firstOfCopy(output.view) > row->first)
    return flat;
  OpBuilder &b = fe.builder();
  auto view = std::make_unique<View>(*from);
  for (unsigned d = row->group; d < rank; ++d)
    if (row->isReversed[d])
      view->offset = addIndex(
          b, nest.loc, view->offset,
          b.getIndexAttr(*constantOf(view->strides[d]) * (view->shape[d] - 1)));
  nest.places = placesOf(*row, nest.shape);
  flattenFrom(*view, b, nest.loc, row->first);
  flattenFrom(output.view, b, nest.loc, row->first);
  for (unsigned d = row->first; d + 1 < rank; ++d)
    nest.shape[d] = 1;
  nest.shape.back() = row->size;
  flat.try_emplace(output.tensor, std::move(view));
  return flat;
}
