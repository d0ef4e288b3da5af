//===- BridgeTypes.cpp - types of tt as the bridge has them ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/BridgeTypes.h"

#include "frontend/TTTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static bool isElementPointer(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  return pointer && !pointer.isBlockPointer();
}

bool ttl::isPointerLike(Type type) {
  return isElementPointer(getElementTypeOrSelf(type));
}

Type ttl::memoryElementType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (isa<tt::PointerType>(type))
    return IntegerType::get(type.getContext(), 64);
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

int64_t ttl::elementBytes(Type type) {
  return llvm::divideCeil(memoryElementType(type).getIntOrFloatBitWidth(), 8);
}

MemRefType ttl::pointerMemRefType(Type pointee) {
  auto layout =
      StridedLayoutAttr::get(pointee.getContext(), ShapedType::kDynamic, {1});
  return MemRefType::get({ShapedType::kDynamic}, memoryElementType(pointee),
                         layout);
}

MemRefType ttl::viewMemRefType(int64_t rank, Type element) {
  SmallVector<int64_t> dynamic(rank, ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(element.getContext(),
                                       ShapedType::kDynamic, dynamic);
  return MemRefType::get(dynamic, memoryElementType(element), layout);
}

BridgeTypeConverter::BridgeTypeConverter() {
  // The last conversion added is asked first.
  addConversion([](Type type) -> std::optional<Type> {
    if (isa<tt::TTDialect>(type.getDialect()))
      return std::nullopt;
    return type;
  });
  addConversion([](RankedTensorType type) -> Type {
    if (!isPointerLike(type))
      return type;
    return type.clone(IntegerType::get(type.getContext(), 64));
  });
  addConversion([](tt::TensorDescType type, SmallVectorImpl<Type> &types) {
    types.push_back(
        viewMemRefType(type.getShape().size(), type.getElementType()));
    types.push_back(IntegerType::get(type.getContext(), 1));
    return success();
  });
  addConversion([](tt::PointerType type, SmallVectorImpl<Type> &types) {
    if (!type.isBlockPointer()) {
      types.push_back(pointerMemRefType(type.getPointeeType()));
      return success();
    }
    auto block = cast<RankedTensorType>(type.getPointeeType());
    types.push_back(viewMemRefType(block.getRank(), block.getElementType()));
    types.append(block.getRank(), IndexType::get(type.getContext()));
    return success();
  });
}

/// Triton's name of a scalar type; empty if it has none.
static std::string scalarName(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "u" : "i") +
           std::to_string(integer.getWidth());
  return llvm::TypeSwitch<Type, std::string>(type)
      .Case<Float8E5M2Type>([](auto) { return "fp8e5"; })
      .Case<Float8E4M3FNType>([](auto) { return "fp8e4nv"; })
      .Case<Float8E5M2FNUZType>([](auto) { return "fp8e5b16"; })
      .Case<Float8E4M3FNUZType>([](auto) { return "fp8e4b8"; })
      .Case<BFloat16Type>([](auto) { return "bf16"; })
      .Case<Float16Type>([](auto) { return "fp16"; })
      .Case<Float32Type>([](auto) { return "fp32"; })
      .Case<Float64Type>([](auto) { return "fp64"; })
      .Default([](Type) { return ""; });
}

std::string ttl::signatureOf(Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type)) {
    std::string pointee = signatureOf(pointer.getPointeeType());
    return pointee.empty() ? "" : "*" + pointee;
  }
  auto descriptor = dyn_cast<tt::TensorDescType>(type);
  if (!descriptor)
    return scalarName(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tensordesc<" << scalarName(descriptor.getElementType()) << "[";
  llvm::interleaveComma(descriptor.getShape(), os);
  os << "]>";
  return text;
}

FailureOr<BridgeTypesOf> BridgeTypesOf::get(const TypeConverter &converter,
                                            TypeRange sources) {
  BridgeTypesOf result;
  for (Type source : sources) {
    size_t before = result.types.size();
    if (failed(converter.convertType(source, result.types)))
      return failure();
    result.counts.push_back(result.types.size() - before);
  }
  return result;
}

SmallVector<SmallVector<Value>> BridgeTypesOf::group(ValueRange values) const {
  SmallVector<SmallVector<Value>> groups;
  for (size_t count : counts) {
    groups.emplace_back(values.take_front(count));
    values = values.drop_front(count);
  }
  return groups;
}
