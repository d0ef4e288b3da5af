//===- TTTypes.cpp - types and attributes of the tt dialect ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include "frontend/TTEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "frontend/TTAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "frontend/TTTypes.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerTypesAndAttributes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "frontend/TTTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontend/TTAttrs.cpp.inc"
      >();
}

Type tilebridge::tt::pointeeTypeOf(Type type) {
  if (auto pointer = dyn_cast<PointerType>(type))
    return pointer.getPointeeType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto pointer = dyn_cast<PointerType>(tensor.getElementType()))
      return tensor.clone(pointer.getPointeeType());
  return type;
}

Type tilebridge::tt::maskTypeOf(Type type) {
  Type i1 = IntegerType::get(type.getContext(), 1);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(i1);
  return i1;
}

Type tilebridge::tt::elementTypeOf(Type type) {
  return getElementTypeOrSelf(type);
}

Type tilebridge::tt::elementPointerOf(Type blockPointer) {
  auto pointer = dyn_cast<PointerType>(blockPointer);
  if (!pointer)
    return blockPointer;
  return PointerType::get(getElementTypeOrSelf(pointer.getPointeeType()),
                          pointer.getAddressSpace());
}

//===----------------------------------------------------------------------===//
// !tt.ptr<element>, !tt.ptr<element, "constant">
//===----------------------------------------------------------------------===//

bool PointerType::isBlockPointer() const {
  return isa<RankedTensorType>(getPointeeType());
}

static bool isPointee(Type type) {
  return isa<FloatType, PointerType>(type) || type.isInteger();
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type pointee, PtrAddrSpace) {
  auto tensor = dyn_cast<RankedTensorType>(pointee);
  bool valid =
      tensor ? tensor.hasStaticShape() && isPointee(tensor.getElementType())
             : isPointee(pointee);
  if (valid)
    return success();
  return emitError() << "(PT1) a pointer points to an integer, a float, a "
                        "pointer or a statically "
                        "shaped tensor of these, not to "
                     << pointee;
}

// The address space is a number (before 3.9), a string (3.9) or a bare name.
static FailureOr<PtrAddrSpace> parseAddressSpace(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::optional<PtrAddrSpace> space;
  int64_t number;
  std::string text;
  StringRef keyword;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    if (number >= 0 && number <= 4)
      space = symbolizePtrAddrSpace(static_cast<uint32_t>(number));
  } else if (succeeded(parser.parseOptionalString(&text))) {
    space = symbolizePtrAddrSpace(text);
  } else if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    space = symbolizePtrAddrSpace(keyword);
  }
  if (space)
    return *space;
  return parser.emitError(
      loc, "expected an address space: \"global\" or 1, \"descriptor\" or 0, "
           "\"constant\" or 4");
}

Type PointerType::parse(AsmParser &parser) {
  Type pointee;
  if (parser.parseLess() || parser.parseType(pointee))
    return Type();
  PtrAddrSpace space = PtrAddrSpace::Global;
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<PtrAddrSpace> parsed = parseAddressSpace(parser);
    if (failed(parsed))
      return Type();
    space = *parsed;
  }
  if (parser.parseGreater())
    return Type();
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), pointee, space);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << '<' << getPointeeType();
  if (getAddressSpace() != PtrAddrSpace::Global)
    printer << ", \"" << stringifyPtrAddrSpace(getAddressSpace()) << '"';
  printer << '>';
}

//===----------------------------------------------------------------------===//
// !tt.tensordesc<16x32xf32>, !tt.tensordesc<tensor<16x32xf32>>
//===----------------------------------------------------------------------===//

RankedTensorType TensorDescType::getSignlessBlockType() const {
  Type element = getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(getContext(), integer.getWidth());
  return RankedTensorType::get(getShape(), element);
}

LogicalResult
TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError,
                       ArrayRef<int64_t> shape, Type element, Attribute) {
  if (shape.empty() ||
      llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return emitError() << "(TD1) a descriptor's block has at least one "
                          "dimension, every one positive";
  if (!isa<FloatType>(element) && !element.isInteger())
    return emitError()
           << "(TD2) a descriptor's element is an integer or a float, not "
           << element;
  return success();
}

Type TensorDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  if (parser.parseLess())
    return Type();
  // A type stands first in the older form; in the newer one, an error that the
  // verifier words, it is an element without a shape.
  OptionalParseResult isType = parser.parseOptionalType(element);
  if (isType.has_value()) {
    if (failed(*isType))
      return Type();
    if (auto block = dyn_cast<RankedTensorType>(element)) {
      shape.assign(block.getShape().begin(), block.getShape().end());
      element = block.getElementType();
      layout = block.getEncoding();
    }
  } else if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
             parser.parseType(element)) {
    return Type();
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return Type();
  if (parser.parseGreater())
    return Type();
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), ArrayRef<int64_t>(shape), element,
                    layout);
}

void TensorDescType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType();
  if (getSharedLayout())
    printer << ", " << getSharedLayout();
  printer << '>';
}
