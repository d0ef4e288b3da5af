//===- KernelModule.cpp - kernels that the compiler runs itself -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/KernelModule.h"

#include "frontend/Passes.h"
#include "frontend/Reader.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tilebridge::compiler {

ErrorCollector::ErrorCollector(MLIRContext &context, std::string &errors)
    : handler(&context, [&errors](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          frontend::appendDiagnostic(diagnostic, errors);
        return success();
      }) {}

OwningOpRef<ModuleOp> parseText(const Request &request, MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(request.input, request.sourceName),
      llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

OwningOpRef<ModuleOp> readBridge(const Request &request, MLIRContext &context,
                                 Result &result) {
  PassManager manager(&context, ModuleOp::getOperationName());
  OwningOpRef<ModuleOp> module;
  // Only bridge IR has this attribute.
  if (request.input.contains(linalg_ext::kKernelAttr)) {
    module = parseText(request, context);
    manager.addPass(linalg_ext::createVerifyBridgePass());
  } else {
    module = frontend::readModule(request.input, request.sourceName, context,
                                  result.errors);
    frontend::buildFrontendPipeline(manager);
    ttl::buildTritonToLinalgPipeline(manager);
  }
  if (module && failed(manager.run(*module)))
    return nullptr;
  return module;
}

void writeManifest(func::FuncOp kernel, llvm::StringRef target,
                   Result &result) {
  llvm::json::Array signature;
  for (auto type : kernel->getAttrOfType<ArrayAttr>(linalg_ext::kSignatureAttr)
                       .getAsRange<StringAttr>())
    signature.push_back(type.getValue());
  llvm::raw_string_ostream(result.output) << llvm::json::Value(
      llvm::json::Object{{"name", kernel.getName()},
                         {"signature", std::move(signature)},
                         {"target", target},
                         {"features", ""}});
}

void explainFailure(const Request &request, Result &result) {
  if (result.errors.empty())
    result.errors =
        (request.sourceName +
         ": error: failed without a message, a bug of this compiler\n")
            .str();
}

} // namespace tilebridge::compiler
