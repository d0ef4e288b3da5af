//===- ReferenceKernel.cpp - a kernel for the reference evaluator ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/ReferenceKernel.h"

#include "compiler/Registration.h"
#include "frontend/Passes.h"
#include "frontend/Reader.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tilebridge::compiler {

namespace {
/// Collects the errors of a context while it lives.
class ErrorCollector {
public:
  ErrorCollector(MLIRContext &context, std::string &errors)
      : handler(&context, [&errors](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            frontend::appendDiagnostic(diagnostic, errors);
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

ReferenceKernel::ReferenceKernel()
    : context(dialectRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
}

bool ReferenceKernel::read(const Request &request, Result &result) {
  PassManager manager(&context, ModuleOp::getOperationName());
  if (request.input.contains(linalg_ext::kKernelAttr)) {
    // Only bridge IR has this attribute.
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(request.input, request.sourceName),
        llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, &context);
    manager.addPass(linalg_ext::createVerifyBridgePass());
  } else {
    module = frontend::readModule(request.input, request.sourceName, context,
                                  result.errors);
    frontend::buildFrontendPipeline(manager);
    ttl::buildTritonToLinalgPipeline(manager);
  }
  if (!module || failed(manager.run(*module)))
    return false;
  kernel = reference::findKernel(*module);
  return kernel != nullptr;
}

std::unique_ptr<ReferenceKernel> ReferenceKernel::load(const Request &request,
                                                       Result &result) {
  std::unique_ptr<ReferenceKernel> loaded(new ReferenceKernel());
  ErrorCollector collector(loaded->context, result.errors);
  if (!loaded->read(request, result)) {
    if (result.errors.empty())
      result.errors = (request.sourceName +
                       ": error: failed without a message, a bug of this "
                       "compiler\n")
                          .str();
    return nullptr;
  }
  llvm::json::Array signature;
  for (auto type :
       loaded->kernel->getAttrOfType<ArrayAttr>(linalg_ext::kSignatureAttr)
           .getAsRange<StringAttr>())
    signature.push_back(type.getValue());
  llvm::raw_string_ostream(result.output) << llvm::json::Value(
      llvm::json::Object{{"name", loaded->kernel.getName()},
                         {"signature", std::move(signature)},
                         {"target", "reference"},
                         {"features", ""}});
  return loaded;
}

reference::Outcome ReferenceKernel::evaluate(const reference::Launch &launch,
                                             std::string &errors) {
  std::lock_guard<std::mutex> lock(mutex);
  ErrorCollector collector(context, errors);
  return reference::evaluate(kernel, launch);
}

} // namespace tilebridge::compiler
