//===- Evaluate.cpp - the calls of the reference evaluator ---===//
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

/// What a launch of the evaluator says.
struct Listener {
  const tilebridge_evaluate_options *options;
  std::string errors;
};

void takeError(void *state, const char *text, size_t size) {
  static_cast<Listener *>(state)->errors.append(text, size);
}

void takePrint(void *state, const char *text) {
  const tilebridge_evaluate_options *options =
      static_cast<Listener *>(state)->options;
  if (options->print)
    options->print(options->print_state, text);
  else
    std::fwrite(text, 1, std::strlen(text), stdout);
}

void takeNote(void *state, const char *text) {
  const tilebridge_evaluate_options *options =
      static_cast<Listener *>(state)->options;
  if (options->note)
    options->note(options->note_state, text);
}

tilebridge_code checkProgram(const tilebridge_kernel &kernel,
                             const tilebridge_evaluate_options &options,
                             const int64_t grid[3]) {
  for (int i = 0; i < 3; ++i)
    if ((options.flags & TILEBRIDGE_EVALUATE_ONE_PROGRAM) &&
        options.program[i] >= grid[i])
      return fail(
          TILEBRIDGE_ERROR_INVALID_ARGUMENT,
          "kernel '" + kernel.manifest.name + "': there is no program " +
              std::to_string(options.program[i]) + " in dimension " + "xyz"[i] +
              " of the grid, which has " + std::to_string(grid[i]));
  return TILEBRIDGE_OK;
}

tilebridge_code evaluate(tilebridge_kernel &kernel, const int64_t grid[3],
                         const uint64_t *slots,
                         const tilebridge_evaluate_options &options) {
  Listener listener{&options, {}};
  std::vector<tb_memory_v1> memory = memoryOf(options);
  tb_evaluate_request_v1 request = {};
  request.slots = slots;
  for (int i = 0; i < 3; ++i) {
    request.grid[i] = uint32_t(grid[i]);
    request.program[i] = options.program[i];
  }
  request.flags = options.flags;
  request.memory = options.memory ? memory.data() : nullptr;
  request.memory_count = uint32_t(options.memory_count);
  request.seed = options.seed;
  request.probe_folder = options.probe_folder;
  request.probe_op = options.probe_op;
  request.watch = options.watch;
  request.error = takeError;
  request.print = takePrint;
  request.note = takeNote;
  request.state = &listener;
  RunningKernel running(kernel.manifest.name,
                        RunningKernel::Means::Interpreter);
  int result = kernel.compiler->reference_evaluate(kernel.reference, &request);
  if (result == TB_EVALUATE_OK)
    return TILEBRIDGE_OK;
  return fail(result == TB_EVALUATE_ASSERT ? TILEBRIDGE_ERROR_KERNEL_ASSERT
                                           : TILEBRIDGE_ERROR_EVALUATION,
              listener.errors.empty()
                  ? "the evaluation failed without a message"
                  : listener.errors);
}

} // namespace

} // namespace tilebridge::rt

using namespace tilebridge::rt;

tilebridge_code
tilebridge_load_reference(const void *ttir, size_t size,
                          const tilebridge_compile_options *options,
                          tilebridge_kernel **result) {
  return loadInCompiler(
      ttir, size, options,
      [](tilebridge_kernel &kernel, const tb_compile_request_v1 &request) {
        kernel.reference = kernel.compiler->reference_load(
            &request, &kernel.description.slot_count);
        return kernel.reference != nullptr;
      },
      result);
}

tilebridge_code
tilebridge_evaluate(tilebridge_kernel *kernel, int64_t gridX, int64_t gridY,
                    int64_t gridZ, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_evaluate_options *options) {
  static const CompilerKernelKind kind = {
      "tilebridge_load_reference", "tilebridge_evaluate_options",
      sizeof(tilebridge_evaluate_options), "evaluate"};
  static const tilebridge_evaluate_options defaults = {};
  const tilebridge_evaluate_options &chosen = options ? *options : defaults;
  CompilerLaunch launch{{gridX, gridY, gridZ}, arguments, count};
  if (tilebridge_code code =
          checkLaunch(kernel, kernel && kernel->reference, kind,
                      options ? &options->struct_size : nullptr, launch))
    return code;
  constexpr uint32_t known =
      TILEBRIDGE_EVALUATE_ONE_PROGRAM | TILEBRIDGE_EVALUATE_RANDOM_ORDER;
  if (tilebridge_code code = checkFlags(chosen.flags, known, kind.options))
    return code;
  if (tilebridge_code code = checkProgram(*kernel, chosen, launch.grid))
    return code;
  return launch.programs
             ? evaluate(*kernel, launch.grid, launch.slots.data(), chosen)
             : TILEBRIDGE_OK;
}
