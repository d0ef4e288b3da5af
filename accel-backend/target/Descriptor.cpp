//===- Descriptor.cpp - what an engine can do in one go -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Descriptor.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace tilebridge::accel {

// Whether one stride is so many times the other.
static bool isMultiple(int64_t outer, int64_t inner, int64_t size) {
  return outer != unknownExtent && inner != unknownExtent &&
         size != unknownExtent && outer == inner * size;
}

// Why a descriptor cannot have a stride; empty where it can.
static std::string whyNotStride(int64_t stride, uint64_t elementBytes,
                                const DmaEngine &engine) {
  if (stride == unknownExtent)
    return "";
  if (stride == 0 && !engine.strideZero)
    return "a stride of 0";
  uint64_t bytes = uint64_t(stride < 0 ? -stride : stride) * elementBytes;
  if (engine.maxStrideBytes && bytes > engine.maxStrideBytes)
    return "a stride of " + std::to_string(stride * int64_t(elementBytes)) +
           " bytes, its most is " + std::to_string(engine.maxStrideBytes);
  return "";
}

namespace {
/// Neighbours that are one dimension for both sides, outermost first.
struct Group {
  SmallVector<int64_t> dimensions;
  /// Elements; unknownExtent where they are not bounded.
  int64_t most = 1;
};
} // namespace

static SmallVector<Group> groupsOf(const Box &box, bool canMerge = true) {
  SmallVector<Group> groups;
  std::optional<size_t> last;
  for (size_t d = 0; d < box.most.size(); ++d) {
    if (box.most[d] == 1)
      continue;
    // What is inside has to be there in full.
    bool merges =
        canMerge && last && box.isExact[d] &&
        isMultiple(box.sourceStrides[*last], box.sourceStrides[d],
                   box.most[d]) &&
        isMultiple(box.destStrides[*last], box.destStrides[d], box.most[d]);
    if (!merges)
      groups.emplace_back();
    Group &group = groups.back();
    group.dimensions.push_back(int64_t(d));
    group.most = group.most == unknownExtent || box.most[d] == unknownExtent
                     ? unknownExtent
                     : group.most * box.most[d];
    last = d;
  }
  return groups;
}

// Of a group that is too long, its outermost dimension: in parts that are not.
static Piece pieceOf(const Group &group, const Box &box, int64_t most) {
  int64_t inside = 1;
  for (int64_t d : ArrayRef(group.dimensions).drop_front())
    inside *= box.most[size_t(d)];
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
    if (group.most == unknownExtent || group.most > most)
      return std::pair(&group, most);
  }
  return std::nullopt;
}

std::optional<Piece> nextPiece(const Box &box, const DmaEngine &engine,
                               std::string *why) {
  std::string unused;
  std::string &reason = why ? *why : unused;
  for (size_t d = 0; d < box.most.size(); ++d)
    for (int64_t stride : {box.sourceStrides[d], box.destStrides[d]})
      if (box.most[d] != 1) {
        reason = whyNotStride(stride, box.elementBytes, engine);
        if (!reason.empty())
          return Piece{int64_t(d), 1};
      }

  SmallVector<Group> groups = groupsOf(box);
  if (groups.empty())
    return std::nullopt;
  size_t inner = size_t(groups.back().dimensions.back());
  bool isContiguous =
      box.sourceStrides[inner] == 1 && box.destStrides[inner] == 1;
  auto areTooMany = [&](ArrayRef<Group> groups) {
    return groups.size() + !isContiguous > std::max(engine.maxDims, 1u);
  };
  if (areTooMany(groups)) {
    reason = std::to_string(groups.size() + !isContiguous) +
             " dimensions, it has " + std::to_string(engine.maxDims);
    // An engine that only moves runs moves single elements.
    return Piece{groups.front().dimensions.front(), 1};
  }
  auto refused = tooLong(groups, isContiguous, engine);
  if (!refused)
    return std::nullopt;
  // What is one range is said as several dimensions where that fits.
  SmallVector<Group> apart = groupsOf(box, /*canMerge=*/false);
  if (!areTooMany(apart) && !tooLong(apart, isContiguous, engine))
    return std::nullopt;
  reason = (refused->first->most == unknownExtent
                ? std::string("an unknown extent")
                : "an extent of " + std::to_string(refused->first->most)) +
           ", its most is " + std::to_string(refused->second);
  return pieceOf(*refused->first, box, refused->second);
}

bool isOneDescriptor(Box box, std::optional<int64_t> indexed,
                     const DmaEngine &engine, std::string *why) {
  if (!indexed)
    return !nextPiece(box, engine, why);
  if (!engine.indexed) {
    if (why)
      *why = "it has no indices";
    return false;
  }
  DmaEngine others = engine;
  box.most[size_t(*indexed)] = 1;
  if (others.maxDims > 1) {
    others.maxDims -= 1;
    return !nextPiece(box, others, why);
  }
  // The list is all there is room for.
  if (llvm::all_of(box.most, [](int64_t most) { return most == 1; }))
    return true;
  if (why)
    *why = "more than a list of single elements, it has 1 dimension";
  return false;
}

} // namespace tilebridge::accel
