//===- CompileCommands.cpp - commands about the compiler ----------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Commands.h"
#include "tools/cli/Error.h"

#include "runtime/tilebridge.h"

#include <cstdio>

namespace tilebridge::cli {

static void writeLog(void *, const char *text, size_t size) {
  std::fwrite(text, 1, size, stderr);
}

static std::string compile(const Options &options, const std::string &source,
                           const std::string &stage, uint32_t flags) {
  tilebridge_compile_options request = {};
  request.struct_size = sizeof(request);
  request.source_name = options.input.c_str();
  request.target = options.target.c_str();
  request.stage = stage.c_str();
  request.print_after =
      options.printAfter.empty() ? nullptr : options.printAfter.c_str();
  request.flags = flags;
  request.log = writeLog;
  tilebridge_buffer buffer = {nullptr, 0};
  check(tilebridge_compile(source.data(), source.size(), &request, &buffer));
  std::string output(buffer.data, buffer.size);
  tilebridge_buffer_free(&buffer);
  return output;
}

void runCompile(const Options &options) {
  bool isAccelerator = options.target.rfind("accel:", 0) == 0;
  if (isAccelerator && options.emit != "ttir" && options.emit != "bridge")
    return compileForAccelerator(options);
  if (!isAccelerator && (!options.grid.empty() || !options.arguments.empty() ||
                         options.autotile || options.exhaustive))
    usageError("--grid, --arg, --autotile and --exhaustive want "
               "--target=accel:NAME");
  std::string stage = options.emit.empty() ? "so" : options.emit;
  uint32_t flags = (options.remarks ? TILEBRIDGE_COMPILE_REMARKS : 0) |
                   (options.timing ? TILEBRIDGE_COMPILE_TIMING : 0) |
                   (options.noCache ? TILEBRIDGE_COMPILE_NO_CACHE : 0);
  if (!options.header.empty() && stage != "so")
    usageError("--header goes with a shared object, not with --emit=" + stage);
  std::string source = readInput(options.input);
  std::string result = compile(options, source, stage, flags);
  std::string header = options.header.empty()
                           ? std::string()
                           : compile(options, source, "header", /*flags=*/0);
  std::string output = options.output;
  if (output.empty() && stage != "so") {
    output = "-";
  } else if (output.empty()) {
    // Beside the input: add.ttir gives add.so.
    size_t slash = options.input.rfind('/'), dot = options.input.rfind('.');
    bool hasSuffix = dot != std::string::npos && dot != 0 &&
                     (slash == std::string::npos || dot > slash + 1);
    output = (options.input == "-" ? "kernel"
              : hasSuffix          ? options.input.substr(0, dot)
                                   : options.input) +
             ".so";
  }
  writeOutput(output, result);
  if (!options.header.empty())
    writeOutput(options.header, header);
}

void runExplain(const Options &options) {
  std::string report =
      compile(options, readInput(options.input),
              options.json ? "explain-json" : "explain", /*flags=*/0);
  std::fwrite(report.data(), 1, report.size(), stdout);
}

void runSeal(const Options &options) {
  if (options.output.empty())
    usageError("`tilebridge seal` wants -o FILE");
  std::string object = readInput(options.input);
  tilebridge_buffer buffer = {nullptr, 0};
  check(tilebridge_seal(object.data(), object.size(), &buffer));
  std::string artefact(buffer.data, buffer.size);
  tilebridge_buffer_free(&buffer);
  writeOutput(options.output, artefact);
}

} // namespace tilebridge::cli
