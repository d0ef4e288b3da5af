//===- EvalCommand.cpp - the command that evaluates ---===//
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
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tilebridge::cli {

namespace {

using KernelPtr =
    std::unique_ptr<tilebridge_kernel, void (*)(tilebridge_kernel *)>;
using Bytes = std::vector<uint8_t>;

KernelPtr load(const Options &options, const std::string &source,
               decltype(&tilebridge_load_ttir) function) {
  tilebridge_compile_options request = {};
  request.struct_size = sizeof(request);
  request.source_name = options.input.c_str();
  request.target = options.target.c_str();
  request.flags = TILEBRIDGE_COMPILE_NO_CACHE;
  tilebridge_kernel *kernel = nullptr;
  check(function(source.data(), source.size(), &request, &kernel));
  return {kernel, tilebridge_kernel_release};
}

tilebridge_evaluate_options optionsOf(const Options &options) {
  tilebridge_evaluate_options result = {};
  result.struct_size = sizeof(result);
  if (!options.program.empty()) {
    int64_t program[3] = {0, 0, 0};
    parseGrid("--program", options.program, program);
    // Dimensions that are not given count from 0, not from 1.
    size_t given = 1 + size_t(std::count(options.program.begin(),
                                         options.program.end(), ','));
    for (size_t i = 0; i < 3; ++i) {
      if (program[i] < 0 || program[i] > INT32_MAX)
        usageError("--program wants numbers from 0 on, not '" +
                   options.program + "'");
      result.program[i] = i < given ? uint32_t(program[i]) : 0;
    }
    result.flags |= TILEBRIDGE_EVALUATE_ONE_PROGRAM;
  }
  if (!options.order.empty() && options.order != "random")
    usageError("--order wants 'random', not '" + options.order + "'");
  if (!options.order.empty())
    result.flags |= TILEBRIDGE_EVALUATE_RANDOM_ORDER;
  char *rest = nullptr;
  result.seed = std::strtoull(options.seed.c_str(), &rest, 10);
  if (*rest)
    usageError("--seed wants a number, not '" + options.seed + "'");
  result.probe_folder = options.probe.empty() ? nullptr : options.probe.c_str();
  result.probe_op = options.probeOp.empty() ? nullptr : options.probeOp.c_str();
  return result;
}

/// One launch of the command line, evaluated and, if asked for, run.
class Evaluation {
public:
  Evaluation(const Options &options, const std::string &source)
      : options(options), source(source),
        reference(load(options, source, tilebridge_load_reference)),
        values(reference.get(), options.arguments), memory(values.memory()) {
    if (options.grid.empty())
      usageError("`tilebridge eval` wants the number of programs: --grid X, "
                 "--grid X,Y or --grid X,Y,Z");
    parseGrid("--grid", options.grid, grid);
  }

  void evaluate(const void *watch = nullptr) {
    tilebridge_evaluate_options request = optionsOf(options);
    request.memory = memory.data();
    request.memory_count = memory.size();
    if (watch) {
      request.probe_folder = nullptr;
      request.watch = watch;
      request.note = [](void *, const char *text) {
        std::printf("  %s", text);
      };
      request.print = [](void *, const char *) {};
    }
    check(tilebridge_evaluate(reference.get(), grid[0], grid[1], grid[2],
                              values.arguments().data(),
                              values.arguments().size(), &request));
  }

  /// Runs compiled code on the same arrays as they were. Returns whether it
  /// left the same in them.
  bool compare();

  void finish() { values.finish(options.show); }

  std::vector<Bytes> copyArrays() const {
    std::vector<Bytes> copies;
    for (const tilebridge_memory &array : memory) {
      const auto *data = static_cast<const uint8_t *>(array.begin);
      copies.emplace_back(data, data + array.size);
    }
    return copies;
  }

  void setArrays(const std::vector<Bytes> &copies) {
    for (size_t i = 0; i < copies.size(); ++i)
      if (!copies[i].empty())
        std::memcpy(memory[i].begin, copies[i].data(), copies[i].size());
  }

private:
  bool isEqual(const Dtype &dtype, const uint8_t *x, const uint8_t *y) const;
  bool compareArray(size_t number, const Bytes &evaluated, const Bytes &ran);

  const Options &options;
  const std::string &source;
  KernelPtr reference;
  Values values;
  std::vector<tilebridge_memory> memory;
  int64_t grid[3] = {1, 1, 1};
  std::vector<Bytes> before;
  const void *firstDifference = nullptr;
};

} // namespace

bool Evaluation::isEqual(const Dtype &dtype, const uint8_t *x,
                         const uint8_t *y) const {
  if (std::memcmp(x, y, dtype.size) == 0)
    return true;
  if (dtype.kind != Dtype::Float)
    return false;
  double a = std::strtod(dtype.format(x).c_str(), nullptr);
  double b = std::strtod(dtype.format(y).c_str(), nullptr);
  // All NaNs are one.
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  double tolerance = std::strtod(options.tolerance.c_str(), nullptr);
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

bool Evaluation::compareArray(size_t number, const Bytes &evaluated,
                              const Bytes &ran) {
  const Array *array = values.arrayOf(number);
  if (!array)
    return true;
  const Dtype &dtype = *array->dtype;
  size_t count = 0, first = 0;
  for (size_t i = 0; i < array->count(); ++i)
    if (!isEqual(dtype, &evaluated[i * dtype.size], &ran[i * dtype.size]) &&
        count++ == 0)
      first = i;
  if (count == 0)
    return true;
  std::printf("argument %zu: %s: %zu elements differ, first %zu: the evaluator "
              "has %s, cpu %s\n",
              number, array->describe().c_str(), count, first,
              dtype.format(&evaluated[first * dtype.size]).c_str(),
              dtype.format(&ran[first * dtype.size]).c_str());
  if (!firstDifference)
    firstDifference = array->data() + first * dtype.size;
  return false;
}

bool Evaluation::compare() {
  before = copyArrays();
  evaluate();
  std::vector<Bytes> evaluated = copyArrays();
  setArrays(before);
  {
    KernelPtr compiled = load(options, source, tilebridge_load_ttir);
    FaultGuard guard;
    tilebridge_launch_options launch = {};
    launch.struct_size = sizeof(launch);
    launch.print = [](void *, const char *) {};
    check(tilebridge_launch_typed(compiled.get(), grid[0], grid[1], grid[2],
                                  values.arguments().data(),
                                  values.arguments().size(), &launch));
  }
  std::vector<Bytes> ran = copyArrays();
  bool isSame = true;
  for (size_t i = 0; i < memory.size(); ++i)
    isSame &= compareArray(i, evaluated[i], ran[i]);
  if (firstDifference) {
    // Once more, to see who writes there.
    setArrays(before);
    std::printf("stores to the first of them:\n");
    evaluate(firstDifference);
  }
  setArrays(evaluated);
  return isSame;
}

void runEval(const Options &options) {
  if (!options.compareWith.empty() && options.compareWith != "cpu")
    usageError("--compare-with wants 'cpu', not '" + options.compareWith + "'");
  if (!options.compareWith.empty() && !options.program.empty())
    usageError("--compare-with runs all programs, and --program one: give one "
               "of them");
  char *rest = nullptr;
  if (std::strtod(options.tolerance.c_str(), &rest) < 0 || *rest)
    usageError("--tolerance wants a number, not '" + options.tolerance + "'");
  std::string source = readInput(options.input);
  Evaluation evaluation(options, source);
  bool isSame = true;
  if (options.compareWith.empty())
    evaluation.evaluate();
  else
    isSame = evaluation.compare();
  evaluation.finish();
  if (!isSame)
    throw Error(Failed, "the evaluator and cpu differ");
}

} // namespace tilebridge::cli
