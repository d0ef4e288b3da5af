//===- StreamScans.cpp - scans in the nests of stores --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A scan along the last dimension, such as a cumulative sum of a row, whose
// result is only stored needs no memory for its operand and its result: the
// loop of the store goes along the row, and carries what was combined so far.
// It reads and writes at the same time, where one loop for each would let
// memory wait in between.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/StreamScans.h"

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/ScanVectors.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

bool tilebridge::cpu::isStreamedScan(Operation *op) {
  return op && isa<linalg_ext::ScanOp>(op) && op->hasAttr(streamedAttr);
}

/// Each element of the result needs the one of `operand` at its place only.
static bool isAtItsPlace(Operation *op, OpOperand &operand) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return false;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return (!linalgOp ||
          linalgOp.getMatchingIndexingMap(&operand).isIdentity()) &&
         cast<RankedTensorType>(op->getResult(0).getType()).getShape() ==
             cast<RankedTensorType>(operand.get().getType()).getShape();
}

/// The store that `tensor` goes to, element by element; null if anything else
/// uses it.
static Operation *onlyStoreOf(Value tensor) {
  Operation *store = nullptr;
  auto note = [&](Operation *found) {
    if (!found || (store && store != found))
      return false;
    store = found;
    return true;
  };
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExtractSliceOp>(user)) {
      for (Operation *write : user->getUsers()) {
        auto found = matchStore(write);
        if (!found || found->tensor != tensor || !note(write))
          return nullptr;
      }
      continue;
    }
    if (auto found = matchStore(user); found && found->tensor == tensor) {
      if (!note(user))
        return nullptr;
      continue;
    }
    if (!isAtItsPlace(user, use) || !note(onlyStoreOf(user->getResult(0))))
      return nullptr;
  }
  return store;
}

static bool canStream(linalg_ext::ScanOp op) {
  if (op.getInputs().size() != 1 || op.getReverse() || !neutralOf(op) ||
      !canRunOnVectors(op.getCombiner().front()))
    return false;
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  if (!type.hasStaticShape() || type.getElementType().isInteger(1) ||
      op.getDimension() + 1 != static_cast<uint64_t>(type.getRank()) ||
      !llvm::isPowerOf2_64(type.getShape().back()))
    return false;
  // Several short rows are scanned at once, from memory where they follow one
  // another.
  int64_t bits = std::max(type.getElementTypeBitWidth(), 32u);
  if (type.getShape().back() * bits < 8 * lineBytes &&
      type.getNumElements() > type.getShape().back())
    return false;
  Operation *store = onlyStoreOf(op->getResult(0));
  return store && store->getBlock() == op->getBlock();
}

void tilebridge::cpu::findStreamedScans(func::FuncOp func) {
  func.walk([](linalg_ext::ScanOp op) {
    if (canStream(op))
      op->setAttr(streamedAttr, UnitAttr::get(op.getContext()));
  });
}

/// The scans that the nest computes.
void NestEmitter::findScans() {
  auto visit = [&](Value value, ArrayRef<Index>) {
    Operation *op = value.getDefiningOp();
    if (isStreamedScan(op) && !fe.viewIfInMemory(value) &&
        !llvm::is_contained(scans, op))
      scans.push_back(op);
    return true;
  };
  Indices any = ownIndices(nest.shape.size());
  for (const NestOutput &output : nest.outputs)
    if (!output.reduce && !output.source)
      fe.walkCone(output.tensor, any, nullptr, visit);
}

/// How many lanes of a scan's vectors are combined at once.
static int64_t lanesOfScan(Operation *op, int64_t lanes, int64_t vectorBits) {
  unsigned bits = cast<RankedTensorType>(op->getResult(0).getType())
                      .getElementTypeBitWidth();
  return std::min<int64_t>(
      lanes, std::max<int64_t>(1, vectorBits / std::max(bits, 32u)));
}

/// Before the loop along the lanes: nothing has been combined.
void NestEmitter::startScans() {
  for (Operation *op : scans) {
    TypedAttr neutral = neutralOf(cast<linalg_ext::ScanOp>(op));
    auto type =
        VectorType::get({lanesOfScan(op, frame.lanes, fe.target().vectorBits)},
                        neutral.getType());
    accumulators.push_back(arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, Attribute(neutral))));
  }
}

/// In the body of the loop, before and after its values are computed.
void NestEmitter::openScans() {
  for (auto [op, before] : llvm::zip_equal(scans, accumulators))
    frame.scanned[op] = before;
}

void NestEmitter::closeScans() {
  for (auto [op, before] : llvm::zip_equal(scans, accumulators))
    before = frame.scanned.lookup(op);
}

/// The lanes of the scan at this place of its loop, from what the vectors
/// before gave; what the next ones begin with stays in the frame.
Value FunctionEmitter::evaluateScan(Operation *op, ArrayRef<Index> indices) {
  auto scan = cast<linalg_ext::ScanOp>(op);
  Location loc = op->getLoc();
  auto it = frame->scanned.find(op);
  Value value =
      toLanes(evaluate(scan.getInputs().front(), indices), frame->lanes);
  if (!value)
    return {};
  if (it == frame->scanned.end() || indices.back().step != 1) {
    op->emitError("'") << streamedAttr << "' is not possible here";
    return {};
  }
  ScanVectors vectors(*this, scan);
  Value before = it->second;
  int64_t width = cast<VectorType>(before.getType()).getNumElements(),
          lanes = std::min(width, frame->lanes);
  auto part = [&](Value vector, int64_t from, int64_t count) -> Value {
    if (cast<VectorType>(vector.getType()).getNumElements() == count)
      return vector;
    return vector::ShuffleOp::create(
        rewriter, loc, vector, vector,
        llvm::to_vector(llvm::seq<int64_t>(from, from + count)));
  };
  SmallVector<Value> parts;
  for (int64_t from = 0; from < frame->lanes; from += lanes) {
    SmallVector<Value> within = vectors.scan({part(value, from, lanes)}, lanes);
    parts.push_back(
        vectors.combine({part(before, 0, lanes)}, within, lanes).front());
    before = vectors
                 .combine({before}, vectors.lastLanes(within, lanes, 1, width),
                          width)
                 .front();
  }
  frame->scanned[op] = before;
  return joinLanes(rewriter, loc, std::move(parts));
}
