//===- Simulate.cpp - the calls of the accelerators' simulator ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CompilerKernel.h"
#include "runtime/InterruptReport.h"
#include "runtime/Status.h"

#include <cstdio>
#include <cstring>

namespace tilebridge::rt {

namespace {

/// What a simulation says.
struct Listener {
  const tilebridge_simulate_options *options;
  std::string errors;
};

void takeError(void *state, const char *text, size_t size) {
  static_cast<Listener *>(state)->errors.append(text, size);
}

void takePrint(void *state, const char *text) {
  const tilebridge_simulate_options *options =
      static_cast<Listener *>(state)->options;
  if (options->print)
    options->print(options->print_state, text);
  else
    std::fwrite(text, 1, std::strlen(text), stdout);
}

void takeOutput(void *state, const char *what, const char *data, size_t size) {
  const tilebridge_simulate_options *options =
      static_cast<Listener *>(state)->options;
  if (options->output)
    options->output(options->output_state, what, data, size);
}

tilebridge_code simulate(tilebridge_kernel &kernel, const int64_t grid[3],
                         const uint64_t *slots,
                         const tilebridge_simulate_options &options) {
  Listener listener{&options, {}};
  std::vector<tb_memory_v1> memory = memoryOf(options);
  tb_simulate_request_v1 request = {};
  request.slots = slots;
  for (int i = 0; i < 3; ++i)
    request.grid[i] = uint32_t(grid[i]);
  request.flags = options.flags;
  request.seed = options.seed;
  request.memory = options.memory ? memory.data() : nullptr;
  request.memory_count = uint32_t(options.memory_count);
  request.error = takeError;
  request.print = takePrint;
  request.output = takeOutput;
  request.state = &listener;
  RunningKernel running(kernel.manifest.name,
                        RunningKernel::Means::Interpreter);
  int result = kernel.compiler->accel_simulate(kernel.accel, &request);
  if (result == TB_EVALUATE_OK)
    return TILEBRIDGE_OK;
  return fail(result == TB_EVALUATE_ASSERT ? TILEBRIDGE_ERROR_KERNEL_ASSERT
                                           : TILEBRIDGE_ERROR_EVALUATION,
              listener.errors.empty()
                  ? "the simulation failed without a message"
                  : listener.errors);
}

} // namespace

} // namespace tilebridge::rt

using namespace tilebridge::rt;

tilebridge_code tilebridge_load_accel(const void *ttir, size_t size,
                                      const tilebridge_compile_options *options,
                                      tilebridge_kernel **result) {
  return loadInCompiler(
      ttir, size, options,
      [](tilebridge_kernel &kernel, const tb_compile_request_v1 &request) {
        kernel.accel = kernel.compiler->accel_load(
            &request, &kernel.description.slot_count);
        return kernel.accel != nullptr;
      },
      result);
}

tilebridge_code
tilebridge_simulate(tilebridge_kernel *kernel, int64_t gridX, int64_t gridY,
                    int64_t gridZ, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_simulate_options *options) {
  static const CompilerKernelKind kind = {
      "tilebridge_load_accel", "tilebridge_simulate_options",
      sizeof(tilebridge_simulate_options), "simulate"};
  static const tilebridge_simulate_options defaults = {};
  const tilebridge_simulate_options &chosen = options ? *options : defaults;
  CompilerLaunch launch{{gridX, gridY, gridZ}, arguments, count};
  if (tilebridge_code code =
          checkLaunch(kernel, kernel && kernel->accel, kind,
                      options ? &options->struct_size : nullptr, launch))
    return code;
  // All below the newest one are taken.
  constexpr uint32_t known = 2 * TILEBRIDGE_SIMULATE_EXHAUSTIVE - 1;
  if (tilebridge_code code = checkFlags(chosen.flags, known, kind.options))
    return code;
  return simulate(*kernel, launch.grid, launch.slots.data(), chosen);
}
