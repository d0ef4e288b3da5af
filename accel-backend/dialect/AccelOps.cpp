//===- AccelOps.cpp - ops of the dialect accel ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"

#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_OP_CLASSES
#include "accel-backend/dialect/AccelOps.cpp.inc"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

/// Coordinates of the grid of PEs: 0 or 1, each once, at least one.
static bool areCoordinates(ArrayRef<int64_t> coordinates) {
  if (coordinates.empty() || coordinates.size() > 2)
    return false;
  return llvm::all_of(coordinates,
                      [](int64_t c) { return c == 0 || c == 1; }) &&
         (coordinates.size() == 1 || coordinates[0] != coordinates[1]);
}

/// True if elements of this type can be combined so.
static bool fits(CombiningKind kind, Type element) {
  switch (kind) {
  case CombiningKind::Add:
  case CombiningKind::Mul:
  case CombiningKind::Max:
  case CombiningKind::Min:
    return element.isIntOrFloat();
  case CombiningKind::MaxNum:
  case CombiningKind::MinNum:
    return isa<FloatType>(element);
  case CombiningKind::UMax:
  case CombiningKind::UMin:
  case CombiningKind::And:
  case CombiningKind::Or:
  case CombiningKind::Xor:
    return isa<IntegerType>(element);
  }
  llvm_unreachable("unknown kind");
}

/// A size and another that is the same where both are known.
static bool agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

//===----------------------------------------------------------------------===//
// Scratchpad memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitOpError("(c1) expects a static shape and no layout, got ")
           << type;
  if (!isa_and_nonnull<MemoryAttr>(type.getMemorySpace()))
    return emitOpError("(c2) expects a memory space like "
                       "#accel.memory<\"local\">, got ")
           << type;
  auto isNegative = [](IntegerAttr attribute) {
    return attribute && attribute.getInt() < 0;
  };
  if (isNegative(getOffsetAttr()) || isNegative(getBankAttr()))
    return emitOpError("(c3) expects an offset and a bank that are not "
                       "negative");
  return success();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// (c3): source and low fit into dest, where all of it is known.
template <typename Transfer>
static LogicalResult verifyBox(Transfer op, ShapedType source,
                               ShapedType dest) {
  for (int64_t i = 0; i < source.getRank(); ++i) {
    if (op.getRows() && i == static_cast<int64_t>(op.getDim()))
      continue;
    std::optional<int64_t> low = 0;
    if (!op.getLow().empty())
      low = getConstantIntValue(OpFoldResult(op.getLow()[i]));
    if (low && *low < 0)
      return op.emitOpError("(c3) 'low' is negative in dimension ") << i;
    if (source.isDynamicDim(i) || dest.isDynamicDim(i) || !low)
      continue;
    if (*low + source.getDimSize(i) > dest.getDimSize(i))
      return op.emitOpError("(c3) a box of ")
             << source.getDimSize(i) << " from " << *low
             << " does not fit into " << dest.getDimSize(i) << " in dimension "
             << i;
  }
  return success();
}

/// (c5): what is indexed, and by what.
template <typename Transfer>
static LogicalResult verifyRows(Transfer op, ShapedType source,
                                ShapedType dest) {
  if (!op.getRows()) {
    if (op.getScatter())
      return op.emitOpError("(c5) 'scatter' needs rows");
    return success();
  }
  auto rows = cast<ShapedType>(op.getRows().getType());
  Type element = rows.getElementType();
  if (rows.getRank() != 1 || !(element.isInteger(32) || element.isInteger(64)))
    return op.emitOpError("(c5) expects rows of rank 1 of i32 or i64, got ")
           << rows;
  int64_t dim = op.getDim();
  if (dim < 0 || dim >= source.getRank())
    return op.emitOpError("(c5) 'dim' is ")
           << dim << ", the rank " << source.getRank();
  int64_t positions =
      op.getScatter() ? source.getDimSize(dim) : dest.getDimSize(dim);
  if (!agree(positions, rows.getDimSize(0)))
    return op.emitOpError("(c5) expects ")
           << positions << " rows, got " << rows;
  return success();
}

/// (c6): the mask's shape and type.
template <typename Transfer>
static LogicalResult verifyMask(Transfer op, ShapedType source) {
  if (!op.getMask())
    return success();
  auto mask = cast<ShapedType>(op.getMask().getType());
  auto like = op.getRows() ? cast<ShapedType>(op.getRows().getType()) : source;
  bool same =
      mask.getRank() == like.getRank() && mask.getElementType().isInteger(1);
  for (int64_t i = 0; same && i < mask.getRank(); ++i)
    same = agree(mask.getDimSize(i), like.getDimSize(i));
  if (!same)
    return op.emitOpError("(c6) expects a mask of i1 of the shape of ")
           << like << ", got " << mask;
  return success();
}

/// The constraints of both transfers, c1 but for the result.
template <typename Transfer> static LogicalResult verifyTransfer(Transfer op) {
  auto source = cast<ShapedType>(op.getSource().getType());
  auto dest = cast<ShapedType>(op.getDest().getType());
  bool toMemory = isa<MemRefType>(dest);
  if (isa<TensorType>(source) && !toMemory)
    return op.emitOpError("(c1) source and dest are both tensors");
  if (source.getElementType() != dest.getElementType() ||
      source.getRank() != dest.getRank())
    return op.emitOpError("(c2) expects one element type and one rank, got ")
           << source << " and " << dest;
  if (!op.getLow().empty() &&
      static_cast<int64_t>(op.getLow().size()) != source.getRank())
    return op.emitOpError("(c4) expects ")
           << source.getRank() << " values of 'low', got "
           << op.getLow().size();
  if (failed(verifyRows(op, source, dest)) ||
      failed(verifyBox(op, source, dest)) || failed(verifyMask(op, source)))
    return failure();
  if (op.getPad() && op.getPad().getType() != source.getElementType())
    return op.emitOpError("(c7) expects a pad value of type ")
           << source.getElementType() << ", got " << op.getPad().getType();
  if (auto kind = op.getAccumulate())
    if (!toMemory || op.getPad() || !fits(*kind, source.getElementType()))
      return op.emitOpError("(c8) accumulates elements of a type that '")
             << stringifyCombiningKind(*kind)
             << "' works on, in a memref, without padding";
  if (auto coordinates = op.getMulticast())
    if (!areCoordinates(*coordinates) || isa<TensorType>(source) ||
        (toMemory && isInChipMemory(dest)))
      return op.emitOpError("(c9) multicast is along coordinates 0 and 1, each "
                            "once, to buffers of PEs");
  return success();
}

/// What a transfer reads and writes, apart from tensors.
template <typename Transfer>
static void transferEffects(
    Transfer op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto *resource = SideEffects::DefaultResource::get();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isDest = &operand == &op.getDestMutable();
    if (!isDest || op.getAccumulate())
      effects.emplace_back(MemoryEffects::Read::get(), &operand, resource);
    if (isDest)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, resource);
  }
}

LogicalResult CopyOp::verify() {
  Type wanted =
      isa<TensorType>(getDest().getType()) ? getDest().getType() : Type();
  if (getResult() ? getResult().getType() != wanted : wanted != Type())
    return emitOpError("(c1) expects a result of dest's type where dest is a "
                       "tensor, and only there");
  return verifyTransfer(*this);
}

void CopyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  transferEffects(*this, effects);
}

LogicalResult CopyStartOp::verify() {
  for (Value operand : getOperands())
    if (isa<TensorType>(operand.getType()))
      return emitOpError("(c1) expects no tensors, got ") << operand.getType();
  return verifyTransfer(*this);
}

void CopyStartOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  transferEffects(*this, effects);
}

//===----------------------------------------------------------------------===//
// PEs together
//===----------------------------------------------------------------------===//

LogicalResult ReduceLineOp::verify() {
  if (!areCoordinates(getCoordinates()))
    return emitOpError("(c1) expects coordinates 0 and 1, each once");
  Type element = cast<ShapedType>(getBuffer().getType()).getElementType();
  if (!fits(getKind(), element))
    return emitOpError("(c2) '") << stringifyCombiningKind(getKind())
                                 << "' does not work on " << element;
  return success();
}

void ReduceLineOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getBufferMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getBufferMutable());
}

LogicalResult BarrierOp::verify() {
  if (!areCoordinates(getCoordinates()))
    return emitOpError("(c1) expects coordinates 0 and 1, each once");
  return success();
}

LogicalResult AtomicOp::verify() {
  auto offsets = cast<ShapedType>(getOffsets().getType());
  Type element = cast<ShapedType>(getBase().getType()).getElementType();
  for (Value value : {getValues(), getCompare(), getMask(), getOld()}) {
    if (!value)
      continue;
    auto type = cast<ShapedType>(value.getType());
    if (type.getShape() != offsets.getShape())
      return emitOpError("(c1) expects blocks of one shape, got ")
             << offsets << " and " << type;
    if (value != getMask() && type.getElementType() != element)
      return emitOpError("(c2) expects elements of type ")
             << element << ", as the memory has, got " << type;
  }
  bool loads = getAction() == AtomicAction::Load;
  bool swaps = getAction() == AtomicAction::CompareAndSwap;
  bool stores = getAction() == AtomicAction::Store;
  if ((getValues() != nullptr) == loads || (getCompare() != nullptr) != swaps ||
      (getOld() != nullptr) == stores)
    return emitOpError("(c3) has operands that '")
           << stringifyAtomicAction(getAction())
           << "' does not take, or lacks one";
  Type wanted = getOld() && isa<TensorType>(getOld().getType())
                    ? getOld().getType()
                    : Type();
  if (getResult() ? getResult().getType() != wanted : wanted != Type())
    return emitOpError("(c4) expects a result of the type of 'old' where that "
                       "is a tensor, and only there");
  return success();
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

/// The tensor that has the contents of a block.
static RankedTensorType contents(Type block) {
  auto type = cast<ShapedType>(block);
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// (c4): what the body may hold.
static LogicalResult verifyBody(ComputeOp compute) {
  WalkResult result = compute.getBody().walk([&](Operation *op) {
    if (!isa<YieldOp>(op) &&
        !isa<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect,
             scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
             linalg_ext::LinalgExtDialect>(op->getDialect())) {
      InFlightDiagnostic diagnostic =
          compute.emitOpError("(c4) has an op in its body that does not belong "
                              "there: ")
          << op->getName();
      diagnostic.attachNote(op->getLoc()) << "this one";
      return WalkResult::interrupt();
    }
    for (Value operand : op->getOperands()) {
      if (!isa<ShapedType>(operand.getType()) ||
          compute.getBody().isAncestor(operand.getParentRegion()))
        continue;
      InFlightDiagnostic diagnostic = compute.emitOpError(
          "(c4) uses a block from outside in its body: pass it as one of ins");
      diagnostic.attachNote(op->getLoc()) << "used here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ComputeOp::verifyRegions() {
  Block &block = getBody().front();
  SmallVector<Value> blocks = llvm::to_vector(getInputs());
  llvm::append_range(blocks, getOuts());
  if (block.getNumArguments() != blocks.size())
    return emitOpError("(c1) expects ")
           << blocks.size() << " arguments of its body, got "
           << block.getNumArguments();
  for (auto [value, argument] : llvm::zip(blocks, block.getArguments()))
    if (argument.getType() != contents(value.getType()))
      return emitOpError("(c1) expects an argument of type ")
             << contents(value.getType()) << ", got " << argument.getType();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOuts().size())
    return emitOpError("(c2) expects its body to yield ")
           << getOuts().size() << " tensors";
  for (auto [out, value] : llvm::zip(getOuts(), yield.getValues()))
    if (value.getType() != contents(out.getType()))
      return emitOpError("(c2) expects a yielded value of type ")
             << contents(out.getType()) << ", got " << value.getType();
  // (c3) is what the interface of destination style verifies.
  return verifyBody(*this);
}

void ComputeOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.getOperandNumber() >= getInputs().size())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}
