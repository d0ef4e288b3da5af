//===- SimulateCommand.cpp - commands for accelerators --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Commands.h"
#include "tools/cli/Error.h"
#include "tools/cli/Values.h"

#include "runtime/tilebridge.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

namespace tilebridge::cli {

using KernelPtr =
    std::unique_ptr<tilebridge_kernel, void (*)(tilebridge_kernel *)>;
using Outputs = std::map<std::string, std::string>;

static KernelPtr load(const Options &options) {
  std::string source = readInput(options.input);
  tilebridge_compile_options request = {};
  request.struct_size = sizeof(request);
  request.source_name = options.input.c_str();
  request.target = options.target.c_str();
  request.flags = options.remarks ? TILEBRIDGE_COMPILE_REMARKS : 0;
  request.log = [](void *, const char *text, size_t size) {
    std::fwrite(text, 1, size, stderr);
  };
  tilebridge_kernel *kernel = nullptr;
  check(tilebridge_load_accel(source.data(), source.size(), &request, &kernel));
  return {kernel, tilebridge_kernel_release};
}

static tilebridge_simulate_options optionsOf(const Options &options,
                                             Outputs &outputs) {
  tilebridge_simulate_options result = {};
  result.struct_size = sizeof(result);
  if (!options.trace.empty())
    result.flags |= TILEBRIDGE_SIMULATE_TRACE;
  const std::string random = "random:";
  if (options.landing.rfind(random, 0) == 0) {
    char *rest = nullptr;
    const char *seed = options.landing.c_str() + random.size();
    result.seed = std::strtoull(seed, &rest, 10);
    if (!*seed || *rest)
      usageError("--landing=random:SEED wants a number as the seed, not '" +
                 std::string(seed) + "'");
    result.flags |= TILEBRIDGE_SIMULATE_RANDOM_LANDING;
  } else if (!options.landing.empty() && options.landing != "late") {
    usageError("--landing wants late or random:SEED, not '" + options.landing +
               "'");
  }
  if (options.exhaustive && !options.autotile)
    usageError("--exhaustive goes with --autotile");
  if (options.autotile)
    result.flags |= TILEBRIDGE_SIMULATE_AUTOTILE;
  if (options.exhaustive)
    result.flags |= TILEBRIDGE_SIMULATE_EXHAUSTIVE;
  result.output = [](void *state, const char *what, const char *data,
                     size_t size) {
    if (std::string(what) == "remarks")
      std::fwrite(data, 1, size, stderr);
    else
      (*static_cast<Outputs *>(state))[what].assign(data, size);
  };
  result.output_state = &outputs;
  return result;
}

/// Loads, reads the arguments, and lowers or runs the kernel.
static Outputs simulate(const Options &options, uint32_t flags) {
  int64_t grid[3] = {1, 1, 1};
  if (options.grid.empty())
    usageError("targets accel:NAME want the number of programs: --grid X, "
               "--grid X,Y or --grid X,Y,Z");
  parseGrid("--grid", options.grid, grid);
  Outputs outputs;
  tilebridge_simulate_options request = optionsOf(options, outputs);
  KernelPtr kernel = load(options);
  Values values(kernel.get(), options.arguments);
  std::vector<tilebridge_memory> memory = values.memory();
  request.flags |= flags;
  request.memory = memory.data();
  request.memory_count = memory.size();
  check(tilebridge_simulate(kernel.get(), grid[0], grid[1], grid[2],
                            values.arguments().data(),
                            values.arguments().size(), &request));
  if (!(flags & TILEBRIDGE_SIMULATE_COMPILE_ONLY))
    values.finish(options.show);
  return outputs;
}

/// The number behind a key of the report's outermost object.
static double numberOf(const std::string &report, const std::string &key) {
  size_t at = report.find("\n  \"" + key + "\": ");
  return at == report.npos
             ? 0
             : std::strtod(report.c_str() + at + key.size() + 7, nullptr);
}

/// What a search decided, as the simulator's JSON says it.
static void printTuning(const std::string &tuning) {
  auto textOf = [&](const std::string &key) {
    size_t at = tuning.find("\n  \"" + key + "\": ");
    if (at == tuning.npos)
      return std::string();
    at += key.size() + 7;
    std::string text = tuning.substr(at, tuning.find('\n', at) - at);
    if (!text.empty() && text.back() == ',')
      text.pop_back();
    return text;
  };
  // An array, whose numbers have a line each.
  std::string merge;
  if (size_t at = tuning.find("\"merge\": ["); at != tuning.npos)
    for (char each : tuning.substr(at, tuning.find(']', at) - at))
      if ((each >= '0' && each <= '9') || each == ',')
        merge += each;
  std::printf("autotile: depth %s, multicast %s, assignment %s, ",
              textOf("depth").c_str(), textOf("multicast").c_str(),
              textOf("assignment").c_str());
  if (!merge.empty() && merge != "1,1,1")
    std::printf("programs merged %s, ", merge.c_str());
  std::printf("tiles");
  const char *separator = " ";
  for (size_t at = 0; (at = tuning.find("\"block\": ", at)) != tuning.npos;) {
    double block = std::strtod(tuning.c_str() + at + 9, nullptr);
    at = tuning.find("\"tile\": ", at);
    std::printf("%s%.0f of %.0f", separator,
                std::strtod(tuning.c_str() + at + 8, nullptr), block);
    separator = ", ";
  }
  std::printf("; %s of %s decisions lowered, %s simulated\n",
              textOf("lowered").c_str(), textOf("decisions").c_str(),
              textOf("simulated").c_str());
}

void runSimulation(const Options &options) {
  Outputs outputs = simulate(options, 0);
  const std::string &report = outputs["report"];
  std::printf(
      "%.0f cycles, %.4g us on %s\n", numberOf(report, "cycles"),
      numberOf(report, "microseconds"),
      options.target.substr(6, options.target.find(",plugin=") - 6).c_str());
  if (!outputs["autotile"].empty())
    printTuning(outputs["autotile"]);
  if (!options.report.empty())
    writeOutput(options.report, report);
  if (!options.trace.empty())
    writeOutput(options.trace, outputs["trace"]);
}

/// What a plug-in emits, if that is what it is called.
static void writePluginOutput(const Options &options, const std::string &stage,
                              const std::string &output) {
  Outputs outputs = simulate(options, TILEBRIDGE_SIMULATE_PLUGIN |
                                          TILEBRIDGE_SIMULATE_COMPILE_ONLY);
  auto found = outputs.find(stage);
  if (found == outputs.end())
    usageError("there is no stage '" + stage + "'; there are accel, cpp, " +
               "report, and the plug-in's " +
               (outputs.empty() ? "none" : outputs.begin()->first));
  writeOutput(output, found->second);
}

void compileForAccelerator(const Options &options) {
  std::string stage = options.emit.empty() ? "accel" : options.emit;
  std::string output = options.output.empty() ? "-" : options.output;
  if (stage == "accel")
    writeOutput(output, simulate(options, TILEBRIDGE_SIMULATE_LOWERED |
                                              TILEBRIDGE_SIMULATE_COMPILE_ONLY)
                            .at("lowered"));
  else if (stage == "cpp")
    writeOutput(output, simulate(options, TILEBRIDGE_SIMULATE_CPP |
                                              TILEBRIDGE_SIMULATE_COMPILE_ONLY)
                            .at("cpp"));
  else if (stage == "report")
    writeOutput(output, simulate(options, 0).at("report"));
  else if (stage == "autotile" && options.autotile)
    writeOutput(output, simulate(options,
                                 TILEBRIDGE_SIMULATE_COMPILE_ONLY)["autotile"]);
  else if (options.loadTarget.empty())
    usageError(
        "targets accel:NAME have the stages accel, cpp, report, and with "
        "--autotile autotile, not '" +
        stage + "'");
  else
    writePluginOutput(options, stage, output);
}

} // namespace tilebridge::cli
