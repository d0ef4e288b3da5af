//===- Codegen.h - from the bridge IR to a shared object --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class PassManager;
class TimingScope;
} // namespace mlir

namespace tilebridge::cpu {

struct CpuOptions {
  /// Line tables, so that perf and gdb show the lines of the kernel.
  bool debugInfo = true;
  /// A product and a sum may become one operation that rounds once.
  bool contracts = true;
  /// Called on the pass manager before it runs: printing, verifying.
  std::function<void(mlir::PassManager &)> instrument;
  /// Takes the time of each step, where there is one.
  mlir::TimingScope *timing = nullptr;
};

/// What the pipeline can be stopped at, as text.
enum class CpuStage {
  Vector, ///< loops over vectors and memrefs, before any conversion to LLVM
  Llvm,   ///< LLVM IR, optimized
  Asm     ///< assembly
};

/// Compiles a module of bridge IR, which must hold one kernel, into the bytes
/// of an ELF shared object that exports what runtime/executable_abi.h says. The
/// module is consumed: it holds the LLVM dialect afterwards. What is wrong with
/// the program is reported as diagnostics of the module's context; the error
/// then only says that it failed.
llvm::Expected<std::string>
compileToSharedObject(mlir::ModuleOp module, const CpuTarget &target,
                      const CpuOptions &options = {});

/// The same up to a stage, as text.
llvm::Expected<std::string> compileToText(mlir::ModuleOp module,
                                          const CpuTarget &target,
                                          CpuStage stage,
                                          const CpuOptions &options = {});

/// Registers what translation to LLVM IR needs. Idempotent; called by the
/// functions above.
void registerCpuTranslations(mlir::MLIRContext &context);

} // namespace tilebridge::cpu
