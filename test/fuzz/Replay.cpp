//===- Replay.cpp - the fuzz target without libFuzzer ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   compiler-fuzzer FILE...                  runs the target on each file
//   compiler-fuzzer --runs=N --seed=S FILE...
//                       and on N damaged copies, always the same for a seed
//
// The text that is being compiled is in --artifact=FILE while it is, so that
// it is there after a crash.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/CompilerFuzzer.h"
#include "test/fuzz/Mutate.h"
#include "test/fuzz/TextMutator.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilebridge;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("FILE..."));
static cl::opt<unsigned> runs("runs", cl::desc("damaged copies to compile"));
static cl::opt<unsigned> seed("seed", cl::desc("which copies"), cl::init(1));
static cl::opt<std::string> artifact("artifact",
                                     cl::desc("holds the text at hand"));

static unsigned compiled = 0;

/// Compiles a text that lies in the file `artifact` meanwhile.
static bool run(StringRef text, StringRef artifact) {
  if (!artifact.empty()) {
    std::error_code error;
    raw_fd_ostream out(artifact, error);
    if (error) {
      errs() << artifact << ": " << error.message() << "\n";
      return false;
    }
    out << text;
  }
  compiled += fuzz::compileText(text);
  return true;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "the compiler's fuzz target\n");
  // The linker in this process resets every option when it is done.
  const unsigned copies = runs, firstSeed = seed;
  const std::vector<std::string> names(files.begin(), files.end());
  const std::string atHand = artifact;
  std::vector<std::string> corpus;
  for (const std::string &file : names) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(file);
    if (!buffer) {
      errs() << file << ": " << buffer.getError().message() << "\n";
      return 1;
    }
    corpus.push_back((*buffer)->getBuffer().str());
    if (!run(corpus.back(), atHand))
      return 1;
  }
  for (unsigned i = 0; i < copies; ++i) {
    uint64_t copySeed = (uint64_t(firstSeed) << 32) + i;
    const std::string &text = corpus[i % corpus.size()];
    const std::string &other = corpus[(i / 7) % corpus.size()];
    if (!run(i % 9 == 8 ? fuzz::TextMutator(copySeed).cross(text, other)
                        : fuzz::mutate(text, copySeed),
             atHand))
      return 1;
  }
  outs() << corpus.size() << " files and " << copies << " damaged copies, "
         << compiled << " compiled: no finding\n";
  return 0;
}
