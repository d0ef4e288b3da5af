//===- Job.cpp - one kernel from TTIR to any stage ------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Job.h"

#include "compiler/Explain.h"
#include "compiler/Header.h"
#include "compiler/KernelModule.h"
#include "compiler/Registration.h"
#include "cpu-backend/Codegen.h"
#include "frontend/Passes.h"
#include "frontend/Reader.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;

namespace tilebridge::compiler {

static std::optional<Stage> parseStage(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Stage>>(name)
      .Case("explain", Stage::Explain)
      .Case("explain-json", Stage::ExplainJson)
      .Case("header", Stage::Header)
      .Case("ttir", Stage::Ttir)
      .Case("bridge", Stage::Bridge)
      .Case("vector", Stage::Vector)
      .Case("llvm", Stage::Llvm)
      .Case("asm", Stage::Asm)
      .Case("so", Stage::SharedObject)
      .Default(std::nullopt);
}

/// Our passes may be named without their prefix: "cpu-plan".
static std::string passArgument(llvm::StringRef name) {
  std::string full = ("tilebridge-" + name).str();
  return isPass(full) ? full : name.str();
}

namespace {

/// One compilation while it runs.
class Job {
public:
  Job(const Request &request, Result &result)
      : request(request), result(result), log(result.log),
        printAfter(passArgument(request.printAfter)),
        context(dialectRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context, [this](Diagnostic &diagnostic) {
          take(diagnostic);
          return success();
        }) {}

  void run(Stage stage);

private:
  void take(Diagnostic &diagnostic);
  void addError(llvm::Twine text);
  bool runPasses(llvm::StringRef name,
                 llvm::function_ref<void(OpPassManager &)> build);
  void instrument(PassManager &manager);
  bool lowerToBridge(Stage stage);
  void explain(bool asJson);
  void generateCode(Stage stage);
  void printModule();
  void printHeader();

  const Request &request;
  Result &result;
  llvm::raw_string_ostream log;
  std::string printAfter;
  MLIRContext context;
  ScopedDiagnosticHandler diagnostics;
  OwningOpRef<ModuleOp> module;
  DefaultTimingManager timing;
  TimingScope timingScope;
  bool hasPrinted = false;
};

} // namespace

void Job::take(Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    return frontend::appendDiagnostic(diagnostic, result.errors);
  case DiagnosticSeverity::Remark:
    if (!request.wantsRemarks)
      return;
    break;
  case DiagnosticSeverity::Warning:
  case DiagnosticSeverity::Note:
    break;
  }
  std::string text;
  frontend::appendDiagnostic(diagnostic, text);
  log << text;
}

void Job::addError(llvm::Twine text) {
  result.errors += (request.sourceName + ": error: " + text + "\n").str();
}

void Job::instrument(PassManager &manager) {
  // Each part's result is verified once; after each pass it would take a fifth
  // of the compile time.
  manager.enableVerifier(request.verifiesEach || !printAfter.empty());
  if (printAfter.empty())
    return;
  manager.enableIRPrinting(
      /*shouldPrintBeforePass=*/nullptr,
      [this](Pass *pass, Operation *) {
        bool isIt = pass->getArgument() == printAfter;
        hasPrinted |= isIt;
        return isIt;
      },
      /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
      /*printAfterOnlyOnFailure=*/false, log);
}

bool Job::runPasses(llvm::StringRef name,
                    llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context, ModuleOp::getOperationName());
  build(manager);
  TimingScope scope = timingScope.nest(("Passes of " + name).str());
  if (request.wantsTiming)
    manager.enableTiming(scope);
  instrument(manager);
  if (succeeded(manager.run(*module)) && succeeded(verify(*module)))
    return true;
  if (result.errors.empty())
    addError(name + " failed without a message, a bug of this compiler");
  return false;
}

void Job::printModule() {
  llvm::raw_string_ostream out(result.output);
  OpPrintingFlags flags;
  flags.enableDebugInfo(false);
  module->print(out, flags);
}

void Job::printHeader() {
  for (auto function : module->getOps<func::FuncOp>())
    if (function->hasAttr(linalg_ext::kKernelAttr))
      result.output = headerOf(function);
  if (result.output.empty())
    addError("there is no kernel");
}

void Job::explain(bool asJson) {
  ExplainLog told(context);
  std::string kernel = kernelOf(*module);
  // Accelerators decide in another way, and say so themselves.
  llvm::StringRef target = request.target;
  bool isCpu = target == "cpu" || target.starts_with("cpu:") ||
               target.starts_with("cpu,");
  if (!isCpu) {
    target = "";
    if (!runPasses("the lowering of accesses", ttl::buildAccessPipeline))
      return;
  } else {
    if (!runPasses("the lowering to the bridge IR",
                   ttl::buildTritonToLinalgPipeline))
      return;
    generateCode(Stage::Vector);
  }
  if (result.errors.empty())
    result.output =
        asJson ? told.json(kernel, target) : told.text(kernel, target);
}

void Job::generateCode(Stage stage) {
  llvm::Expected<cpu::CpuTarget> target = cpu::CpuTarget::parse(request.target);
  if (!target)
    return addError(llvm::toString(target.takeError()));
  cpu::CpuOptions options;
  options.contracts = request.contracts;
  options.instrument = [this](PassManager &manager) { instrument(manager); };
  options.timing = request.wantsTiming ? &timingScope : nullptr;
  llvm::Expected<std::string> output =
      stage == Stage::SharedObject
          ? cpu::compileToSharedObject(*module, *target, options)
          : cpu::compileToText(*module, *target,
                               stage == Stage::Vector ? cpu::CpuStage::Vector
                               : stage == Stage::Llvm ? cpu::CpuStage::Llvm
                                                      : cpu::CpuStage::Asm,
                               options);
  if (output) {
    result.output = std::move(*output);
    return;
  }
  // The diagnostics say more than the error does.
  std::string text = llvm::toString(output.takeError());
  if (result.errors.empty())
    addError(text);
}

static void checkBridge(OpPassManager &manager) {
  manager.addPass(linalg_ext::createVerifyBridgePass());
}

/// Whether there is bridge IR now for a stage behind it.
bool Job::lowerToBridge(Stage stage) {
  if (!runPasses("the frontend", frontend::buildFrontendPipeline))
    return false;
  if (stage == Stage::Ttir) {
    printModule();
    return false;
  }
  if (stage == Stage::Explain || stage == Stage::ExplainJson) {
    explain(stage == Stage::ExplainJson);
    return false;
  }
  return runPasses("the lowering to the bridge IR",
                   ttl::buildTritonToLinalgPipeline);
}

void Job::run(Stage stage) {
  // The reader of a message is the kernel's author, whom the IR does not help.
  context.printOpOnDiagnostic(false);
  if (request.wantsTiming) {
    timing.setEnabled(true);
    timing.setOutput(
        createOutputStrategy(DefaultTimingManager::OutputFormat::Text, log));
    timingScope = timing.getRootScope();
  }
  if (!printAfter.empty() && !isPass(printAfter))
    return addError("there is no pass called '" + printAfter +
                    "'; tilebridge-opt --help lists them");

  bool isBridge = isBridgeText(request.input);
  if (isBridge && (stage == Stage::Ttir || stage == Stage::Explain ||
                   stage == Stage::ExplainJson))
    return addError("the stage '" + request.stage +
                    "' is of TTIR, and the input is bridge IR");
  {
    TimingScope scope = timingScope.nest("Reading");
    module = isBridge ? parseText(request, context, result)
                      : frontend::readModule(request.input, request.sourceName,
                                             context, result.errors);
  }
  if (!module)
    return;
  if (isBridge ? !runPasses("the check of the bridge IR", checkBridge)
               : !lowerToBridge(stage))
    return;
  if (stage == Stage::Bridge)
    printModule();
  else if (stage == Stage::Header)
    printHeader();
  else
    generateCode(stage);
  if (!printAfter.empty() && !hasPrinted && result.errors.empty())
    log << "the pass '" << printAfter << "' did not run\n";
}

Result compile(const Request &request) {
  Result result;
  std::optional<Stage> stage = parseStage(request.stage);
  if (!stage) {
    result.errors =
        (request.sourceName + ": error: there is no stage '" + request.stage +
         "'; there are ttir, bridge, vector, llvm, asm, so, header, explain "
         "and explain-json\n")
            .str();
    return result;
  }
  Job job(request, result);
  job.run(*stage);
  return result;
}

} // namespace tilebridge::compiler
