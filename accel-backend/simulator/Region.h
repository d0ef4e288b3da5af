//===- Region.h - bytes that a strided view covers --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Datum.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tilebridge::accel {

/// Elements of a view as addresses. Dimensions of one element are gone, and
/// neighbours that are one range are one dimension.
struct Region {
  uint64_t address = 0;
  unsigned elementBytes = 1;
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 4> strides; // bytes

  static Region of(const reference::View &view, unsigned elementBytes);
  int64_t count() const { return reference::countOf(sizes); }
  int64_t bytes() const { return count() * elementBytes; }
  /// First and last byte, the latter exclusive; equal where it is empty.
  std::pair<uint64_t, uint64_t> extent() const;
  /// Calls `run` with contiguous ranges, until it gives false; gives that.
  bool forEachRun(
      llvm::function_ref<bool(uint64_t address, uint64_t bytes)> run) const;
};

/// Two views of the same sizes, such as the sides of a copy, whose dimensions
/// are merged where both allow it.
struct RegionPair {
  unsigned elementBytes = 1;
  uint64_t from = 0, to = 0;
  llvm::SmallVector<int64_t, 4> sizes, fromStrides, toStrides;

  static RegionPair of(const reference::View &from, const reference::View &to,
                       unsigned elementBytes, bool merges = true);
  /// Copies elements one after the other, the last dimension fastest. `combine`
  /// is called in place of a copy where there is one.
  void copy(llvm::function_ref<void(char *to, const char *from)> combine =
                nullptr) const;
};

} // namespace tilebridge::accel
