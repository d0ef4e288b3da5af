//===- KernelModule.h - kernels that the compiler runs itself ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the reference evaluator and the accelerators' simulator have in common:
// how a kernel is read, and what is said of it.
#pragma once

#include "compiler/Job.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilebridge::compiler {

/// Collects the errors of a context while it lives, and its remarks where they
/// are wanted.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, std::string &errors,
                      std::string *remarks = nullptr);

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Whether an input is text whose functions are not TTIR's, and which has an
/// attribute that says of what stage they are.
bool isTextWith(llvm::StringRef input, llvm::StringRef attribute);

/// Whether an input is bridge IR as text.
bool isBridgeText(llvm::StringRef input);

/// The input as MLIR; null after an error.
mlir::OwningOpRef<mlir::ModuleOp>
parseText(const Request &request, mlir::MLIRContext &context, Result &result);

/// Bridge IR from TTIR, or from bridge IR as text; null after an error.
mlir::OwningOpRef<mlir::ModuleOp>
readBridge(const Request &request, mlir::MLIRContext &context, Result &result);

/// The manifest that compiled kernels have, as the result's output.
void writeManifest(mlir::func::FuncOp kernel, llvm::StringRef target,
                   Result &result);

/// Sees to it that a load that failed has said why.
void explainFailure(const Request &request, Result &result);

} // namespace tilebridge::compiler
