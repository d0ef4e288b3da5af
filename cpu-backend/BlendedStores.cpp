//===- BlendedStores.cpp - stores of what partly was there ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlendedStores.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void tilebridge::cpu::keepBlendedStores(Module &module, int64_t vectorBits) {
  if (vectorBits != 256)
    return;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *store = dyn_cast<StoreInst>(&instruction);
      auto *select =
          store ? dyn_cast<SelectInst>(store->getValueOperand()) : nullptr;
      if (!select || !select->getCondition()->getType()->isVectorTy())
        continue;
      for (unsigned operand : {1, 2}) {
        auto *load = dyn_cast<LoadInst>(select->getOperand(operand));
        if (!load || load->getPointerOperand() != store->getPointerOperand())
          continue;
        // Code generation does not look behind it.
        IRBuilder<> b(select);
        select->setOperand(operand, b.CreateFreeze(load));
      }
    }
}
