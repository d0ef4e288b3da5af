//===- ReferenceKernel.h - a kernel for the reference evaluator -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/Job.h"
#include "reference/Evaluate.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <mutex>

namespace tilebridge::compiler {

/// A kernel as bridge IR, with the context that it lives in.
class ReferenceKernel {
public:
  /// From TTIR, or from bridge IR as text. Null where `result` has errors; its
  /// output is a manifest as compiled kernels have one.
  static std::unique_ptr<ReferenceKernel> load(const Request &request,
                                               Result &result);

  unsigned slotCount() { return reference::slotCountOf(kernel); }

  /// Errors are appended to `errors` as those of a compilation. One launch at a
  /// time runs; others wait.
  reference::Outcome evaluate(const reference::Launch &launch,
                              std::string &errors);

private:
  ReferenceKernel();
  bool read(const Request &request, Result &result);

  std::mutex mutex;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
};

} // namespace tilebridge::compiler
