//===- StreamedStores.h - stores around the caches --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace tilebridge::cpu {

/// On x86, makes non-temporal stores of vectors of f16 those of the same bytes
/// as f32: LLVM 22 selects ordinary stores for f16, without a word.
void streamHalvesAsFloats(llvm::Module &module);

} // namespace tilebridge::cpu
