//===- CompilerLibrary.cpp - libtilebridge_compiler.so --------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/AccelKernel.h"
#include "compiler/Job.h"
#include "compiler/ReferenceKernel.h"
#include "frontend/Reader.h"
#include "runtime/compiler_abi.h"

#include "llvm/ADT/StringExtras.h"

#include <memory>

using namespace tilebridge::compiler;

static Request requestOf(const tb_compile_request_v1 *abi) {
  Request request;
  request.input = llvm::StringRef(abi->input, abi->input_size);
  request.sourceName = abi->source_name;
  request.target = abi->target;
  request.stage = abi->stage;
  request.printAfter = abi->print_after ? abi->print_after : "";
  request.wantsRemarks = (abi->flags & TB_COMPILE_REMARKS) != 0;
  request.wantsTiming = (abi->flags & TB_COMPILE_TIMING) != 0;
  request.contracts = (abi->flags & TB_COMPILE_NO_CONTRACTION) == 0;
  return request;
}

/// Hands over what a compilation gave; 0 is success.
static int deliver(const tb_compile_request_v1 *abi, const Result &result) {
  if (!result.log.empty())
    abi->log(abi->state, result.log.data(), result.log.size());
  if (!result.errors.empty()) {
    abi->error(abi->state, result.errors.data(), result.errors.size());
    return 1;
  }
  abi->output(abi->state, result.output.data(), result.output.size());
  return 0;
}

static int compileRequest(const tb_compile_request_v1 *abi) {
  return deliver(abi, compile(requestOf(abi)));
}

//===----------------------------------------------------------------------===//
// The reference evaluator
//===----------------------------------------------------------------------===//

/// What compiler_abi.h only names.
struct tb_reference_kernel {
  std::unique_ptr<ReferenceKernel> kernel;
};

static tb_reference_kernel *referenceLoad(const tb_compile_request_v1 *abi,
                                          uint32_t *slotCount) {
  Result result;
  auto kernel = ReferenceKernel::load(requestOf(abi), result);
  if (deliver(abi, result) != 0)
    return nullptr;
  *slotCount = kernel->slotCount();
  return new tb_reference_kernel{std::move(kernel)};
}

static std::string describeStore(mlir::Operation *op,
                                 std::array<uint32_t, 3> program,
                                 uint64_t bits) {
  return (tilebridge::frontend::formatLocation(op->getLoc()) + ": '" +
          op->getName().getStringRef() + "' of program (" +
          llvm::Twine(program[0]) + ", " + llvm::Twine(program[1]) + ", " +
          llvm::Twine(program[2]) + ") writes 0x" + llvm::utohexstr(bits) +
          "\n")
      .str();
}

static tilebridge::reference::Launch
launchOf(tb_reference_kernel *kernel, const tb_evaluate_request_v1 *abi,
         llvm::SmallVectorImpl<tilebridge::reference::MemoryRange> &memory) {
  tilebridge::reference::Launch launch;
  launch.slots = {abi->slots, kernel->kernel->slotCount()};
  launch.grid = {abi->grid[0], abi->grid[1], abi->grid[2]};
  if (abi->flags & TB_EVALUATE_ONE_PROGRAM)
    launch.only = {abi->program[0], abi->program[1], abi->program[2]};
  if (abi->flags & TB_EVALUATE_RANDOM_ORDER)
    launch.seed = abi->seed;
  launch.isChecked = abi->memory != nullptr;
  for (uint32_t i = 0; launch.isChecked && i < abi->memory_count; ++i)
    memory.push_back({abi->memory[i].begin, abi->memory[i].size, i});
  launch.memory = memory;
  launch.probeFolder = abi->probe_folder ? abi->probe_folder : "";
  launch.probeOp = abi->probe_op ? abi->probe_op : "";
  launch.watch = abi->watch;
  launch.print = [abi](llvm::StringRef line) {
    abi->print(abi->state, line.str().c_str());
  };
  launch.note = [abi](mlir::Operation *op, std::array<uint32_t, 3> program,
                      uint64_t bits) {
    abi->note(abi->state, describeStore(op, program, bits).c_str());
  };
  return launch;
}

static int referenceEvaluate(tb_reference_kernel *kernel,
                             const tb_evaluate_request_v1 *abi) {
  llvm::SmallVector<tilebridge::reference::MemoryRange> memory;
  std::string errors;
  auto outcome =
      kernel->kernel->evaluate(launchOf(kernel, abi, memory), errors);
  if (!outcome.assertion.empty()) {
    abi->error(abi->state, outcome.assertion.data(), outcome.assertion.size());
    return TB_EVALUATE_ASSERT;
  }
  if (!outcome.isError)
    return TB_EVALUATE_OK;
  abi->error(abi->state, errors.data(), errors.size());
  return TB_EVALUATE_FAILED;
}

static void referenceFree(tb_reference_kernel *kernel) { delete kernel; }

//===----------------------------------------------------------------------===//
// The accelerators' simulator
//===----------------------------------------------------------------------===//

/// What compiler_abi.h only names.
struct tb_accel_kernel {
  std::unique_ptr<AccelKernel> kernel;
};

static tb_accel_kernel *accelLoad(const tb_compile_request_v1 *abi,
                                  uint32_t *slotCount) {
  Result result;
  auto kernel = AccelKernel::load(requestOf(abi), result);
  if (deliver(abi, result) != 0)
    return nullptr;
  *slotCount = kernel->slotCount();
  return new tb_accel_kernel{std::move(kernel)};
}

static int accelSimulate(tb_accel_kernel *kernel,
                         const tb_simulate_request_v1 *abi) {
  llvm::SmallVector<tilebridge::reference::MemoryRange> memory;
  for (uint32_t i = 0; abi->memory && i < abi->memory_count; ++i)
    memory.push_back({abi->memory[i].begin, abi->memory[i].size, i});
  tilebridge::accel::SimLaunch launch;
  launch.slots = {abi->slots, kernel->kernel->slotCount()};
  launch.grid = {abi->grid[0], abi->grid[1], abi->grid[2]};
  launch.memory = memory;
  launch.print = [abi](llvm::StringRef line) {
    abi->print(abi->state, line.str().c_str());
  };
  tilebridge::accel::SimOptions options;
  options.landing = abi->flags & TB_SIMULATE_RANDOM_LANDING
                        ? tilebridge::accel::Landing::Random
                        : tilebridge::accel::Landing::Late;
  options.seed = abi->seed;
  options.wantsTrace = (abi->flags & TB_SIMULATE_TRACE) != 0;
  auto give = [abi](const char *what, const std::string &text) {
    abi->output(abi->state, what, text.data(), text.size());
  };
  std::string errors, lowered, cpp, own, estimate, tuning;
  auto search = tilebridge::compiler::Search::None;
  if (abi->flags & TB_SIMULATE_AUTOTILE)
    search = abi->flags & TB_SIMULATE_EXHAUSTIVE
                 ? tilebridge::compiler::Search::Exhaustive
                 : tilebridge::compiler::Search::Autotile;
  AccelOutputs outputs;
  outputs.lowered = abi->flags & TB_SIMULATE_LOWERED ? &lowered : nullptr;
  outputs.cpp = abi->flags & TB_SIMULATE_CPP ? &cpp : nullptr;
  outputs.estimate = abi->flags & TB_SIMULATE_ESTIMATE ? &estimate : nullptr;
  outputs.tuning = &tuning;
  outputs.own = abi->flags & TB_SIMULATE_PLUGIN ? &own : nullptr;
  auto outcome = kernel->kernel->simulate(
      launch, options, search, (abi->flags & TB_SIMULATE_COMPILE_ONLY) != 0,
      errors, &outputs);
  if (!outputs.remarks.empty())
    give("remarks", outputs.remarks);
  if (abi->flags & TB_SIMULATE_LOWERED && !lowered.empty())
    give("lowered", lowered);
  if (abi->flags & TB_SIMULATE_CPP && !cpp.empty())
    give("cpp", cpp);
  if (!estimate.empty())
    give("estimate", estimate);
  if (!tuning.empty())
    give("autotile", tuning);
  if (!outputs.ownName.empty())
    give(outputs.ownName.c_str(), own);
  if (!outcome.assertion.empty()) {
    abi->error(abi->state, outcome.assertion.data(), outcome.assertion.size());
    return TB_EVALUATE_ASSERT;
  }
  if (outcome.isError) {
    abi->error(abi->state, errors.data(), errors.size());
    return TB_EVALUATE_FAILED;
  }
  if (abi->flags & TB_SIMULATE_COMPILE_ONLY)
    return TB_EVALUATE_OK;
  give("report", outcome.stats.json());
  if (options.wantsTrace)
    give("trace", outcome.stats.trace);
  return TB_EVALUATE_OK;
}

static void accelFree(tb_accel_kernel *kernel) { delete kernel; }

// What the runtime looks for; see runtime/compiler_abi.h.
extern "C" __attribute__((visibility("default")))
const tb_compiler_v3 tilebridge_compiler = {TB_COMPILER_ABI_VERSION,
                                            0,
                                            compileRequest,
                                            referenceLoad,
                                            referenceEvaluate,
                                            referenceFree,
                                            accelLoad,
                                            accelSimulate,
                                            accelFree};
