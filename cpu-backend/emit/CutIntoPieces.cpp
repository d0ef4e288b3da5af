//===- CutIntoPieces.cpp - which accesses go by pieces of rows ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the plan has to know of RowPieces.h.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Atomics.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/RowPieces.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {
/// What places are computed by.
struct Cone {
  /// Integers are divided.
  bool divides = false;
  /// A float becomes an integer: that of an index grows by steps, as in a
  /// picture that is scaled, so that no elements follow one another.
  bool rounds = false;
  llvm::SmallPtrSet<Operation *, 16> seen = {};

  bool add(Value value);
};
} // namespace

/// What is one number for a row does not differ along it.
static bool isSameInRow(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || (type.getRank() > 0 && type.getShape().back() == 1);
}

/// It gives one number, or elements that are computed from those at their
/// place.
static bool isOfItsPlace(Operation *op) {
  return isUnitReshape(op) ||
         isa<linalg::BroadcastOp, linalg::TransposeOp, tensor::ExtractSliceOp>(
             op) ||
         isElementwise(op) || isOneNumber(op);
}

/// Adds indices, numbers of rows, scalars, and what elementwise operations make
/// of them; false for anything else.
bool Cone::add(Value value) {
  if (isSameInRow(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (!seen.insert(op).second)
    return true;
  if (!isOfItsPlace(op))
    return false;
  divides |= dividesIntegers(op);
  rounds |= anyInside(op, llvm::IsaPred<arith::FPToSIOp, arith::FPToUIOp>);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return add(operand); });
}

/// The operation that `tensor` is of its operands, element by element and in
/// this order; null if it is anything else.
template <typename Op> static linalg::GenericOp matchEach(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  auto inner = dyn_cast_if_present<Op>(onlyOperation(op));
  return inner && linalg_ext::keepsOrder(op) &&
                 llvm::equal(inner->getOperands(), op.getRegionInputArgs())
             ? op
             : linalg::GenericOp();
}

void tilebridge::cpu::addTerms(Value sum, SmallVectorImpl<Value> &terms) {
  if (auto op = matchEach<arith::AddIOp>(sum))
    for (Value input : op.getDpsInputs())
      addTerms(input, terms);
  else
    terms.push_back(sum);
}

Value tilebridge::cpu::withoutExtension(Value places) {
  auto op = matchEach<arith::ExtSIOp>(places);
  return op ? op.getDpsInputs().front() : places;
}

bool tilebridge::cpu::isCutIntoPieces(Operation *op) {
  Value places, mask;
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    places = gather.getOffsets();
    mask = gather.getMask();
  } else if (auto scatter = dyn_cast<linalg_ext::ScatterOp>(op)) {
    places = scatter.getOffsets();
    mask = scatter.getMask();
  } else if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    places = rows.getRows();
    mask = rows.getRowmask();
    int64_t rank = rows.getView().getType().getRank();
    if (static_cast<int64_t>(rows.getDim()) != rank - 1)
      return false;
  } else {
    return false;
  }
  auto type = cast<RankedTensorType>(places.getType());
  if (type.getRank() == 0 || type.getShape().back() < leastRow)
    return false;
  SmallVector<Value> terms;
  addTerms(withoutExtension(places), terms);
  bool divides = false, reads = false;
  for (Value term : terms) {
    Cone cone;
    if (cone.add(term))
      divides |= cone.divides;
    else
      reads = true;
    if (cone.rounds)
      return false;
  }
  Cone ofMask;
  if (mask && (!ofMask.add(mask) || ofMask.rounds))
    return false;
  // Of a sum of numbers that are computed and others, that are read, only the
  // single elements' places are taken apart.
  if (reads)
    return divides && !isa<linalg_ext::GatherRowsOp>(op);
  return divides || ofMask.divides;
}

bool tilebridge::cpu::isReadInPieces(Operation *op) {
  auto gather = dyn_cast<linalg_ext::GatherOp>(op);
  if (!gather || !isCutIntoPieces(gather) || !argumentOf(gather.getBase()))
    return false;
  auto type = cast<RankedTensorType>(gather.getResult().getType());
  Type element = type.getElementType();
  return type.getRank() == 1 && element.isIntOrFloat() &&
         element.getIntOrFloatBitWidth() >= 8 &&
         Cone().add(gather.getOffsets());
}

/// An atomic access of a flat index that is taken apart: AtomicPieces.cpp.
static bool isAtomicInPieces(Operation *op) {
  auto change = dyn_cast<linalg_ext::AtomicRMWOp>(op);
  if (!change || !change.getResult().use_empty())
    return false;
  auto type = dyn_cast<RankedTensorType>(change.getOffset().getType());
  if (!type || type.getRank() != 1 || type.getNumElements() < leastRow ||
      !followsRows(change.getOffset()))
    return false;
  SmallVector<Value> terms;
  addTerms(withoutExtension(change.getOffset()), terms);
  return llvm::any_of(terms, [](Value term) {
    Cone cone;
    return cone.add(term) && cone.divides;
  });
}

bool PlacesOfPieces::isFromIndices(Value tensor) {
  if (isSameInRow(tensor))
    return true;
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (auto it = fromIndices.find(op); it != fromIndices.end())
    return it->second;
  bool result =
      isOfItsPlace(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
        return isFromIndices(operand);
      });
  fromIndices[op] = result;
  return result;
}

bool PlacesOfPieces::isCut(Operation *op) {
  auto [it, isNew] = cut.try_emplace(op);
  if (isNew)
    it->second = isCutIntoPieces(op) || isAtomicInPieces(op);
  return it->second;
}

bool PlacesOfPieces::isOnlyInPieces(Operation *op,
                                    const llvm::SetVector<Operation *> &roots) {
  return llvm::all_of(roots, [&](Operation *root) { return isCut(root); }) &&
         isFromIndices(op->getResult(0));
}

bool PlacesOfPieces::isInSeveralLoops(
    Operation *op, const llvm::SetVector<Operation *> &roots) {
  auto isCutRoot = [&](Operation *root) { return isCut(root); };
  // What it is computed from may be all that stands before it: asked last.
  if (roots.size() < 2 || llvm::none_of(roots, isCutRoot) ||
      !isFromIndices(op->getResult(0)))
    return roots.size() > 1;
  int64_t loops = 0;
  for (Operation *root : roots) {
    // One element after the other: what is kept for it was made of vectors.
    if (isAtomic(root) && !isCut(root))
      return true;
    loops += !isCut(root);
  }
  return loops > 1;
}
