//===- Evaluate.cpp - the calls of the reference evaluator ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Compiler.h"
#include "runtime/Kernel.h"
#include "runtime/Status.h"

#include <cstdio>
#include <cstring>
#include <memory>

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

tilebridge_code checkProgram(const tilebridge_evaluate_options &options,
                             const int64_t grid[3]) {
  for (int i = 0; i < 3; ++i)
    if ((options.flags & TILEBRIDGE_EVALUATE_ONE_PROGRAM) &&
        options.program[i] >= grid[i])
      return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                  std::string("there is no program ") +
                      std::to_string(options.program[i]) + " in dimension " +
                      "xyz"[i] + " of the grid, which has " +
                      std::to_string(grid[i]));
  return TILEBRIDGE_OK;
}

tilebridge_code evaluate(tilebridge_kernel &kernel, const int64_t grid[3],
                         const uint64_t *slots,
                         const tilebridge_evaluate_options &options) {
  Listener listener{&options, {}};
  std::vector<tb_memory_v1> memory(options.memory_count + 1);
  for (size_t i = 0; options.memory && i < options.memory_count; ++i)
    memory[i] = {options.memory[i].begin, options.memory[i].size};
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
  if (!result)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "where to put the kernel is a null pointer");
  *result = nullptr;
  Compilation compilation{};
  tb_compile_request_v1 request;
  if (tilebridge_code code =
          makeRequest(ttir, size, options, compilation, request))
    return code;
  auto kernel = std::make_unique<tilebridge_kernel>();
  kernel->compiler = loadCompiler();
  if (!kernel->compiler)
    return TILEBRIDGE_ERROR_UNAVAILABLE;
  kernel->reference = kernel->compiler->reference_load(
      &request, &kernel->description.slot_count);
  if (!kernel->reference)
    return failCompilation(compilation);
  kernel->executable = &kernel->description;
  kernel->manifestText = compilation.output;
  std::string why;
  if (!parseManifest(kernel->manifestText, kernel->manifest, why) ||
      !checkSignature(*kernel, why))
    return fail(TILEBRIDGE_ERROR_COMPILE,
                std::string(request.source_name) + ": " + why);
  *result = kernel.release();
  return TILEBRIDGE_OK;
}

tilebridge_code
tilebridge_evaluate(tilebridge_kernel *kernel, int64_t gridX, int64_t gridY,
                    int64_t gridZ, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_evaluate_options *options) {
  if (!kernel || !kernel->reference)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                kernel ? "the kernel was not loaded by "
                         "tilebridge_load_reference"
                       : "the kernel is a null pointer");
  if (options && options->struct_size < sizeof(tilebridge_evaluate_options))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "struct_size of the options is " +
                    std::to_string(options->struct_size) +
                    "; set it to sizeof(tilebridge_evaluate_options)");
  if (count != kernel->types.size() || (count && !arguments))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "kernel '" + kernel->manifest.name + "' takes " +
                    std::to_string(kernel->types.size()) +
                    " arguments, given were " +
                    (arguments ? std::to_string(count) : "none"));
  std::vector<uint64_t> slots(kernel->description.slot_count + 1);
  if (tilebridge_code code =
          writeArguments(*kernel, arguments, count, slots.data()))
    return code;
  int64_t grid[3] = {gridX, gridY, gridZ}, total = 0;
  static const tilebridge_evaluate_options defaults = {};
  const tilebridge_evaluate_options &chosen = options ? *options : defaults;
  if (tilebridge_code code = checkGrid(grid, total))
    return code;
  if (tilebridge_code code = checkProgram(chosen, grid))
    return code;
  constexpr int64_t most = int64_t(1) << 31;
  if (total > most)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the grid has " + std::to_string(total) +
                    " programs, too many to evaluate");
  return total ? evaluate(*kernel, grid, slots.data(), chosen) : TILEBRIDGE_OK;
}
