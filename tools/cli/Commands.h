//===- Commands.h - the commands --------------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/cli/Options.h"

#include <cstdint>
#include <string>

namespace tilebridge::cli {

void runCompile(const Options &options);
void runRun(const Options &options);
/// `run` on the simulator of an accelerator.
void runSimulation(const Options &options);
/// `compile` for one: the lowered IR, or the report of the launch.
void compileForAccelerator(const Options &options);
void runEval(const Options &options);
void runExplain(const Options &options);
void runInfo(const Options &options);
void runSeal(const Options &options);

/// The numbers of "X,Y,Z", 1 where there are fewer; `option` names it in
/// errors.
void parseGrid(const std::string &option, const std::string &text,
               int64_t grid[3]);

/// The help of a command, or of all for "".
const char *helpOf(const std::string &command);

} // namespace tilebridge::cli
