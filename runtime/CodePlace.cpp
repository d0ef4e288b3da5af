//===- CodePlace.cpp - where in a kernel a thread is ------------------ -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CodePlace.h"

#include "runtime/Elf.h"

#include <dlfcn.h>
#include <execinfo.h>
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

const CodeRange *rangeOf(uint64_t address) {
  for (Entry *entry = entries.load(std::memory_order_acquire); entry;
       entry = entry->next) {
    const CodeRange *range = entry->range.load(std::memory_order_acquire);
    if (range && range->contains(address))
      return range;
  }
  return nullptr;
}

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

} // namespace

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

CodePlace findPlace(const void *context) {
  uint64_t address = programCounter(context);
  if (const CodeRange *range = rangeOf(address))
    return {range, address};
  void *frames[64];
  int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    // A return address is behind its call.
    address = uint64_t(reinterpret_cast<uintptr_t>(frames[i])) - 1;
    if (const CodeRange *range = rangeOf(address))
      return {range, address};
  }
  return {};
}

Message &Message::number(uint64_t value, unsigned radix) {
  char digits[20];
  size_t count = 0;
  do
    digits[sizeof(digits) - ++count] = "0123456789abcdef"[value % radix];
  while ((value /= radix) && count < sizeof(digits));
  return *this << std::string_view(digits + sizeof(digits) - count, count);
}

Message &Message::operator<<(const CodePlace &place) {
  LineTable::Place source;
  if (!place.range ||
      !place.range->lines.find(place.address - place.range->base, source))
    return *this;
  *this << " at ";
  if (!source.folder.empty() && source.file.substr(0, 1) != "/")
    *this << source.folder << "/";
  (*this << source.file << ":").number(source.line) << ":";
  return number(source.column);
}

void Message::write() const {
  if (::write(STDERR_FILENO, buffer, used) < 0)
    return; // There is nobody left to tell.
}

} // namespace tilebridge::rt
