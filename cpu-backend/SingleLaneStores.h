//===- SingleLaneStores.h - masked stores of one lane ----------*- C++ -*-===//
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

/// Makes masked stores whose mask is a constant with one lane stores of that
/// element. LLVM 22 does so itself for x86, but where it has merged a
/// truncation into the masked store it then stores the element as it was before
/// the truncation, and writes beside it.
void scalarizeSingleLaneStores(llvm::Module &module);

} // namespace tilebridge::cpu
