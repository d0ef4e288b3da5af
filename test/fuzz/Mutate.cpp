//===- Mutate.cpp - one damaged copy --------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Mutate.h"

#include "test/fuzz/IrMutator.h"
#include "test/fuzz/TextMutator.h"

std::string tilebridge::fuzz::mutate(llvm::StringRef text, uint64_t seed) {
  if (seed % 3 != 0)
    if (std::optional<std::string> program = mutateProgram(text, seed))
      return *program;
  return TextMutator(seed).mutate(text);
}
