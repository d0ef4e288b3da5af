//===- NarrowGathers.cpp - elements of 8 and 16 bits by words -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// LLVM reads such lanes one by one, with a branch for each: most of the code,
// and of the time to compile, of a kernel whose strides only the launch knows.
//===----------------------------------------------------------------------===//

#include "cpu-backend/NarrowGathers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

static constexpr unsigned wordBits = 32, wordBytes = 4;
/// Fewer are as short one by one.
static constexpr unsigned fewestLanes = 4;

namespace {
/// Lanes of memory: so many elements behind a pointer.
struct Places {
  Value *base;
  Value *elements;
};
} // namespace

/// Takes the addresses of elements of `type` apart, which is what the CPU
/// wants: one base, and a number for each lane. What is added to all lanes may
/// be behind what differs between them.
static std::optional<Places> takeApart(IRBuilder<> &b, Value *pointers,
                                       Type *type) {
  auto *step = dyn_cast<GetElementPtrInst>(pointers);
  if (!step || step->getNumIndices() != 1 ||
      step->getSourceElementType() != type)
    return std::nullopt;
  Value *base = step->getPointerOperand(), *index = *step->idx_begin();
  if (!base->getType()->isVectorTy())
    return index->getType()->isVectorTy() ? std::optional(Places{base, index})
                                          : std::nullopt;
  std::optional<Places> inner = takeApart(b, base, type);
  if (!inner)
    return std::nullopt;
  if (Value *same = getSplatValue(index);
      same || !index->getType()->isVectorTy())
    return Places{b.CreateGEP(type, inner->base, same ? same : index),
                  inner->elements};
  if (inner->elements->getType() != index->getType())
    return std::nullopt;
  return Places{inner->base, b.CreateAdd(inner->elements, index)};
}

static void gatherWords(IntrinsicInst &gather, FixedVectorType *wordVector) {
  unsigned wordLanes = wordVector->getNumElements();
  IRBuilder<> b(&gather);
  auto *type = cast<FixedVectorType>(gather.getType());
  Type *element = type->getElementType();
  unsigned bits = element->getPrimitiveSizeInBits(),
           count = type->getNumElements();
  unsigned shift = Log2_32(wordBits / bits);
  Value *pointers = gather.getArgOperand(0), *mask = gather.getArgOperand(1),
        *other = gather.getArgOperand(2);
  // Which element of the first word the first one is, and from there on which
  // of the words and of their elements each lane has.
  std::optional<Places> places = takeApart(b, pointers, element);
  Type *index = b.getInt64Ty();
  auto *lanes = FixedVectorType::get(index, count);
  Value *base, *at;
  if (places && places->elements->getType() == lanes) {
    Value *low =
        b.CreateAnd(b.CreatePtrToInt(places->base, index), wordBytes - 1);
    base = b.CreateGEP(b.getInt8Ty(), places->base, b.CreateNeg(low));
    low = b.CreateLShr(low, Log2_32(bits / 8));
    at = b.CreateAdd(places->elements, b.CreateVectorSplat(count, low));
  } else {
    base = ConstantPointerNull::get(b.getPtrTy());
    at = b.CreateLShr(b.CreatePtrToInt(pointers, lanes), Log2_32(bits / 8));
  }
  Value *words = b.CreateAShr(at, shift);
  Value *inWord =
      b.CreateTrunc(at, FixedVectorType::get(b.getInt32Ty(), count));
  inWord = b.CreateAnd(inWord,
                       ConstantInt::get(inWord->getType(), (1u << shift) - 1));
  inWord = b.CreateShl(inWord, Log2_32(bits));
  SmallVector<Value *> pieces;
  for (unsigned first = 0; first < count; first += wordLanes) {
    auto here = to_vector(seq<int>(first, first + wordLanes));
    auto part = [&](Value *whole) {
      return count == wordLanes ? whole : b.CreateShuffleVector(whole, here);
    };
    Value *addresses = b.CreateGEP(b.getInt32Ty(), base, part(words));
    Value *read =
        b.CreateMaskedGather(wordVector, addresses, Align(wordBytes),
                             part(mask), Constant::getNullValue(wordVector));
    read = b.CreateLShr(read, part(inWord));
    pieces.push_back(b.CreateTrunc(
        read, FixedVectorType::get(b.getIntNTy(bits), wordLanes)));
  }
  Value *result = b.CreateBitCast(concatenateVectors(b, pieces), type);
  result = b.CreateSelect(mask, result, other);
  gather.replaceAllUsesWith(result);
  gather.eraseFromParent();
}

/// The type of the words, a native vector of them or as many as there are
/// lanes, if the gather is to be one of words.
static FixedVectorType *wordsFor(IntrinsicInst &gather,
                                 const TargetTransformInfo &costs) {
  auto *type = dyn_cast<FixedVectorType>(gather.getType());
  if (!type || isa<Constant>(gather.getArgOperand(1)) ||
      gather.getDataLayout().isBigEndian())
    return nullptr;
  unsigned bits = type->getElementType()->getPrimitiveSizeInBits(),
           count = type->getNumElements();
  // Elements must not lie in two words.
  if ((bits != 8 && bits != 16) || count < fewestLanes ||
      !isPowerOf2_32(count) || gather.getParamAlign(0).valueOrOne() < bits / 8)
    return nullptr;
  unsigned native =
      costs.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue() /
      wordBits;
  auto *words = FixedVectorType::get(Type::getInt32Ty(gather.getContext()),
                                     std::clamp(native, 1u, count));
  bool isLegal = costs.isLegalMaskedGather(words, Align(wordBytes)) &&
                 !costs.forceScalarizeMaskedGather(words, Align(wordBytes));
  return isLegal ? words : nullptr;
}

void tilebridge::cpu::gatherNarrowLanes(Module &module,
                                        TargetMachine &machine) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    TargetTransformInfo costs = machine.getTargetTransformInfo(function);
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *gather = dyn_cast<IntrinsicInst>(&instruction);
      if (!gather || gather->getIntrinsicID() != Intrinsic::masked_gather)
        continue;
      if (FixedVectorType *words = wordsFor(*gather, costs))
        gatherWords(*gather, words);
    }
  }
}
