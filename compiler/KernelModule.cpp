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

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace tilebridge::compiler {

DiagnosticCollector::DiagnosticCollector(MLIRContext &context,
                                         std::string &errors,
                                         std::string *remarks)
    : handler(&context, [&errors, remarks](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          frontend::appendDiagnostic(diagnostic, errors);
        else if (remarks)
          frontend::appendDiagnostic(diagnostic, *remarks);
        return success();
      }) {}

bool isTextWith(llvm::StringRef input, llvm::StringRef attribute) {
  llvm::MemoryBufferRef buffer(input, "");
  return !isBytecode(buffer) && input.contains(attribute) &&
         !input.contains("tt.func"); // a comment may name the attribute
}

bool isBridgeText(llvm::StringRef input) {
  return isTextWith(input, linalg_ext::kKernelAttr);
}

OwningOpRef<ModuleOp> parseText(const Request &request, MLIRContext &context,
                                Result &result) {
  return frontend::parseModule(request.input, request.sourceName, context,
                               result.errors,
                               [](ModuleOp) { return success(); });
}

OwningOpRef<ModuleOp> readBridge(const Request &request, MLIRContext &context,
                                 Result &result) {
  PassManager manager(&context, ModuleOp::getOperationName());
  OwningOpRef<ModuleOp> module;
  if (isBridgeText(request.input)) {
    module = parseText(request, context, result);
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
