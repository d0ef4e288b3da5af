//===- CompiledKernel.h - compiles MLIR text and runs it --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/Codegen.h"
#include "runtime/executable_abi.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tilebridge::cpu::test {

/// A slot of a launch from a pointer or a scalar.
template <typename T> uint64_t slot(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// What a test does to a module before it is compiled.
using Transform = llvm::function_ref<void(mlir::ModuleOp)>;

/// A kernel, compiled from the text of a module and loaded. A failure fails the
/// test and leaves `executable` null.
class CompiledKernel {
public:
  explicit CompiledKernel(llvm::StringRef source,
                          llvm::StringRef target = "cpu",
                          Transform transform = nullptr);
  ~CompiledKernel();
  CompiledKernel(const CompiledKernel &) = delete;
  CompiledKernel &operator=(const CompiledKernel &) = delete;

  explicit operator bool() const { return executable; }

  /// Runs programs [begin, end) of a grid on the calling thread; all of them if
  /// `end` is negative.
  void run(llvm::ArrayRef<uint64_t> slots,
           std::array<uint32_t, 3> grid = {1, 1, 1}, int64_t begin = 0,
           int64_t end = -1) const;

  const tb_executable_v1 *executable = nullptr;
  /// What the kernel printed, and what failed.
  mutable std::string printed, failure;

private:
  int fd = -1;
  void *library = nullptr;
};

/// A context with the dialects that such modules use.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The bytes of a shared object for the text of a module, or a failed test.
std::string compile(llvm::StringRef source, llvm::StringRef target = "cpu",
                    Transform transform = nullptr);

} // namespace tilebridge::cpu::test
