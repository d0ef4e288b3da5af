//===- DiskCache.h - compiled kernels on disk -------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <string_view>

namespace tilebridge::rt {

/// Compiled kernels that outlive the process. Nothing here is ever an error:
/// what cannot be read is compiled again, what cannot be written is not kept.
class DiskCache {
public:
  /// In $TILEBRIDGE_CACHE_DIR (empty: nowhere), else
  /// $XDG_CACHE_HOME/tilebridge, else ~/.cache/tilebridge.
  static DiskCache fromEnvironment();

  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  /// Finds the artefact stored under `key`. One that is damaged is removed.
  bool get(const std::string &key, std::string &artefact) const;

  /// Stores an artefact: others see it whole or not at all, whatever happens
  /// meanwhile.
  void put(const std::string &key, std::string_view artefact) const;

  /// Removes what was written least recently until at most `mostBytes` are
  /// left, and what crashed writers left behind.
  void prune(size_t mostBytes) const;

private:
  std::string path(const std::string &key) const;

  std::string folder; // empty: there is no cache
};

} // namespace tilebridge::rt
