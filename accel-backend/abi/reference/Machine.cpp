//===- Machine.cpp - PEs as threads that take turns -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace accel {

static std::string nameOf(const accel_pe *pe) {
  return "PE (" + std::to_string(pe->row) + ", " + std::to_string(pe->column) +
         ")";
}

void Machine::fail(accel_pe *pe, const char *where,
                   const std::string &message) {
  if (!hasFailed)
    error = (where ? std::string(where) + ": " : "") + message + ", on " +
            nameOf(pe);
  hasFailed = true;
  throw Stop();
}

std::string Machine::deadlock() const {
  std::string text = "the PEs wait for one another for ever:";
  for (const auto &pe : pes)
    text +=
        "\n  " + nameOf(pe.get()) +
        (pe->isDone ? std::string(" has ended") : " waits for " + pe->waitsFor);
  return text;
}

/// The next PE that can run: the following one, or any.
accel_pe *Machine::next(accel_pe *from) {
  size_t count = pes.size(), first = 0;
  while (pes[first].get() != from)
    ++first;
  first += launch->seed ? random() % count : 1;
  for (size_t i = 0; i < count; ++i) {
    accel_pe *pe = pes[(first + i) % count].get();
    if (!pe->isDone && (hasFailed || !pe->canGoOn || pe->canGoOn()))
      return pe;
  }
  return nullptr;
}

void Machine::passOn(accel_pe *from) {
  running = next(from);
  bool isOver = std::all_of(pes.begin(), pes.end(),
                            [](const auto &pe) { return pe->isDone; });
  if (!running && !isOver) {
    error = deadlock();
    hasFailed = true;
    running = next(from);
  }
  if (running)
    running->turn.notify_one();
}

void Machine::wait(accel_pe *pe, std::function<bool()> canGoOn,
                   std::string waitsFor) {
  if (!hasFailed) {
    pe->canGoOn = std::move(canGoOn);
    pe->waitsFor = std::move(waitsFor);
    passOn(pe);
    if (running != pe) {
      std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
      pe->turn.wait(lock, [&] { return running == pe; });
      lock.release();
    }
    pe->canGoOn = nullptr;
  }
  if (hasFailed)
    throw Stop();
}

void Machine::runOne(accel_pe *pe) {
  std::unique_lock<std::mutex> lock(mutex);
  pe->turn.wait(lock, [&] { return running == pe; });
  try {
    if (!hasFailed)
      kernel->entry(pe, launch->arguments, int32_t(launch->grid[0]),
                    int32_t(launch->grid[1]), int32_t(launch->grid[2]));
    if (!hasFailed && !pe->pending.empty())
      fail(pe, pe->pending.begin()->second.dma.where,
           "the kernel ended and has not waited for this transfer");
  } catch (const Stop &) {
  }
  pe->isDone = true;
  passOn(pe);
}

void Machine::run() {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      auto pe = std::make_unique<accel_pe>();
      pe->machine = this;
      pe->row = row, pe->column = column;
      for (uint32_t i = 0; i < kernel->memory_count; ++i) {
        // 64 bytes more, to begin at an aligned address; NaN everywhere.
        pe->memories[kernel->memories[i].name].assign(
            kernel->memories[i].bytes + 64, char(0xff));
      }
      pes.push_back(std::move(pe));
    }
  running = pes.front().get();
  std::vector<std::thread> threads;
  for (auto &pe : pes)
    threads.emplace_back([this, one = pe.get()] { runOne(one); });
  for (std::thread &thread : threads)
    thread.join();
}

size_t Machine::lineSize(uint32_t along) const {
  return size_t((along & ACCEL_ALONG_COLUMN ? rows : 1) *
                (along & ACCEL_ALONG_ROW ? columns : 1));
}

uint64_t Machine::lineOf(const accel_pe *pe, uint32_t along) const {
  return uint64_t((along & ACCEL_ALONG_COLUMN ? 0 : pe->row) * columns +
                  (along & ACCEL_ALONG_ROW ? 0 : pe->column));
}

/// Where the buffers of a memory begin.
static char *baseOf(std::vector<char> &memory) {
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (64 - address % 64) % 64;
}

void Machine::check(accel_pe *pe, const char *where, const void *address,
                    uint64_t bytes) {
  if (!launch->arrays)
    return;
  auto at = reinterpret_cast<uintptr_t>(address);
  auto holds = [&](const void *begin, uint64_t size) {
    auto first = reinterpret_cast<uintptr_t>(begin);
    return at >= first && at - first <= size && bytes <= size - (at - first);
  };
  for (auto &[name, memory] : pe->memories)
    if (holds(baseOf(memory), memory.size() - 64))
      return;
  for (size_t i = 0; i < launch->array_count; ++i)
    if (holds(launch->arrays[i].begin, launch->arrays[i].bytes))
      return;
  // The nearest array that begins before it.
  std::string text = "an access of " + std::to_string(bytes) +
                     " bytes is beyond all arrays and scratchpads";
  for (size_t i = 0; i < launch->array_count; ++i) {
    auto begin = reinterpret_cast<uintptr_t>(launch->arrays[i].begin);
    if (at + bytes > begin && at - begin < launch->arrays[i].bytes + 65536)
      text = "an access of " + std::to_string(bytes) + " bytes at byte " +
             std::to_string(int64_t(at - begin)) + " of array " +
             std::to_string(i) + ", which has " +
             std::to_string(launch->arrays[i].bytes);
  }
  fail(pe, where, text);
}

} // namespace accel

using accel::Machine;

int64_t accel_pe_row(accel_pe *pe) { return pe->row; }
int64_t accel_pe_column(accel_pe *pe) { return pe->column; }
int64_t accel_pe_rows(accel_pe *pe) { return pe->machine->rows; }
int64_t accel_pe_columns(accel_pe *pe) { return pe->machine->columns; }

void *accel_memory(accel_pe *pe, const char *name) {
  auto found = pe->memories.find(name);
  if (found == pe->memories.end())
    pe->machine->fail(pe, nullptr,
                      std::string("the kernel said nothing of a memory '") +
                          name + "'");
  return accel::baseOf(found->second);
}

static int giveError(const std::string &text, char *error, size_t size) {
  if (error && size)
    std::snprintf(error, size, "%s", text.c_str());
  return text.empty() ? 0 : 1;
}

static std::string checkLaunch(const accel_kernel *kernel,
                               const accel_reference_launch *launch,
                               int64_t rows, int64_t columns) {
  std::string name = std::string("kernel '") + kernel->name + "'";
  if (launch->struct_size != sizeof(accel_reference_launch))
    return "struct_size of the launch is not sizeof(accel_reference_launch)";
  if (kernel->argument_count != launch->argument_count)
    return name + " takes " + std::to_string(kernel->argument_count) +
           " arguments, given were " + std::to_string(launch->argument_count);
  if ((kernel->rows && kernel->rows != rows) ||
      (kernel->columns && kernel->columns != columns))
    return name + " was lowered for a grid of " + std::to_string(kernel->rows) +
           "x" + std::to_string(kernel->columns) + " PEs, this one has " +
           std::to_string(rows) + "x" + std::to_string(columns);
  for (int d = 0; d < 3; ++d)
    if (kernel->grid[d] && kernel->grid[d] != launch->grid[d])
      return name + " was lowered for a launch of " +
             std::to_string(kernel->grid[d]) + " programs in dimension " +
             std::to_string(d) + ", this one has " +
             std::to_string(launch->grid[d]);
  if (rows * columns > 4096)
    return "a grid of " + std::to_string(rows * columns) +
           " PEs is more than the 4096 that this implementation runs";
  return "";
}

int accel_reference_run(const accel_kernel *kernel,
                        const accel_reference_launch *launch, char *error,
                        size_t size) {
  if (kernel->abi_version > ACCEL_ABI_VERSION)
    return giveError("the kernel was compiled with version " +
                         std::to_string(kernel->abi_version) +
                         " of accel_abi.h, this is version " +
                         std::to_string(ACCEL_ABI_VERSION),
                     error, size);
  int64_t rows = launch->rows   ? launch->rows
                 : kernel->rows ? kernel->rows
                                : 1,
          columns = launch->columns   ? launch->columns
                    : kernel->columns ? kernel->columns
                                      : 1;
  std::string problem = checkLaunch(kernel, launch, rows, columns);
  if (!problem.empty())
    return giveError(problem, error, size);
  if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2])
    return giveError("", error, size);
  Machine machine;
  machine.kernel = kernel;
  machine.launch = launch;
  machine.rows = rows;
  machine.columns = columns;
  machine.random.seed(launch->seed);
  machine.run();
  return giveError(machine.error, error, size);
}
