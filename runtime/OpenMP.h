//===- OpenMP.h - the OpenMP library of this process -----------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tilebridge::rt {

/// The entry points of an OpenMP library. All of them exist or, in a process
/// that has no OpenMP, none.
struct OpenMP {
  void (*parallel)(void (*body)(void *), void *data, unsigned threads,
                   unsigned flags) = nullptr;
  int (*maxThreads)() = nullptr;
  int (*threadNumber)() = nullptr;
  int (*teamSize)() = nullptr;
  int (*inParallel)() = nullptr;
  std::string path;
  bool survivesFork = false;

  explicit operator bool() const { return parallel != nullptr; }

  /// How many threads a launch by this thread should use.
  unsigned threadsForLaunch() const;
};

/// Found on the first call: the library that the process has loaded (so that
/// PyTorch and kernels share one pool of threads, and torch.set_num_threads
/// holds for both), else one of the system's.
const OpenMP &openMP();

} // namespace tilebridge::rt
