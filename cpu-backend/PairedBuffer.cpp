//===- PairedBuffer.cpp - a row whose even elements come first ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/PairedBuffer.h"
#include "cpu-backend/PlainAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilebridge::cpu;

static int64_t lanesOf(VectorType type) {
  return type.getRank() == 1 && !type.isScalable() ? type.getNumElements() : 0;
}

bool PairedBuffer::find() {
  auto type = cast<MemRefType>(view.getType());
  if (type.getRank() != 1 || !type.hasStaticShape() ||
      !type.getElementType().isF32() || type.getNumElements() % 2 != 0)
    return false;
  SmallVector<Value> names = {view};
  while (!names.empty())
    for (OpOperand &use : names.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isWholeName(user)) {
        names.push_back(user->getResult(0));
        continue;
      }
      int64_t lanes = 0;
      if (auto load = dyn_cast<vector::LoadOp>(user))
        lanes = lanesOf(load.getVectorType());
      else if (auto store = dyn_cast<vector::StoreOp>(user))
        lanes = lanesOf(store.getVectorType());
      bool isMasked = isa<vector::MaskedLoadOp>(user);
      if (isMasked)
        lanes = lanesOf(cast<vector::MaskedLoadOp>(user).getVectorType());
      if (lanes == 0 || lanes % (isMasked ? 2 : group) != 0 ||
          accessedMemory(user) != use.get())
        return false;
      accesses.push_back(user);
    }
  return true;
}

std::pair<Value, Value> PairedBuffer::places(ImplicitLocOpBuilder &b,
                                             Value index) {
  int64_t half = cast<MemRefType>(view.getType()).getNumElements() / 2;
  Value one = arith::ConstantIndexOp::create(b, 1),
        none = arith::ConstantIndexOp::create(b, 0),
        odds = arith::ConstantIndexOp::create(b, half);
  Value isOdd = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, index, one), none);
  // Rounded down: lanes that a mask leaves out may be before the first element.
  Value begin = arith::ShRSIOp::create(b, index, one);
  Value first = arith::AddIOp::create(
      b, begin, arith::SelectOp::create(b, isOdd, odds, none));
  Value second = arith::AddIOp::create(
      b, begin, arith::SelectOp::create(b, isOdd, one, odds));
  return {first, second};
}

Value tilebridge::cpu::orderLanes(ImplicitLocOpBuilder &b, Value value,
                                  int64_t group, bool back) {
  SmallVector<int64_t> order;
  int64_t lanes = lanesOf(cast<VectorType>(value.getType())), half = group / 2;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t in = lane % group;
    order.push_back(
        lane - in +
        (back ? in / 2 + in % 2 * half : in % half * 2 + in / half));
  }
  return vector::ShuffleOp::create(b, value, value, order);
}

static Value plus(ImplicitLocOpBuilder &b, Value index, int64_t more) {
  if (more == 0)
    return index;
  return arith::AddIOp::create(b, index,
                               arith::ConstantIndexOp::create(b, more));
}

void PairedBuffer::rewrite(vector::LoadOp load, bool isInGroups) {
  ImplicitLocOpBuilder b(load.getLoc(), load);
  VectorType type = load.getVectorType();
  int64_t half = group / 2;
  auto part = VectorType::get(half, type.getElementType());
  auto [first, second] = places(b, load.getIndices().front());
  Value all = arith::ConstantOp::create(b, b.getZeroAttr(type));
  for (int64_t at = 0; at < lanesOf(type); at += group)
    for (auto [place, to] : {std::pair(first, at), {second, at + half}}) {
      Value some = vector::LoadOp::create(b, part, load.getBase(),
                                          plus(b, place, at / 2));
      all = vector::InsertStridedSliceOp::create(
          b, some, all, ArrayRef<int64_t>{to}, ArrayRef<int64_t>{1});
    }
  if (!isInGroups)
    all = orderLanes(b, all, group, /*back=*/true);
  load.replaceAllUsesWith(all);
  load.erase();
}

void PairedBuffer::rewrite(vector::StoreOp store, bool isInGroups) {
  ImplicitLocOpBuilder b(store.getLoc(), store);
  int64_t half = group / 2;
  Value value = store.getValueToStore();
  if (!isInGroups)
    value = orderLanes(b, value, group, /*back=*/false);
  auto [first, second] = places(b, store.getIndices().front());
  for (int64_t at = 0; at < lanesOf(store.getVectorType()); at += group)
    for (auto [place, from] : {std::pair(first, at), {second, at + half}}) {
      Value some = vector::ExtractStridedSliceOp::create(
          b, value, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
      vector::StoreOp::create(b, some, store.getBase(), plus(b, place, at / 2));
    }
  store.erase();
}

void PairedBuffer::rewrite(vector::MaskedLoadOp load) {
  ImplicitLocOpBuilder b(load.getLoc(), load);
  VectorType type = load.getVectorType();
  int64_t lanes = lanesOf(type);
  SmallVector<int64_t> evens, odds, both;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    (lane % 2 == 0 ? evens : odds).push_back(lane);
    both.push_back(lane / 2 + lane % 2 * (lanes / 2));
  }
  auto half = VectorType::get(lanes / 2, type.getElementType());
  auto [first, second] = places(b, load.getIndices().front());
  auto read = [&](Value place, ArrayRef<int64_t> which) -> Value {
    Value mask =
        vector::ShuffleOp::create(b, load.getMask(), load.getMask(), which);
    Value other = vector::ShuffleOp::create(b, load.getPassThru(),
                                            load.getPassThru(), which);
    return vector::MaskedLoadOp::create(b, half, load.getBase(), place, mask,
                                        other);
  };
  Value even = read(first, evens), odd = read(second, odds);
  load.replaceAllUsesWith(
      vector::ShuffleOp::create(b, even, odd, both).getResult());
  load.erase();
}

void PairedBuffer::rewrite(llvm::function_ref<bool(Operation *)> isInGroups) {
  for (Operation *access : accesses) {
    if (auto load = dyn_cast<vector::LoadOp>(access))
      rewrite(load, isInGroups(access));
    else if (auto store = dyn_cast<vector::StoreOp>(access))
      rewrite(store, isInGroups(access));
    else
      rewrite(cast<vector::MaskedLoadOp>(access));
  }
}
