//===- tilebridge-target.cpp - checks descriptions of accelerators --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Schema.h"
#include "accel-backend/target/Target.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilebridge::accel;

namespace cl = llvm::cl;

static cl::SubCommand checkCommand("check", "checks files of targets");
static cl::SubCommand listCommand("list", "names the targets that are found");
static cl::SubCommand schemaCommand("schema", "prints the schema of the files");

static cl::OptionCategory category("Options");

static cl::list<std::string> names(cl::Positional,
                                   cl::desc("<name or file.json>..."),
                                   cl::sub(checkCommand), cl::cat(category));
static cl::opt<bool>
    sources("sources", cl::sub(checkCommand), cl::cat(category),
            cl::desc("each figure says where it is from or is assumed"));
static cl::opt<bool> markdown("markdown", cl::sub(schemaCommand),
                              cl::cat(category),
                              cl::desc("as a page of documentation"));

static void describe(const Target &target) {
  llvm::outs() << target.name << ": " << target.grid.rows << "x"
               << target.grid.columns << " PEs at "
               << llvm::format("%g", target.clockGHz) << " GHz, computes in '"
               << target.localMemory().name << "' ("
               << target.localMemory().bytes << " bytes), arguments in '"
               << target.tensorsIn << "'\n";
}

static int check() {
  int result = 0;
  if (names.empty()) {
    llvm::errs() << "`tilebridge-target check` wants files, or names of "
                    "targets\n";
    return 2;
  }
  for (const std::string &name : names) {
    bool isFile = llvm::StringRef(name).ends_with(".json");
    llvm::Expected<Target> target =
        isFile ? readTargetFile(name, {sources}) : findTarget(name);
    if (target) {
      describe(*target);
      continue;
    }
    llvm::errs() << llvm::toString(target.takeError()) << "\n";
    result = 1;
  }
  return result;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // The libraries of LLVM have hundreds of options of their own.
  for (cl::SubCommand *command : {&cl::SubCommand::getTopLevel(), &checkCommand,
                                  &listCommand, &schemaCommand})
    cl::HideUnrelatedOptions(category, *command);
  cl::ParseCommandLineOptions(argc, argv,
                              "Descriptions of accelerators for Tilebridge\n");
  if (checkCommand)
    return check();
  if (listCommand) {
    for (const std::string &name : installedTargets())
      llvm::outs() << name << "\n";
    return 0;
  }
  if (schemaCommand) {
    llvm::outs() << (markdown ? schemaPage() : jsonSchema());
    return 0;
  }
  llvm::errs() << "usage: tilebridge-target check FILE... | list | schema; "
                  "`tilebridge-target --help` says more\n";
  return 2;
}
