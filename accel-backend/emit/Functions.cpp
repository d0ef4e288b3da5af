//===- Functions.cpp - functions and their calls ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

using namespace mlir;

namespace tilebridge::accel {

LogicalResult Emitter::emitCall(func::CallOp callOp) {
  if (failed(declareResults(callOp)))
    return failure();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      callOp, callOp.getCalleeAttr());
  std::vector<std::string> texts;
  for (Value operand : callOp.getOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref || (callee && !callee.isExternal())) {
      if (failed(contents(operand, operand, texts)))
        return failure();
      continue;
    }
    // A function of another language: the first element, sizes, strides.
    const View &buffer = view(operand);
    texts.push_back(buffer.address());
    for (const Index &size : buffer.sizes)
      texts.push_back(size.str());
    for (const Index &stride : buffer.strides)
      texts.push_back(stride.str());
  }
  for (Value result : callOp.getResults())
    if (failed(contents(result, result, texts)))
      return failure();
  comment(callOp);
  std::string all = "pe";
  for (const std::string &text : texts)
    all += ", " + text;
  line(identifier(callOp.getCallee()) + "(" + all + ");");
  return success();
}

/// How many arguments the signature speaks of.
static unsigned ownArguments(func::FuncOp kernel) {
  unsigned count = 0;
  if (auto types = kernel->getAttrOfType<ArrayAttr>("tilebridge.signature"))
    for (Attribute type : types) {
      auto text = dyn_cast<StringAttr>(type);
      count += text && text.getValue().starts_with("tensordesc") ? 2 : 1;
    }
  return count;
}

/// Memory that is a kernel's argument begins where the pointer points to; a
/// plain pointer, whose elements are adjacent, has no size either.
static void
simplifyPointer(MemRefType type, View &view,
                std::vector<std::pair<std::string, std::string>> &parameters) {
  auto drop = [&](const Index &part) {
    llvm::erase_if(parameters, [&](auto &parameter) {
      return parameter.second == part.str();
    });
  };
  if (!view.offset.constant())
    drop(view.offset);
  view.offset = 0;
  if (type.getRank() == 1 && type.isDynamicDim(0) && view.strides[0].is(1)) {
    drop(view.sizes[0]);
    view.sizes[0] = Index("INT64_MAX");
  }
}

LogicalResult Emitter::emitFunction(func::FuncOp function) {
  auto emitted = emitc::FuncOp::create(b, function.getLoc(),
                                       identifier(function.getName()),
                                       b.getFunctionType({}, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(emitted.addEntryBlock());
  std::vector<std::pair<std::string, std::string>> parameters;
  taken.insert("pe");
  bool isKernel = function->hasAttr(kernelAttr);
  unsigned own = ownArguments(function);
  if (isKernel && function.getNumArguments() != own + 3 &&
      function.getNumArguments() != own + 6)
    return function.emitError("a kernel of ")
           << own
           << " arguments has three more, the counts of programs, or six; this "
              "one has "
           << function.getNumArguments();
  facts.ids = isKernel ? function.getNumArguments() - own - 3 : 0;
  static const char *const last[] = {"programs_z", "programs_y", "programs_x",
                                     "id_z",       "id_y",       "id_x"};
  for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
    std::string like = isKernel && number >= own
                           ? last[function.getNumArguments() - number - 1]
                           : "a" + std::to_string(number);
    if (failed(declare(argument, like, parameters)))
      return failure();
    if (auto memref = dyn_cast<MemRefType>(argument.getType());
        memref && isKernel)
      simplifyPointer(memref, view(argument), parameters);
  }
  std::vector<std::pair<std::string, std::string>> results;
  for (Type type : function.getResultTypes()) {
    std::string text =
        isa<MemRefType>(type)
            ? cppType(cast<MemRefType>(type).getElementType()) + " *"
            : cppType(type) + " ";
    if (isa<MemRefType>(type))
      return function.emitError("the function returns memory, which cannot be "
                                "emitted as C++; inline it");
    results.push_back({text + "&", fresh("result")});
  }
  facts.parameters = parameters;
  std::string all = "accel_pe *pe";
  for (auto &[type, name] : parameters)
    all += ", " + type + name;
  for (auto &[type, name] : results)
    all += ", " + type + name;
  // What Text.cpp writes for the function's first line.
  line("//@@ static void " + identifier(function.getName()) + "(" + all +
       ") {");
  for (Operation &op : function.front()) {
    if (auto end = dyn_cast<func::ReturnOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(end.getOperands(), results))
        line(result.second + " = " + word(operand) + ";");
      continue;
    }
    if (failed(emitOp(&op)))
      return failure();
  }
  emitc::ReturnOp::create(b, function.getLoc(), Value());
  return success();
}

} // namespace tilebridge::accel
