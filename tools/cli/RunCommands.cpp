//===- RunCommands.cpp - commands that load kernels ---------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Commands.h"
#include "tools/cli/Error.h"
#include "tools/cli/FaultGuard.h"
#include "tools/cli/Values.h"

#include "runtime/tilebridge.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

namespace tilebridge::cli {

using KernelPtr =
    std::unique_ptr<tilebridge_kernel, void (*)(tilebridge_kernel *)>;

/// A compiled kernel, or TTIR that is compiled first.
static KernelPtr load(const Options &options) {
  std::string contents = readInput(options.input);
  tilebridge_kernel *kernel = nullptr;
  if (contents.rfind("\177ELF", 0) == 0) {
    tilebridge_code code =
        tilebridge_load_bytes(contents.data(), contents.size(), &kernel);
    if (code != TILEBRIDGE_OK)
      throw Error(Failed, options.input + ": " + tilebridge_last_error());
  } else {
    tilebridge_compile_options request = {};
    request.struct_size = sizeof(request);
    request.source_name = options.input.c_str();
    request.target = options.target.c_str();
    request.flags = options.noCache ? TILEBRIDGE_COMPILE_NO_CACHE : 0;
    check(tilebridge_load_ttir(contents.data(), contents.size(), &request,
                               &kernel));
  }
  return {kernel, tilebridge_kernel_release};
}

void parseGrid(const std::string &option, const std::string &text,
               int64_t grid[3]) {
  size_t begin = 0;
  for (int i = 0; i < 3; ++i)
    grid[i] = 1;
  for (int i = 0; begin <= text.size(); ++i) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string number = text.substr(begin, end - begin);
    char *rest = nullptr;
    errno = 0;
    long long value = std::strtoll(number.c_str(), &rest, 10);
    if (i == 3 || number.empty() || *rest || errno)
      usageError(option + " wants up to three numbers, not '" + text + "'");
    grid[i] = value;
    begin = end + 1;
  }
}

void runRun(const Options &options) {
  if (options.target.rfind("accel:", 0) == 0)
    return runSimulation(options);
  if (!options.trace.empty() || !options.report.empty() ||
      !options.landing.empty() || options.autotile || options.exhaustive)
    usageError("--trace, --report, --landing, --autotile and --exhaustive "
               "want --target=accel:NAME");
  int64_t grid[3];
  if (options.grid.empty())
    usageError("`tilebridge run` wants the number of programs: --grid X, "
               "--grid X,Y or --grid X,Y,Z");
  parseGrid("--grid", options.grid, grid);
  KernelPtr kernel = load(options);
  Values values(kernel.get(), options.arguments);
  tilebridge_launch_options launch = {};
  launch.struct_size = sizeof(launch);
  launch.max_threads = options.threads;
  std::vector<double> milliseconds;
  for (unsigned i = 0; i < options.repeat; ++i) {
    FaultGuard guard;
    auto start = std::chrono::steady_clock::now();
    check(tilebridge_launch_typed(kernel.get(), grid[0], grid[1], grid[2],
                                  values.arguments().data(),
                                  values.arguments().size(), &launch));
    milliseconds.push_back(std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - start)
                               .count());
  }
  values.finish(options.show);
  if (options.repeat > 1) {
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf(
        "%u launches on %s: fastest %.4g ms, median %.4g ms\n", options.repeat,
        options.threads == 1 ? "one thread" : tilebridge_describe_threads(),
        milliseconds.front(), milliseconds[milliseconds.size() / 2]);
  }
}

void runInfo(const Options &options) {
  KernelPtr kernel = load(options);
  std::printf("kernel %s\n", tilebridge_kernel_name(kernel.get()));
  for (size_t i = 0; i < tilebridge_kernel_argument_count(kernel.get()); ++i)
    std::printf(
        "  %zu  %s\n", i,
        describeType(tilebridge_kernel_argument_type(kernel.get(), i)).c_str());
  std::printf("manifest %s\n", tilebridge_kernel_manifest(kernel.get()));
}

} // namespace tilebridge::cli
