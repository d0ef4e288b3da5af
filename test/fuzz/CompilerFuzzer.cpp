//===- CompilerFuzzer.cpp - any text through the whole compiler -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that libFuzzer calls; Replay.cpp calls them where there is no
// libFuzzer. A finding is a crash, a report of a sanitizer, a compilation that
// takes too long or too much memory, and one that fails without saying why.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/CompilerFuzzer.h"

#include "compiler/AccelKernel.h"
#include "compiler/Job.h"
#include "test/fuzz/Mutate.h"
#include "test/fuzz/TextMutator.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace tilebridge;

/// Code and no error, or an error with a reason and no code.
static bool isCompiled(llvm::StringRef errors, llvm::StringRef output) {
  if (errors.empty() && !output.empty())
    return true;
  if (!errors.empty() && output.empty() &&
      !errors.contains("a bug of this compiler"))
    return false;
  llvm::errs() << "neither code nor a reason: " << errors << "\n";
  LLVM_BUILTIN_TRAP;
}

/// Lowers for an accelerator, for a launch that is made up, and to C++.
static bool lowerText(llvm::StringRef text, uint64_t seed) {
  static const char *const targets[] = {"mtia-2i-like", "tiny-16kb", "dma-1d",
                                        "no-padding"};
  compiler::Request request;
  request.input = text;
  request.sourceName = "fuzz.mlir";
  std::string target = std::string("accel:" TARGETS_FOLDER "/") +
                       targets[seed % std::size(targets)] + ".json";
  request.target = target;
  compiler::Result result;
  auto kernel = compiler::AccelKernel::load(request, result);
  if (!kernel)
    return isCompiled(result.errors, "");
  // Slot i is a number, or the address of an array of its own, which nothing
  // reads: the kernel does not run.
  constexpr uint64_t bytes = 4096;
  std::vector<uint64_t> slots;
  std::vector<reference::MemoryRange> memory;
  for (unsigned i = 0; i < kernel->slotCount(); ++i) {
    slots.push_back(64 + i * bytes);
    memory.push_back({reinterpret_cast<void *>(slots.back()), bytes, i});
  }
  accel::SimLaunch launch;
  launch.slots = slots;
  launch.memory = memory;
  launch.grid = {3, 2, 1};
  std::string errors, cpp;
  compiler::AccelOutputs outputs;
  outputs.cpp = &cpp;
  accel::SimOutcome outcome =
      kernel->simulate(launch, {}, compiler::Search::None,
                       /*isOnlyCompiled=*/true, errors, &outputs);
  return isCompiled(errors, outcome.isError ? "" : "lowered");
}

bool fuzz::compileText(llvm::StringRef text) {
  // Damaged bytecode is known to end MLIR's own reader; see frontend/Reader.h.
  if (text.starts_with("ML\xefR"))
    return false;
  // One in three is for an accelerator.
  uint64_t seed = llvm::xxh3_64bits(text);
  if (seed / 8 % 3 == 0)
    return lowerText(text, seed / 24);
  compiler::Request request;
  request.input = text;
  request.sourceName = "fuzz.mlir";
  request.verifiesEach = true;
  request.target = "cpu";
  // Machine code costs most of the time and is LLVM's: one in eight.
  request.stage = seed % 8 == 0 ? "so" : "llvm";
  compiler::Result result = compiler::compile(request);
  return isCompiled(result.errors, result.output);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::compileText({reinterpret_cast<const char *>(data), size});
  return 0;
}

/// Text into libFuzzer's buffer, as much of it as fits.
static size_t put(llvm::StringRef text, uint8_t *data, size_t maxSize) {
  text = text.take_front(maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  return put(fuzz::mutate(text, seed), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                            size_t firstSize,
                                            const uint8_t *second,
                                            size_t secondSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  llvm::StringRef a(reinterpret_cast<const char *>(first), firstSize);
  llvm::StringRef b(reinterpret_cast<const char *>(second), secondSize);
  return put(fuzz::TextMutator(seed).cross(a, b), out, maxSize);
}
