//===- Reader.cpp - text or bytecode to a module --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Reader.h"

#include "frontend/Bytecode.h"
#include "frontend/CallGraph.h"
#include "frontend/TTOps.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilebridge::tt;

void tilebridge::frontend::registerTTIRDialects(DialectRegistry &registry) {
  registerTTDialect(registry);
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  ub::UBDialect>();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::optional<FileLineColLoc> tilebridge::frontend::placeOf(Location loc) {
  if (auto place = dyn_cast<FileLineColLoc>(loc))
    return place;
  if (auto named = dyn_cast<NameLoc>(loc))
    return placeOf(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return placeOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::optional<FileLineColLoc> place = placeOf(part))
        return place;
  return std::nullopt;
}

/// Where the code of a location was called from, outermost last.
static void collectCallers(Location loc, SmallVectorImpl<Location> &callers) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return collectCallers(named.getChildLoc(), callers);
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && fused.getMetadata())
    return collectCallers(fused.getLocations().front(), callers);
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectCallers(call.getCallee(), callers);
    callers.push_back(call.getCaller());
    collectCallers(call.getCaller(), callers);
  }
}

static std::string formatPlace(Location loc) {
  std::optional<FileLineColLoc> place = tilebridge::frontend::placeOf(loc);
  if (!place)
    return "unknown place";
  // What stands for a whole text has no line: it begins in the first one.
  return place->getFilename().str() + ":" +
         std::to_string(std::max(place->getLine(), 1u)) + ":" +
         std::to_string(std::max(place->getColumn(), 1u));
}

SmallVector<Location> tilebridge::frontend::callersOf(Location loc) {
  SmallVector<Location> callers;
  collectCallers(loc, callers);
  return callers;
}

std::string tilebridge::frontend::formatLocation(Location loc) {
  std::string text = formatPlace(loc);
  for (Location caller : callersOf(loc))
    text += ", called from " + formatPlace(caller);
  return text;
}

static StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  return "error";
}

void tilebridge::frontend::appendDiagnostic(Diagnostic &diagnostic,
                                            std::string &messages) {
  llvm::raw_string_ostream os(messages);
  os << formatLocation(diagnostic.getLocation()) << ": "
     << severityName(diagnostic.getSeverity()) << ": " << diagnostic.str()
     << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    os << "  " << formatLocation(note.getLocation()) << ": note: " << note.str()
       << "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// How deep brackets may nest. The parser is recursive, and what nests deeper
/// than any program would exhaust the stack of a thread.
static constexpr unsigned maxNesting = 256;

/// The offset at which brackets nest too deep, if they do. Brackets in strings
/// and comments do not count; an arrow is no bracket.
static std::optional<size_t> findDeepNesting(StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\')
          ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "->") {
      ++i;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > maxNesting)
        return i;
    } else if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

/// The offset of an array attribute of `index`, which MLIR's parser takes for
/// numbers of a known width and reads a null pointer. An alias could stand for
/// `index`.
static std::optional<size_t> findIndexArray(StringRef text) {
  constexpr StringLiteral word = "array";
  for (size_t i = text.find(word); i != StringRef::npos;
       i = text.find(word, i + word.size())) {
    StringRef rest = text.drop_front(i + word.size()).ltrim();
    if (!rest.consume_front("<"))
      continue;
    rest = rest.ltrim();
    if (rest.starts_with("!") ||
        (rest.consume_front("index") &&
         (rest.empty() || !(llvm::isAlnum(rest[0]) || rest[0] == '_'))))
      return i;
  }
  return std::nullopt;
}

static Location locationOf(StringRef text, size_t offset, StringRef name,
                           MLIRContext &context) {
  StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1;
  return FileLineColLoc::get(&context, name, before.count('\n') + 1,
                             offset - lineStart + 1);
}

/// Triton's own limit for a tensor.
static constexpr int64_t maxElements = 1 << 20;

/// The number of elements, or more than maxElements if it is more: the product
/// of sizes from a file may overflow.
static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size > maxElements)
      return size;
    count *= size;
    if (count > maxElements)
      return count;
  }
  return count;
}

/// An empty tensor has no meaning in TTIR, and a huge one no register or
/// scratch memory.
static LogicalResult verifyTensorSize(Type type, Location loc) {
  // LLVM has no integers of no bits and ends the process over them.
  if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type)))
    if (integer.getWidth() == 0)
      return emitError(loc)
             << "integers have at least one bit, not as in " << type;
  ArrayRef<int64_t> shape;
  if (auto pointer = dyn_cast<PointerType>(type))
    type = pointer.getPointeeType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    shape = tensor.getShape();
  else if (auto desc = dyn_cast<TensorDescType>(type))
    shape = desc.getShape();
  if (llvm::any_of(shape, [](int64_t size) { return size < 1; }))
    return emitError(loc) << "every dimension of a tensor is at least 1, not "
                             "as in "
                          << type;
  if (countElements(shape) > maxElements)
    return emitError(loc) << type << " has more than Triton's limit of "
                          << maxElements << " elements; use smaller blocks";
  return success();
}

static LogicalResult verifyTensorSizes(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyTensorSize(type, op->getLoc())))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(verifyTensorSize(argument.getType(), argument.getLoc())))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Says what is there in place of a kernel.
static LogicalResult refuseWithoutKernel(ModuleOp module) {
  // The parser wraps what is not one module in a module of its own.
  if (auto modules = module.getOps<ModuleOp>(); !modules.empty())
    return (*modules.begin())->emitError()
           << "the text has modules side by side or in one another; expected "
              "one module with one kernel";
  if (module.getBody()->empty())
    return module.emitError()
           << "is empty and holds no kernel; expected a public tt.func with a "
              "body";
  return module.emitError()
         << "holds no kernel; expected a public tt.func with a body (in bridge "
            "IR: a func.func with the attribute 'tilebridge.kernel')";
}

/// What a module must hold beyond what its operations' verifiers ask for.
static LogicalResult verifyProgram(ModuleOp module) {
  bool hasKernel = llvm::any_of(module.getOps<FuncOp>(), [](FuncOp func) {
    return func.isPublic() && !func.isExternal();
  });
  if (!hasKernel)
    return refuseWithoutKernel(module);
  if (failed(verifyTensorSizes(module)))
    return failure();
  return tilebridge::frontend::verifyCalls(module);
}

OwningOpRef<ModuleOp> tilebridge::frontend::parseModule(
    StringRef input, StringRef name, MLIRContext &context,
    std::string &messages,
    llvm::function_ref<LogicalResult(ModuleOp)> verifyText) {
  // The place says more to a kernel's author than the operation's generic form.
  bool printsOps = context.shouldPrintOpOnDiagnostic();
  context.printOpOnDiagnostic(false);
  llvm::scope_exit restore([&] { context.printOpOnDiagnostic(printsOps); });
  // MLIR's lexer reports some marks that its parser then goes over.
  bool hasErrors = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasErrors |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    appendDiagnostic(diagnostic, messages);
    return success();
  });
  std::optional<std::string> text;
  if (isBytecode(llvm::MemoryBufferRef(input, name))) {
    text = bytecodeToText(input, name, context, messages);
    if (!text)
      return {};
    input = *text;
  }
  if (std::optional<size_t> offset = findDeepNesting(input)) {
    emitError(locationOf(input, *offset, name, context))
        << "brackets nest deeper than " << maxNesting
        << " levels, which no program needs";
    return {};
  }
  if (std::optional<size_t> offset = findIndexArray(input)) {
    emitError(locationOf(input, *offset, name, context))
        << "an array attribute holds integers of a known width, floats or "
           "booleans: 'array<i64: ...>', not 'array<index: ...>'";
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(input, name),
                             llvm::SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (module && !hasErrors && succeeded(verifyText(*module)))
    return module;
  if (messages.empty())
    messages = name.str() + ":1:1: error: this is no MLIR module\n";
  return {};
}

OwningOpRef<ModuleOp> tilebridge::frontend::readModule(StringRef input,
                                                       StringRef name,
                                                       MLIRContext &context,
                                                       std::string &messages) {
  return parseModule(input, name, context, messages, verifyProgram);
}
