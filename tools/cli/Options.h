//===- Options.h - the command line ----------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <vector>

namespace tilebridge::cli {

/// One argument of a kernel as it was written: `--arg VALUE`,
/// `--out FILE=VALUE` or `--out FILE`.
struct ArgumentText {
  std::string value;
  std::string outputFile; // empty: the array is not written
};

/// Everything after the command's name.
struct Options {
  std::string input;
  std::string output; // -o
  std::string target = "cpu";
  std::string header;     // empty: none
  std::string loadTarget; // a plug-in
  std::string emit;       // empty: not given
  std::string printAfter;
  std::string grid;
  std::string program; // --program X,Y,Z
  std::string order;   // "" or "random"
  std::string seed;    // of the order
  std::string probe;   // a folder
  std::string probeOp;
  std::string compareWith; // "" or "cpu"
  std::string tolerance;
  std::string trace;   // a file
  std::string report;  // a file
  std::string landing; // "", "late" or "random:SEED"
  std::vector<ArgumentText> arguments;
  unsigned depth = 0; // 0: not given
  unsigned threads = 0;
  unsigned repeat = 1;
  bool timing = false;
  bool remarks = false;
  bool show = false;
  bool json = false;
  bool autotile = false;
  bool exhaustive = false;
  bool noMulticast = false;
  bool noCache = false;
  bool help = false;
};

/// Reads the command line of `command`. Options that it does not know are
/// errors with the usage's exit code.
Options parseOptions(const std::string &command,
                     const std::vector<std::string> &words);

bool isFile(const std::string &path);

/// A whole file, or standard input for "-".
std::string readInput(const std::string &path);

/// Writes a file whole or not at all; "-" is standard output.
void writeOutput(const std::string &path, const std::string &contents);

} // namespace tilebridge::cli
