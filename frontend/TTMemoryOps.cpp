//===- TTMemoryOps.cpp - loads, stores, atomics and pointers --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#define GET_OP_CLASSES
#include "frontend/TTMemoryOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTMemoryOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// load and store
//===----------------------------------------------------------------------===//

/// The tensor that a block pointer points to, or null for any other pointer.
static RankedTensorType blockOf(Value pointer) {
  auto type = dyn_cast<PointerType>(pointer.getType());
  return type ? dyn_cast<RankedTensorType>(type.getPointeeType())
              : RankedTensorType();
}

/// Each entry of boundaryCheck is a dimension of the block and occurs once.
static LogicalResult verifyBoundaryCheck(Operation *op, StringRef constraint,
                                         ArrayRef<int32_t> dimensions,
                                         RankedTensorType block) {
  llvm::SmallDenseSet<int32_t> seen;
  for (int32_t dimension : dimensions) {
    if (dimension < 0 || dimension >= block.getRank())
      return op->emitOpError()
             << constraint << " boundaryCheck names dimension " << dimension
             << " of a block of rank " << block.getRank();
    if (!seen.insert(dimension).second)
      return op->emitOpError()
             << constraint << " boundaryCheck names dimension " << dimension
             << " twice";
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError()
           << "(LD1) 'other' needs a mask that says where it is used";
  RankedTensorType block = blockOf(getPtr());
  if (!block) {
    if (!getBoundaryCheck().empty() || getPadding())
      return emitOpError()
             << "(LD4) boundaryCheck and padding need a block pointer, not "
             << getPtr().getType();
    return success();
  }
  if (getMask())
    return emitOpError() << "(LD2) a load through a block pointer has no mask; "
                            "use boundaryCheck";
  if (failed(verifyBoundaryCheck(*this, "(LD3)", getBoundaryCheck(), block)))
    return failure();
  if (getPadding() == PaddingOption::PAD_NAN &&
      !isa<FloatType>(block.getElementType()))
    return emitOpError() << "(LD5) padding with NaN needs float elements, not "
                         << block.getElementType();
  return success();
}

// A volatile load is one that another program may answer: it stays where it is.
void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}

LogicalResult StoreOp::verify() {
  RankedTensorType block = blockOf(getPtr());
  if (!block) {
    if (!getBoundaryCheck().empty())
      return emitOpError() << "(ST3) boundaryCheck needs a block pointer, not "
                           << getPtr().getType();
    return success();
  }
  if (getMask())
    return emitOpError() << "(ST1) a store through a block pointer has no "
                            "mask; use boundaryCheck";
  return verifyBoundaryCheck(*this, "(ST2)", getBoundaryCheck(), block);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

LogicalResult AtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getVal());
  bool valid = false;
  switch (getAtomicRmwOp()) {
  case RMWOp::FADD:
    valid = isa<FloatType>(element);
    break;
  case RMWOp::XCHG:
    valid = isa<FloatType, IntegerType, PointerType>(element);
    break;
  default:
    valid = isa<IntegerType>(element);
  }
  if (valid)
    return success();
  return emitOpError() << "(RMW1) '" << stringifyRMWOp(getAtomicRmwOp())
                       << "' does not combine elements of type " << element;
}

static LogicalResult verifyOrder(Operation *op, StringRef constraint,
                                 MemSemantic order, MemSemantic allowed) {
  if (order == MemSemantic::RELAXED || order == allowed)
    return success();
  return op->emitOpError() << constraint << " memory order is relaxed or "
                           << stringifyMemSemantic(allowed) << ", not "
                           << stringifyMemSemantic(order);
}

LogicalResult AtomicLoadOp::verify() {
  return verifyOrder(*this, "(AL1)", getSem(), MemSemantic::ACQUIRE);
}

LogicalResult AtomicStoreOp::verify() {
  return verifyOrder(*this, "(AS1)", getSem(), MemSemantic::RELEASE);
}

LogicalResult AtomicPollOp::verify() {
  return verifyOrder(*this, "(AP1)", getSem(), MemSemantic::ACQUIRE);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

OpFoldResult AddPtrOp::fold(FoldAdaptor) {
  return matchPattern(getOffset(), m_Zero()) ? OpFoldResult(getPtr())
                                             : OpFoldResult();
}

LogicalResult MakeTensorPtrOp::verify() {
  // Counted over all operands: the three lists are told apart by their common
  // size alone.
  int64_t rank = blockOf(getResult()).getRank();
  if (getNumOperands() != 1 + 3 * rank)
    return emitOpError()
           << "(MTP1) expected a shape, a stride and an offset for each of "
           << rank << " dimensions, got " << getNumOperands() - 1
           << " values in all";
  llvm::SmallBitVector seen(rank);
  for (int32_t dimension : getOrder())
    if (dimension >= 0 && dimension < rank)
      seen.set(dimension);
  if (static_cast<int64_t>(getOrder().size()) != rank || !seen.all())
    return emitOpError() << "(MTP2) order is no permutation of the block's "
                         << rank << " dimensions";
  return success();
}

LogicalResult AdvanceOp::verify() {
  int64_t rank = blockOf(getPtr()).getRank();
  if (static_cast<int64_t>(getOffsets().size()) == rank)
    return success();
  return emitOpError() << "(ADV1) expected an offset for each of " << rank
                       << " dimensions, got " << getOffsets().size();
}
