//===- Control.cpp - statements, loops and branches -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace tilebridge::accel {

void Emitter::line(const llvm::Twine &text) {
  emitc::VerbatimOp::create(b, b.getUnknownLoc(), text.str());
}

void Emitter::comment(Operation *op, llvm::StringRef what) {
  std::string place = placeOf(op->getLoc());
  if (place == "<unknown>" || place == lastPlace)
    return;
  lastPlace = place;
  line("// " + place + (what.empty() ? "" : ": ") + what);
}

Value Emitter::call(Location loc, llvm::StringRef function, Type type,
                    ValueRange operands) {
  return emitc::CallOpaqueOp::create(b, loc, type, function, operands)
      .getResult(0);
}

View Emitter::described(ShapedType type, std::string pointer) {
  View result;
  result.pointer = std::move(pointer);
  result.element = cppType(type.getElementType());
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) // A block is contiguous.
    memref = MemRefType::get(type.getShape(), type.getElementType());
  auto [strides, offset] = memref.getStridesAndOffset();
  result.offset = ShapedType::isDynamic(offset) ? 0 : offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    result.sizes.push_back(ShapedType::isDynamic(size) ? 0 : size);
    result.strides.push_back(ShapedType::isDynamic(stride) ? 0 : stride);
  }
  return result;
}

LogicalResult Emitter::set(Value value, FailureOr<View> view) {
  if (failed(view))
    return failure();
  views[value] = std::move(*view);
  return success();
}

/// What of a view is not in its type: offset, sizes, strides.
static SmallVector<Index *> dynamicParts(MemRefType type, View &view) {
  SmallVector<Index *> parts;
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (ShapedType::isDynamic(offset))
    parts.push_back(&view.offset);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      parts.push_back(&view.sizes[d]);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (ShapedType::isDynamic(strides[d]))
      parts.push_back(&view.strides[d]);
  return parts;
}

LogicalResult
Emitter::declare(Value value, llvm::StringRef like,
                 std::vector<std::pair<std::string, std::string>> &variables) {
  std::string name = freshFor(value, like);
  if (auto memref = dyn_cast<MemRefType>(value.getType())) {
    View result = described(memref, name);
    if (result.element.empty())
      return emitError(value.getLoc())
             << "emitted C++ has no type for elements of " << memref;
    variables.push_back({result.element + " *", name});
    unsigned number = 0;
    for (Index *part : dynamicParts(memref, result)) {
      std::string partName = part == &result.offset
                                 ? name + "_offset"
                                 : name + "_" + std::to_string(number++);
      partName = fresh(partName);
      variables.push_back({"int64_t ", partName});
      *part = Index(partName);
    }
    return set(value, FailureOr<View>(result));
  }
  std::string type = cppType(value.getType());
  if (type.empty())
    return emitError(value.getLoc())
           << "emitted C++ has no type for " << value.getType();
  variables.push_back({type + " ", name});
  set(value, name);
  return success();
}

LogicalResult Emitter::contents(Value value, Value like,
                                std::vector<std::string> &texts) {
  auto memref = dyn_cast<MemRefType>(like.getType());
  if (!memref) {
    texts.push_back(word(value));
    return success();
  }
  View copy = view(value);
  texts.push_back(copy.pointer);
  for (Index *part : dynamicParts(memref, copy))
    texts.push_back(part->str());
  return success();
}

LogicalResult Emitter::assign(ValueRange from, ValueRange to) {
  std::vector<std::string> sources, targets;
  for (auto [source, target] : llvm::zip_equal(from, to))
    if (failed(contents(source, target, sources)) ||
        failed(contents(target, target, targets)))
      return failure();
  // All at once: what is assigned to one may be read for another.
  for (size_t i = 0; i < sources.size(); ++i) {
    bool isRead = false;
    for (size_t j = i + 1; j < sources.size(); ++j)
      isRead |= llvm::StringRef(sources[j]).contains(targets[i]);
    if (!isRead || sources[i] == targets[i])
      continue;
    for (size_t j = i + 1; j < sources.size(); ++j)
      if (sources[j] != targets[j] &&
          llvm::StringRef(sources[j]).contains(targets[i])) {
        std::string before = fresh("before");
        line("const auto " + before + " = " + sources[j] + ";");
        sources[j] = before;
      }
  }
  for (auto [source, target] : llvm::zip_equal(sources, targets))
    if (source != target)
      line(target + " = " + source + ";");
  return success();
}

LogicalResult Emitter::declareResults(Operation *op) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (Value result : op->getResults())
    if (failed(declare(result, "r", variables)))
      return failure();
  for (auto &[type, name] : variables)
    line(type + name + " = {};");
  return success();
}

LogicalResult Emitter::emitFor(scf::ForOp loop) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (Value argument : loop.getRegionIterArgs())
    if (failed(declare(argument, "carried", variables)))
      return failure();
  std::vector<std::string> texts;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (failed(contents(init, argument, texts)))
      return failure();
  for (auto [variable, text] : llvm::zip_equal(variables, texts))
    line(variable.first + variable.second + " = " + text + ";");
  Value induction = loop.getInductionVar();
  std::string type = cppType(induction.getType());
  assert(!type.empty() && "the bounds, which have this type, were emitted");
  std::string name = freshFor(induction, "i");
  std::string bound = index(loop.getUpperBound()).str();
  std::string step = index(loop.getStep()).str();
  set(induction, name);
  // Counted in 64 bits where the sum of variable and step might not fit.
  bool isNarrow = type == "int32_t";
  std::string counter = isNarrow ? fresh(name + "_wide") : name;
  std::string less = loop.getUnsignedCmp()
                         ? "accel::ult(" + counter + ", int64_t(" + bound + "))"
                         : counter + " < " + bound;
  if (isNarrow && loop.getUnsignedCmp())
    return loop.emitError(
        "a loop over unsigned integers of 32 bits cannot be emitted as C++");
  open("for (int64_t " + counter + " = " + index(loop.getLowerBound()).str() +
       "; " + less + "; " + counter + " += " + step + ")");
  if (isNarrow && !induction.use_empty())
    line("const int32_t " + name + " = int32_t(" + counter + ");");
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  if (failed(assign(yield.getOperands(), loop.getRegionIterArgs())))
    return failure();
  close();
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs())) {
    if (auto found = views.find(argument); found != views.end()) {
      View copy = found->second;
      views[result] = copy;
    } else {
      set(result, word(argument));
    }
  }
  return success();
}

LogicalResult Emitter::emitWhile(scf::WhileOp loop) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (Value argument : loop.getBeforeArguments())
    if (failed(declare(argument, "carried", variables)))
      return failure();
  std::vector<std::string> texts;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments()))
    if (failed(contents(init, argument, texts)))
      return failure();
  for (auto [variable, text] : llvm::zip_equal(variables, texts))
    line(variable.first + variable.second + " = " + text + ";");
  if (failed(declareResults(loop)))
    return failure();
  open("while (true)");
  if (failed(emitBlock(*loop.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(assign(condition.getArgs(), loop.getResults())))
    return failure();
  open("if (!" + word(condition.getCondition()) + ")");
  line("break;");
  close();
  for (auto [argument, result] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    if (auto found = views.find(result); found != views.end()) {
      View copy = found->second;
      views[argument] = copy;
    } else {
      set(argument, word(result));
    }
  }
  if (failed(emitBlock(*loop.getAfterBody())) ||
      failed(
          assign(loop.getYieldOp().getOperands(), loop.getBeforeArguments())))
    return failure();
  close();
  return success();
}

LogicalResult Emitter::emitIf(scf::IfOp op) {
  if (failed(declareResults(op)))
    return failure();
  open("if (" + word(op.getCondition()) + ")");
  if (failed(emitBlock(*op.thenBlock())) ||
      failed(assign(op.thenYield().getOperands(), op.getResults())))
    return failure();
  if (op.elseBlock() &&
      (op.elseBlock()->getOperations().size() > 1 || op.getNumResults())) {
    line("} else {");
    if (failed(emitBlock(*op.elseBlock())) ||
        failed(assign(op.elseYield().getOperands(), op.getResults())))
      return failure();
  }
  close();
  return success();
}

LogicalResult Emitter::emitSwitch(scf::IndexSwitchOp op) {
  if (failed(declareResults(op)))
    return failure();
  open("switch (" + word(op.getArg()) + ")");
  auto emitCase = [&](llvm::Twine label, Block &block) {
    open(label);
    if (failed(emitBlock(block)) ||
        failed(assign(block.getTerminator()->getOperands(), op.getResults())))
      return failure();
    line("break;");
    close();
    return success();
  };
  for (unsigned i = 0; i < op.getNumCases(); ++i)
    if (failed(emitCase("case " + llvm::Twine(op.getCases()[i]) + ":",
                        op.getCaseBlock(i))))
      return failure();
  if (failed(emitCase("default:", op.getDefaultBlock())))
    return failure();
  close();
  return success();
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitOp(Operation *op) {
  for (auto emit :
       {&Emitter::emitControl, &Emitter::emitScalar, &Emitter::emitCast,
        &Emitter::emitCompare, &Emitter::emitView, &Emitter::emitAccess,
        &Emitter::emitAccel, &Emitter::emitHost, &Emitter::emitTensor,
        &Emitter::emitTensorCompute})
    if (Outcome outcome = (this->*emit)(op))
      return *outcome;
  InFlightDiagnostic error = op->emitError("'")
                             << op->getName() << "' cannot be emitted as C++";
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes())))
    if (type.isIntOrFloat() && cppType(type).empty())
      return error << ", which has no type for " << type;
  return error;
}

Emitter::Outcome Emitter::emitControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return emitSwitch(branch);
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return emitCall(callOp);
  if (isa<ub::PoisonOp>(op)) {
    Type type = op->getResult(0).getType();
    if (auto memref = dyn_cast<MemRefType>(type)) {
      views[op->getResult(0)] =
          described(memref, "static_cast<" + cppType(memref.getElementType()) +
                                " *>(nullptr)");
      return success();
    }
    if (!cppType(type).empty()) {
      set(op->getResult(0), cppType(type) + "()");
      return success();
    }
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
