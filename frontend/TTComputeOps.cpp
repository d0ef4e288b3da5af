//===- TTComputeOps.cpp - arithmetic, casts and contractions --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#define GET_OP_CLASSES
#include "frontend/TTComputeOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerComputeOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTComputeOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getSrc()),
       to = getElementTypeOrSelf(getResult());
  bool valid = isa<PointerType>(from) || isa<PointerType>(to)
                   ? isa<PointerType>(from) && isa<PointerType>(to)
                   : from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth();
  if (valid)
    return success();
  return emitOpError()
         << "(BT1) both types are pointers or have one width, which " << from
         << " and " << to << " do not";
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto first = getSrc().getDefiningOp<BitcastOp>())
    if (first.getSrc().getType() == getType())
      return first.getSrc();
  return {};
}

LogicalResult FpToFpOp::verify() {
  unsigned from = getElementTypeOrSelf(getSrc()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(getResult()).getIntOrFloatBitWidth();
  if (to < from && !getRounding())
    return emitOpError() << "(FF1) a cast from " << from << " to " << to
                         << " bits needs a rounding";
  return success();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of one contraction, in elements.
struct ContractionSizes {
  int64_t aRows, aDepth, bDepth, bColumns;
};
} // namespace

static LogicalResult verifyRanks(Operation *op, StringRef ranks,
                                 StringRef batches,
                                 ArrayRef<RankedTensorType> types) {
  int64_t rank = types.back().getRank();
  if ((rank != 2 && rank != 3) ||
      llvm::any_of(types, [&](RankedTensorType type) {
        return type.getRank() != rank;
      })) {
    InFlightDiagnostic diag =
        op->emitOpError() << ranks
                          << " all operands have rank 2, or all rank 3, not ";
    llvm::interleaveComma(
        types, diag, [&](RankedTensorType type) { diag << type.getRank(); });
    return diag;
  }
  int64_t batch = types.back().getDimSize(0);
  if (rank == 3 && llvm::any_of(types, [&](RankedTensorType type) {
        return type.getDimSize(0) != batch;
      }))
    return op->emitOpError()
           << batches << " all operands have one batch size, here " << batch;
  return success();
}

static LogicalResult verifySizes(Operation *op, StringRef constraint,
                                 ContractionSizes sizes, RankedTensorType c) {
  int64_t rank = c.getRank();
  if (sizes.aDepth == sizes.bDepth && c.getDimSize(rank - 2) == sizes.aRows &&
      c.getDimSize(rank - 1) == sizes.bColumns)
    return success();
  return op->emitOpError() << constraint << " shapes are MxK, KxN and MxN, not "
                           << sizes.aRows << "x" << sizes.aDepth << ", "
                           << sizes.bDepth << "x" << sizes.bColumns << " and "
                           << c.getDimSize(rank - 2) << "x"
                           << c.getDimSize(rank - 1);
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(),
                   c = getC().getType();
  if (failed(verifyRanks(*this, "(DT1)", "(DT2)", {a, b, c})))
    return failure();
  int64_t rank = c.getRank();
  ContractionSizes sizes = {a.getDimSize(rank - 2), a.getDimSize(rank - 1),
                            b.getDimSize(rank - 2), b.getDimSize(rank - 1)};
  if (failed(verifySizes(*this, "(DT3)", sizes, c)))
    return failure();
  Type aType = a.getElementType(), bType = b.getElementType(),
       cType = c.getElementType();
  bool floats =
      isa<FloatType>(aType) && isa<FloatType>(bType) && isa<FloatType>(cType);
  bool integers =
      isa<IntegerType>(aType) && isa<IntegerType>(bType) && cType.isInteger(32);
  if (floats || integers)
    return success();
  return emitOpError() << "(DT4) operands and accumulator are all floats, or "
                          "integers with an i32 "
                          "accumulator, not "
                       << aType << ", " << bType << " and " << cType;
}

static bool fitsFormat(Type element, ScaleDotElemType format) {
  switch (format) {
  case ScaleDotElemType::E4M3:
    return element.isInteger(8) || isa<Float8E4M3FNType>(element);
  case ScaleDotElemType::E5M2:
    return element.isInteger(8) || isa<Float8E5M2Type>(element);
  case ScaleDotElemType::E2M3:
  case ScaleDotElemType::E3M2:
  case ScaleDotElemType::E2M1:
    return element.isInteger(8);
  case ScaleDotElemType::BF16:
    return element.isBF16();
  case ScaleDotElemType::FP16:
    return element.isF16();
  }
  return false;
}

static LogicalResult verifyScale(Operation *op, StringRef side, Value scale,
                                 int64_t rows, int64_t depth) {
  if (!scale)
    return success();
  auto type = cast<RankedTensorType>(scale.getType());
  int64_t groups = type.getShape().back();
  if (type.getDimSize(type.getRank() - 2) == rows && groups > 0 &&
      depth % groups == 0)
    return success();
  return op->emitOpError() << "(SD4) the scale of " << side << " has " << rows
                           << " rows and a divisor of " << depth
                           << " columns, not " << type;
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(),
                   c = getC().getType();
  SmallVector<RankedTensorType> types = {a, b};
  for (Value scale : {getAScale(), getBScale()})
    if (scale)
      types.push_back(cast<RankedTensorType>(scale.getType()));
  types.push_back(c);
  if (failed(verifyRanks(*this, "(SD1)", "(SD1)", types)))
    return failure();

  int64_t rank = c.getRank();
  ContractionSizes sizes = {a.getDimSize(rank - 2), a.getDimSize(rank - 1),
                            b.getDimSize(rank - 2), b.getDimSize(rank - 1)};
  if (getAElemType() == ScaleDotElemType::E2M1)
    (getLhsKPack() ? sizes.aDepth : sizes.aRows) *= 2;
  else if (!getLhsKPack())
    return emitOpError() << "(SD5) only e2m1 is packed along M, not "
                         << stringifyScaleDotElemType(getAElemType());
  if (getBElemType() == ScaleDotElemType::E2M1)
    (getRhsKPack() ? sizes.bDepth : sizes.bColumns) *= 2;
  else if (!getRhsKPack())
    return emitOpError() << "(SD5) only e2m1 is packed along N, not "
                         << stringifyScaleDotElemType(getBElemType());
  if (failed(verifySizes(*this, "(SD2)", sizes, c)))
    return failure();

  if (!fitsFormat(a.getElementType(), getAElemType()))
    return emitOpError() << "(SD3) elements of type " << a.getElementType()
                         << " do not hold "
                         << stringifyScaleDotElemType(getAElemType());
  if (!fitsFormat(b.getElementType(), getBElemType()))
    return emitOpError() << "(SD3) elements of type " << b.getElementType()
                         << " do not hold "
                         << stringifyScaleDotElemType(getBElemType());
  if (failed(verifyScale(*this, "a", getAScale(), sizes.aRows, sizes.aDepth)))
    return failure();
  return verifyScale(*this, "b", getBScale(), sizes.bColumns, sizes.bDepth);
}

//===----------------------------------------------------------------------===//
// Histogram, and code from elsewhere
//===----------------------------------------------------------------------===//

LogicalResult HistogramOp::verify() {
  if (getSrc().getType().getRank() == 1 && getType().getRank() == 1)
    return success();
  return emitOpError() << "(HG1) source and result have rank 1, not "
                       << getSrc().getType().getRank() << " and "
                       << getType().getRank();
}

/// Code that is not known to be pure may read and write anything.
static void foreignEffects(
    bool pure,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (pure)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

static Speculation::Speculatability foreignSpeculatability(bool pure) {
  return pure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

LogicalResult ExternElementwiseOp::verify() {
  if (!getSymbol().empty())
    return success();
  return emitOpError() << "(EX1) symbol names no function";
}

void ExternElementwiseOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  foreignEffects(getPure(), effects);
}

Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return foreignSpeculatability(getPure());
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  int64_t packed = getPackedElementAttr().getInt();
  if (packed >= 1)
    return success();
  return emitOpError() << "(IA1) packed_element is at least 1, not " << packed;
}

void ElementwiseInlineAsmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  foreignEffects(getPure(), effects);
}

Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() {
  return foreignSpeculatability(getPure());
}
