//===- GatherLanes.cpp - lanes at places that are computed ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A gather takes about two cycles a lane, and of narrow elements more. Where it
// is likely that all lanes are at one place, or neighbours, or in one line,
// that is tested first: then it is a load. Where masks are jumps, it is asked
// first whether all lanes are on. Not of pointers that were integers: these are
// offsets from address 0, and a single load from there is none that LLVM has to
// do.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/WindowLanes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

static bool hasVectorType(Value value) {
  return isa<VectorType>(value.getType());
}

static Value zeros(OpBuilder &b, Location loc, VectorType type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// Whether all lanes of `mask` are on.
static Value allOf(OpBuilder &b, Location loc, Value mask) {
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, mask);
}

/// Whether all lanes of `numbers` are what `expected` says.
static Value allAre(OpBuilder &b, Location loc, Value numbers, Value expected) {
  Value each = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, numbers,
                                     expected);
  return allOf(b, loc, each);
}

/// `then` where `condition` holds, else `otherwise`.
static Value choose(OpBuilder &b, Location loc, Value condition, Type type,
                    function_ref<Value()> then,
                    function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  return branch.getResult(0);
}

namespace {
/// What places of lanes are computed by.
struct Origin {
  bool divides = false, readsMemory = false;

  /// Where they come from divisions and remainders, as the number of a channel
  /// or of a row, or are computed from indices alone, the lanes are mostly at
  /// one place, or neighbours. Those that are read are at any place.
  bool isMostlyRegular() const { return divides || !readsMemory; }
};
} // namespace

/// Of places whose lanes run along dimension `laneDim` (-1: which is not
/// known). What is repeated along it, such as the row that a table names, is
/// one number for all of them, wherever that comes from.
static Origin originOf(Value places, int64_t laneDim) {
  Origin origin;
  llvm::SmallSetVector<std::pair<Operation *, int64_t>, 16> ops;
  auto add = [&](Value value, int64_t dim) {
    if (Operation *op = value.getDefiningOp();
        op && isa<RankedTensorType>(value.getType()))
      ops.insert({op, dim});
  };
  add(places, laneDim);
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i].first;
    int64_t dim = ops[i].second;
    if (auto repeated = dyn_cast<linalg::BroadcastOp>(op);
        repeated && dim >= 0) {
      ArrayRef<int64_t> dims = repeated.getDimensions();
      if (!llvm::is_contained(dims, dim))
        add(repeated.getInput(),
            dim - llvm::count_if(dims, [&](int64_t d) { return d < dim; }));
      continue;
    }
    origin.divides |= dividesIntegers(op);
    origin.readsMemory |=
        mayRead(op) || matchLoad(op->getResult(0)) || isPick(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      bool isInOrder =
          generic ? generic.getMatchingIndexingMap(&operand).isIdentity()
                  : isElementwise(op);
      add(operand.get(), isInOrder ? dim : -1);
    }
  }
  return origin;
}

static Value placeOfLane(OpBuilder &b, Location loc, Value at, Value offsets,
                         int64_t lane) {
  return advanced(b, loc, at, vector::ExtractOp::create(b, loc, offsets, lane));
}

/// Without AVX-512, LLVM takes the lanes of a masked gather or scatter apart,
/// with a jump for each. Where all are on, they are taken apart here: of two
/// gathers in two branches LLVM makes one again.
bool FunctionEmitter::masksAreJumps() { return target().vectorBits < 512; }

Value FunctionEmitter::gatherLanes(Value memref, Value at, Value offsets,
                                   Value mask, Value other, Value places,
                                   Location loc, int laneDim) {
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get({frame->lanes}, element);
  auto placeType = cast<VectorType>(offsets.getType());
  mask = mask ? toLanes(mask, frame->lanes) : Value();
  other = toLanes(other, frame->lanes);
  auto gatherWhere = [&](Value wanted) -> Value {
    return vector::GatherOp::create(rewriter, loc, type, memref, at, offsets,
                                    wanted, other);
  };
  auto gather = [&]() -> Value {
    if (!mask)
      return gatherWhere(allLanes(rewriter, loc, frame->lanes));
    if (!masksAreJumps())
      return gatherWhere(mask);
    return choose(
        rewriter, loc, allOf(rewriter, loc, mask), type,
        [&]() -> Value {
          Value all = zeros(rewriter, loc, type);
          for (int64_t i = 0; i < frame->lanes; ++i)
            all = vector::InsertOp::create(
                rewriter, loc,
                loadElement(memref, placeOfLane(rewriter, loc, at, offsets, i),
                            loc),
                all, i);
          return all;
        },
        [&] { return gatherWhere(mask); });
  };
  if (!argumentOf(memref))
    return gatherWhere(mask ? mask : allLanes(rewriter, loc, frame->lanes));
  Origin origin = originOf(places, laneDim);
  if (frame->lanes < 4 || !origin.isMostlyRegular())
    return gather();
  WindowLanes window{memref, at, offsets, mask};
  auto gatherNear = [&]() -> Value {
    if (origin.readsMemory || target().vectorBits < 512 || !window.canLoad())
      return gather();
    return choose(
        rewriter, loc, window.areNear(rewriter, loc), type,
        [&] { return window.load(rewriter, loc, other); }, gather);
  };
  Value first = vector::ExtractOp::create(rewriter, loc, offsets, 0);
  Value begin = advanced(rewriter, loc, at, first);
  Value distances = arith::SubIOp::create(
      rewriter, loc, offsets,
      vector::BroadcastOp::create(rewriter, loc, placeType, first));
  Value isOne =
      allAre(rewriter, loc, distances, zeros(rewriter, loc, placeType));
  if (mask)
    isOne = arith::AndIOp::create(
        rewriter, loc, isOne,
        vector::ExtractOp::create(rewriter, loc, mask, 0));
  // Elements of all sizes have masked loads where vectors are of 512 bits, else
  // those of 32 bits and more; others are loaded if all lanes are wanted.
  bool hasMasks =
      target().vectorBits >= 512 || element.getIntOrFloatBitWidth() >= 32;
  return choose(
      rewriter, loc, isOne, type,
      [&]() -> Value {
        Value value = toLanes(loadElement(memref, begin, loc), frame->lanes);
        return mask ? arith::SelectOp::create(rewriter, loc, mask, value, other)
                    : value;
      },
      [&]() -> Value {
        Value areNeighbours = allAre(rewriter, loc, distances,
                                     numbersFrom0(rewriter, loc, placeType));
        if (mask && !hasMasks)
          areNeighbours = arith::AndIOp::create(rewriter, loc, areNeighbours,
                                                allOf(rewriter, loc, mask));
        return choose(
            rewriter, loc, areNeighbours, type,
            [&]() -> Value {
              if (!mask || !hasMasks)
                return vector::LoadOp::create(rewriter, loc, type, memref,
                                              begin);
              LaneMask on = asLaneMask(mask, loc);
              return vector::MaskedLoadOp::create(
                  rewriter, loc, type, memref, placeIfAny(begin, on.isAny, loc),
                  mask, other);
            },
            gatherNear);
      });
}

void FunctionEmitter::scatterLanes(Value base, Value at, Value offsets,
                                   Value mask, Value value, Location loc) {
  int64_t lanes = frame->lanes;
  bool any = llvm::any_of(ValueRange{offsets, value}, hasVectorType) ||
             (mask && hasVectorType(mask));
  OpBuilder::InsertionGuard guard(rewriter);
  if (!any) {
    Value to = advanced(rewriter, loc, at, offsets);
    if (mask) {
      auto branch = scf::IfOp::create(rewriter, loc, mask, false);
      rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    return storeElement(base, to, value, loc);
  }
  offsets = toLanes(offsets, lanes);
  value = toLanes(value, lanes);
  // Lanes are written in order: the last of equal offsets wins.
  auto scatterWhere = [&](Value wanted) {
    vector::ScatterOp::create(rewriter, loc, Type(), base, at, offsets, wanted,
                              value);
  };
  if (!mask)
    return scatterWhere(allLanes(rewriter, loc, lanes));
  mask = toLanes(mask, lanes);
  // Where masks say which elements go to a bin, hardly any step has one that
  // does: a scatter takes as long without, and what it takes is computed here.
  auto isAny =
      scf::IfOp::create(rewriter, loc,
                        vector::ReductionOp::create(
                            rewriter, loc, vector::CombiningKind::OR, mask),
                        /*withElseRegion=*/false);
  rewriter.setInsertionPoint(isAny.thenBlock()->getTerminator());
  if (!masksAreJumps() || !argumentOf(base))
    return scatterWhere(mask);
  auto branch = scf::IfOp::create(rewriter, loc, allOf(rewriter, loc, mask),
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  for (int64_t i = 0; i < lanes; ++i)
    storeElement(base, placeOfLane(rewriter, loc, at, offsets, i),
                 vector::ExtractOp::create(rewriter, loc, value, i), loc);
  rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
  scatterWhere(mask);
}
