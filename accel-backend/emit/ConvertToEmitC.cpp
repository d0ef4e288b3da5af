//===- ConvertToEmitC.cpp - lowered kernels as EmitC ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/EmitCpp.h"
#include "accel-backend/emit/Emitter.h"
#include "accel-backend/emit/Passes.h"

using namespace mlir;

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELTOEMITCPASS
#include "accel-backend/emit/Passes.h.inc"

/// An element of the array of arguments as a parameter of this type.
static std::string argumentAs(llvm::StringRef type, unsigned number) {
  std::string argument = "arguments[" + std::to_string(number) + "]";
  if (type.ends_with("*"))
    return "static_cast<" + type.str() + ">(" + argument + ".pointer)";
  if (type == "float")
    return argument + ".f32";
  if (type == "double")
    return argument + ".f64";
  if (type == "bool")
    return argument + ".integer != 0";
  if (type == "int64_t")
    return argument + ".integer";
  if (type.starts_with("accel::"))
    return type.str() + "::of_bits(" + type.str() + "::storage(" + argument +
           ".bits))";
  return type.str() + "(" + argument + ".integer)";
}

static std::string signatureOf(func::FuncOp kernel) {
  std::string text;
  if (auto types = kernel->getAttrOfType<ArrayAttr>("tilebridge.signature"))
    for (Attribute type : types)
      if (auto one = dyn_cast<StringAttr>(type))
        text += (text.empty() ? "" : " ") + one.getValue().str();
  return text;
}

/// What is exported of a kernel: accel_kernel_NAME, and the entry it points to.
static std::string exported(func::FuncOp kernel, const ModuleFacts &facts,
                            const CppOptions &options) {
  std::string name = identifier(kernel.getName());
  unsigned count = facts.parameters.size() - facts.ids - 3;
  std::string text =
      "static void " + name + "_entry(accel_pe *pe, " +
      (count ? "const accel_argument *arguments" : "const accel_argument *") +
      ", int32_t programs_x,\n    int32_t programs_y, int32_t programs_z) {\n "
      " " +
      name + "(pe";
  for (unsigned i = 0; i < count; ++i)
    text += ",\n    " +
            argumentAs(llvm::StringRef(facts.parameters[i].first).rtrim(), i);
  for (unsigned i = 0; i < facts.ids; ++i)
    text += ", 0";
  text += ",\n    programs_x, programs_y, programs_z);\n}\n\n";
  if (!facts.memories.empty()) {
    text += "static const accel_memory_use " + name + "_memories[] = {\n";
    for (auto &[memory, bytes] : facts.memories)
      text += "  {" + quoted(memory) + ", " + std::to_string(bytes) + "},\n";
    text += "};\n\n";
  }
  text += "extern \"C\" {\nextern const accel_kernel accel_kernel_" + name +
          ";\nconst accel_kernel accel_kernel_" + name + " = {\n";
  text += "  ACCEL_ABI_VERSION, " + std::to_string(count) + ", " +
          quoted(kernel.getName()) + ", " + quoted(options.target) + ",\n";
  text += "  " + quoted(signatureOf(kernel)) + ",\n";
  text += "  " + std::to_string(options.rows) + ", " +
          std::to_string(options.columns) + ", {" +
          std::to_string(options.grid[0]) + ", " +
          std::to_string(options.grid[1]) + ", " +
          std::to_string(options.grid[2]) + "},\n";
  text += "  " + std::to_string(facts.memories.size()) + ", " +
          (facts.memories.empty() ? "nullptr" : name + "_memories") + ",\n";
  return text + "  " + name + "_entry};\n}";
}

/// The first line of a function of another language.
static FailureOr<std::string> prototype(func::FuncOp function) {
  std::string text =
      "extern \"C\" void " + identifier(function.getName()) + "(accel_pe *pe";
  for (Type type : function.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    std::string element = cppType(memref ? memref.getElementType() : type);
    if (element.empty())
      return function.emitError("emitted C++ has no type for the parameter ")
             << type;
    text += ", " + element + (memref ? " *" : "");
    for (int64_t i = 0; memref && i < 2 * memref.getRank(); ++i)
      text += ", int64_t";
  }
  for (Type type : function.getResultTypes())
    text += ", " + cppType(type) + " &";
  return text + ");";
}

LogicalResult convertToEmitC(ModuleOp module, const CppOptions &options) {
  // The pass depends on it already; other callers do not run passes.
  module.getContext()->getOrLoadDialect<emitc::EmitCDialect>();
  OpBuilder b(module.getContext());
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  Block &block = *module.getBody();
  Operation *first = block.empty() ? nullptr : &block.front();
  b.setInsertionPointToEnd(&block);
  std::vector<std::string> globals;
  bool prints = false;
  std::string target = options.target;
  if (auto attr = module->getAttrOfType<StringAttr>(targetAttr);
      attr && target.empty())
    target = attr.getValue().str();
  CppOptions known = options;
  known.target = target;
  // Functions before those that call them.
  llvm::stable_sort(functions, [](func::FuncOp x, func::FuncOp y) {
    return !x->hasAttr(kernelAttr) && y->hasAttr(kernelAttr);
  });
  for (func::FuncOp function : functions) {
    if (function.isExternal()) {
      FailureOr<std::string> text = prototype(function);
      if (failed(text))
        return failure();
      globals.push_back(*text);
      continue;
    }
    ModuleFacts facts;
    facts.globals = globals;
    facts.localMemory =
        options.localMemory.empty() ? localMemory.str() : options.localMemory;
    if (failed(Emitter(b, facts).emitFunction(function)))
      return failure();
    globals = facts.globals;
    prints |= facts.prints;
    if (function->hasAttr(kernelAttr))
      emitc::VerbatimOp::create(b, function.getLoc(),
                                "\n" + exported(function, facts, known));
  }
  if (first)
    b.setInsertionPoint(first);
  auto include = [&](llvm::StringRef text) {
    emitc::VerbatimOp::create(b, module.getLoc(), text);
  };
  include("// Written by Tilebridge" +
          (target.empty() ? "" : ", for the target " + target) +
          ". It calls the interface that accel_abi.h describes.");
  include(prints ? "#include \"accel_print.h\"\n"
                 : "#include \"accel_kernel.h\"\n");
  for (const std::string &text : globals)
    include(text + "\n");
  for (func::FuncOp function : functions)
    function.erase();
  return success();
}

namespace {
struct AccelToEmitCPass : impl::AccelToEmitCPassBase<AccelToEmitCPass> {
  using AccelToEmitCPassBase::AccelToEmitCPassBase;
  void runOnOperation() override {
    CppOptions options;
    options.rows = rows;
    options.columns = columns;
    if (failed(convertToEmitC(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace tilebridge::accel
