//===- WindowLanes.cpp - lanes that lie in one line of memory -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A picture that is scaled reads each pixel twice, or every second one, and
// what is mirrored at its edge runs backwards there: neighbouring lanes read
// nearly the same. One load and a permutation take 3 cycles where a gather
// takes more than 2 for each lane. What the load reads besides is on the page
// of an element that is read anyway.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/WindowLanes.h"

#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

Type WindowLanes::elementType() const {
  return cast<MemRefType>(base.getType()).getElementType();
}

int64_t WindowLanes::lanes() const {
  return cast<VectorType>(offsets.getType()).getNumElements();
}

int64_t WindowLanes::lanesAtOnce() const {
  return std::min(lanes(),
                  vectorBytes * 8 / elementType().getIntOrFloatBitWidth());
}

bool WindowLanes::canLoad() const {
  Type type = elementType();
  return type.isIntOrFloat() &&
         llvm::is_contained({16u, 32u, 64u}, type.getIntOrFloatBitWidth()) &&
         lanes() >= 4 && lanes() % lanesAtOnce() == 0;
}

Value WindowLanes::piece(OpBuilder &b, Location loc, Value whole,
                         int64_t first) const {
  if (lanesAtOnce() == lanes())
    return whole;
  return vector::ExtractStridedSliceOp::create(
      b, loc, whole, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{lanesAtOnce()},
      ArrayRef<int64_t>{1});
}

static Value constantLike(OpBuilder &b, Location loc, Type type,
                          int64_t value) {
  Attribute number = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, number);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(number));
}

static Value reduced(OpBuilder &b, Location loc, vector::CombiningKind kind,
                     Value lanes) {
  return vector::ReductionOp::create(b, loc, kind, lanes);
}

Value WindowLanes::areNear(OpBuilder &b, Location loc) {
  int64_t bytes = elementType().getIntOrFloatBitWidth() / 8,
          count = lanesAtOnce();
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, base);
  Value result;
  auto require = [&](Value condition) {
    result = result
                 ? arith::AndIOp::create(b, loc, result, condition).getResult()
                 : condition;
  };
  for (int64_t first = 0; first < lanes(); first += count) {
    // Places that grow, or fall: the lowest one is at an end.
    Value here = piece(b, loc, offsets, first);
    Value lowest = arith::MinSIOp::create(
        b, loc, vector::ExtractOp::create(b, loc, here, 0),
        vector::ExtractOp::create(b, loc, here, count - 1));
    Value distance = arith::SubIOp::create(
        b, loc, here,
        vector::BroadcastOp::create(b, loc, here.getType(), lowest));
    Value isInside = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ult, distance,
        constantLike(b, loc, here.getType(), vectorBytes / bytes));
    if (mask) {
      // One lane that is on is there, and makes its page one that can be read.
      Value isOn = piece(b, loc, mask, first);
      require(reduced(b, loc, vector::CombiningKind::OR, isOn));
      isInside = arith::OrIOp::create(
          b, loc, isInside,
          arith::XOrIOp::create(b, loc, isOn,
                                constantLike(b, loc, isOn.getType(), 1)));
    }
    require(reduced(b, loc, vector::CombiningKind::AND, isInside));
    Value begin = advanced(b, loc, at, lowest);
    Value inPage = arith::AddIOp::create(
        b, loc, address,
        arith::MulIOp::create(b, loc, begin,
                              arith::ConstantIndexOp::create(b, loc, bytes)));
    inPage = arith::AndIOp::create(
        b, loc, inPage, arith::ConstantIndexOp::create(b, loc, pageBytes - 1));
    require(arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ule, inPage,
        arith::ConstantIndexOp::create(b, loc, pageBytes - vectorBytes)));
    begins.push_back(begin);
    distances.push_back(distance);
  }
  return result;
}

Value WindowLanes::load(OpBuilder &b, Location loc, Value other) const {
  Type element = elementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t count = lanesAtOnce(), all = vectorBytes * 8 / bits;
  Type number = b.getIntegerType(bits);
  auto whole = VectorType::get({all}, number);
  StringRef permute = bits == 16   ? "llvm.x86.avx512.permvar.hi.512"
                      : bits == 32 ? "llvm.x86.avx512.permvar.si.512"
                                   : "llvm.x86.avx512.permvar.di.512";
  // Lanes that are fewer than a vector has come first in it.
  SmallVector<int64_t> from(all, vector::ShuffleOp::kPoisonIndex);
  for (int64_t lane = 0; lane < count; ++lane)
    from[lane] = lane;
  auto type = VectorType::get({lanes()}, element);
  Value result = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (auto [i, begin, distance] : llvm::enumerate(begins, distances)) {
    Value read =
        vector::LoadOp::create(b, loc, whole.clone(element), base, begin);
    if (element != number)
      read = arith::BitcastOp::create(b, loc, whole, read);
    // Of lanes that are off anything: only low bits of the numbers count.
    Type narrow = cast<VectorType>(distance.getType()).clone(number);
    Value order = distance;
    if (getElementTypeOrSelf(order).isIndex())
      order = arith::IndexCastOp::create(b, loc, narrow, order);
    else if (getElementTypeOrSelf(order).getIntOrFloatBitWidth() > bits)
      order = arith::TruncIOp::create(b, loc, narrow, order);
    else if (order.getType() != narrow)
      order = arith::ExtUIOp::create(b, loc, narrow, order);
    if (count < all)
      order = vector::ShuffleOp::create(b, loc, order, order, from);
    Value lanesHere =
        LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(permute),
                                      ValueRange{read, order})
            ->getResult(0);
    if (count < all)
      lanesHere = vector::ShuffleOp::create(b, loc, lanesHere, lanesHere,
                                            ArrayRef(from).take_front(count));
    if (element != number)
      lanesHere = arith::BitcastOp::create(
          b, loc, cast<VectorType>(lanesHere.getType()).clone(element),
          lanesHere);
    int64_t first = i * count;
    result = count == lanes()
                 ? lanesHere
                 : vector::InsertStridedSliceOp::create(
                       b, loc, lanesHere, result, ArrayRef<int64_t>{first},
                       ArrayRef<int64_t>{1})
                       .getResult();
  }
  return mask ? arith::SelectOp::create(b, loc, mask, result, other) : result;
}
