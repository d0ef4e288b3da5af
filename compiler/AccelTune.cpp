//===- AccelTune.cpp - decisions by search for a launch ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/AccelKernel.h"

#include "accel-backend/Passes.h"
#include "accel-backend/search/AutoTile.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cstring>

using namespace mlir;

namespace tilebridge::compiler {

namespace {
/// The arrays of a launch, to be as they were after each run.
class SavedArrays {
public:
  explicit SavedArrays(ArrayRef<reference::MemoryRange> arrays)
      : arrays(arrays) {
    for (const reference::MemoryRange &array : arrays)
      saved.emplace_back(begin(array), begin(array) + array.size);
  }

  // What was not changed may be read-only.
  void restore() {
    for (auto [array, bytes] : llvm::zip_equal(arrays, saved))
      if (array.size && std::memcmp(begin(array), bytes.data(), array.size))
        std::memcpy(begin(array), bytes.data(), array.size);
  }

private:
  static char *begin(const reference::MemoryRange &array) {
    return static_cast<char *>(array.begin);
  }

  ArrayRef<reference::MemoryRange> arrays;
  std::vector<std::vector<char>> saved;
};
} // namespace

std::string AccelKernel::tune(ModuleOp decided, const accel::SimLaunch &launch,
                              bool isExhaustive) {
  accel::SearchOptions options;
  options.isExhaustive = isExhaustive;
  options.lower = [&](ModuleOp one) -> LogicalResult {
    PassManager manager(&context, ModuleOp::getOperationName());
    return success(
        addPipeline(manager, decidedStage, accel::stageNames().back()) &&
        succeeded(manager.run(one)));
  };
  // Where the arrays are not known, they could not be left as they are.
  std::optional<SavedArrays> arrays;
  if (!launch.memory.empty()) {
    arrays.emplace(launch.memory);
    options.confirm = [&](ModuleOp lowered) -> std::optional<double> {
      accel::SimLaunch rehearsal = launch;
      rehearsal.print = [](llvm::StringRef) {};
      accel::SimOptions only;
      only.isOnlyTime = true;
      // Loops that floats decide about may not end.
      only.mostInstructions = 1 << 18;
      accel::SimOutcome outcome =
          accel::simulate(lowered, target, rehearsal, only);
      arrays->restore();
      if (outcome.isError || !outcome.assertion.empty())
        return std::nullopt;
      return outcome.stats.cycles;
    };
  }
  llvm::json::Array all;
  for (auto function : decided.getOps<func::FuncOp>()) {
    if (!function->hasAttr(accel::kernelAttr))
      continue;
    if (auto found = accel::autotile(function, target, options))
      all.push_back(accel::describe(function, *found));
  }
  std::string text;
  if (!all.empty())
    llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", all.front());
  return text;
}

} // namespace tilebridge::compiler
