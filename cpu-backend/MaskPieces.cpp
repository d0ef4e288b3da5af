//===- MaskPieces.cpp - masks of several vectors, vector by vector --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/MaskPieces.h"
#include "cpu-backend/MaskedOperands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

static constexpr unsigned deepest = 8;

/// Some lanes of the mask are constants, in what it is computed from.
static bool isPartlyKnown(Value *mask, unsigned depth = deepest) {
  if (auto *constant = dyn_cast<Constant>(mask))
    return !constant->getSplatValue();
  auto *op = dyn_cast<Instruction>(mask);
  if (!op || depth == 0 ||
      !(isa<ShuffleVectorInst>(op) || isa<SelectInst>(op) ||
        op->isBitwiseLogicOp()))
    return false;
  return any_of(op->operands(), [&](Value *operand) {
    auto *type = dyn_cast<FixedVectorType>(operand->getType());
    return type && type->getElementType()->isIntegerTy(1) &&
           isPartlyKnown(operand, depth - 1);
  });
}

/// The bits of the shortest elements that are compared, or `bits` if these are
/// fewer; 0 if the mask is anything but comparisons, and constants, combined.
static unsigned bitsOfComparisons(Value *mask, unsigned bits,
                                  unsigned depth = deepest) {
  if (auto *comparison = dyn_cast<CmpInst>(mask))
    return std::min(
        bits, comparison->getOperand(0)->getType()->getScalarSizeInBits());
  if (isa<Constant>(mask))
    return bits;
  auto *op = dyn_cast<Instruction>(mask);
  if (!op || depth == 0 || !op->isBitwiseLogicOp())
    return 0;
  for (Value *operand : op->operands())
    bits = bits ? bitsOfComparisons(operand, bits, depth - 1) : 0;
  return bits;
}

/// It simplifies what it writes.
using Builder = IRBuilder<InstSimplifyFolder>;

/// The lanes `at` of the mask.
static Value *lanesOf(Builder &b, Value *mask, ArrayRef<int> at,
                      unsigned depth = deepest) {
  if (auto *constant = dyn_cast<Constant>(mask)) {
    SmallVector<Constant *> elements;
    for (int lane : at)
      elements.push_back(lane < 0 ? PoisonValue::get(b.getInt1Ty())
                                  : constant->getAggregateElement(lane));
    return ConstantVector::get(elements);
  }
  auto part = [&](Value *operand) {
    return lanesOf(b, operand, at, depth - 1);
  };
  auto *op = dyn_cast<Instruction>(mask);
  if (auto *comparison = dyn_cast_or_null<CmpInst>(op)) {
    Value *left = b.CreateShuffleVector(op->getOperand(0), at),
          *right = b.CreateShuffleVector(op->getOperand(1), at),
          *some = b.CreateCmp(comparison->getPredicate(), left, right);
    if (auto *made = dyn_cast<Instruction>(some))
      made->copyIRFlags(comparison);
    return some;
  }
  if (op && depth > 0 && op->isBitwiseLogicOp())
    return b.CreateBinOp(cast<BinaryOperator>(op)->getOpcode(),
                         part(op->getOperand(0)), part(op->getOperand(1)));
  if (auto *select = dyn_cast_or_null<SelectInst>(op); select && depth > 0) {
    Value *condition = select->getCondition();
    if (condition->getType()->isVectorTy())
      condition = part(condition);
    return b.CreateSelect(condition, part(select->getTrueValue()),
                          part(select->getFalseValue()));
  }
  if (auto *shuffle = dyn_cast_or_null<ShuffleVectorInst>(op);
      shuffle && depth > 0) {
    int size = cast<FixedVectorType>(shuffle->getOperand(0)->getType())
                   ->getNumElements();
    SmallVector<int> from;
    for (int lane : at)
      from.push_back(lane < 0 ? lane : shuffle->getMaskValue(lane));
    if (all_of(from, [&](int lane) { return lane < size; }))
      return lanesOf(b, shuffle->getOperand(0), from, depth - 1);
  }
  return b.CreateShuffleVector(mask, at);
}

static void split(IntrinsicInst &access, unsigned lanes) {
  Builder b(access.getParent(), access.getIterator(),
            InstSimplifyFolder(access.getDataLayout()));
  bool isLoad = access.getIntrinsicID() == Intrinsic::masked_load;
  auto [pointerAt, maskAt, vectorAt] =
      tilebridge::cpu::maskedOperandsOf(access);
  Value *pointer = access.getArgOperand(pointerAt),
        *mask = access.getArgOperand(maskAt),
        *vector = access.getArgOperand(vectorAt);
  Align align = access.getParamAlign(pointerAt).valueOrOne();
  auto *type = cast<FixedVectorType>(vector->getType());
  unsigned count = type->getNumElements();
  SmallVector<Value *> pieces;
  auto *piece = FixedVectorType::get(type->getElementType(), lanes);
  for (unsigned first = 0; first < count; first += lanes) {
    auto at = to_vector(seq<int>(first, first + lanes));
    Value *some = lanesOf(b, mask, at),
          *values = b.CreateShuffleVector(vector, at),
          *address =
              b.CreateConstGEP1_32(type->getElementType(), pointer, first);
    Align own = commonAlignment(
        align, first * type->getElementType()->getPrimitiveSizeInBits() / 8);
    if (!isLoad) {
      b.CreateMaskedStore(values, address, own, some);
      continue;
    }
    auto *known = dyn_cast<Constant>(some);
    if (!known || !known->isNullValue())
      values = b.CreateMaskedLoad(piece, address, own, some, values);
    pieces.push_back(values);
  }
  if (isLoad)
    access.replaceAllUsesWith(concatenateVectors(b, pieces));
  access.eraseFromParent();
}

/// How many lanes of `mask`, which chooses elements of `vector`, are one native
/// vector; 0 if it is to stay whole.
static unsigned lanesOfPiece(Value *mask, Value *vector, int64_t vectorBits,
                             bool isAccess) {
  auto *type = dyn_cast<FixedVectorType>(vector->getType());
  if (!type || isa<Constant>(mask) || !mask->getType()->isVectorTy())
    return 0;
  unsigned bits = type->getScalarSizeInBits();
  if (!isAccess || !isPartlyKnown(mask))
    bits = isa<CmpInst>(mask) ? 0 : bitsOfComparisons(mask, bits);
  unsigned lanes = bits ? vectorBits / bits : 0, count = type->getNumElements();
  return lanes > 1 && count > lanes && count % lanes == 0 ? lanes : 0;
}

static void split(SelectInst &select, unsigned lanes) {
  Builder b(select.getParent(), select.getIterator(),
            InstSimplifyFolder(select.getDataLayout()));
  unsigned count = cast<FixedVectorType>(select.getType())->getNumElements();
  SmallVector<Value *> pieces;
  for (unsigned first = 0; first < count; first += lanes) {
    auto at = to_vector(seq<int>(first, first + lanes));
    pieces.push_back(
        b.CreateSelect(lanesOf(b, select.getCondition(), at),
                       b.CreateShuffleVector(select.getTrueValue(), at),
                       b.CreateShuffleVector(select.getFalseValue(), at)));
  }
  select.replaceAllUsesWith(concatenateVectors(b, pieces));
}

void tilebridge::cpu::splitMasks(Module &module, int64_t vectorBits) {
  // Longer vectors have masks of their own.
  if (vectorBits >= 512)
    return;
  SmallVector<WeakTrackingVH> dead;
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      if (auto *select = dyn_cast<SelectInst>(&instruction)) {
        unsigned lanes = lanesOfPiece(select->getCondition(), select,
                                      vectorBits, /*isAccess=*/false);
        if (!lanes)
          continue;
        split(*select, lanes);
        dead.push_back(select);
        continue;
      }
      auto *access = dyn_cast<IntrinsicInst>(&instruction);
      if (!access)
        continue;
      if (access->getIntrinsicID() != Intrinsic::masked_load &&
          access->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      MaskedOperands at = maskedOperandsOf(*access);
      Value *mask = access->getArgOperand(at.mask);
      unsigned lanes = lanesOfPiece(mask, access->getArgOperand(at.vector),
                                    vectorBits, /*isAccess=*/true);
      if (!lanes)
        continue;
      split(*access, lanes);
      dead.push_back(mask);
    }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}
