//===- CompilerKernel.h - kernels that the compiler's library runs *- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the calls of the reference evaluator and of the accelerators' simulator
// have in common.

#pragma once

#include "runtime/Kernel.h"

#include <functional>

namespace tilebridge::rt {

/// How a kind of kernel is called.
struct CompilerKernelKind {
  const char *loader;  // the function that loads such a kernel
  const char *options; // the type of its launches' options
  size_t optionsSize;
  const char *verb; // what a launch does
};

/// Has a library of the compiler's load a kernel by `load`, which is false
/// after an error of the request.
tilebridge_code
loadInCompiler(const void *ttir, size_t size,
               const tilebridge_compile_options *options,
               const std::function<bool(tilebridge_kernel &,
                                        const tb_compile_request_v1 &)> &load,
               tilebridge_kernel **result);

/// A launch: what the caller gave, and what becomes of it.
struct CompilerLaunch {
  int64_t grid[3];
  const tilebridge_argument *arguments;
  size_t count;
  std::vector<uint64_t> slots = {};
  int64_t programs = 0;
};

/// Checks a launch of `kernel`, and writes its slots. `isLoaded`: the kernel is
/// of this kind. `optionsSize` is that of the caller's options, null for none.
tilebridge_code checkLaunch(const tilebridge_kernel *kernel, bool isLoaded,
                            const CompilerKernelKind &kind,
                            const size_t *optionsSize, CompilerLaunch &launch);

/// The caller's arrays, with a place more than there are.
template <typename OptionsT>
std::vector<tb_memory_v1> memoryOf(const OptionsT &options) {
  std::vector<tb_memory_v1> memory(options.memory_count + 1);
  for (size_t i = 0; options.memory && i < options.memory_count; ++i)
    memory[i] = {options.memory[i].begin, options.memory[i].size};
  return memory;
}

} // namespace tilebridge::rt
