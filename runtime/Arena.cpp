//===- Arena.cpp - scratch memory of a thread -------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Arena.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace tilebridge::rt {

namespace {

constexpr size_t hugePage = size_t(2) << 20;

/// CPUs compare addresses by their lower 12 bits first: where buffers lie in a
/// page counts, and is not to differ from one process to the next.
constexpr size_t page = 4096;

void *allocate(size_t size) {
  bool isLarge = size >= 2 * hugePage;
  size_t alignment = isLarge ? hugePage : size >= page ? page : 64;
  if (size > SIZE_MAX - alignment)
    return nullptr;
  size = (size + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, size);
  if (memory && isLarge)
    madvise(
        memory, size,
        MADV_HUGEPAGE); // Advice only: a kernel without huge pages declines it.
  return memory;
}

struct Arena {
  void *memory = nullptr;
  size_t size = 0;
  bool isInUse = false;

  ~Arena() { std::free(memory); }
};

thread_local Arena arena;

alignas(64) char nothing[64];

} // namespace

Scratch::Scratch(size_t size) {
  if (size == 0) {
    memory = nothing;
    return;
  }
  if (arena.isInUse) {
    memory = allocate(size);
    isOwned = true;
    return;
  }
  if (arena.size < size) {
    std::free(arena.memory);
    arena.memory = allocate(size);
    arena.size = arena.memory ? size : 0;
  }
  memory = arena.memory;
  isBorrowed = arena.isInUse = memory != nullptr;
}

Scratch::~Scratch() {
  if (isOwned)
    std::free(memory);
  if (isBorrowed)
    arena.isInUse = false;
}

} // namespace tilebridge::rt
