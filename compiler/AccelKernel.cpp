//===- AccelKernel.cpp - a kernel for an accelerator's simulator ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/AccelKernel.h"

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/emit/EmitCpp.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/search/Report.h"
#include "compiler/AccelLaunch.h"
#include "compiler/KernelModule.h"
#include "compiler/Registration.h"
#include "reference/Datum.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace tilebridge::compiler {

static constexpr llvm::StringLiteral loweredAttr = "accel.kernel";

AccelKernel::AccelKernel()
    : context(dialectRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// "2x2x1" to how many neighbours of the launch grid are run as one.
bool AccelKernel::takeMerge(llvm::StringRef text) {
  merge.clear();
  for (llvm::StringRef part : llvm::split(text, 'x'))
    if (part.getAsInteger(10, merge.emplace_back()))
      return false;
  merge.resize(std::max<size_t>(merge.size(), 3), 1);
  return accel::readMerge(DenseI64ArrayAttr::get(&context, merge)).has_value();
}

/// "NAME,depth=1,multicast=off" to a name and what is left away.
llvm::Error AccelKernel::takeSettings() {
  for (;;) {
    auto [rest, last] = llvm::StringRef(targetName).rsplit(',');
    auto [key, value] = last.split('=');
    if (!last.contains('=') || key.contains('/'))
      return llvm::Error::success();
    if (key == "depth") {
      constexpr int64_t most = 64;
      if (value.getAsInteger(10, mostDepth) || mostDepth < 1 ||
          mostDepth > most)
        return llvm::createStringError("depth wants a number of buffers from 1 "
                                       "to " +
                                       llvm::Twine(most) + ", not '" + value +
                                       "'");
    } else if (key == "multicast" && (value == "on" || value == "off")) {
      isUnicast = value == "off";
    } else if (key == "merge") {
      if (!takeMerge(value))
        return llvm::createStringError(
            "merge wants how many programs are run as one in each dimension, "
            "as 2x2x1, at most 16 together, not '" +
            value + "'");
    } else {
      return llvm::createStringError(
          "a target has the settings depth=N, multicast=on, multicast=off and "
          "merge=XxYxZ, not '" +
          last + "'");
    }
    targetName = rest.str();
  }
}

bool AccelKernel::readTarget(const Request &request, std::string &errors) {
  auto fail = [&](llvm::Error error) {
    errors += "error: " + llvm::toString(std::move(error)) + "\n";
    return false;
  };
  auto [name, path] = request.target.split(",plugin=");
  if (!name.consume_front("accel:")) {
    errors += (request.sourceName + ": error: the simulator runs targets " +
               "'accel:NAME', not '" + name + "'\n")
                  .str();
    return false;
  }
  targetName = name.str();
  if (llvm::Error error = takeSettings())
    return fail(std::move(error));
  if (!path.empty()) {
    llvm::Expected<accel::Plugin> loaded = accel::Plugin::load(path);
    if (!loaded)
      return fail(loaded.takeError());
    plugin = *loaded;
    if (const char *json = plugin->targetJson()) {
      llvm::Expected<accel::Target> own = accel::addTarget(json, path);
      if (!own) {
        errors += llvm::toString(own.takeError()) + "\n";
        return false;
      }
      if (targetName.empty())
        targetName = own->name;
    }
  }
  llvm::Expected<accel::Target> found = accel::findTarget(targetName);
  if (!found) {
    errors += llvm::toString(found.takeError()) + "\n";
    return false;
  }
  target = std::move(*found);
  if (plugin)
    if (llvm::Error error = plugin->checkServes(target.name))
      return fail(std::move(error));
  return true;
}

bool AccelKernel::read(const Request &request, Result &result) {
  if (!readTarget(request, result.errors))
    return false;
  isLowered = isTextWith(request.input, loweredAttr);
  module = isLowered ? parseText(request, context, result)
                     : readBridge(request, context, result);
  if (!module)
    return false;
  for (auto function : module->getOps<func::FuncOp>())
    if (function.isPublic() && function->hasAttr(linalg_ext::kSignatureAttr))
      kernel = function;
  if (!kernel)
    module->emitError("holds no kernel: no public function has the attribute '")
        << linalg_ext::kSignatureAttr << "'";
  return kernel != nullptr;
}

std::unique_ptr<AccelKernel> AccelKernel::load(const Request &request,
                                               Result &result) {
  std::unique_ptr<AccelKernel> loaded(new AccelKernel());
  loaded->wantsRemarks = request.wantsRemarks;
  DiagnosticCollector collector(loaded->context, result.errors,
                                request.wantsRemarks ? &result.log : nullptr);
  if (!loaded->read(request, result)) {
    explainFailure(request, result);
    return nullptr;
  }
  writeManifest(loaded->kernel, "accel:" + loaded->targetName, result);
  return loaded;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

unsigned AccelKernel::slotCount() {
  unsigned count = 0;
  for (Type type : ownArguments(kernel))
    count += slotsOf(type);
  return count;
}

bool AccelKernel::addPipeline(PassManager &manager, llvm::StringRef from,
                              llvm::StringRef to) {
  auto addOwn = [&](llvm::StringRef point) {
    if (!plugin)
      return true;
    llvm::Error error = plugin->addPasses(point, manager);
    if (!error)
      return true;
    mlir::emitError(UnknownLoc::get(&context))
        << llvm::toString(std::move(error));
    return false;
  };
  ArrayRef<llvm::StringRef> stages = accel::stageNames();
  if (from == stages.front() && !addOwn("bridge"))
    return false;
  auto first = llvm::find(stages, from), last = llvm::find(stages, to);
  for (llvm::StringRef stage : llvm::make_range(first, std::next(last)))
    if (!addOwn(stage) ||
        failed(accel::buildAccelPipeline(manager, stage, stage)))
      return false;
  return to != stages.back() || addOwn("lowered");
}

const AccelKernel::Lowering *AccelKernel::lower(const accel::SimLaunch &launch,
                                                Search search) {
  LaunchFacts facts(kernel, target, launch);
  if (isLowered) {
    if (failed(facts.checkLowered(kernel, target)))
      return nullptr;
    facts.key = "";
    search = Search::None;
  }
  Lowering &entry = lowerings[facts.key + ";" + std::to_string(int(search))];
  if (entry.module)
    return &entry;
  OwningOpRef<ModuleOp> lowered(module->clone());
  if (!isLowered) {
    (*lowered)->setAttr("accel.target", StringAttr::get(&context, targetName));
    ArrayRef<llvm::StringRef> stages = accel::stageNames();
    auto decided = llvm::find(stages, decidedStage);
    PassManager first(&context, ModuleOp::getOperationName());
    // What is known of the launch is used by all that follows.
    facts.options.mostDepth = mostDepth;
    facts.options.unicast = isUnicast;
    facts.options.merge = merge;
    first.addPass(accel::createAccelSpecializePass(facts.options));
    if (!addPipeline(first, stages.front(), *std::prev(decided)) ||
        failed(first.run(*lowered)))
      return nullptr;
    if (search != Search::None)
      entry.tuning = tune(*lowered, launch, search == Search::Exhaustive);
    PassManager second(&context, ModuleOp::getOperationName());
    if (!addPipeline(second, decidedStage, stages.back()) ||
        failed(second.run(*lowered)))
      return nullptr;
  }
  // Kernels whose integers change with each launch would fill the memory.
  constexpr size_t most = 64;
  if (lowerings.size() > most) {
    Lowering own{std::move(lowered), std::move(entry.tuning)};
    lowerings.clear();
    Lowering &only = lowerings[facts.key + ";" + std::to_string(int(search))];
    only = std::move(own);
    return &only;
  }
  entry.module = std::move(lowered);
  return &entry;
}

bool AccelKernel::emit(ModuleOp lowered, const accel::SimLaunch &launch,
                       AccelOutputs &outputs) {
  OwningOpRef<ModuleOp> emitted(lowered.clone());
  auto fail = [&](llvm::Error error) {
    emitted->emitError() << llvm::toString(std::move(error));
    return false;
  };
  if (plugin) {
    PassManager manager(&context, ModuleOp::getOperationName());
    if (llvm::Error error = plugin->addPasses("emit", manager))
      return fail(std::move(error));
    if (failed(manager.run(*emitted)) || failed(plugin->lowerCompute(*emitted)))
      return false;
  }
  if (outputs.own) {
    if (!plugin) {
      emitted->emitError("no plug-in was loaded whose output could be made");
      return false;
    }
    llvm::Expected<std::string> text = plugin->emit(*emitted);
    if (!text)
      return fail(text.takeError());
    *outputs.own = std::move(*text);
    outputs.ownName = plugin->outputName().str();
  }
  if (!outputs.cpp)
    return true;
  accel::CppOptions options;
  options.target = target.name;
  options.localMemory = target.localMemory().name;
  options.rows = target.grid.rows;
  options.columns = target.grid.columns;
  // A kernel that came lowered serves any launch.
  if (!isLowered)
    options.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  if (failed(accel::convertToEmitC(*emitted, options)))
    return false;
  FailureOr<std::string> result = accel::translateToText(*emitted);
  if (succeeded(result))
    *outputs.cpp = std::move(*result);
  return succeeded(result);
}

accel::SimOutcome AccelKernel::simulate(const accel::SimLaunch &launch,
                                        const accel::SimOptions &options,
                                        Search search, bool isOnlyCompiled,
                                        std::string &errors,
                                        AccelOutputs *outputs) {
  std::lock_guard<std::mutex> lock(mutex);
  DiagnosticCollector collector(
      context, errors, wantsRemarks && outputs ? &outputs->remarks : nullptr);
  accel::SimOutcome outcome;
  const Lowering *lowering = lower(launch, search);
  ModuleOp module = lowering ? *lowering->module : ModuleOp();
  outcome.isError = !module;
  if (!module && errors.empty())
    errors = "error: the lowering failed without a message, a bug of this "
             "compiler\n";
  if (module && outputs && outputs->lowered) {
    llvm::raw_string_ostream out(*outputs->lowered);
    OpPrintingFlags flags;
    flags.enableDebugInfo(false);
    module.print(out, flags);
  }
  if (module && outputs && outputs->tuning)
    *outputs->tuning = lowering->tuning;
  if (module && outputs && outputs->estimate)
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(loweredAttr))
        llvm::raw_string_ostream(*outputs->estimate) << llvm::formatv(
            "{0:2}\n", llvm::json::Value(accel::report(function, target)));
  bool emits = module && outputs && (outputs->cpp || outputs->own);
  if (emits && !emit(module, launch, *outputs)) {
    outcome.isError = true;
    if (errors.empty())
      errors = "error: the emission of C++ failed without a message, a bug of "
               "this compiler\n";
  }
  if (outcome.isError || isOnlyCompiled)
    return outcome;
  return accel::simulate(module, target, launch, options);
}

} // namespace tilebridge::compiler
