//===- Descriptor.cpp - what an engine can do in one go -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Descriptor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::accel;

namespace {
/// One side of a dimension.
struct Strides {
  SmallVector<int64_t> source, dest;
};
} // namespace

static Strides stridesOf(const Box &box) {
  Strides strides;
  int64_t offset;
  if (failed(box.source.getStridesAndOffset(strides.source, offset)))
    strides.source.assign(box.source.getRank(), ShapedType::kDynamic);
  if (failed(box.dest.getStridesAndOffset(strides.dest, offset)))
    strides.dest.assign(box.dest.getRank(), ShapedType::kDynamic);
  return strides;
}

// Whether one stride is so many times the other.
static bool isMultiple(int64_t outer, int64_t inner, int64_t size) {
  return !ShapedType::isDynamic(outer) && !ShapedType::isDynamic(inner) &&
         !ShapedType::isDynamic(size) && outer == inner * size;
}

// A stride that a descriptor cannot have.
static bool isImpossible(int64_t stride, uint64_t elementBytes,
                         const DmaEngine &engine) {
  if (ShapedType::isDynamic(stride))
    return false;
  uint64_t bytes = uint64_t(stride < 0 ? -stride : stride) * elementBytes;
  return (stride == 0 && !engine.strideZero) ||
         (engine.maxStrideBytes && bytes > engine.maxStrideBytes);
}

namespace {
/// Neighbours that are one dimension for both sides, outermost first.
struct Group {
  SmallVector<int64_t> dimensions;
  /// Elements; kDynamic where they are not bounded.
  int64_t most = 1;
};
} // namespace

static SmallVector<Group> groupsOf(const Box &box, const Strides &strides,
                                   bool canMerge = true) {
  SmallVector<Group> groups;
  std::optional<int64_t> last;
  for (int64_t d = 0; d < box.source.getRank(); ++d) {
    if (box.most[d] == 1)
      continue;
    // What is inside has to be there in full.
    bool isFull = box.source.getDimSize(d) == box.most[d];
    bool merges =
        canMerge && last && isFull &&
        isMultiple(strides.source[*last], strides.source[d], box.most[d]) &&
        isMultiple(strides.dest[*last], strides.dest[d], box.most[d]);
    if (!merges)
      groups.emplace_back();
    Group &group = groups.back();
    group.dimensions.push_back(d);
    group.most =
        ShapedType::isDynamic(group.most) || ShapedType::isDynamic(box.most[d])
            ? ShapedType::kDynamic
            : group.most * box.most[d];
    last = d;
  }
  return groups;
}

// Of a group that is too long, its outermost dimension: in parts that are not.
static Piece pieceOf(const Group &group, const Box &box, int64_t most) {
  int64_t inside = 1;
  for (int64_t d : ArrayRef(group.dimensions).drop_front())
    inside *= box.most[d];
  return {group.dimensions.front(), std::max<int64_t>(1, most / inside)};
}

// Which group is longer than the engine's extents, and what it has room for;
// none where all fit.
static std::optional<std::pair<const Group *, int64_t>>
tooLong(ArrayRef<Group> groups, bool isContiguous, const DmaEngine &engine) {
  if (engine.maxSizes.empty())
    return std::nullopt;
  for (auto [position, group] : llvm::enumerate(llvm::reverse(groups))) {
    size_t place = position + !isContiguous;
    int64_t most =
        int64_t(engine.maxSizes[std::min(place, engine.maxSizes.size() - 1)]);
    if (ShapedType::isDynamic(group.most) || group.most > most)
      return std::pair(&group, most);
  }
  return std::nullopt;
}

std::optional<Piece> tilebridge::accel::nextPiece(const Box &box,
                                                  const DmaEngine &engine) {
  Strides strides = stridesOf(box);
  uint64_t elementBytes =
      llvm::divideCeil(box.source.getElementTypeBitWidth(), 8);
  for (int64_t d = 0; d < box.source.getRank(); ++d)
    if (box.most[d] != 1 &&
        (isImpossible(strides.source[d], elementBytes, engine) ||
         isImpossible(strides.dest[d], elementBytes, engine)))
      return Piece{d, 1};

  SmallVector<Group> groups = groupsOf(box, strides);
  if (groups.empty())
    return std::nullopt;
  int64_t inner = groups.back().dimensions.back();
  bool isContiguous = strides.source[inner] == 1 && strides.dest[inner] == 1;
  auto areTooMany = [&](ArrayRef<Group> groups) {
    return groups.size() + !isContiguous > std::max(engine.maxDims, 1u);
  };
  if (areTooMany(groups)) {
    // An engine that only moves runs moves single elements.
    return Piece{groups.front().dimensions.front(), 1};
  }
  auto refused = tooLong(groups, isContiguous, engine);
  if (!refused)
    return std::nullopt;
  // What is one range is said as several dimensions where that fits.
  SmallVector<Group> apart = groupsOf(box, strides, /*canMerge=*/false);
  if (!areTooMany(apart) && !tooLong(apart, isContiguous, engine))
    return std::nullopt;
  return pieceOf(*refused->first, box, refused->second);
}

// A size that is not known is at most that of the buffer on the other side.
SmallVector<int64_t> tilebridge::accel::mostOf(Value source, Value dest) {
  auto boundOf = [](Value memref, int64_t d) {
    int64_t size = cast<MemRefType>(memref.getType()).getDimSize(d);
    // Of a part: that of the whole, where it has the same dimensions.
    while (ShapedType::isDynamic(size)) {
      auto view = memref.getDefiningOp<memref::SubViewOp>();
      if (!view || view.getSourceType().getRank() != view.getType().getRank())
        break;
      memref = view.getSource();
      size = view.getSourceType().getDimSize(d);
    }
    return size;
  };
  SmallVector<int64_t> most;
  for (int64_t d = 0; d < cast<MemRefType>(source.getType()).getRank(); ++d) {
    int64_t a = boundOf(source, d), b = boundOf(dest, d);
    most.push_back(ShapedType::isDynamic(a)   ? b
                   : ShapedType::isDynamic(b) ? a
                                              : std::min(a, b));
  }
  return most;
}

bool tilebridge::accel::isOneDescriptor(Value source, Value dest, Value rows,
                                        int64_t dim, bool pads,
                                        const DmaEngine &engine,
                                        Unknown unknown) {
  if ((pads && !engine.padding) || (rows && !engine.indexed))
    return false;
  Box box{cast<MemRefType>(source.getType()), cast<MemRefType>(dest.getType()),
          mostOf(source, dest)};
  if (unknown == Unknown::AtLeast)
    for (auto [d, most] : llvm::enumerate(box.most))
      if (most != 1 && box.source.isDynamicDim(d))
        most = 2;
  if (!rows)
    return !nextPiece(box, engine);
  // The indices are a dimension of the descriptor, and no stride.
  DmaEngine others = engine;
  if (others.maxDims <= 1)
    return box.most.size() == 1;
  others.maxDims -= 1;
  box.most[dim] = 1;
  return !nextPiece(box, others);
}
