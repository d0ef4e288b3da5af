//===- FaultReport.cpp - naming the line that ends the process --------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel with a wild pointer cannot be stopped from ending the process, but
// it can be named. The handler writes the kernel's name and line and leaves the
// rest to whoever was there before it, such as Python's faulthandler: it puts
// their handlers back, and the instruction faults once more.

#include "runtime/FaultReport.h"

#include "runtime/CodePlace.h"
#include "runtime/Fork.h"
#include "runtime/InterruptReport.h"
#include "runtime/tilebridge.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <execinfo.h>
#include <mutex>
#include <sys/mman.h>

namespace tilebridge::rt {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kSignalCount = sizeof(kSignals) / sizeof(*kSignals);
struct sigaction previous[kSignalCount];

std::atomic<bool> isInstalled{false};

/// Where a thread goes on that faults in guarded code.
struct Guard {
  sigjmp_buf buffer;
};
// Read by the handler, where no memory may be allocated for it.
__attribute__((tls_model("initial-exec"))) thread_local Guard *guard = nullptr;

/// A stack for the handler, which code that has used up its own needs.
class HandlerStack {
public:
  HandlerStack() {
    if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE))
      return;
    memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t own = {};
    own.ss_sp = memory;
    own.ss_size = kSize;
    isSet = memory != MAP_FAILED && sigaltstack(&own, nullptr) == 0;
  }
  HandlerStack(const HandlerStack &) = delete;
  HandlerStack &operator=(const HandlerStack &) = delete;
  ~HandlerStack() {
    if (isSet)
      sigaltstack(&before, nullptr);
    if (memory != MAP_FAILED)
      munmap(memory, kSize);
  }

private:
  static constexpr size_t kSize = 1 << 17;
  stack_t before = {};
  void *memory = MAP_FAILED;
  bool isSet = false;
};

void report(int signal, const siginfo_t *info, const CodePlace &place) {
  Message message;
  message << "tilebridge: kernel '" << place.range->name
          << "' ends the process (" << nameOfSignal(signal) << ")" << place;
  if (signal == SIGSEGV || signal == SIGBUS) {
    message << ": it reads or writes at 0x";
    message.number(uint64_t(reinterpret_cast<uintptr_t>(info->si_addr)), 16);
    message << ", where there is no memory of its own. TILEBRIDGE_CHECK=1 "
               "finds the first access outside of the launch's tensors";
  }
  message << "\n";
  message.write();
}

void onFault(int signal, siginfo_t *info, void *context) {
  if (guard)
    siglongjmp(guard->buffer, signal);
  CodePlace place = findPlace(context);
  if (place.range)
    report(signal, info, place);
  for (int i = 0; i < kSignalCount; ++i)
    sigaction(kSignals[i], &previous[i], nullptr);
  // A signal that was sent, and not caused by an instruction, comes no second
  // time by itself.
  if (info->si_code <= 0)
    raise(signal);
}

} // namespace

void installFaultHandler() {
  ForkDelay delay;
  static std::once_flag once;
  std::call_once(once, [] {
    // Its first call loads a library, which a handler may not.
    void *frame;
    backtrace(&frame, 1);
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < kSignalCount; ++i)
      sigaction(kSignals[i], &action, &previous[i]);
    installInterruptHandler();
    isInstalled.store(true);
  });
}

static bool runCatching(void (*body)(void *), void *data) {
  try {
    body(data);
    return true;
  } catch (...) {
    return false;
  }
}

bool runGuarded(void (*body)(void *), void *data, int &signal) {
  signal = 0;
  if (!isInstalled.load(std::memory_order_relaxed) || guard)
    return runCatching(body, data);
  HandlerStack stack;
  Guard own;
  bool hasEnded = false;
  signal = sigsetjmp(own.buffer, /*savemask=*/1);
  if (signal == 0) {
    guard = &own;
    hasEnded = runCatching(body, data);
  }
  guard = nullptr;
  return signal == 0 && hasEnded;
}

const char *nameOfSignal(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "SIGSEGV";
  case SIGBUS:
    return "SIGBUS";
  case SIGILL:
    return "SIGILL";
  case SIGFPE:
    return "SIGFPE";
  default:
    return "SIGABRT";
  }
}

} // namespace tilebridge::rt

void tilebridge_report_faults() { tilebridge::rt::installFaultHandler(); }
