//===- IrMutator.cpp - changes programs that stay programs ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/IrMutator.h"

#include "compiler/KernelModule.h"
#include "compiler/Registration.h"
#include "frontend/Reader.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

using namespace mlir;

namespace {

class ProgramMutator {
public:
  ProgramMutator(ModuleOp module, uint64_t seed)
      : module(module), random(seed) {
    module.walk([&](Operation *op) {
      if (op != module)
        ops.push_back(op);
    });
  }

  void changeOnce();

private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random() % limit; }
  void changeOperand(Operation *op);
  void changeAttribute(Operation *op);
  void changeElementType();
  void changeSize();
  void eraseOp(Operation *op);
  void cloneOp(Operation *op);
  Value otherValue(Value value, Operation *user);
  Attribute otherAttribute(Attribute attribute);
  AffineMap otherMap(AffineMap map);
  APInt otherInteger(const APInt &value);
  void replaceTypes(llvm::function_ref<Type(Type)> replacement);

  ModuleOp module;
  std::mt19937_64 random;
  SmallVector<Operation *> ops;
};

} // namespace

/// Another value of the same type that may be used there, if there is one.
Value ProgramMutator::otherValue(Value value, Operation *user) {
  DominanceInfo dominance(module);
  SmallVector<Value> others;
  auto consider = [&](Value other) {
    if (other != value && other.getType() == value.getType() &&
        dominance.properlyDominates(other, user))
      others.push_back(other);
  };
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      consider(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          consider(argument);
  });
  return others.empty() ? Value() : others[below(others.size())];
}

void ProgramMutator::changeOperand(Operation *op) {
  if (op->getNumOperands() == 0)
    return;
  OpOperand &operand = op->getOpOperand(below(op->getNumOperands()));
  if (Value other = otherValue(operand.get(), op))
    operand.set(other);
}

APInt ProgramMutator::otherInteger(const APInt &value) {
  unsigned width = value.getBitWidth();
  const APInt others[] = {value + 1,
                          value - 1,
                          -value,
                          value.shl(width > 1),
                          value.ashr(width > 1),
                          APInt::getZero(width),
                          APInt(width, 1, false, true),
                          APInt::getAllOnes(width),
                          APInt::getSignedMaxValue(width),
                          APInt::getSignedMinValue(width),
                          APInt(width, below(8), false, true)};
  return others[below(std::size(others))];
}

Attribute ProgramMutator::otherAttribute(Attribute attribute) {
  MLIRContext *context = attribute.getContext();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return IntegerAttr::get(integer.getType(),
                            otherInteger(integer.getValue()));
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    const double others[] = {0.0, -0.0, 1.0, -1.0, 1e38, 1e-40, NAN, INFINITY};
    return FloatAttr::get(number.getType(), others[below(std::size(others))]);
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (!dense.isSplat())
      return attribute;
    return DenseElementsAttr::get(
        dense.getType(), otherAttribute(dense.getSplatValue<Attribute>()));
  }
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute)) {
    SmallVector<int32_t> values(array.asArrayRef());
    if (!values.empty())
      values[below(values.size())] = static_cast<int32_t>(below(6)) - 1;
    return DenseI32ArrayAttr::get(context, values);
  }
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    SmallVector<int64_t> values(array.asArrayRef());
    const int64_t others[] = {0, 1, 2, 3, 64, -1, ShapedType::kDynamic};
    if (!values.empty())
      values[below(values.size())] = others[below(std::size(others))];
    return DenseI64ArrayAttr::get(context, values);
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    SmallVector<Attribute> values(array.getValue());
    if (values.empty())
      return attribute;
    size_t at = below(values.size());
    values[at] =
        below(2) ? values[below(values.size())] : otherAttribute(values[at]);
    return ArrayAttr::get(context, values);
  }
  if (auto map = dyn_cast<AffineMapAttr>(attribute))
    return AffineMapAttr::get(otherMap(map.getValue()));
  if (isa<StringAttr>(attribute)) {
    const char *const others[] = {"",      "i1",   "i32",  "*fp32",   "*i8",
                                  "*bf16", "fp64", "axis", "parallel"};
    return StringAttr::get(context, others[below(std::size(others))]);
  }
  return attribute;
}

/// Another result for one dimension, or two results changed with each other.
AffineMap ProgramMutator::otherMap(AffineMap map) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> results(map.getResults());
  if (results.empty())
    return map;
  AffineExpr &changed = results[below(results.size())];
  switch (below(4)) {
  case 0:
    std::swap(changed, results[below(results.size())]);
    break;
  case 1:
    changed = getAffineConstantExpr(static_cast<int64_t>(below(3)), context);
    break;
  case 2:
    changed = changed + 1;
    break;
  default:
    if (map.getNumDims() > 0)
      changed = getAffineDimExpr(unsigned(below(map.getNumDims())), context);
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        context);
}

void ProgramMutator::changeAttribute(Operation *op) {
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  if (attributes.empty())
    return;
  NamedAttribute chosen = attributes[below(attributes.size())];
  op->setAttr(chosen.getName(), otherAttribute(chosen.getValue()));
  // A number that its enumeration lacks is no attribute at all.
  if (!op->getAttr(chosen.getName()))
    op->setAttr(chosen.getName(), chosen.getValue());
}

void ProgramMutator::replaceTypes(llvm::function_ref<Type(Type)> replacement) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](Type type) -> std::optional<std::pair<Type, WalkResult>> {
        Type other = replacement(type);
        if (!other)
          return std::nullopt;
        return std::make_pair(other, WalkResult::skip());
      });
  // The value of a constant follows its type.
  replacer.addReplacement(
      [&](Attribute attribute)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        auto typed = dyn_cast<TypedAttr>(attribute);
        auto dense = dyn_cast<DenseElementsAttr>(attribute);
        if (!isa<IntegerAttr, FloatAttr>(attribute) &&
            !(dense && dense.isSplat()))
          return std::nullopt;
        Type type = replacer.replace(typed.getType());
        auto shaped = dyn_cast<ShapedType>(type);
        Type element = shaped ? shaped.getElementType() : type;
        Attribute value;
        if (auto floatType = dyn_cast<FloatType>(element))
          value = FloatAttr::get(floatType, static_cast<double>(below(3)));
        else if (element.isIntOrIndex())
          value = IntegerAttr::get(element, static_cast<int64_t>(below(2)));
        if (type == typed.getType() || !value)
          return std::make_pair(attribute, WalkResult::skip());
        if (shaped)
          value = DenseElementsAttr::get(shaped, value);
        return std::make_pair(value, WalkResult::skip());
      });
  module.walk([&](Operation *op) {
    // The attributes of other ops are numbers of enumerations.
    bool hasTypesInAttributes =
        isa<FunctionOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>();
    replacer.replaceElementsIn(op, hasTypesInAttributes,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
}

void ProgramMutator::changeElementType() {
  Builder b(module.getContext());
  const Type elements[] = {b.getI1Type(),
                           b.getI8Type(),
                           b.getI16Type(),
                           b.getI32Type(),
                           b.getI64Type(),
                           b.getF16Type(),
                           b.getBF16Type(),
                           b.getF32Type(),
                           b.getF64Type(),
                           b.getType<Float8E5M2Type>(),
                           b.getType<Float8E4M3FNType>(),
                           b.getIntegerType(3),
                           b.getIntegerType(128)};
  Type from = elements[below(std::size(elements))];
  Type to = elements[below(std::size(elements))];
  // Scalars stay what they are in half of the cases.
  bool inTensorsOnly = below(2) == 0;
  replaceTypes([&](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getElementType() == from)
      return tensor.clone(to);
    return !inTensorsOnly && type == from ? to : Type();
  });
}

void ProgramMutator::changeSize() {
  SmallVector<int64_t> sizes;
  for (Operation *op : ops)
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
        llvm::append_range(sizes, shaped.getShape());
  if (sizes.empty())
    return;
  int64_t from = sizes[below(sizes.size())];
  bool isDynamic = ShapedType::isDynamic(from);
  const int64_t others[] = {1,
                            2,
                            3,
                            4,
                            7,
                            16,
                            64,
                            256,
                            isDynamic ? 32 : from * 2,
                            isDynamic ? 5 : from * 8};
  int64_t to = others[below(std::size(others))];
  replaceTypes([&](Type type) -> Type {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!isa<RankedTensorType, MemRefType>(type) ||
        !llvm::is_contained(shaped.getShape(), from))
      return Type();
    SmallVector<int64_t> shape(shaped.getShape());
    llvm::replace(shape, from, to);
    return shaped.clone(shape);
  });
}

void ProgramMutator::eraseOp(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0)
    return;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value other = otherValue(result, op);
    if (!other)
      return;
    result.replaceAllUsesWith(other);
  }
  llvm::erase(ops, op);
  op->erase();
}

void ProgramMutator::cloneOp(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      op->getParentOp() == module.getOperation())
    return;
  Operation *copy = op->clone();
  op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
  for (auto [old, twin] : llvm::zip(op->getResults(), copy->getResults()))
    if (!old.use_empty() && old.use_begin()->getOwner() != copy)
      old.use_begin()->set(twin);
}

void ProgramMutator::changeOnce() {
  if (ops.empty())
    return;
  Operation *op = ops[below(ops.size())];
  switch (below(10)) {
  case 0:
  case 1:
  case 2:
    return changeOperand(op);
  case 3:
  case 4:
  case 5:
    return changeAttribute(op);
  case 6:
    return changeElementType();
  case 7:
    return changeSize();
  case 8:
    return eraseOp(op);
  default:
    return cloneOp(op);
  }
}

std::optional<std::string> tilebridge::fuzz::mutateProgram(llvm::StringRef text,
                                                           uint64_t seed) {
  MLIRContext context(compiler::dialectRegistry(),
                      MLIRContext::Threading::DISABLED);
  std::string messages;
  OwningOpRef<ModuleOp> module =
      compiler::isBridgeText(text)
          ? frontend::parseModule(text, "fuzz.mlir", context, messages,
                                  [](ModuleOp) { return success(); })
          : frontend::readModule(text, "fuzz.mlir", context, messages);
  if (!module)
    return std::nullopt;
  // What does not verify any more is a case too, and no news.
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  context.printOpOnDiagnostic(false);
  ProgramMutator mutator(*module, seed);
  for (uint64_t count = 1 + seed % 4; count > 0; --count)
    mutator.changeOnce();
  std::string out;
  llvm::raw_string_ostream stream(out);
  OpPrintingFlags flags;
  if (failed(verify(*module)))
    flags.printGenericOpForm();
  module->print(stream, flags);
  return out;
}
