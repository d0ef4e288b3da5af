//===- MaskedLanes.cpp - masked accesses that a CPU has none of -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a load gives is put together on the stack: the lanes that are off are
// stored there first. What a store writes is there as a whole. Where the first
// lanes are on, as at the end of a row, they are copied in pieces of half the
// lanes, a quarter and so on. Else a loop takes the bits of the mask from the
// lowest on, so that of scattered lanes at one place the last one stays.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MaskedLanes.h"
#include "cpu-backend/MaskedOperands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

/// Fewer are as short one by one; more have no integer for their mask.
static constexpr unsigned fewestLanes = 8, mostLanes = 64;
static constexpr unsigned wordBits = 32;

namespace {

/// A masked load or store, or a scatter, by its operands.
struct Access {
  IntrinsicInst *call;
  bool isLoad, isScatter;
  Value *places; ///< A pointer, or one for each lane.
  Value *mask;
  Value *vector; ///< What is stored, or what lanes that are off give.

  FixedVectorType *type() const {
    return cast<FixedVectorType>(vector->getType());
  }
  unsigned lanes() const { return type()->getNumElements(); }
  Align alignment() const {
    return call->getParamAlign(isLoad ? 0 : 1).valueOrOne();
  }
};

/// The accesses of one function, and what they share.
class Rewriter {
public:
  Rewriter(Function &function, const TargetTransformInfo &costs)
      : function(function), costs(costs), layout(function.getDataLayout()) {}

  void rewrite(const Access &access);

private:
  void copySome(const Access &access, Instruction *before, Value *bits,
                Value *count);
  using Stack = DenseMap<uint64_t, AllocaInst *>; ///< By size in bytes.
  Value *placeIn(Stack &stack, Type *type);

  bool hasMaskedWords(const Access &access) const;

  Function &function;
  const TargetTransformInfo &costs;
  const DataLayout &layout;
  /// No two accesses are under way at once.
  Stack vectors, pointers;
};

} // namespace

/// What each lane's number is below, if the mask compares so.
static Value *boundOfLanes(const ICmpInst &comparison) {
  Value *number = comparison.getOperand(0), *lanes = comparison.getOperand(1);
  CmpInst::Predicate predicate = comparison.getPredicate();
  if (isa<Constant>(number)) {
    std::swap(number, lanes);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  auto *numbers = dyn_cast<ConstantDataVector>(lanes);
  if (predicate != CmpInst::ICMP_SGT || !numbers)
    return nullptr;
  for (unsigned lane = 0; lane < numbers->getNumElements(); ++lane)
    if (numbers->getElementAsInteger(lane) != lane)
      return nullptr;
  return getSplatValue(number);
}

/// The number of lanes that are on, as 64 bits, where these are the first ones:
/// their numbers are below a bound, or several. It may be negative, or above
/// that of all lanes.
static Value *countOfFirst(IRBuilder<> &b, Value *mask) {
  Value *left, *right;
  if (match(mask, PatternMatch::m_And(PatternMatch::m_Value(left),
                                      PatternMatch::m_Value(right)))) {
    left = countOfFirst(b, left);
    right = left ? countOfFirst(b, right) : nullptr;
    return right ? b.CreateBinaryIntrinsic(Intrinsic::smin, left, right)
                 : nullptr;
  }
  auto *comparison = dyn_cast<ICmpInst>(mask);
  Value *bound = comparison ? boundOfLanes(*comparison) : nullptr;
  return bound ? b.CreateSExt(bound, b.getInt64Ty()) : nullptr;
}

Value *Rewriter::placeIn(Stack &stack, Type *type) {
  uint64_t bytes = layout.getTypeStoreSize(type);
  AllocaInst *&place = stack[bytes];
  if (!place) {
    IRBuilder<> b(&function.getEntryBlock(),
                  function.getEntryBlock().getFirstInsertionPt());
    place = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), bytes));
    place->setAlignment(Align(std::min<uint64_t>(PowerOf2Ceil(bytes), 64)));
  }
  return place;
}

/// For each bit that is set, from the lowest on, what `body` does with its
/// number. The builder is behind the loop then.
static void forEachBit(IRBuilder<> &b, Instruction *before, Value *bits,
                       function_ref<void(IRBuilder<> &, Value *)> body) {
  Type *type = bits->getType();
  BasicBlock *head = before->getParent();
  BasicBlock *behind = SplitBlock(head, before);
  BasicBlock *loop = BasicBlock::Create(before->getContext(), "lanes",
                                        head->getParent(), behind);
  head->getTerminator()->eraseFromParent();
  b.SetInsertPoint(head);
  Value *none = ConstantInt::get(type, 0);
  b.CreateCondBr(b.CreateICmpEQ(bits, none), behind, loop);
  b.SetInsertPoint(loop);
  PHINode *left = b.CreatePHI(type, 2);
  left->addIncoming(bits, head);
  Value *lane = b.CreateBinaryIntrinsic(Intrinsic::cttz, left, b.getTrue());
  body(b, b.CreateZExtOrTrunc(lane, b.getInt64Ty()));
  Value *others =
      b.CreateAnd(left, b.CreateSub(left, ConstantInt::get(type, 1)));
  left->addIncoming(others, loop);
  b.CreateCondBr(b.CreateICmpEQ(others, none), behind, loop);
  b.SetInsertPoint(before);
}

/// The first `count` elements, of less than `lanes`: halves, quarters and so on
/// of all lanes, each if its bit of `count` is set.
static void
forEachPiece(IRBuilder<> &b, Instruction *before, Value *count, unsigned lanes,
             function_ref<void(IRBuilder<> &, Value *at, unsigned size)> body) {
  for (unsigned size = lanes / 2; size > 0; size /= 2) {
    b.SetInsertPoint(before);
    Type *type = count->getType();
    Value *at = b.CreateAnd(count, ConstantInt::get(type, lanes - 2 * size));
    Value *isSet = b.CreateICmpNE(
        b.CreateAnd(count, ConstantInt::get(type, size)), b.getInt64(0));
    Instruction *piece =
        SplitBlockAndInsertIfThen(isSet, before->getIterator(), false);
    b.SetInsertPoint(piece);
    body(b, at, size);
  }
  b.SetInsertPoint(before);
}

/// The first `count` lanes, of less than all, by a masked load of the words
/// that these fill; what is left of the last word is blended in by halves.
/// Nothing goes through the stack, where a vector could only be read after the
/// elements that it is put together from have left the store queue.
static Value *loadWords(IRBuilder<> &b, const Access &access,
                        Instruction *before, Value *count) {
  FixedVectorType *type = access.type();
  unsigned bits = type->getScalarSizeInBits(), inWord = wordBits / bits,
           words = access.lanes() / inWord;
  b.SetInsertPoint(before);
  // How the number of each group of `size` elements compares with that of the
  // one at `place`.
  auto compare = [&](CmpInst::Predicate predicate, unsigned size,
                     Value *place) {
    unsigned number = access.lanes() / size;
    Type *lane = b.getIntNTy(size * bits);
    SmallVector<Constant *> numbers;
    for (unsigned i = 0; i < number; ++i)
      numbers.push_back(ConstantInt::get(lane, i));
    place = b.CreateTrunc(b.CreateLShr(place, Log2_32(size)), lane);
    return b.CreateICmp(predicate, ConstantVector::get(numbers),
                        b.CreateVectorSplat(number, place));
  };
  auto *whole = FixedVectorType::get(b.getInt32Ty(), words);
  Value *result = b.CreateMaskedLoad(whole, access.places, access.alignment(),
                                     compare(CmpInst::ICMP_SLT, inWord, count),
                                     b.CreateBitCast(access.vector, whole));
  for (unsigned size = inWord / 2; size > 0; size /= 2) {
    b.SetInsertPoint(before);
    Value *isSet =
        b.CreateICmpNE(b.CreateAnd(count, b.getInt64(size)), b.getInt64(0));
    Instruction *piece =
        SplitBlockAndInsertIfThen(isSet, before->getIterator(), false);
    b.SetInsertPoint(piece);
    // Behind the larger pieces.
    Value *at = b.CreateAnd(count, b.getInt64(-2 * int64_t(size)));
    Type *lane = b.getIntNTy(size * bits);
    Value *some = b.CreateAlignedLoad(
        lane, b.CreateGEP(type->getElementType(), access.places, at),
        commonAlignment(access.alignment(), bits / 8));
    Value *isHere = compare(CmpInst::ICMP_EQ, size, at);
    unsigned number = access.lanes() / size;
    auto *lanes = FixedVectorType::get(lane, number);
    Value *blended = b.CreateBitCast(
        b.CreateSelect(isHere, b.CreateVectorSplat(number, some),
                       b.CreateBitCast(result, lanes)),
        whole);
    BasicBlock *block = piece->getParent();
    b.SetInsertPoint(before);
    PHINode *merged = b.CreatePHI(whole, 2);
    merged->addIncoming(blended, block);
    merged->addIncoming(result, block->getSinglePredecessor());
    result = merged;
  }
  b.SetInsertPoint(before);
  return b.CreateBitCast(result, type);
}

/// Copies between the stack and memory what is on, which is not all.
void Rewriter::copySome(const Access &access, Instruction *before, Value *bits,
                        Value *count) {
  IRBuilder<> b(before);
  FixedVectorType *type = access.type();
  Type *element = type->getElementType();
  Value *place = placeIn(vectors, type), *addresses = nullptr;
  if (!access.isLoad || !isa<UndefValue>(access.vector))
    b.CreateStore(access.vector, place);
  if (access.isScatter) {
    addresses = placeIn(pointers, access.places->getType());
    b.CreateStore(access.places, addresses);
  }
  Align align =
      commonAlignment(access.alignment(), layout.getTypeStoreSize(element));
  auto copy = [&](IRBuilder<> &b, Value *at, Type *what) {
    Value *here = b.CreateGEP(element, place, at), *there;
    if (addresses)
      there =
          b.CreateLoad(b.getPtrTy(), b.CreateGEP(b.getPtrTy(), addresses, at));
    else
      there = b.CreateGEP(element, access.places, at);
    if (access.isLoad)
      b.CreateAlignedStore(b.CreateAlignedLoad(what, there, align), here,
                           Align(1));
    else
      b.CreateAlignedStore(b.CreateAlignedLoad(what, here, Align(1)), there,
                           align);
  };
  if (count)
    forEachPiece(b, before, count, access.lanes(),
                 [&](IRBuilder<> &b, Value *at, unsigned size) {
                   copy(b, at,
                        size == 1 ? element
                                  : FixedVectorType::get(element, size));
                 });
  else
    forEachBit(b, before, bits,
               [&](IRBuilder<> &b, Value *lane) { copy(b, lane, element); });
}

bool Rewriter::hasMaskedWords(const Access &access) const {
  unsigned inWord = wordBits / access.type()->getScalarSizeInBits();
  return inWord > 1 &&
         costs.isLegalMaskedLoad(
             FixedVectorType::get(Type::getInt32Ty(function.getContext()),
                                  access.lanes() / inWord),
             access.alignment(), 0);
}

void Rewriter::rewrite(const Access &access) {
  IRBuilder<> b(access.call);
  FixedVectorType *type = access.type();
  Type *maskBits = b.getIntNTy(access.lanes());
  if (access.isScatter) {
    copySome(access, access.call, b.CreateBitCast(access.mask, maskBits),
             /*count=*/nullptr);
    access.call->eraseFromParent();
    return;
  }
  Value *count = countOfFirst(b, access.mask), *bits = nullptr, *isWhole;
  if (count) {
    count = b.CreateBinaryIntrinsic(Intrinsic::smax, count, b.getInt64(0));
    isWhole = b.CreateICmpUGE(count, b.getInt64(access.lanes()));
  } else {
    bits = b.CreateBitCast(access.mask, maskBits);
    isWhole = b.CreateICmpEQ(bits, Constant::getAllOnesValue(maskBits));
  }
  Instruction *whole = nullptr, *some = nullptr;
  SplitBlockAndInsertIfThenElse(isWhole, access.call->getIterator(), &whole,
                                &some);
  b.SetInsertPoint(whole);
  Align align = access.alignment();
  Value *all = nullptr;
  if (access.isLoad)
    all = b.CreateAlignedLoad(type, access.places, align);
  else
    b.CreateAlignedStore(access.vector, access.places, align);
  Value *few = nullptr;
  if (count && access.isLoad && hasMaskedWords(access)) {
    few = loadWords(b, access, some, count);
  } else {
    copySome(access, some, bits, count);
    b.SetInsertPoint(some);
    if (access.isLoad)
      few = b.CreateLoad(type, placeIn(vectors, type));
  }
  if (access.isLoad) {
    b.SetInsertPoint(access.call);
    PHINode *result = b.CreatePHI(type, 2);
    result->addIncoming(all, whole->getParent());
    result->addIncoming(few, some->getParent());
    access.call->replaceAllUsesWith(result);
  }
  access.call->eraseFromParent();
}

/// What is to be rewritten.
static std::optional<Access> accessOf(Instruction &instruction,
                                      const TargetTransformInfo &costs) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return std::nullopt;
  Access access{};
  access.call = call;
  access.isLoad = call->getIntrinsicID() == Intrinsic::masked_load;
  access.isScatter = call->getIntrinsicID() == Intrinsic::masked_scatter;
  if (!access.isLoad && !access.isScatter &&
      call->getIntrinsicID() != Intrinsic::masked_store)
    return std::nullopt;
  auto [pointer, mask, vector] = tilebridge::cpu::maskedOperandsOf(*call);
  access.places = call->getArgOperand(pointer);
  access.mask = call->getArgOperand(mask);
  access.vector = call->getArgOperand(vector);
  auto *type = dyn_cast<FixedVectorType>(access.vector->getType());
  if (!type || isa<Constant>(access.mask) || access.lanes() < fewestLanes ||
      access.lanes() > mostLanes || !isPowerOf2_32(access.lanes()))
    return std::nullopt;
  // Elements that lie in a vector as they do in memory, and are no pointers.
  unsigned bits = type->getScalarSizeInBits();
  if (bits < 8 || bits > 64 || !isPowerOf2_32(bits))
    return std::nullopt;
  Align align = access.alignment();
  bool isLegal = access.isLoad ? costs.isLegalMaskedLoad(type, align, 0)
                 : access.isScatter
                     ? costs.isLegalMaskedScatter(type, align) &&
                           !costs.forceScalarizeMaskedScatter(type, align)
                     : costs.isLegalMaskedStore(type, align, 0);
  return isLegal ? std::nullopt : std::optional(access);
}

void tilebridge::cpu::loopOverMaskedLanes(Module &module,
                                          TargetMachine &machine) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    TargetTransformInfo costs = machine.getTargetTransformInfo(function);
    // Rewriting splits blocks, and a store may have what a load gave.
    SmallVector<Instruction *> calls;
    for (Instruction &instruction : instructions(function))
      if (accessOf(instruction, costs))
        calls.push_back(&instruction);
    Rewriter rewriter(function, costs);
    for (Instruction *call : calls)
      rewriter.rewrite(*accessOf(*call, costs));
  }
}
