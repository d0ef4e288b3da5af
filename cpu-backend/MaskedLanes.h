//===- MaskedLanes.h - masked accesses that a CPU has none of ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tilebridge::cpu {

/// Masked loads, stores and scatters that the CPU has no instruction for
/// become loops over the lanes that are on, through a place on the stack: 8 and
/// 16 bits without AVX-512, all scatters without it, everything with SSE or
/// Neon. A load or store all of whose lanes are on is one of the whole vector.
///
/// LLVM writes a test, a branch and a block for each lane instead: of the code
/// of a kernel for bools with AVX2 that was two thirds, and of the time to
/// compile it, too.
void loopOverMaskedLanes(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tilebridge::cpu
