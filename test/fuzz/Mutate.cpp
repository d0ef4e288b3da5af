//===- Mutate.cpp - one damaged copy --------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Mutate.h"

#include "compiler/Job.h"
#include "test/fuzz/IrMutator.h"
#include "test/fuzz/TextMutator.h"

using namespace tilebridge;

std::string fuzz::mutate(llvm::StringRef text, uint64_t seed) {
  // Bridge IR is an input of its own, and damage to it reaches what is behind
  // the passes that would have refused it.
  compiler::Result bridge;
  if (seed % 4 == 1) {
    compiler::Request request;
    request.input = text;
    request.sourceName = "fuzz.mlir";
    request.target = "cpu";
    request.stage = "bridge";
    bridge = compiler::compile(request);
    if (bridge.errors.empty())
      text = bridge.output;
  }
  if (seed % 3 != 0)
    if (std::optional<std::string> program = mutateProgram(text, seed))
      return *program;
  return TextMutator(seed).mutate(text);
}
