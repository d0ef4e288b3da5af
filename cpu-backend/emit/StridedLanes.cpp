//===- StridedLanes.cpp - lanes that are a few elements apart -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every second element, as the real parts of complex numbers, or every third,
// as one color of pixels: the vectors that the lanes are spread over are read,
// and shuffled. A gather asks for each lane, and where elements are narrower
// than 32 bits it is a loop of branches. Stores leave out what is between by a
// mask.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/StridedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

Type StridedLanes::elementType() const {
  return cast<MemRefType>(base.getType()).getElementType();
}

int64_t StridedLanes::lanesAtOnce() const {
  return std::min(lanes, vectorBits / elementType().getIntOrFloatBitWidth());
}

bool StridedLanes::isNear() const {
  Type type = elementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 || lanes < 2 ||
      !llvm::isPowerOf2_64(lanes))
    return false;
  return stride >= 2 && stride <= lanesAtOnce() &&
         stride <=
             (type.getIntOrFloatBitWidth() < 32 ? farthestNarrow : farthest);
}

/// Masks of elements of all sizes come with vectors of 512 bits.
bool StridedLanes::canLoad(bool hasMask) const {
  return isNear() && (!hasMask || vectorBits >= 512);
}

bool StridedLanes::canStore() const { return isNear() && vectorBits >= 512; }

SmallVector<int64_t> StridedLanes::lanesIn(int64_t part, int64_t count) const {
  SmallVector<int64_t> result(count, -1);
  for (int64_t i = 0; i < count; ++i)
    if ((part * count + i) % stride == 0)
      result[i] = (part * count + i) / stride;
  return result;
}

static Value atOffset(OpBuilder &b, Location loc, Value start, int64_t offset) {
  if (offset == 0)
    return start;
  return arith::AddIOp::create(b, loc, start,
                               arith::ConstantIndexOp::create(b, loc, offset));
}

static Value zeros(OpBuilder &b, Location loc, VectorType type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// For each element of memory the mask of its lane; false between the lanes.
static Value spreadMask(OpBuilder &b, Location loc, Value mask,
                        ArrayRef<int64_t> lanesIn) {
  auto type =
      VectorType::get({static_cast<int64_t>(lanesIn.size())}, b.getI1Type());
  if (!mask) {
    auto bits = llvm::map_to_vector(lanesIn, [](int64_t i) { return i >= 0; });
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, bits));
  }
  int64_t count = lanesIn.size();
  auto from = llvm::map_to_vector(
      lanesIn, [&](int64_t lane) { return lane < 0 ? count : lane; });
  return vector::ShuffleOp::create(b, loc, mask, zeros(b, loc, type), from);
}

Value StridedLanes::loadChunk(OpBuilder &b, Location loc, int64_t first,
                              Value mask) const {
  int64_t count = lanesAtOnce();
  auto type = VectorType::get({count}, elementType());
  Value begin = atOffset(b, loc, start, first * stride), result;
  for (int64_t part = 0; part < stride; ++part) {
    // Without a mask, the last vector ends with the last lane.
    int64_t offset = part * count;
    if (!mask && part == stride - 1)
      offset = (count - 1) * (stride - 1);
    Value at = atOffset(b, loc, begin, offset);
    Value read =
        mask ? vector::MaskedLoadOp::create(
                   b, loc, type, base, at,
                   spreadMask(b, loc, mask, lanesIn(part, count)),
                   zeros(b, loc, type))
                   .getResult()
             : vector::LoadOp::create(b, loc, type, base, at).getResult();
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < count; ++lane) {
      bool isHere = lane * stride / count == part;
      if (isHere)
        from.push_back((result ? count : 0) + lane * stride - offset);
      else
        from.push_back(result ? lane : vector::ShuffleOp::kPoisonIndex);
    }
    result =
        vector::ShuffleOp::create(b, loc, result ? result : read, read, from);
  }
  return result;
}

Value StridedLanes::load(OpBuilder &b, Location loc, Value mask,
                         Value other) const {
  int64_t count = lanesAtOnce();
  auto type = VectorType::get({lanes}, elementType());
  Value result;
  if (count == lanes) {
    result = loadChunk(b, loc, 0, mask);
  } else {
    result = zeros(b, loc, type);
    for (int64_t first = 0; first < lanes; first += count) {
      Value part = mask ? vector::ExtractStridedSliceOp::create(
                              b, loc, mask, ArrayRef<int64_t>{first},
                              ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1})
                              .getResult()
                        : Value();
      result = vector::InsertStridedSliceOp::create(
          b, loc, loadChunk(b, loc, first, part), result,
          ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
    }
  }
  if (mask)
    result = arith::SelectOp::create(b, loc, mask, result, other);
  return result;
}

void StridedLanes::storeChunk(OpBuilder &b, Location loc, int64_t first,
                              Value mask, Value value) const {
  int64_t count = lanesAtOnce();
  for (int64_t part = 0; part < stride; ++part) {
    SmallVector<int64_t> lanesHere = lanesIn(part, count);
    static_assert(vector::ShuffleOp::kPoisonIndex == -1);
    Value spread = vector::ShuffleOp::create(b, loc, value, value, lanesHere);
    vector::MaskedStoreOp::create(
        b, loc, base, atOffset(b, loc, start, first * stride + part * count),
        spreadMask(b, loc, mask, lanesHere), spread);
  }
}

void StridedLanes::store(OpBuilder &b, Location loc, Value mask,
                         Value value) const {
  int64_t count = lanesAtOnce();
  for (int64_t first = 0; first < lanes; first += count) {
    auto part = [&](Value whole) -> Value {
      if (!whole || count == lanes)
        return whole;
      return vector::ExtractStridedSliceOp::create(
          b, loc, whole, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
          ArrayRef<int64_t>{1});
    };
    storeChunk(b, loc, first, part(mask), part(value));
  }
}
