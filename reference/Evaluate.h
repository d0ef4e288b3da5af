//===- Evaluate.h - runs a kernel of the bridge IR op by op -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <functional>
#include <optional>
#include <string>

namespace tilebridge::reference {

/// An array that the programs of a launch may touch.
struct MemoryRange {
  void *begin = nullptr;
  uint64_t size = 0;     // bytes
  unsigned argument = 0; // what messages call it if no argument does
};

/// What to run, and what to tell about it.
struct Launch {
  /// The kernel's arguments, as tb_launch_v1 has them.
  llvm::ArrayRef<uint64_t> slots;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// Runs this program alone.
  std::optional<std::array<uint32_t, 3>> only;
  /// Shuffles the programs by this seed; else x runs fastest.
  std::optional<uint64_t> seed;
  /// Whether accesses outside of `memory` are errors.
  bool isChecked = false;
  llvm::ArrayRef<MemoryRange> memory;
  /// Where every value is written to; empty: nowhere.
  std::string probeFolder;
  /// Only values of operations of this name, such as "arith.addf"; empty: all.
  std::string probeOp;
  /// A byte of memory; `note` hears of each store to it.
  const void *watch = nullptr;
  std::function<void(mlir::Operation *, std::array<uint32_t, 3> program,
                     uint64_t bits)>
      note;
  std::function<void(llvm::StringRef line)> print;
};

/// How a launch ended. Errors are diagnostics at the operations; the text of an
/// assertion that failed is in `assertion`.
struct Outcome {
  bool isError = false;
  std::string assertion; // "file:line:col: message"
};

/// The kernel of a module, or null after an error.
mlir::func::FuncOp findKernel(mlir::ModuleOp module);

/// How many slots the kernel's arguments take.
unsigned slotCountOf(mlir::func::FuncOp kernel);

/// What messages call an array of the launch: "argument 'x'" by the names that
/// the kernel's source gives the arguments that point into it, or "argument 2".
std::string describeArray(mlir::func::FuncOp kernel, const Launch &launch,
                          unsigned array);

Outcome evaluate(mlir::func::FuncOp kernel, const Launch &launch);

} // namespace tilebridge::reference
