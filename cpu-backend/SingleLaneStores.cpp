//===- SingleLaneStores.cpp - masked stores of one lane -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/SingleLaneStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

/// The one lane that a constant mask has.
static std::optional<unsigned> onlyLane(Value *value) {
  auto *mask = dyn_cast<Constant>(value);
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!mask || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Constant *element = mask->getAggregateElement(i);
    if (!element || (!element->isNullValue() && !element->isOneValue()))
      return std::nullopt;
    if (element->isNullValue())
      continue;
    if (lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

static void scalarize(IntrinsicInst &store, unsigned lane) {
  IRBuilder<> builder(&store);
  Value *vector = store.getArgOperand(0), *pointer = store.getArgOperand(1);
  Value *element = builder.CreateExtractElement(vector, lane);
  Value *address =
      builder.CreateConstInBoundsGEP1_32(element->getType(), pointer, lane);
  // Elements of masked accesses are aligned to nothing that is relied on.
  builder.CreateAlignedStore(element, address, Align(1));
  store.eraseFromParent();
}

void tilebridge::cpu::scalarizeSingleLaneStores(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *store = dyn_cast<IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      // (value, pointer, mask), in older versions with an alignment before it.
      Value *mask = store->getArgOperand(store->arg_size() - 1);
      if (std::optional<unsigned> lane = onlyLane(mask))
        scalarize(*store, *lane);
    }
}
