//===- ShortNans.cpp - NaNs that rounding to bf16 keeps -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ShortNans.h"
#include "cpu-backend/ConstantNumbers.h"
#include "cpu-backend/SmallIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

static bool endsInZeros(const APFloat &number) {
  return number.bitcastToAPInt().countr_zero() >= 16;
}

/// Whether it is bf16 that was widened.
static bool wasBf16(Operation *op) {
  auto extend = dyn_cast_or_null<arith::ExtFOp>(op);
  return extend && getElementTypeOrSelf(extend.getIn().getType()).isBF16();
}

/// Whether all that is ever stored in the scratch memory that `op` reads is
/// such; false where something else than vectors is loaded or stored there.
static bool
readsOnlyWhatIs(Operation *op,
                llvm::function_ref<bool(OpOperand &stored)> isSuch) {
  auto areaOf = [](Value memref) {
    while (auto cast = memref.getDefiningOp<memref::ReinterpretCastOp>())
      memref = cast.getSource();
    return memref.getDefiningOp<memref::ViewOp>();
  };
  memref::ViewOp area = areaOf(op->getOperand(0));
  if (!area || area.getType().getElementType() !=
                   getElementTypeOrSelf(op->getResult(0).getType()))
    return false;
  bool isStored = false;
  SmallVector<Operation *> views{area};
  while (!views.empty())
    for (Operation *user : views.pop_back_val()->getUsers()) {
      if (isa<memref::ReinterpretCastOp>(user)) {
        views.push_back(user);
        continue;
      }
      if (isa<vector::LoadOp, vector::MaskedLoadOp>(user))
        continue;
      OpOperand *stored = nullptr;
      if (auto store = dyn_cast<vector::StoreOp>(user))
        stored = &store.getValueToStoreMutable();
      else if (auto store = dyn_cast<vector::MaskedStoreOp>(user))
        stored = &store.getValueToStoreMutable();
      if (!stored || !isSuch(*stored))
        return false;
      isStored = true;
    }
  return isStored;
}

/// Gives one of its operands, or that with another sign.
static bool chooses(Operation *op) {
  return isa<arith::NegFOp, math::AbsFOp, math::CopySignOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
             vector::BroadcastOp>(op);
}

bool tilebridge::cpu::holdsBf16(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (wasBf16(op) || convertsSmallIntegers(op))
    return true;
  if (!op || depth == 0)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isConstantOf(op, endsInZeros);
  // What tilebridge-cpu-widen-bf16 has rounded.
  if (auto cast = dyn_cast<arith::BitcastOp>(op)) {
    auto cut = cast.getIn().getDefiningOp<arith::AndIOp>();
    APInt mask;
    return cut && matchPattern(cut.getRhs(), m_ConstantInt(&mask)) &&
           mask.getBitWidth() == 32 && mask.countr_zero() >= 16;
  }
  auto holds = [&](Value operand) { return holdsBf16(operand, depth - 1); };
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return readsOnlyWhatIs(
        load, [&](OpOperand &stored) { return holds(stored.get()); });
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return holds(choice.getTrueValue()) && holds(choice.getFalseValue());
  return chooses(op) && llvm::all_of(op->getOperands(), holds);
}

/// Gives a NaN of its operands, or that of IEEE arithmetic. So does what
/// tilebridge-cpu-expand-math writes for these functions: sums and products
/// that begin with the argument. Powers of two that it makes of a NaN's bits
/// are made of the lowest ones, and are 0.
static bool keepsNans(Operation *op) {
  return chooses(op) ||
         isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             math::FmaOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
             math::TanhOp, math::ErfOp, math::SqrtOp, math::RsqrtOp>(op);
}

/// Collects in `before` what is not known to be short and comes from before the
/// loop.
bool ShortNans::areShort(OpOperand &use, scf::ForOp loop,
                         SmallVectorImpl<OpOperand *> &before, int depth) {
  Value value = use.get();
  Operation *op = value.getDefiningOp();
  if (holdsBf16(value) || isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op))
    return true;
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return isConstantOf(op, [](const APFloat &each) {
      return !each.isNaN() || endsInZeros(each);
    });
  if (loop && loop.isDefinedOutsideOfLoop(value)) {
    before.push_back(&use);
    return true;
  }
  bool isRead = isa_and_nonnull<vector::LoadOp, vector::MaskedLoadOp>(op);
  if (!op || depth == 0 ||
      !(keepsNans(op) || isRead || isa<arith::SelectOp>(op)))
    return false;
  // Of one that is not so, nothing more is asked.
  if (!seen.insert(op).second)
    return true;
  // What a softmax keeps of its row, say. Where it is stored, in whichever
  // loop, nothing is made short.
  if (isRead) {
    auto masked = dyn_cast<vector::MaskedLoadOp>(op);
    return readsOnlyWhatIs(op,
                           [&](OpOperand &stored) {
                             return areShort(stored, {}, before, depth - 1);
                           }) &&
           (!masked ||
            areShort(masked.getPassThruMutable(), loop, before, depth - 1));
  }
  size_t conditions = isa<arith::SelectOp>(op) ? 1 : 0;
  return llvm::all_of(op->getOpOperands().drop_front(conditions),
                      [&](OpOperand &operand) {
                        return areShort(operand, loop, before, depth - 1);
                      });
}

/// The usual NaN in place of each.
Value ShortNans::shorten(Value value) {
  Value &known = shortened[value];
  if (known)
    return known;
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  Attribute usual = b.getF32FloatAttr(llvm::bit_cast<float>(0x7fc00000));
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    usual = DenseElementsAttr::get(vector, usual);
  Value nan = arith::ConstantOp::create(b, cast<TypedAttr>(usual));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  return known = arith::SelectOp::create(b, isNan, nan, value);
}

bool ShortNans::ensure(OpOperand &operand) {
  seen.clear();
  SmallVector<OpOperand *> before;
  auto loop = operand.getOwner()->getParentOfType<scf::ForOp>();
  if (!areShort(operand, loop, before, /*depth=*/16))
    return false;
  for (OpOperand *use : before)
    use->set(shorten(use->get()));
  return true;
}
