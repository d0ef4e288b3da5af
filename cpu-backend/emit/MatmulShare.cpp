//===- MatmulShare.cpp - panels that the next program finds packed ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A thread's scratch memory begins with words that are zero when the launch
// begins there: for each product, flags and the keys of its last program. A
// program with other keys than the one before packs, and keeps what it packs,
// unless the one before had kept its panels in vain. The flag that says that
// panels are there is set behind the loop: a program that a failed assertion
// ends leaves none.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/emit/Wanted.h"
#include "runtime/executable_abi.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// At most so much is kept; a part of a longer K.
static constexpr int64_t keptBytes = 4 << 20;
/// Products whose words the runtime clears.
static constexpr int64_t mostShared =
    TB_SCRATCH_ZEROED_BYTES / 8 / wordsOfSharing;

/// Bits of the first word: there are keys; the last two programs had them; the
/// panels are there.
static constexpr int64_t hasKeys = 1, wasRepeated = 2, arePanels = 4;

/// A number as the bits of a word.
static Value asWord(ImplicitLocOpBuilder &b, Value value) {
  Type i64 = b.getI64Type(), type = value.getType();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, i64, value);
  if (isa<FloatType>(type)) {
    type = b.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(b, type, value);
  }
  return type == i64 ? value : arith::ExtUIOp::create(b, i64, value);
}

bool FunctionEmitter::canShare(linalg::MatmulOp op) const {
  auto branch = op.getInputs()[1].getDefiningOp<scf::IfOp>();
  return branch && branch->hasAttr(sharedAttr) &&
         isPackedInBranches(branch.getResult(0), op) &&
         sharedProducts < mostShared;
}

/// Memory for so many operands, and words that are zero when a thread's first
/// program of a launch begins.
KeptSlots FunctionEmitter::openSlots(MemRefType slot, int64_t slots) {
  if (!sharingState) {
    OpBuilder::InsertionGuard guard(rewriter);
    Operation *parent = rewriter.getInsertionBlock()->getParentOp();
    auto func = dyn_cast<func::FuncOp>(parent);
    if (!func)
      func = parent->getParentOfType<func::FuncOp>();
    rewriter.setInsertionPointToStart(&func.getBody().front());
    sharingState = allocate(
        MemRefType::get({mostShared * wordsOfSharing}, rewriter.getI64Type()));
    sharingState.getDefiningOp()->setAttr(zeroedAttr, rewriter.getUnitAttr());
  }
  SmallVector<int64_t> shape = {slots + 1};
  llvm::append_range(shape, slot.getShape());
  Value memory = allocate(MemRefType::get(shape, slot.getElementType()));
  memory.getDefiningOp()->setAttr(keptAttr, rewriter.getUnitAttr());
  return {slots, memory, sharingState, sharedProducts++ * wordsOfSharing};
}

/// Before the loop: tiles of rows of `a` that are multiplied with columns are
/// kept, too. What `b` may be kept for holds for them: no program depends on
/// what another one writes.
void FunctionEmitter::openKeptRows(DeepMatmul &product) {
  constexpr int64_t keys = 3;
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  MemRefType slot = product.kernel(b).tilesOfRows();
  if (!product.shared || !product.place || !slot ||
      sharedProducts >= mostShared)
    return;
  product.keptRows = KeptRows{openSlots(slot, wordsOfSharing - keys)};
}

/// Before the loop.
LogicalResult FunctionEmitter::openSharing(DeepMatmul &product) {
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  // Which steps panels have is said by both operands.
  SmallVector<Value> besides;
  if (product.isClose) {
    std::optional<StepEnds> ends = product.form.endsOfSteps(product.op);
    for (const StepEnd &end : ends->front())
      for (Value number : {end.n, end.start})
        if (number)
          besides.push_back(number);
  }
  auto keys = findSharingKeys(product.op, besides);
  if (!keys)
    return success();
  SmallVector<Value> words;
  for (Value key : *keys) {
    Value mapped = mapScalar(key);
    if (!mapped)
      return failure();
    words.push_back(mapped);
  }
  // Panels that nobody sees are not packed: programs that share some see as
  // many.
  if (product.columnsEnd && !getConstantIntValue(product.columnsEnd) &&
      !llvm::is_contained(words, product.columnsEnd))
    words.push_back(product.columnsEnd);
  if (words.size() > maxSharingKeys)
    return success();
  MemRefType slot = product.typeOfRhs(b);
  int64_t slotBytes = slot.getNumElements() * slot.getElementTypeBitWidth() / 8;
  if (slotBytes > keptBytes)
    return success();
  SharedPanels shared{openSlots(slot, keptBytes / slotBytes)};

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 64);
  };
  auto at = [&](int64_t word) -> Value {
    return arith::ConstantIndexOp::create(b, shared.firstWord + word);
  };
  Value flags = memref::LoadOp::create(b, shared.state, at(0));
  auto isSet = [&](int64_t bit) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                 arith::AndIOp::create(b, flags, constant(bit)),
                                 constant(0));
  };
  Value isSame = isSet(hasKeys);
  for (auto [i, number] : llvm::enumerate(words)) {
    Value word = asWord(b, number), place = at(static_cast<int64_t>(i) + 1),
          last = memref::LoadOp::create(b, shared.state, place);
    isSame = arith::AndIOp::create(
        b, isSame,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, word, last));
    memref::StoreOp::create(b, word, shared.state, place);
  }
  shared.isSame = isSame;
  shared.isThere = arith::AndIOp::create(b, isSame, isSet(arePanels));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, flags, constant(0));
  shared.isKept = arith::OrIOp::create(
      b, isSame, arith::OrIOp::create(b, isFirst, isSet(wasRepeated)));
  Value next = arith::SelectOp::create(
      b, isSame, constant(hasKeys | wasRepeated), constant(hasKeys));
  memref::StoreOp::create(b, next, shared.state, at(0));
  product.shared = shared;
  return success();
}

/// In an iteration: how far the loop is, and which slot is its.
void FunctionEmitter::enterSharing(DeepMatmul &product) {
  SharedPanels &shared = *product.shared;
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value number =
      arith::DivUIOp::create(b, product.total, index(product.capacity));
  Value hasSlot =
      arith::AndIOp::create(b, shared.isKept,
                            arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                  number, index(shared.slots)));
  Value isThere = arith::AndIOp::create(b, hasSlot, shared.isThere);
  shared.packs =
      arith::XOrIOp::create(b, isThere, arith::ConstantIntOp::create(b, 1, 1));
  Value slot = arith::SelectOp::create(b, hasSlot, number, index(shared.slots));
  product.rhs = sliceOf(b, shared.memory, slot);
  // The next program may have the same.
  Value following = arith::SelectOp::create(
      b, product.isLast, index(0), arith::AddIOp::create(b, slot, index(1)));
  following = arith::SelectOp::create(b, hasSlot, following, slot);
  shared.nextPanels = sliceOf(b, shared.memory, following);
}

/// Behind the loop.
void FunctionEmitter::closeSharing(const DeepMatmul &product) {
  const SharedPanels &shared = *product.shared;
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  Value at = arith::ConstantIndexOp::create(b, shared.firstWord),
        flags = memref::LoadOp::create(b, shared.state, at);
  Value all = arith::OrIOp::create(
      b, flags, arith::ConstantIntOp::create(b, arePanels, 64));
  memref::StoreOp::create(b,
                          arith::SelectOp::create(b, shared.isKept, all, flags),
                          shared.state, at);
}
