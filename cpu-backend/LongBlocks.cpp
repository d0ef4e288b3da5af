//===- LongBlocks.cpp - thousands of instructions in a row ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/LongBlocks.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"

using namespace tilebridge::cpu;

/// Longer blocks than that of the largest products are cut.
static constexpr size_t longest = 2000;
/// So that what is ready at a time is little. Between two parts, values are in
/// registers or on the stack, as they would be anyway.
static constexpr size_t part = 500;

bool tilebridge::cpu::hasLongBlocks(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      if (block.size() > longest)
        return true;
  return false;
}

/// What belongs to the block's begin, or to its end, stays there.
static bool mayBegin(const llvm::Instruction &instruction) {
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CmpInst>(
             instruction) &&
         !instruction.isTerminator() && !instruction.isEHPad();
}

bool tilebridge::cpu::splitLongBlocks(llvm::Function &function) {
  llvm::SmallVector<llvm::BasicBlock *> blocks;
  for (llvm::BasicBlock &block : function)
    if (block.size() > longest)
      blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks) {
    llvm::SmallVector<llvm::Instruction *> begins;
    size_t count = 0;
    for (llvm::Instruction &instruction : *block) {
      // Memory of the stack is set up where the function begins.
      if (llvm::isa<llvm::AllocaInst>(instruction))
        begins.clear();
      if (++count > part && mayBegin(instruction)) {
        begins.push_back(&instruction);
        count = 0;
      }
    }
    // A short rest stays with what is before it.
    if (count < part / 2 && !begins.empty())
      begins.pop_back();
    for (llvm::Instruction *begin : begins)
      begin->getParent()->splitBasicBlock(begin->getIterator());
  }
  return !blocks.empty();
}

namespace {

struct SplitLongBlocks : llvm::FunctionPass {
  static char ID;
  SplitLongBlocks() : FunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Split long blocks"; }
  bool runOnFunction(llvm::Function &function) override {
    return splitLongBlocks(function);
  }
};

char SplitLongBlocks::ID = 0;

} // namespace

llvm::FunctionPass *tilebridge::cpu::createSplitLongBlocksPass() {
  return new SplitLongBlocks;
}
