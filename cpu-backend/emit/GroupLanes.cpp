//===- GroupLanes.cpp - lanes in groups of a few elements -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is read at `i ^ 1` or `i // 2` (tilebridge-cpu-flatten-groups): lanes of
// a nest are whole groups, so that one shuffle puts what is loaded in order.
// Where lanes begin anywhere, or are too few, each is computed by itself.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/GroupLanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Lanes run along the nest's own lanes, and begin at multiples of them.
bool GroupLanes::areAligned() const {
  const Index &last = indices.back();
  return last.step == 1 && fe.frame->vecDim >= 0 &&
         last.dim == fe.frame->vecDim && !fe.frame->edgeMask;
}

Value GroupLanes::shuffled(Value lanes, ArrayRef<int64_t> order) {
  // The same number in all lanes stays where it is.
  if (!lanes || !isa<VectorType>(lanes.getType()))
    return lanes;
  return vector::ShuffleOp::create(b, loc, lanes, lanes, order);
}

/// Lanes along the last index, one by one.
Value GroupLanes::byLane() {
  Value tensor = op->getResult(0);
  unsigned level = fe.levelOf(indices);
  auto type = VectorType::get({fe.frame->lanes},
                              getElementTypeOrSelf(tensor.getType()));
  Value all = fe.zeroOf(type, loc);
  for (int64_t lane = 0; lane < fe.frame->lanes; ++lane) {
    Indices at(indices);
    Index &last = at.back();
    fe.moveTo(last.level);
    last.base = toValue(
        b, loc,
        addIndex(b, loc, last.begin(b), b.getIndexAttr(lane * last.step)));
    last.step = 0;
    last.dim = -1;
    Value element = fe.evaluate(tensor, at);
    if (!element)
      return {};
    fe.moveTo(level);
    all = vector::InsertOp::create(b, loc, element, all, lane);
  }
  return all;
}

/// Lane l gets what lane `l ^ stride` has.
Value GroupLanes::exchange(const Exchange &exchange) {
  Value source = op->getOperand(0);
  const Index &last = indices.back();
  int64_t lanes = fe.frame->lanes;
  bool areGroups = last.step == 1 && lanes % exchange.lanes == 0;
  if (!exchange.isFree && !areGroups) {
    emitError(loc) << "internal error: lanes change places where there are "
                   << lanes << ", not " << exchange.lanes;
    return {};
  }
  if (areGroups && (!exchange.isFree || areAligned()))
    return shuffled(
        fe.evaluate(source, indices),
        llvm::map_to_vector(llvm::seq<int64_t>(0, lanes), [&](int64_t lane) {
          return lane ^ exchange.stride;
        }));
  if (last.step != 0)
    return byLane();
  Indices from(indices);
  // In the loop that the index belongs to: others find it there.
  fe.moveTo(last.base ? last.level : 0);
  if (!last.base)
    from.back() = {arith::ConstantIndexOp::create(b, loc, 0)};
  from = *operandIndices(op->getOpOperand(0), from, &b);
  fe.moveTo(fe.levelOf(from));
  return fe.evaluate(source, from);
}

Value GroupLanes::repeat(const RepeatedLanes &repeated) {
  const Index &last = indices.back();
  int64_t lanes = fe.frame->lanes, times = repeated.times;
  if (!op->hasAttr(nearAttr) && last.step == 1)
    return repeated.evaluate(fe, indices, lanes, loc);
  bool areGroups = lanes % times == 0 || times % lanes == 0;
  if (last.step != 0 && !(areAligned() && areGroups))
    return byLane();
  Indices from(indices);
  Index &group = from.back();
  if (last.base) {
    fe.moveTo(last.level);
    group.base = arith::DivUIOp::create(
        b, loc, last.base, arith::ConstantIndexOp::create(b, loc, times));
    fe.moveTo(fe.levelOf(indices));
  }
  if (last.step == 0 || lanes < times) {
    group.step = 0;
    group.dim = -1;
    return fe.evaluate(repeated.source, from);
  }
  fe.frame->lanes = lanes / times;
  Value some = fe.evaluate(repeated.source, from);
  fe.frame->lanes = lanes;
  return shuffled(
      some, llvm::map_to_vector(llvm::seq<int64_t>(0, lanes),
                                [&](int64_t lane) { return lane / times; }));
}
