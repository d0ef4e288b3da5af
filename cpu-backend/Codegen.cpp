//===- Codegen.cpp - from the bridge IR to a shared object ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Codegen.h"
#include "cpu-backend/BlendedStores.h"
#include "cpu-backend/Link.h"
#include "cpu-backend/LongBlocks.h"
#include "cpu-backend/MaskPieces.h"
#include "cpu-backend/MaskedLanes.h"
#include "cpu-backend/NarrowGathers.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/SingleLaneStores.h"
#include "cpu-backend/StreamedStores.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tilebridge::cpu;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

namespace {

/// LLVM's own errors (an instruction it cannot select, bad inline assembly) are
/// kept as text instead of ending the process.
struct KeepErrors : llvm::DiagnosticHandler {
  explicit KeepErrors(std::string &text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << '\n';
    }
    return true;
  }
  std::string &text;
};

/// A module of LLVM IR with the context that owns its types.
struct LlvmModule {
  llvm::LLVMContext context;
  std::string errors;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

void tilebridge::cpu::registerCpuTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

/// The scope of a step, until the result goes; empty where nobody asks.
static TimingScope timed(const CpuOptions &options, llvm::StringRef step) {
  return options.timing ? options.timing->nest(step) : TimingScope();
}

static llvm::Error
runPipeline(ModuleOp module, const CpuOptions &options,
            llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  build(manager);
  TimingScope scope = timed(options, "Passes of the CPU backend");
  if (options.timing)
    manager.enableTiming(scope);
  if (options.instrument)
    options.instrument(manager);
  if (failed(manager.run(module)) || failed(verify(module)))
    return error("the kernel could not be compiled for the CPU");
  return llvm::Error::success();
}

/// Whether x86's own operations, or functions of a library, are called with
/// vectors of more bits: in a function that is said to have shorter ones only,
/// such calls are compiled wrongly.
static bool callsWithLongVectors(const llvm::Module &module, unsigned bits) {
  auto isLong = [&](const llvm::Type *type) {
    return isa<llvm::FixedVectorType>(type) &&
           type->getPrimitiveSizeInBits().getFixedValue() > bits;
  };
  return llvm::any_of(module, [&](const llvm::Function &function) {
    llvm::StringRef name = function.getName();
    bool isGeneric =
        name.starts_with("llvm.") && !name.starts_with("llvm.x86.");
    return function.isDeclaration() && !isGeneric &&
           (isLong(function.getReturnType()) ||
            llvm::any_of(function.getFunctionType()->params(), isLong));
  });
}

/// Vectors of the width that the code was written for stay whole: LLVM
/// otherwise prefers 256 bits on many CPUs with 512.
static void setFunctionAttributes(llvm::Module &module, const CpuTarget &target,
                                  unsigned vectorBits) {
  std::string width = std::to_string(vectorBits);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// The code arrives tiled, vectorized and unrolled as it is to be. What is left
/// is to clean up what the conversions wrote: descriptors of memrefs that are
/// taken apart again, address arithmetic, invariant code in loops. LLVM's own
/// pipeline does the same in eight times the time, most of it in passes that
/// look for what is not there, and its code is no faster.
static llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine,
                            int64_t vectorBits) {
  constexpr llvm::StringLiteral steps =
      // The kernel into the loop over programs.
      "cgscc(inline),globaldce,"
      // Descriptors to scalars.
      "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
      "simplifycfg,"
      // Loops that test at their end, with what is invariant in front of them.
      "loop-mssa(loop-rotate,licm),"
      // What chains of branches on an integer give becomes a table.
      "early-cse<memssa>,instcombine<no-verify-fixpoint>,"
      "simplifycfg<switch-to-lookup>)";
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error failure = builder.parsePassPipeline(passes, steps))
    return failure;
  passes.run(module, modules);
  // Last, as instcombine finds out more about masks, and would take casts away
  // again.
  keepBlendedStores(module, vectorBits);
  splitMasks(module, vectorBits);
  scalarizeSingleLaneStores(module);
  streamHalvesAsFloats(module);
  gatherNarrowLanes(module, machine);
  loopOverMaskedLanes(module, machine);
  return llvm::Error::success();
}

static llvm::Expected<std::unique_ptr<LlvmModule>>
toLlvm(ModuleOp module, const CpuTarget &target, const CpuOptions &options) {
  {
    TimingScope scope = timed(options, "Registration of translations");
    registerCpuTranslations(*module.getContext());
  }
  if (llvm::Error failure =
          runPipeline(module, options, [&](OpPassManager &pm) {
            buildCpuPipeline(pm, target, options.contracts);
          }))
    return std::move(failure);

  TimingScope scope = timed(options, "Translation to LLVM IR");
  auto result = std::make_unique<LlvmModule>();
  result->context.setDiagnosticHandler(
      std::make_unique<KeepErrors>(result->errors));
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      target.createMachine();
  if (!machine)
    return machine.takeError();
  result->machine = std::move(*machine);
  // What comes out is verified below, with a message.
  result->module = translateModuleToLLVMIR(module, result->context, "kernel",
                                           /*disableVerification=*/true);
  if (!result->module)
    return error("the kernel could not be translated to LLVM IR");
  if (!options.debugInfo)
    llvm::StripDebugInfo(*result->module);
  result->module->setTargetTriple(llvm::Triple(target.triple));
  result->module->setDataLayout(result->machine->createDataLayout());
  unsigned vectorBits = target.vectorBits;
  if (auto bits = module->getAttrOfType<IntegerAttr>(vectorBitsAttr))
    if (!callsWithLongVectors(*result->module, bits.getInt()))
      vectorBits = bits.getInt();
  setFunctionAttributes(*result->module, target, vectorBits);
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*result->module, &stream))
    return error(
        "the LLVM IR of the kernel is malformed, a bug of this compiler: " +
        broken);
  scope.stop();
  scope = timed(options, "LLVM's optimizations");
  if (llvm::Error failure =
          optimize(*result->module, *result->machine, target.vectorBits))
    return std::move(failure);

  return result;
}

/// Functions of more blocks have many loops.
static constexpr size_t mostBlocks = 800;

/// A program that takes hundreds of loops one after the other spends little
/// time in each: how their addresses are computed hardly counts, and a third of
/// the time that LLVM took to generate code went there.
static bool hasManyLoops(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.size() > mostBlocks;
  });
}

/// After each change of the branches, CodeGenPrepare looks at all blocks of a
/// function again, the square of the number of loops in all. What it calls a
/// huge function goes on with the next block; how many blocks such a function
/// has is an option of the command line only, and none of a process that has
/// set it by itself.
static void setHugeFunctions() {
  static const bool once = [] {
    auto option = llvm::cl::getRegisteredOptions().find("cgpp-huge-func");
    if (option == llvm::cl::getRegisteredOptions().end() ||
        option->second->getNumOccurrences())
      return false;
    return !option->second->addOccurrence(0, option->first,
                                          std::to_string(mostBlocks));
  }();
  (void)once;
}

static bool hasFreezes(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return llvm::any_of(llvm::instructions(function),
                        llvm::IsaPred<llvm::FreezeInst>);
  });
}

namespace {
/// Those of LLVM but for what takes long and finds nothing, with one of ours
/// right before instructions are selected.
class CodegenPasses : public llvm::legacy::PassManager {
public:
  explicit CodegenPasses(const llvm::Module &module)
      : hasManyLoops(::hasManyLoops(module)), hasFreezes(::hasFreezes(module)),
        hasLongBlocks(tilebridge::cpu::hasLongBlocks(module)) {}

  void add(llvm::Pass *pass) override {
    if (isLeftOut(*pass))
      return delete pass;
    bool isLastToJoin = pass->getPassName() == "CodeGen Prepare";
    llvm::legacy::PassManager::add(pass);
    if (isLastToJoin && hasLongBlocks)
      llvm::legacy::PassManager::add(createSplitLongBlocksPass());
  }

private:
  bool isLeftOut(const llvm::Pass &pass) const {
    // Lines have no variables.
    if (pass.getPassID() == &llvm::LiveDebugValuesID)
      return true;
    // It looks at the evolution of all numbers of all loops first.
    if (pass.getPassName() == "Canonicalize Freeze Instructions in Loops")
      return hasManyLoops || !hasFreezes;
    return hasManyLoops && pass.getPassName() == "Loop Strength Reduction";
  }

  bool hasManyLoops, hasFreezes, hasLongBlocks;
};
} // namespace

static llvm::Expected<std::string> emitFile(LlvmModule &code,
                                            llvm::CodeGenFileType type,
                                            const CpuOptions &options) {
  TimingScope scope = timed(options, "LLVM's code generation");
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  setHugeFunctions();
  CodegenPasses passes(*code.module);
  if (code.machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return error("LLVM cannot write this kind of file for " +
                 code.module->getTargetTriple().str());
  passes.run(*code.module);
  if (!code.errors.empty())
    return error("LLVM could not generate code: " + code.errors);
  return bytes.str().str();
}

llvm::Expected<std::string>
tilebridge::cpu::compileToSharedObject(ModuleOp module, const CpuTarget &target,
                                       const CpuOptions &options) {
  llvm::Expected<std::unique_ptr<LlvmModule>> code =
      toLlvm(module, target, options);
  if (!code)
    return code.takeError();
  llvm::Expected<std::string> object =
      emitFile(**code, llvm::CodeGenFileType::ObjectFile, options);
  if (!object)
    return object.takeError();
  TimingScope scope = timed(options, "Linking");
  return linkSharedObject(*object, target.isForeign());
}

llvm::Expected<std::string>
tilebridge::cpu::compileToText(ModuleOp module, const CpuTarget &target,
                               CpuStage stage, const CpuOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (stage == CpuStage::Vector) {
    if (llvm::Error failure =
            runPipeline(module, options, [&](OpPassManager &pm) {
              buildCpuToVectorPipeline(pm, target, options.contracts);
            }))
      return std::move(failure);
    module.print(stream);
    return text;
  }
  llvm::Expected<std::unique_ptr<LlvmModule>> code =
      toLlvm(module, target, options);
  if (!code)
    return code.takeError();
  if (stage == CpuStage::Asm)
    return emitFile(**code, llvm::CodeGenFileType::AssemblyFile, options);
  (*code)->module->print(stream, nullptr);
  return text;
}
