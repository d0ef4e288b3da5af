//===- Simulate.cpp - the calls of the accelerators' simulator ------------===//
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
  std::vector<tb_memory_v1> memory(options.memory_count + 1);
  for (size_t i = 0; options.memory && i < options.memory_count; ++i)
    memory[i] = {options.memory[i].begin, options.memory[i].size};
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
  kernel->accel =
      kernel->compiler->accel_load(&request, &kernel->description.slot_count);
  if (!kernel->accel)
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
tilebridge_simulate(tilebridge_kernel *kernel, int64_t gridX, int64_t gridY,
                    int64_t gridZ, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_simulate_options *options) {
  if (!kernel || !kernel->accel)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                kernel ? "the kernel was not loaded by tilebridge_load_accel"
                       : "the kernel is a null pointer");
  if (options && options->struct_size < sizeof(tilebridge_simulate_options))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "struct_size of the options is " +
                    std::to_string(options->struct_size) +
                    "; set it to sizeof(tilebridge_simulate_options)");
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
  static const tilebridge_simulate_options defaults = {};
  const tilebridge_simulate_options &chosen = options ? *options : defaults;
  if (tilebridge_code code = checkGrid(grid, total))
    return code;
  constexpr int64_t most = int64_t(1) << 31;
  if (total > most)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the grid has " + std::to_string(total) +
                    " programs, too many to simulate");
  return total ? simulate(*kernel, grid, slots.data(), chosen) : TILEBRIDGE_OK;
}
