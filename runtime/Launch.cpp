//===- Launch.cpp - the calls that run kernels ------------------------ -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Grid.h"
#include "runtime/InterruptReport.h"
#include "runtime/Status.h"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace tilebridge::rt {

namespace {

/// The services of one launch that the kernel calls back for.
struct Host {
  const tilebridge_launch_options *options = nullptr;
  GridRun *run = nullptr;
  std::mutex mutex;
  std::string failure; // of the assertion that failed first
};

void print(void *state, const char *text) {
  auto &host = *static_cast<Host *>(state);
  if (host.options && host.options->print) {
    host.options->print(host.options->print_state, text);
    return;
  }
  // One call a line: stdio locks its stream, so lines of several threads do not
  // mix.
  std::fwrite(text, 1, std::strlen(text), stdout);
}

void reportFailure(void *state, const char *text) {
  auto &host = *static_cast<Host *>(state);
  std::lock_guard<std::mutex> lock(host.mutex);
  if (host.failure.empty())
    host.failure = text && *text ? text : "an assertion of the kernel failed";
  host.run->stop.store(true, std::memory_order_relaxed);
}

tilebridge_code checkOptions(const tilebridge_launch_options *options) {
  if (options && options->struct_size < sizeof(tilebridge_launch_options))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "struct_size of the launch options is " +
                    std::to_string(options->struct_size) +
                    "; set it to sizeof(tilebridge_launch_options)");
  return options ? checkFlags(options->flags, TILEBRIDGE_LAUNCH_COOPERATIVE,
                              "tilebridge_launch_options")
                 : TILEBRIDGE_OK;
}

tilebridge_code launch(tilebridge_kernel &kernel, const int64_t grid[3],
                       const uint64_t *slots,
                       const tilebridge_launch_options *options) {
  if (kernel.reference || kernel.accel)
    return fail(
        TILEBRIDGE_ERROR_INVALID_ARGUMENT,
        "kernel '" + kernel.manifest.name + "' was loaded for " +
            (kernel.accel ? "tilebridge_simulate" : "tilebridge_evaluate") +
            ": it has no code");
  int64_t total = 0;
  if (tilebridge_code code = checkGrid(kernel, grid, total))
    return code;
  if (tilebridge_code code = checkOptions(options))
    return code;
  if (total == 0)
    return TILEBRIDGE_OK;
  Host host;
  tb_host_v1 services{print, reportFailure, &host, nullptr, 0, nullptr};
  tb_launch_v1 request{
      slots,
      {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])},
      0,
      &services};
  if (tb_programs_fn programs = kernel.executable->programs)
    total = programs(&request);
  if (total == 0)
    return TILEBRIDGE_OK;
  uint32_t flags = options ? options->flags : 0;
  GridRun run{kernel,
              request,
              services,
              total,
              options ? options->max_threads : 0,
              (flags & TILEBRIDGE_LAUNCH_COOPERATIVE) != 0};
  host.options = options;
  host.run = &run;
  bool hasMemory = [&] {
    RunningKernel running(kernel.manifest.name, RunningKernel::Means::Code);
    return runGrid(run);
  }();
  if (!host.failure.empty())
    return fail(TILEBRIDGE_ERROR_KERNEL_ASSERT, host.failure);
  if (!hasMemory)
    return fail(TILEBRIDGE_ERROR_OUT_OF_MEMORY,
                "kernel '" + kernel.manifest.name + "' needs " +
                    std::to_string(kernel.executable->scratch_bytes) +
                    " bytes of scratch memory a thread, which could not be "
                    "had: use smaller blocks or fewer threads");
  return TILEBRIDGE_OK;
}

} // namespace

tilebridge_code checkGrid(const tilebridge_kernel &kernel,
                          const int64_t grid[3], int64_t &total) {
  auto refuse = [&](const std::string &why) {
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "kernel '" + kernel.manifest.name + "': the grid" + why);
  };
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  total = 1;
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 0 || grid[i] > most)
      return refuse(std::string("'s dimension ") + "xyz"[i] + " is " +
                    std::to_string(grid[i]) +
                    "; it must be from 0 to 2147483647");
  }
  // 0 programs is no work, however large the other dimensions are.
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    total = 0;
  constexpr int64_t mostPrograms = int64_t(1) << 61;
  for (int i = 0; i < 3 && total; ++i) {
    if (total > mostPrograms / grid[i])
      return refuse(" has more than 2^61 programs: " + std::to_string(grid[0]) +
                    " x " + std::to_string(grid[1]) + " x " +
                    std::to_string(grid[2]));
    total *= grid[i];
  }
  return TILEBRIDGE_OK;
}

tilebridge_code writeArguments(const tilebridge_kernel &kernel,
                               const tilebridge_argument *arguments,
                               size_t count, uint64_t *slots) {
  for (size_t i = 0; i < count; ++i) {
    const char *text = arguments[i].type ? arguments[i].type : "(null)";
    // To take a descriptor's type apart takes longer than all else.
    bool isAsNamed = kernel.manifest.signature[i] == text;
    ArgumentType given;
    if (!isAsNamed && (!parseArgumentType(text, given) ||
                       !isCompatible(given, kernel.types[i])))
      return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                  describeArgument(kernel, i) + " was given a value of type " +
                      text);
    std::string why;
    if (!writeSlots(arguments[i], isAsNamed ? kernel.types[i] : given,
                    kernel.types[i], slots, why))
      return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                  describeArgument(kernel, i) + ": " + why);
    slots += kernel.types[i].slotCount();
  }
  return TILEBRIDGE_OK;
}

} // namespace tilebridge::rt

using namespace tilebridge::rt;

tilebridge_code tilebridge_launch(tilebridge_kernel *kernel, int64_t gridX,
                                  int64_t gridY, int64_t gridZ,
                                  const uint64_t *slots, size_t slotCount,
                                  const tilebridge_launch_options *options) {
  if (!kernel)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the kernel is a null pointer");
  if (slotCount != kernel->executable->slot_count || (slotCount && !slots))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "kernel '" + kernel->manifest.name + "' takes " +
                    std::to_string(kernel->executable->slot_count) +
                    " slots, given were " +
                    (slots ? std::to_string(slotCount) : "none"));
  int64_t grid[3] = {gridX, gridY, gridZ};
  return launch(*kernel, grid, slots, options);
}

tilebridge_code
tilebridge_launch_typed(tilebridge_kernel *kernel, int64_t gridX, int64_t gridY,
                        int64_t gridZ, const tilebridge_argument *arguments,
                        size_t count,
                        const tilebridge_launch_options *options) {
  if (!kernel)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the kernel is a null pointer");
  if (count != kernel->types.size() || (count && !arguments))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "kernel '" + kernel->manifest.name + "' takes " +
                    std::to_string(kernel->types.size()) +
                    " arguments, given were " +
                    (arguments ? std::to_string(count) : "none"));
  // On the stack unless the kernel has very many: a launch does not allocate.
  constexpr size_t usual = 256;
  uint64_t local[usual];
  std::vector<uint64_t> many(kernel->executable->slot_count > usual
                                 ? kernel->executable->slot_count
                                 : 0);
  uint64_t *slots = many.empty() ? local : many.data();
  if (tilebridge_code code = writeArguments(*kernel, arguments, count, slots))
    return code;
  int64_t grid[3] = {gridX, gridY, gridZ};
  return launch(*kernel, grid, slots, options);
}
