//===- LinalgExtComputeOps.cpp - verifiers of the ops that compute --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilebridge::linalg_ext;

/// Constraint 3 of reduce and scan: the region works on scalars of the
/// operands' element types.
static LogicalResult verifyCombiner(Operation *op, Region &combiner) {
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    elements.push_back(cast<RankedTensorType>(type).getElementType());
  SmallVector<Type> expected(elements);
  expected.append(elements);
  Block &body = combiner.front();
  if (body.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError("region takes (")
           << body.getArgumentTypes()
           << "), but it must take two scalars for each operand: ("
           << TypeRange(expected) << ")";
  auto yield =
      dyn_cast_if_present<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!yield)
    return op->emitOpError("region must end in 'linalg_ext.yield'");
  if (yield.getOperandTypes() != TypeRange(elements))
    return yield.emitOpError("yields (")
           << yield.getOperandTypes() << "), but the operands' elements are ("
           << TypeRange(elements) << ")";
  return success();
}

/// Constraints 1 and 2 of reduce and scan, on operands that may still be
/// unverified.
static FailureOr<RankedTensorType> commonShape(std::optional<Location> loc,
                                               StringRef name,
                                               ValueRange inputs,
                                               int64_t dimension) {
  if (inputs.empty())
    return emitOptionalError(loc, "'", name, "' op needs at least one operand");
  auto first = dyn_cast<RankedTensorType>(inputs.front().getType());
  if (!first)
    return emitOptionalError(loc, "'", name,
                             "' op operands must be tensors, but got ",
                             inputs.front().getType());
  if (dimension < 0 || dimension >= first.getRank())
    return emitOptionalError(loc, "'", name, "' op has dimension = ", dimension,
                             ", but ", first, " has dimensions 0 to ",
                             first.getRank() - 1);
  return first;
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t dimension = adaptor.getDimension();
  FailureOr<RankedTensorType> first =
      commonShape(loc, getOperationName(), adaptor.getInputs(), dimension);
  if (failed(first))
    return failure();
  if (first->getDimSize(dimension) == 0)
    return emitOptionalError(loc, "'linalg_ext.reduce' op reduces an empty "
                                  "dimension: there is no initial value");
  SmallVector<int64_t> shape(first->getShape());
  shape.erase(shape.begin() + dimension);
  for (Value input : adaptor.getInputs())
    types.push_back(
        RankedTensorType::get(shape, getElementTypeOrSelf(input.getType())));
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner());
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(commonShape(loc, getOperationName(), adaptor.getInputs(),
                         adaptor.getDimension())))
    return failure();
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner());
}

LogicalResult HistogramOp::verify() {
  if (getMask() &&
      getMask().getType().getShape() != getInput().getType().getShape())
    return emitOpError("mask is ")
           << getMask().getType() << ", but must have the shape of the input, "
           << getInput().getType();
  RankedTensorType result = getResult().getType();
  if (result.getRank() != 1 || result.getDimSize(0) == 0)
    return emitOpError(
               "result must have one dimension with at least one bin, but is ")
           << result;
  return success();
}

LogicalResult GatherAlongOp::verify() {
  RankedTensorType source = getSource().getType(),
                   indices = getIndices().getType();
  int64_t dimension = getDimension();
  if (source.getRank() != indices.getRank())
    return emitOpError("source has rank ")
           << source.getRank() << ", but indices have rank "
           << indices.getRank();
  if (dimension < 0 || dimension >= source.getRank())
    return emitOpError("has dimension = ")
           << dimension << ", but " << source << " has dimensions 0 to "
           << source.getRank() - 1;
  if (source.getDimSize(dimension) == 0)
    return emitOpError("picks from an empty dimension of ") << source;
  for (int64_t i = 0; i < source.getRank(); ++i)
    if (i != dimension && indices.getDimSize(i) > source.getDimSize(i))
      return emitOpError("indices have ")
             << indices.getDimSize(i) << " elements in dimension " << i
             << ", but the source has only " << source.getDimSize(i);
  return success();
}

/// The place of an element along the dimension, where it is computed from its
/// index by one generic for all of the source: that number, before it is cast
/// to the indices' type.
static Value placeAlong(GatherAlongOp op) {
  auto generic = op.getIndices().getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 0 ||
      generic.getNumResults() != 1 ||
      op.getSource().getType().getShape() !=
          op.getIndices().getType().getShape() ||
      !generic.getIndexingMapsArray()[0].isIdentity())
    return {};
  auto cast = generic.getBody()
                  ->getTerminator()
                  ->getOperand(0)
                  .getDefiningOp<arith::IndexCastOp>();
  // The index is a number of its type, read as unsigned.
  int64_t size = op.getSource().getType().getDimSize(op.getDimension());
  return cast && llvm::isUIntN(cast.getType().getIntOrFloatBitWidth(), size - 1)
             ? cast.getIn()
             : Value();
}

static bool isIndexOf(Value value, int64_t dimension) {
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && static_cast<int64_t>(index.getDim()) == dimension;
}

bool GatherAlongOp::isReversal() {
  Value place = placeAlong(*this);
  auto difference =
      place ? place.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  return difference && isIndexOf(difference.getRhs(), getDimension()) &&
         getConstantIntValue(difference.getLhs()) ==
             getSource().getType().getDimSize(getDimension()) - 1;
}

int64_t GatherAlongOp::getExchangeStride() {
  Value place = placeAlong(*this);
  auto exchange =
      place ? place.getDefiningOp<arith::XOrIOp>() : arith::XOrIOp();
  if (!exchange || !isIndexOf(exchange.getLhs(), getDimension()))
    return 0;
  int64_t stride = getConstantIntValue(exchange.getRhs()).value_or(0);
  int64_t size = getSource().getType().getDimSize(getDimension());
  return stride > 0 && llvm::isPowerOf2_64(stride) && size % (2 * stride) == 0
             ? stride
             : 0;
}

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getValues().size())
    return emitOpError("has ")
           << getIsSigned().size() << " entries in 'signed' for "
           << getValues().size() << " values";
  return success();
}

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

static bool isSingleOrDouble(Type type) { return type.isF32() || type.isF64(); }

LogicalResult LibmOp::verify() {
  size_t count = llvm::StringSwitch<size_t>(getFunction())
                     .Cases({"j0", "j1", "lgamma", "tgamma", "y0", "y1"}, 1)
                     .Cases({"hypot", "jn", "remainder", "yn"}, 2)
                     .Default(0);
  if (count == 0)
    return emitOpError("(constraint 1) does not know the function '")
           << getFunction() << "'";
  Type result = elementOf(getResult());
  bool hasOrder = getFunction() == "jn" || getFunction() == "yn";
  bool fits = getOperands().size() == count && isSingleOrDouble(result);
  for (auto [i, operand] : llvm::enumerate(getOperands()))
    fits &= hasOrder && i == 0 ? elementOf(operand).isInteger(32)
                               : elementOf(operand) == result;
  if (!fits)
    return emitOpError("(constraint 2) '")
           << getFunction() << "' takes " << count
           << (hasOrder ? " operands, the first an i32, the other"
                        : " operands")
           << " f32 or f64 as the result is";
  return success();
}

LogicalResult DirectedOp::verify() {
  size_t count = llvm::StringSwitch<size_t>(getFunction())
                     .Cases({"sitofp", "sqrt", "truncf", "uitofp"}, 1)
                     .Cases({"add", "div", "mul", "sub"}, 2)
                     .Case("fma", 3)
                     .Default(0);
  if (count == 0)
    return emitOpError("(constraint 1) does not know the function '")
           << getFunction() << "'";
  if (!llvm::is_contained({arith::RoundingMode::downward,
                           arith::RoundingMode::upward,
                           arith::RoundingMode::toward_zero},
                          getRounding()))
    return emitOpError("(constraint 2) rounds downward, upward or toward_zero, "
                       "not ")
           << arith::stringifyRoundingMode(getRounding());
  Type result = elementOf(getResult());
  bool fromInteger = getFunction().ends_with("itofp");
  bool truncates = getFunction() == "truncf";
  bool fits = getOperands().size() == count && isSingleOrDouble(result) &&
              !(truncates && result.isF64());
  for (Value operand : getOperands()) {
    Type type = elementOf(operand);
    fits &= fromInteger ? type.isInteger(32) || type.isInteger(64)
            : truncates ? type.isF64()
                        : type == result;
  }
  if (!fits)
    return emitOpError("(constraint 3) '")
           << getFunction() << "' cannot take (" << getOperands().getTypes()
           << ") and give " << getType();
  return success();
}

#define GET_OP_CLASSES
#include "triton-to-linalg/bridge/LinalgExtComputeOps.cpp.inc"
