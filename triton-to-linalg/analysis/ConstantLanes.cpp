//===- ConstantLanes.cpp - tensors of numbers that are known ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Indices within a block are often made of `tl.arange` and constants alone:
// `tl.where(i < 32, i, i - 32)` is the place in a table that serves both halves
// of a row. Whatever such a tensor is made by, its numbers are looked at.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "frontend/TTOps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// Longer tensors are not computed.
static constexpr int64_t mostLanes = 4096;

/// What an operation of arith gives for operands that are known.
static DenseElementsAttr foldOf(Operation *op, ArrayRef<Attribute> operands) {
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto value = dyn_cast<Value>(results.front())) {
    auto place = llvm::find(op->getOperands(), value);
    return place == op->operand_end()
               ? DenseElementsAttr()
               : dyn_cast<DenseElementsAttr>(
                     operands[place - op->operand_begin()]);
  }
  return dyn_cast_if_present<DenseElementsAttr>(
      dyn_cast<Attribute>(results.front()));
}

DenseElementsAttr AccessAnalysis::numbersOf(Value tensor) {
  auto found = numbers.find(tensor);
  if (found != numbers.end())
    return found->second;
  numbers[tensor] = {};
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (!op || !type || type.getRank() != 1 || type.getDimSize(0) > mostLanes ||
      !type.getElementType().isSignlessInteger())
    return {};
  DenseElementsAttr result;
  APInt scalar;
  if (matchPattern(tensor, m_Constant(&result))) {
    // Known as it is.
  } else if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    SmallVector<int32_t> values;
    for (int64_t i = 0; i < type.getDimSize(0); ++i)
      values.push_back(static_cast<int32_t>(range.getStart()) + i);
    result = DenseElementsAttr::get(type, ArrayRef<int32_t>(values));
  } else if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    if (matchPattern(splat.getSrc(), m_ConstantInt(&scalar)))
      result = DenseElementsAttr::get(type, scalar);
  } else if (isa<arith::ArithDialect>(op->getDialect()) &&
             op->getNumResults() == 1 && op->getNumRegions() == 0) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(numbersOf(operand));
      if (!operands.back())
        return {};
    }
    result = foldOf(op, operands);
  }
  return numbers[tensor] = result;
}

/// Runs of equal length in which the numbers rise by one step, and which begin
/// one other step apart.
std::optional<TensorForm> AccessAnalysis::constantLanes(Value tensor) {
  DenseElementsAttr attr = numbersOf(tensor);
  if (!attr || attr.getNumElements() < 2)
    return std::nullopt;
  if (std::optional<TensorForm> linear = constants(tensor, attr))
    return linear;
  SmallVector<int64_t> values;
  for (const APInt &value : attr.getValues<APInt>())
    values.push_back(value.getSExtValue());
  int64_t count = values.size(), step = values[1] - values[0], inner = 1;
  while (inner < count && values[inner] == values[0] + step * inner)
    ++inner;
  if (inner < 2 || count % inner != 0)
    return std::nullopt;
  int64_t outer = values[inner] - values[0];
  for (auto [i, value] : llvm::enumerate(values))
    if (value != values[0] + outer * (static_cast<int64_t>(i) / inner) +
                     step * (static_cast<int64_t>(i) % inner))
      return std::nullopt;
  TensorForm form = algebra.lanes(tensor, 0);
  auto constant = [&](int64_t value) {
    return pool.constant(form.width, value);
  };
  form.terms[0].linear = LinearCase{constant(values[0]), constant(step),
                                    pool.boolean(true), inner, constant(outer)};
  return form;
}
