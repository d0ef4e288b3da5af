//===- Sinks.cpp - what combines the positions of a block -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Sinks.h"

#include "accel-backend/dialect/AccelOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The only operation of a compute op that looks at its inputs alone; null where
// it has more.
template <typename OpT> static OpT onlyOpIn(Operation *op) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute || !llvm::hasNItems(compute.getBody().front(), 2))
    return {};
  Block &body = compute.getBody().front();
  auto only = dyn_cast<OpT>(body.front());
  bool isAlone =
      only && body.getTerminator()->getOperands() == only->getResults() &&
      llvm::all_of(body.getArguments().take_back(compute.getOuts().size()),
                   [](Value argument) { return argument.use_empty(); });
  return isAlone ? only : OpT();
}

bool tilebridge::accel::isAccumulating(Operation *op) {
  if (onlyOpIn<linalg_ext::HistogramOp>(op) ||
      onlyOpIn<linalg_ext::ReduceOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && op->getNumResults() == 1 &&
         (isa<linalg::ContractionOpInterface>(op) ||
          linalgOp.getNumReductionLoops() == 1);
}

SmallVector<Value> tilebridge::accel::beginsOf(OpBuilder &builder,
                                               Operation *sink) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(sink))
    return {linalgOp.getDpsInits().front()};
  SmallVector<Value> begins;
  Location loc = sink->getLoc();
  for (Type result : sink->getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                          type.getElementType());
    begins.push_back(
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0));
  }
  return begins;
}

// The region of a reduction, on what was combined before and what a part gives.
static SmallVector<Value> combine(OpBuilder &builder, Location loc,
                                  linalg_ext::ReduceOp reduce,
                                  ValueRange before, ValueRange part,
                                  Value isFirst) {
  Block &region = reduce.getCombiner().front();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(
           region.getArguments(),
           llvm::concat<Value>(llvm::to_vector(before), llvm::to_vector(part))))
    mapping.map(argument, value);
  for (Operation &op : region.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> all;
  for (auto [value, alone] :
       llvm::zip_equal(region.getTerminator()->getOperands(), part))
    all.push_back(arith::SelectOp::create(builder, loc, isFirst, alone,
                                          mapping.lookupOrDefault(value)));
  return all;
}

void tilebridge::accel::continueFrom(Operation *sink, ValueRange before,
                                     Value isFirst) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(sink))
    return linalgOp.getDpsInitsMutable().assign(before);
  // They are combined where they are made: there is no second block of them.
  auto compute = cast<ComputeOp>(sink);
  compute.getOutsMutable().assign(before);
  Block &body = compute.getBody().front();
  auto reduce = dyn_cast<linalg_ext::ReduceOp>(body.front());
  OpBuilder builder(body.getTerminator());
  SmallVector<Value> parts =
      llvm::to_vector(body.getTerminator()->getOperands());
  size_t count = parts.size();
  int64_t rank = cast<RankedTensorType>(parts.front().getType()).getRank();
  SmallVector<AffineMap> maps(2 * count,
                              builder.getMultiDimIdentityMap(unsigned(rank)));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto all = linalg::GenericOp::create(
      builder, sink->getLoc(), TypeRange(ValueRange(parts)), parts,
      body.getArguments().take_back(count), maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange values) {
        ValueRange part = values.take_front(count);
        ValueRange old = values.drop_front(count);
        SmallVector<Value> result;
        if (reduce)
          result = combine(inner, loc, reduce, old, part, isFirst);
        else
          result.push_back(
              arith::AddIOp::create(inner, loc, part.front(), old.front()));
        linalg::YieldOp::create(inner, loc, result);
      });
  body.getTerminator()->setOperands(all.getResults());
}
