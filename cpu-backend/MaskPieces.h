//===- MaskPieces.h - masks of several vectors ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace tilebridge::cpu {

/// Makes masked loads, stores and selections of several native vectors of
/// `vectorBits` one for each, where the mask is
/// - known in some lanes: that of a whole vector may be. LLVM 22 splits such
///   accesses itself, but with AVX2 takes a half whose lanes are known to be
///   off for one whose lanes are on: it reads what is masked off. (That is
///   `and <16 x i1> %splat, <true x 8, false x 8>`.)
/// - combined from comparisons: LLVM would pack these to one vector of bytes,
///   and widen that again, in more instructions than the rest takes.
/// Not with 512 bits, where masks are in registers of their own.
void splitMasks(llvm::Module &module, int64_t vectorBits);

} // namespace tilebridge::cpu
