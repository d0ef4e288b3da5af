//===- StridedParts.cpp - a strided tensor as scalars ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/StridedParts.h"

#include "frontend/TTOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static bool isPointerTensor(RankedTensorType type) {
  return isa<tt::PointerType>(type.getElementType());
}

static Type numberTypeOf(RankedTensorType type) {
  return isPointerTensor(type) ? IntegerType::get(type.getContext(), 64)
                               : type.getElementType();
}

bool ttl::canBeStrided(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (isPointerTensor(tensor) ||
                    (tensor.getElementType().isSignlessInteger() &&
                     !tensor.getElementType().isInteger(1)));
}

SmallVector<Type> ttl::partTypesOf(RankedTensorType type) {
  SmallVector<Type> types;
  if (isPointerTensor(type))
    types.push_back(type.getElementType());
  types.push_back(numberTypeOf(type));
  for (int64_t size : type.getShape())
    if (size != 1)
      types.push_back(numberTypeOf(type));
  return types;
}

std::optional<StridedParts>
ttl::stridedPartsOf(ExprPool &pool, AccessAnalysis &analysis, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  StridedParts form;
  std::optional<TensorForm> offset;
  if (isPointerTensor(type)) {
    std::optional<PointerForm> pointers = analysis.pointers(tensor);
    if (!pointers || !pointers->offset || pointers->shift)
      return std::nullopt;
    form.parts.push_back({pointers->base});
    offset = pointers->offset;
  } else {
    offset = analysis.integers(tensor);
  }
  if (!offset || !offset->isLinear())
    return std::nullopt;
  form.parts.push_back({{}, offset->uniform});
  for (auto [term, size] : llvm::zip_equal(offset->terms, type.getShape()))
    if (size != 1)
      form.parts.push_back(
          {{}, term.stride ? term.stride : pool.constant(offset->width, 0)});
  return form;
}

Value ttl::rebuildStrided(OpBuilder &builder, Location loc,
                          RankedTensorType type, ValueRange parts) {
  Value base;
  if (isPointerTensor(type)) {
    base = parts.front();
    parts = parts.drop_front();
  }
  auto numbers = type.clone(numberTypeOf(type));
  Value sum = tt::SplatOp::create(builder, loc, numbers, parts.front());
  parts = parts.drop_front();
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    Value lanes = tt::MakeRangeOp::create(
        builder, loc, RankedTensorType::get(size, builder.getI32Type()), 0,
        size);
    auto line = RankedTensorType::get(size, numbers.getElementType());
    unsigned width = numbers.getElementTypeBitWidth();
    if (width > 32)
      lanes = arith::ExtSIOp::create(builder, loc, line, lanes);
    else if (width < 32)
      lanes = arith::TruncIOp::create(builder, loc, line, lanes);
    Value stride = tt::SplatOp::create(builder, loc, line, parts.front());
    parts = parts.drop_front();
    Value term = arith::MulIOp::create(builder, loc, lanes, stride);
    // One dimension after the other, up to the tensor's rank.
    for (unsigned d = 0; d < type.getRank(); ++d) {
      if (d == dim)
        continue;
      SmallVector<int64_t> shape(
          cast<RankedTensorType>(term.getType()).getShape());
      shape.insert(shape.begin() + d, 1);
      term = tt::ExpandDimsOp::create(
          builder, loc, RankedTensorType::get(shape, numbers.getElementType()),
          term, d);
    }
    if (term.getType() != numbers)
      term = tt::BroadcastOp::create(builder, loc, numbers, term);
    sum = arith::AddIOp::create(builder, loc, sum, term);
  }
  if (!base)
    return sum;
  Value pointers = tt::SplatOp::create(builder, loc, type, base);
  return tt::AddPtrOp::create(builder, loc, type, pointers, sum);
}
