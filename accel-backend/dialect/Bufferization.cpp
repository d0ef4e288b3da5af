//===- Bufferization.cpp - how blocks of accel ops become buffers ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three ops with tensors write to the operand that is their destination, in
// place where upstream's analysis finds that nobody reads it later.
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tilebridge::accel;

/// The result that is what `operand` becomes, if it is a destination.
static AliasingValueList destinationResult(DestinationStyleOpInterface op,
                                           OpOperand &operand) {
  if (!op.isDpsInit(&operand) || !isa<TensorType>(operand.get().getType()))
    return {};
  return {{op.getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

/// Replaces an op by itself on buffers; `clone` makes it of the new operands.
static LogicalResult bufferizeOperands(DestinationStyleOpInterface op,
                                       RewriterBase &rewriter,
                                       const BufferizationOptions &options,
                                       BufferizationState &state) {
  SmallVector<Value> operands;
  SmallVector<Value> replacements;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType())) {
      operands.push_back(operand.get());
      continue;
    }
    FailureOr<Value> buffer =
        getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
    if (op.isDpsInit(&operand))
      replacements.push_back(*buffer);
  }
  OperationState newOp(op->getLoc(), op->getName(), operands, TypeRange(),
                       op->getAttrs());
  newOp.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions())
    newOp.addRegion()->takeBody(region);
  rewriter.create(newOp);
  replaceOpWithBufferizedValues(rewriter, op, replacements);
  return success();
}

//===----------------------------------------------------------------------===//
// accel.copy
//===----------------------------------------------------------------------===//

/// True if nothing is left of what was in dest before.
static bool writesAll(CopyOp op) {
  if (op.getPad())
    return true;
  if (op.getMask())
    return false;
  auto source = cast<ShapedType>(op.getSource().getType());
  auto dest = cast<ShapedType>(op.getDest().getType());
  for (int64_t i = 0; i < dest.getRank(); ++i) {
    bool indexed = op.getRows() && i == static_cast<int64_t>(op.getDim());
    if (!indexed && (source.isDynamicDim(i) || dest.isDynamicDim(i) ||
                     source.getDimSize(i) != dest.getDimSize(i)))
      return false;
  }
  return true;
}

bool CopyOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return &operand != &getDestMutable() || !writesAll(*this);
}

bool CopyOp::bufferizesToMemoryWrite(OpOperand &operand,
                                     const AnalysisState &) {
  return &operand == &getDestMutable();
}

AliasingValueList CopyOp::getAliasingValues(OpOperand &operand,
                                            const AnalysisState &) {
  return destinationResult(*this, operand);
}

LogicalResult CopyOp::bufferize(RewriterBase &rewriter,
                                const BufferizationOptions &options,
                                BufferizationState &state) {
  return bufferizeOperands(*this, rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// accel.atomic
//===----------------------------------------------------------------------===//

bool AtomicOp::bufferizesToMemoryRead(OpOperand &operand,
                                      const AnalysisState &) {
  return !isDpsInit(&operand);
}

bool AtomicOp::bufferizesToMemoryWrite(OpOperand &operand,
                                       const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList AtomicOp::getAliasingValues(OpOperand &operand,
                                              const AnalysisState &) {
  return destinationResult(*this, operand);
}

LogicalResult AtomicOp::bufferize(RewriterBase &rewriter,
                                  const BufferizationOptions &options,
                                  BufferizationState &state) {
  return bufferizeOperands(*this, rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// accel.compute
//===----------------------------------------------------------------------===//

bool ComputeOp::bufferizesToMemoryRead(OpOperand &operand,
                                       const AnalysisState &) {
  return !getBody().getArgument(operand.getOperandNumber()).use_empty();
}

bool ComputeOp::bufferizesToMemoryWrite(OpOperand &operand,
                                        const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList ComputeOp::getAliasingValues(OpOperand &operand,
                                               const AnalysisState &) {
  return destinationResult(*this, operand);
}

LogicalResult ComputeOp::bufferize(RewriterBase &rewriter,
                                   const BufferizationOptions &options,
                                   BufferizationState &state) {
  return bufferizeOperands(*this, rewriter, options, state);
}

/// The body's tensors do not count: they stay.
bool ComputeOp::hasTensorSemantics() {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(getOperandTypes(), isTensor);
}
