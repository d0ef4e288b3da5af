//===- BlendedStores.h - stores of what partly was there --------*- C++ -*-===//
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

/// Keeps `store (select mask, value, load place), place` a load, a blend and a
/// store where vectors have 256 bits and masks no registers of their own. LLVM
/// 22 makes it a masked store, which takes AMD's CPUs with AVX2 a dozen cycles
/// and more, by 19 to 42 operations (Agner Fog's tables of VMASKMOVPS).
void keepBlendedStores(llvm::Module &module, int64_t vectorBits);

} // namespace tilebridge::cpu
