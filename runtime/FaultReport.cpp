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
//
// A kernel that does not end cannot be left either. An interrupt says where it
// is, and goes on to whoever wanted it, such as Python, which raises its
// exception once the launch returns; a second one from the terminal ends the
// process.

#include "runtime/FaultReport.h"

#include "runtime/Elf.h"
#include "runtime/tilebridge.h"

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace tilebridge::rt {

namespace {

/// An element of a list that only grows; one whose kernel went is used again.
struct Entry {
  std::atomic<const CodeRange *> range{nullptr};
  Entry *next = nullptr;
};

std::atomic<Entry *> entries{nullptr};

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

struct sigaction previousInterrupt;

/// What this thread waits for, whether that is compiled code, and how often it
/// was interrupted there.
__attribute__((tls_model("initial-exec"))) thread_local const char *running =
    nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool isCompiled = false;
__attribute__((tls_model("initial-exec"))) thread_local unsigned interrupts = 0;

/// Whether the process's first thread waits for a kernel, and that thread. The
/// system prefers it for interrupts, but may take any other.
std::atomic<bool> doesFirstWait{false};
std::atomic<pthread_t> first{};

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

const CodeRange *rangeOf(uint64_t address) {
  for (Entry *entry = entries.load(std::memory_order_acquire); entry;
       entry = entry->next) {
    const CodeRange *range = entry->range.load(std::memory_order_acquire);
    if (range && range->contains(address))
      return range;
  }
  return nullptr;
}

/// Text of limited length without allocation.
class Message {
public:
  Message &operator<<(std::string_view text) {
    size_t count = std::min(text.size(), sizeof(buffer) - used);
    std::memcpy(buffer + used, text.data(), count);
    used += count;
    return *this;
  }
  Message &number(uint64_t value, unsigned radix = 10) {
    char digits[20];
    size_t count = 0;
    do
      digits[sizeof(digits) - ++count] = "0123456789abcdef"[value % radix];
    while ((value /= radix) && count < sizeof(digits));
    return *this << std::string_view(digits + sizeof(digits) - count, count);
  }
  void write() const {
    if (::write(STDERR_FILENO, buffer, used) < 0)
      return; // There is nobody left to tell.
  }

private:
  char buffer[2048];
  size_t used = 0;
};

uint64_t programCounter(const void *context) {
  const auto *user = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
  return uint64_t(user->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return uint64_t(user->uc_mcontext.pc);
#else
  (void)user;
  return 0;
#endif
}

/// The kernel that was running, and an address in it: that of the fault, or of
/// a call that it was made from (in a function of libm, say).
const CodeRange *findKernel(const void *context, uint64_t &address) {
  address = programCounter(context);
  if (const CodeRange *range = rangeOf(address))
    return range;
  void *frames[64];
  int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    // A return address is behind its call.
    address = uint64_t(reinterpret_cast<uintptr_t>(frames[i])) - 1;
    if (const CodeRange *range = rangeOf(address))
      return range;
  }
  return nullptr;
}

/// " at file:line:column", or nothing.
void writePlace(Message &message, const CodeRange &range, uint64_t address) {
  LineTable::Place place;
  if (!range.lines.find(address - range.base, place))
    return;
  message << " at ";
  if (!place.folder.empty() && place.file.substr(0, 1) != "/")
    message << place.folder << "/";
  (message << place.file << ":").number(place.line) << ":";
  message.number(place.column);
}

void report(int signal, const siginfo_t *info, const CodeRange &range,
            uint64_t address) {
  Message message;
  message << "tilebridge: kernel '" << range.name << "' ends the process (";
  message << nameOfSignal(signal) << ")";
  writePlace(message, range, address);
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
  uint64_t address = 0;
  if (const CodeRange *range = findKernel(context, address))
    report(signal, info, *range, address);
  for (int i = 0; i < kSignalCount; ++i)
    sigaction(kSignals[i], &previous[i], nullptr);
  // A signal that was sent, and not caused by an instruction, comes no second
  // time by itself.
  if (info->si_code <= 0)
    raise(signal);
}

/// Ends the process as an interrupt does that nobody handles, once the handler
/// returns.
void endByInterrupt() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  raise(SIGINT);
}

/// Hands an interrupt that came to another thread to the first one, if that
/// waits for a kernel.
bool handOver(int signal, bool isTyped) {
  if (running || !doesFirstWait.load())
    return false;
  sigval value = {};
  value.sival_ptr = isTyped ? &first : nullptr;
  return pthread_sigqueue(first.load(), signal, value) == 0;
}

void onInterrupt(int signal, siginfo_t *info, void *context) {
  int error = errno;
  // One that a program sends, such as a notebook, ends nothing.
  bool isTyped = info->si_code > 0 || (info->si_code == SI_QUEUE &&
                                       info->si_value.sival_ptr == &first);
  if (handOver(signal, isTyped)) {
    errno = error;
    return;
  }
  bool ends = previousInterrupt.sa_handler == SIG_DFL;
  if (running) {
    ends |= isTyped && ++interrupts > 1;
    Message message;
    message << "tilebridge: kernel '" << running << "' is running";
    uint64_t address = 0;
    // What interprets a kernel may be in an allocation, where looking for the
    // callers might wait for its lock.
    const CodeRange *range =
        isCompiled ? findKernel(context, address) : nullptr;
    if (range)
      writePlace(message, *range, address);
    message << (ends      ? ": it is left, and the process ends\n"
                : isTyped ? "; a second interrupt ends the process\n"
                          : "\n");
    message.write();
  }
  if (ends)
    endByInterrupt();
  else if (previousInterrupt.sa_flags & SA_SIGINFO)
    previousInterrupt.sa_sigaction(signal, info, context);
  else
    previousInterrupt.sa_handler(signal);
  errno = error;
}

void installInterruptHandler() {
  // What ignores interrupts, as programs in the background do, goes on so.
  if (sigaction(SIGINT, nullptr, &previousInterrupt) != 0 ||
      previousInterrupt.sa_handler == SIG_IGN)
    return;
  struct sigaction action = previousInterrupt;
  action.sa_sigaction = onInterrupt;
  action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
}

} // namespace

RunningKernel::RunningKernel(const std::string &name, Means means) {
  interrupts = 0;
  isCompiled = means == Means::Code;
  running = name.c_str();
  static thread_local const bool isFirst = gettid() == getpid();
  if (isFirst) {
    first.store(pthread_self());
    doesFirstWait.store(true);
  }
}

RunningKernel::~RunningKernel() {
  if (doesFirstWait.load() && pthread_equal(first.load(), pthread_self()))
    doesFirstWait.store(false);
  running = nullptr;
}

CodeRange::CodeRange(const void *symbol, std::string_view object,
                     std::string kernel)
    : name(std::move(kernel)),
      lines(std::string(section(object, ".debug_line"))) {
  Dl_info info;
  if (dladdr(symbol, &info) && info.dli_fbase) {
    base = uint64_t(reinterpret_cast<uintptr_t>(info.dli_fbase));
    size = sizeInMemory(object);
  }
  for (Entry *entry = entries.load(std::memory_order_acquire); entry;
       entry = entry->next) {
    const CodeRange *none = nullptr;
    if (entry->range.compare_exchange_strong(none, this))
      return;
  }
  auto *entry = new Entry;
  entry->range.store(this, std::memory_order_relaxed);
  entry->next = entries.load(std::memory_order_relaxed);
  while (!entries.compare_exchange_weak(entry->next, entry))
    continue;
}

CodeRange::~CodeRange() {
  for (Entry *entry = entries.load(std::memory_order_acquire); entry;
       entry = entry->next) {
    const CodeRange *own = this;
    if (entry->range.compare_exchange_strong(own, nullptr))
      return;
  }
}

void installFaultHandler() {
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
