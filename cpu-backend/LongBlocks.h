//===- LongBlocks.h - thousands of instructions in a row --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace llvm {
class Function;
class FunctionPass;
class Module;
} // namespace llvm

namespace tilebridge::cpu {

/// Some block is longer than LLVM orders instructions in reasonable time.
bool hasLongBlocks(const llvm::Module &module);

/// Cuts such blocks into short ones that follow one another. LLVM orders the
/// instructions of a block by looking, for each, at all that could be next: a
/// kernel with 400 loads, each of them from a place of its own, took 3.8 s
/// there, in a block of 6000 instructions that are ready all at once.
bool splitLongBlocks(llvm::Function &function);

/// The same as a pass, for code generation: what comes before instructions are
/// selected would join the blocks again.
llvm::FunctionPass *createSplitLongBlocksPass();

} // namespace tilebridge::cpu
