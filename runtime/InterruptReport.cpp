//===- InterruptReport.cpp - naming the line that takes long ---------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel that does not end cannot be left. An interrupt says where it is, and
// goes on to whoever wanted it, such as Python, which raises its exception once
// the launch returns; a second one from the terminal ends the process.
//
// The launching thread may have done its programs and wait for the others. It
// then asks those, one after the other, with a signal of its own that brings
// the same handler.

#include "runtime/InterruptReport.h"

#include "runtime/CodePlace.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tilebridge::rt {

namespace {

// Read by the handler, where no memory may be allocated for it.
#define TB_HANDLER_LOCAL __attribute__((tls_model("initial-exec"))) thread_local

struct sigaction previousInterrupt;

/// What this thread waits for, whether that is compiled code, and how often it
/// was interrupted there.
TB_HANDLER_LOCAL const char *running = nullptr;
TB_HANDLER_LOCAL bool isCompiled = false;
TB_HANDLER_LOCAL unsigned interrupts = 0;

/// Whether the process's first thread waits for a kernel, and that thread. The
/// system prefers it for interrupts, but may take any other.
std::atomic<bool> doesFirstWait{false};
std::atomic<pthread_t> first{};

/// The threads of teams by their numbers; 0 where there is none. Each has a
/// cache line, as each thread writes its own at every launch.
struct alignas(64) Helper {
  std::atomic<pid_t> thread{0};
};
constexpr unsigned maxHelpers = 256;
Helper helpers[maxHelpers];
TB_HANDLER_LOCAL pid_t ownThread = 0;

/// The one question that may be open.
struct Question {
  std::atomic<bool> isTaken{false};
  /// A new one each time, so that a late answer to an earlier one is known.
  std::atomic<unsigned> number{0};
  std::atomic<unsigned> answered{0};
  std::atomic<const char *> kernel{nullptr};
  std::atomic<const CodeRange *> range{nullptr};
  std::atomic<uint64_t> address{0};
};
Question question;

void answer(const void *context) {
  unsigned number = question.number.load();
  const char *kernel = question.kernel.load();
  CodePlace place = findPlace(context);
  // Its own launch may be of another kernel, which may go at any time.
  if (!kernel || !place.range || place.range->name != kernel)
    place = {};
  question.range.store(place.range);
  question.address.store(place.address);
  question.answered.store(number);
}

bool ask(pid_t thread) {
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &question;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGINT, &info) == 0;
}

/// Waits up to 20 ms for the answer to the question of that number.
bool isAnswered(unsigned number) {
  for (int i = 0; i < 200; ++i) {
    if (question.answered.load() == number)
      return true;
    timespec time = {0, 100'000};
    nanosleep(&time, nullptr);
  }
  return false;
}

void onInterrupt(int signal, siginfo_t *info, void *context);

/// Where one of the helpers is in `kernel`.
CodePlace askHelpers(const char *kernel) {
  struct sigaction now;
  bool isOurs = sigaction(SIGINT, nullptr, &now) == 0 &&
                (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == onInterrupt;
  if (!isOurs || question.isTaken.exchange(true))
    return {};
  CodePlace found;
  question.kernel.store(kernel);
  int asked = 0;
  for (const Helper &helper : helpers) {
    pid_t thread = helper.thread.load();
    if (!thread || thread == ownThread)
      continue;
    unsigned number = question.number.load() + 1;
    question.number.store(number);
    if (ask(thread) && isAnswered(number))
      found = {question.range.load(), question.address.load()};
    if (found.range || ++asked == 16)
      break;
  }
  question.isTaken.store(false);
  return found;
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

void goOn(int signal, siginfo_t *info, void *context) {
  bool isQueued = info->si_code == SI_QUEUE;
  // One that a program sends, such as a notebook, ends nothing.
  bool isTyped =
      info->si_code > 0 || (isQueued && info->si_value.sival_ptr == &first);
  if (handOver(signal, isTyped))
    return;
  bool ends = previousInterrupt.sa_handler == SIG_DFL;
  if (running) {
    ends |= isTyped && ++interrupts > 1;
    CodePlace place;
    // What interprets a kernel may be in an allocation, where looking for the
    // callers might wait for its lock.
    if (isCompiled && !(place = findPlace(context)).range)
      place = askHelpers(running);
    Message message;
    message << "tilebridge: kernel '" << running << "' is running" << place
            << (ends      ? ": it is left, and the process ends\n"
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
}

void onInterrupt(int signal, siginfo_t *info, void *context) {
  int error = errno;
  if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &question)
    answer(context);
  else
    goOn(signal, info, context);
  errno = error;
}

} // namespace

RunningKernel::RunningKernel(const std::string &name, Means means) {
  interrupts = 0;
  isCompiled = means == Means::Code;
  running = name.c_str();
  static thread_local const bool isFirst = gettid() == getpid();
  if (isFirst) {
    first.store(pthread_self(), std::memory_order_relaxed);
    doesFirstWait.store(true, std::memory_order_release);
  }
}

RunningKernel::~RunningKernel() {
  if (doesFirstWait.load() && pthread_equal(first.load(), pthread_self()))
    doesFirstWait.store(false, std::memory_order_release);
  running = nullptr;
}

HelpingThread::HelpingThread(unsigned number) : number(number) {
  if (!ownThread)
    ownThread = gettid();
  if (number < maxHelpers)
    helpers[number].thread.store(ownThread, std::memory_order_relaxed);
}

HelpingThread::~HelpingThread() {
  if (number < maxHelpers)
    helpers[number].thread.store(0, std::memory_order_relaxed);
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

} // namespace tilebridge::rt
