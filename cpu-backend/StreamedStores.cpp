//===- StreamedStores.cpp - stores around the caches ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/StreamedStores.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void tilebridge::cpu::streamHalvesAsFloats(Module &module) {
  if (!module.getTargetTriple().isX86())
    return;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *store = dyn_cast<StoreInst>(&instruction);
      if (!store || !store->hasMetadata(LLVMContext::MD_nontemporal))
        continue;
      Value *value = store->getValueOperand();
      auto *type = dyn_cast<FixedVectorType>(value->getType());
      if (!type || !type->getElementType()->isHalfTy() ||
          type->getNumElements() % 2 != 0)
        continue;
      IRBuilder<> builder(store);
      auto *words = FixedVectorType::get(builder.getFloatTy(),
                                         type->getNumElements() / 2);
      // Without the fence, which is no instruction, selection would take the
      // cast away again.
      Value *cast = builder.CreateBitCast(value, words);
      store->setOperand(0, builder.CreateArithmeticFence(cast, words));
    }
}
