//===- MaskPieces.h - accesses with masks that are known in part -*- C++ -*-===//
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

/// Makes masked loads and stores of several native vectors of `vectorBits` one
/// for each, where lanes of the mask are known: the mask of a whole vector may
/// be. LLVM 22 splits them itself, but with AVX2 takes a half whose lanes are
/// known to be off for one whose lanes are on: it reads what is masked off.
/// (That is `and <16 x i1> %splat, <true x 8, false x 8>`.)
void splitPartlyKnownMasks(llvm::Module &module, int64_t vectorBits);

} // namespace tilebridge::cpu
