//===- tilebridge.cpp - compile, run, evaluate ----------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tilebridge.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Error.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>

using namespace tilebridge::cli;

static int run(const std::string &command,
               const std::vector<std::string> &words) {
  static const std::map<std::string, void (*)(const Options &)> commands = {
      {"compile", runCompile}, {"run", runRun},   {"eval", runEval},
      {"explain", runExplain}, {"info", runInfo}, {"seal", runSeal}};
  if (command == "--version") {
    std::puts(tilebridge_version());
    return Success;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(helpOf(words.empty() ? "" : words[0]), stdout);
    return Success;
  }
  auto found = commands.find(command);
  if (found == commands.end())
    usageError("there is no command '" + command +
               "'; `tilebridge --help` lists them");
  Options options = parseOptions(command, words);
  if (options.help)
    std::fputs(helpOf(command), stdout);
  else
    found->second(options);
  return Success;
}

static void printError(const char *text) {
  size_t size = std::strlen(text);
  std::fprintf(stderr, "tilebridge: %s%s", text,
               size && text[size - 1] == '\n' ? "" : "\n");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs(helpOf(""), stderr);
    return WrongUsage;
  }
  // A limit on the size of files is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  int code = Failed;
#if !__has_feature(address_sanitizer)
  // A crash of the compiler is an error as others are.
  tilebridge_report_faults();
#endif
  try {
    code = run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  } catch (const Error &error) {
    code = error.code;
    printError(error.what());
  } catch (const std::bad_alloc &) {
    printError("out of memory");
  }
  if (std::fflush(stdout) != 0 && code == Success)
    code = Failed;
  return code;
}
