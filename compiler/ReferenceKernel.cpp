//===- ReferenceKernel.cpp - a kernel for the reference evaluator ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/ReferenceKernel.h"

#include "compiler/KernelModule.h"
#include "compiler/Registration.h"

using namespace mlir;

namespace tilebridge::compiler {

ReferenceKernel::ReferenceKernel()
    : context(dialectRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
}

bool ReferenceKernel::read(const Request &request, Result &result) {
  module = readBridge(request, context, result);
  if (!module)
    return false;
  kernel = reference::findKernel(*module);
  return kernel != nullptr;
}

std::unique_ptr<ReferenceKernel> ReferenceKernel::load(const Request &request,
                                                       Result &result) {
  std::unique_ptr<ReferenceKernel> loaded(new ReferenceKernel());
  DiagnosticCollector collector(loaded->context, result.errors);
  if (!loaded->read(request, result)) {
    explainFailure(request, result);
    return nullptr;
  }
  writeManifest(loaded->kernel, "reference", result);
  return loaded;
}

reference::Outcome ReferenceKernel::evaluate(const reference::Launch &launch,
                                             std::string &errors) {
  std::lock_guard<std::mutex> lock(mutex);
  DiagnosticCollector collector(context, errors);
  return reference::evaluate(kernel, launch);
}

} // namespace tilebridge::compiler
