//===- Bytecode.cpp - bytecode, read where it can do no harm --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Bytecode.h"

#include "frontend/Reader.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace {

/// What the child writes last, so that the parent knows that it came so far.
constexpr char kRead = 'R', kRefused = 'E';
/// How long it may take.
constexpr unsigned kSeconds = 60;

bool writeAll(int fd, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(count);
  }
  return true;
}

/// The child dies quietly: its parent says what there is to say.
void makeQuiet() {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM,
                     SIGTERM, SIGINT})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  int null = open("/dev/null", O_WRONLY);
  if (null >= 0)
    dup2(null, STDERR_FILENO);
  alarm(kSeconds);
}

[[noreturn]] void runChild(int out, llvm::StringRef bytecode,
                           llvm::StringRef name, MLIRContext &context) {
  makeQuiet();
  std::string text;
  char verdict = kRefused;
  bool hasErrors = false;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      hasErrors |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      tilebridge::frontend::appendDiagnostic(diagnostic, text);
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(bytecode, ParserConfig(&context), name);
    if (module && !hasErrors) {
      text.clear();
      llvm::raw_string_ostream os(text);
      module->print(os, OpPrintingFlags()
                            .printGenericOpForm()
                            .enableDebugInfo()
                            .assumeVerified());
      verdict = kRead;
    }
    text.push_back(verdict);
    // What the module holds is not taken apart: it may be damaged.
    _exit(writeAll(out, text) ? 0 : 1);
  }
}

std::string readAll(int fd) {
  std::string bytes;
  char chunk[1 << 16];
  for (;;) {
    ssize_t count = ::read(fd, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return bytes;
    bytes.append(chunk, count);
  }
}

} // namespace

std::optional<std::string>
tilebridge::frontend::bytecodeToText(llvm::StringRef bytecode,
                                     llvm::StringRef name, MLIRContext &context,
                                     std::string &messages) {
  auto refuse = [&](const llvm::Twine &why) {
    messages += (name + ":1:1: error: " + why + "\n").str();
    return std::nullopt;
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return refuse("bytecode is read in a process of its own, and there is no "
                  "pipe to it; pass TTIR as text");
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return refuse("bytecode is read in a process of its own, which cannot be "
                  "started; pass TTIR as text");
  }
  if (child == 0)
    runChild(ends[1], bytecode, name, context);
  close(ends[1]);
  std::string text = readAll(ends[0]);
  close(ends[0]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    continue;
  char verdict = text.empty() ? 0 : text.back();
  if (verdict != kRead && verdict != kRefused)
    return refuse("the bytecode is damaged: MLIR's reader crashed over it");
  text.pop_back();
  if (verdict == kRead)
    return text;
  messages += text;
  if (text.empty())
    return refuse("this is no MLIR module");
  return std::nullopt;
}
