//===- LongBlocksTest.cpp - which blocks are cut --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/LongBlocks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace tilebridge::cpu;

namespace {

/// One block that adds `count` times, with memory of the stack in its middle
/// and a comparison at its end.
struct Adds {
  explicit Adds(int count) : module("m", context) {
    llvm::Type *type = llvm::Type::getInt64Ty(context);
    function =
        llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                               llvm::Function::ExternalLinkage, "f", module);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value *sum = function->getArg(0);
    for (int i = 0; i < count; ++i) {
      sum = b.CreateAdd(sum, function->getArg(0));
      if (i == count / 2)
        memory = b.CreateAlloca(type);
    }
    b.CreateStore(sum, memory);
    llvm::Value *less = b.CreateICmpSLT(sum, function->getArg(0));
    b.CreateRet(b.CreateSelect(less, sum, function->getArg(0)));
  }
  llvm::LLVMContext context;
  llvm::Module module;
  llvm::Function *function;
  llvm::Value *memory = nullptr;
};

} // namespace

TEST(LongBlocks, StayWholeUpToALimit) {
  Adds adds(1900);
  EXPECT_FALSE(hasLongBlocks(adds.module));
  EXPECT_FALSE(splitLongBlocks(*adds.function));
  EXPECT_EQ(adds.function->size(), 1u);
}

TEST(LongBlocks, AreCutBehindMemoryOfTheStack) {
  Adds adds(6000);
  EXPECT_TRUE(hasLongBlocks(adds.module));
  EXPECT_TRUE(splitLongBlocks(*adds.function));
  EXPECT_FALSE(llvm::verifyFunction(*adds.function, &llvm::errs()));
  // The first 3000 are in front of it.
  llvm::BasicBlock &entry = adds.function->getEntryBlock();
  EXPECT_EQ(llvm::cast<llvm::Instruction>(adds.memory)->getParent(), &entry);
  EXPECT_GT(entry.size(), 3000u);
  EXPECT_GE(adds.function->size(), 6u);
  for (llvm::BasicBlock &block : llvm::drop_begin(*adds.function)) {
    EXPECT_LE(block.size(), 800u);
    EXPECT_GE(block.size(), 250u);
  }
}
