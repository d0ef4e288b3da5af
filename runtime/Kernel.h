//===- Kernel.h - a kernel that is loaded ----------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/ArgumentType.h"
#include "runtime/AtomicGate.h"
#include "runtime/CodePlace.h"
#include "runtime/Manifest.h"
#include "runtime/Sharing.h"
#include "runtime/compiler_abi.h"
#include "runtime/executable_abi.h"
#include "runtime/tilebridge.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What the public header calls a kernel.
struct tilebridge_kernel {
  ~tilebridge_kernel();

  std::atomic<uint64_t> references{1};
  void *library = nullptr;
  const tb_executable_v1 *executable = nullptr;
  std::string manifestText;
  tilebridge::rt::Manifest manifest;
  tilebridge::rt::Atomics atomics = tilebridge::rt::Atomics::Own;
  std::vector<tilebridge::rt::ArgumentType> types;
  tilebridge::rt::SharingBySize sharing;
  /// Set where the kernel is for tilebridge_evaluate alone; `executable` then
  /// has no code.
  tb_reference_kernel *reference = nullptr;
  /// The same for tilebridge_simulate.
  tb_accel_kernel *accel = nullptr;
  const tb_compiler_v3 *compiler = nullptr;
  tb_executable_v1 description = {};
  /// Goes before the library does.
  std::unique_ptr<tilebridge::rt::CodeRange> code;
};

namespace tilebridge::rt {

/// Loads an artefact; `origin` names it in errors.
tilebridge_code loadKernel(std::string_view artefact, const std::string &origin,
                           tilebridge_kernel *&kernel);

/// Reads the signature; the executable is known.
bool checkSignature(tilebridge_kernel &kernel, std::string &why);

/// Checks arguments that carry their types, and writes their slots.
tilebridge_code writeArguments(const tilebridge_kernel &kernel,
                               const tilebridge_argument *arguments,
                               size_t count, uint64_t *slots);

/// How many programs a grid of the kernel has.
tilebridge_code checkGrid(const tilebridge_kernel &kernel,
                          const int64_t grid[3], int64_t &total);

/// Reads a regular file of at most `limit` bytes.
tilebridge_code readFile(const std::string &path, size_t limit,
                         std::string &contents);

/// "kernel 'add': argument 2 (*fp32)".
std::string describeArgument(const tilebridge_kernel &kernel, size_t index);

} // namespace tilebridge::rt
