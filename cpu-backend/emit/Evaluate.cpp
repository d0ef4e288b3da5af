//===- Evaluate.cpp - tensors at an index ------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/GroupLanes.h"
#include "cpu-backend/emit/PickedElements.h"
#include "cpu-backend/emit/RepeatedLanes.h"
#include "cpu-backend/emit/StreamScans.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

void Frame::open(OpBuilder &builder) {
  auto level = std::make_unique<Level>();
  level->block = builder.getInsertionBlock();
  if (builder.getInsertionPoint() != level->block->end())
    level->before = &*builder.getInsertionPoint();
  levels.push_back(std::move(level));
}

Index Frame::openLoop(OpBuilder &builder, Location loc, unsigned dim,
                      Value from, Value to, int64_t step, bool hasLanes) {
  auto loop =
      scf::ForOp::create(builder, loc, from, to,
                         arith::ConstantIndexOp::create(builder, loc, step));
  Level &outside = *levels.back();
  if (!outside.before || (outside.block == loop->getBlock() &&
                          loop->isBeforeInBlock(outside.before)))
    outside.before = loop;
  auto level = std::make_unique<Level>();
  level->block = loop.getBody();
  levels.push_back(std::move(level));
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  return {loop.getInductionVar(), hasLanes ? 1 : 0,
          static_cast<unsigned>(levels.size() - 1), static_cast<int>(dim)};
}

unsigned FunctionEmitter::levelOf(ArrayRef<Index> indices) const {
  unsigned level = 0;
  for (const Index &index : indices)
    level = std::max(level, index.level);
  return std::min<unsigned>(level, frame->levels.size() - 1);
}

/// Before the first loop inside of the level, or at its end while there is
/// none.
void FunctionEmitter::moveTo(unsigned level) {
  Level &at = *frame->levels[level];
  if (at.before)
    rewriter.setInsertionPoint(at.before);
  else if (!at.block->empty() &&
           at.block->back().hasTrait<OpTrait::IsTerminator>())
    rewriter.setInsertionPoint(&at.block->back());
  else
    rewriter.setInsertionPointToEnd(at.block);
}

Value FunctionEmitter::zeroOf(Type element, Location loc) {
  return arith::ConstantOp::create(rewriter, loc,
                                   rewriter.getZeroAttr(element));
}

Value FunctionEmitter::toLanes(Value value, int64_t lanes) {
  if (!value || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(rewriter, value.getLoc(),
                                     VectorType::get({lanes}, value.getType()),
                                     value);
}

/// The index itself as a value of type `element` (index or an integer).
Value FunctionEmitter::laneIndices(const Index &index, Type element) {
  Location loc = index.base.getLoc();
  Value base = index.base;
  if (!element.isIndex())
    base = arith::IndexCastOp::create(rewriter, loc, element, base);
  if (index.step == 0)
    return base;
  SmallVector<APInt> steps;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  for (int64_t lane = 0; lane < frame->lanes; ++lane)
    steps.push_back(APInt(64, lane * index.step).trunc(bits));
  auto type = VectorType::get({frame->lanes}, element);
  Value offsets = arith::ConstantOp::create(
      rewriter, loc, DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(rewriter, loc, toLanes(base, frame->lanes),
                               offsets);
}

const View *FunctionEmitter::viewIfInMemory(Value tensor) {
  if (auto it = staged.find(tensor); it != staged.end())
    return it->second.get();
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second->view.get();
  if (auto it = loads.find(tensor); it != loads.end())
    return it->second.get();
  return nullptr;
}

/// Without the indices that lanes of `view` do not differ in and that count for
/// nothing: rows that are one row in memory are read before the loop over them.
static Indices withoutRepeated(const View &view, ArrayRef<Index> indices) {
  Indices result(indices);
  for (auto [d, index] : llvm::enumerate(result))
    if (!view.other && index.step == 0 && static_cast<int>(d) != view.rowDim &&
        constantOf(view.strides[d]) == 0 && view.isFull(d))
      index = Index();
  return result;
}

Value FunctionEmitter::evaluate(Value tensor, ArrayRef<Index> where) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return mapScalar(tensor);
  if (auto it = scalars.find(tensor); it != scalars.end())
    return it->second;
  const View *view = viewIfInMemory(tensor);
  Indices indices = view ? withoutRepeated(*view, where) : Indices(where);
  unsigned level = levelOf(indices);
  for (auto &[at, value] : frame->levels[level]->values[tensor])
    if (at == indices)
      return value;
  OpBuilder::InsertionGuard guard(rewriter);
  moveTo(level);
  if (auto it = frame->squares.find(tensor); it != frame->squares.end())
    return it->second[frame->column];
  Value value = view ? read(*view, indices, tensor.getLoc())
                     : evaluateDefinition(tensor, indices);
  if (value)
    frame->levels[level]->values[tensor].push_back({indices, value});
  return value;
}

Value FunctionEmitter::evaluateDefinition(Value tensor,
                                          ArrayRef<Index> indices) {
  Operation *op = tensor.getDefiningOp();
  Location loc = tensor.getLoc();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (!op) {
    emitError(loc, "tensors as arguments of a function are not supported here");
    return {};
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return mapScalar(splat.getInput());
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op);
      elements && elements.getElements().size() == 1)
    return mapScalar(elements.getElements().front());
  if (isa<tensor::EmptyOp, ub::PoisonOp>(op))
    return zeroOf(element, loc);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(rewriter, loc,
                                       splat.getSplatValue<TypedAttr>());
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return evaluate(cast.getSource(), indices);
  if (isTrueInside(tensor, indices))
    return arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  if (isStreamedScan(op))
    return evaluateScan(op, indices);
  if (isElementwise(op))
    return evaluateElementwise(llvm::cast<OpResult>(tensor), indices);
  if (isIrregularLoad(op))
    return evaluateIrregular(op, indices);
  if (isPick(op))
    return PickedElements(*this, op, indices).evaluate();
  if (auto exchange = matchExchange(op); exchange && exchange->isNear())
    return GroupLanes(*this, op, indices).exchange(*exchange);
  if (auto repeated = RepeatedLanes::match(op))
    return GroupLanes(*this, op, indices).repeat(*repeated);
  if (op->getNumOperands() > 0)
    if (auto from = operandIndices(op->getOpOperand(0), indices, &rewriter))
      return evaluate(op->getOperand(0), *from);
  emitError(loc)
      << "'" << op->getName()
      << "' is not supported by the CPU backend, or not in this form";
  return {};
}

Value FunctionEmitter::evaluateElementwise(OpResult result,
                                           ArrayRef<Index> indices) {
  Operation *op = result.getOwner();
  SmallVector<Value> operands;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      operands.push_back(mapScalar(operand.get()));
    } else if (linalgOp &&
               linalgOp.getMatchingBlockArgument(&operand).use_empty()) {
      operands.push_back(Value());
      continue;
    } else {
      auto from = operandIndices(operand, indices, &rewriter);
      operands.push_back(evaluate(operand.get(), *from));
    }
    if (!operands.back())
      return {};
  }
  bool anyLanes = llvm::any_of(
      operands, [](Value v) { return v && isa<VectorType>(v.getType()); });
  if (!linalgOp)
    return cloneElementwise(op, operands, anyLanes ? frame->lanes : 0)
        ->getResult(result.getResultNumber());
  SmallVector<Value> results;
  if (failed(cloneBody(op->getRegion(0).front(), operands, indices,
                       frame->lanes, results)))
    return {};
  unsigned level = levelOf(indices);
  for (auto [other, value] : llvm::zip_equal(op->getResults(), results))
    if (other != result)
      frame->levels[level]->values[other].push_back({Indices(indices), value});
  return results[result.getResultNumber()];
}

void FunctionEmitter::walkCone(
    Value tensor, ArrayRef<Index> indices, OpBuilder *builder,
    function_ref<bool(Value, ArrayRef<Index>)> visit) {
  Places visited;
  walkCone(tensor, indices, builder, visit, visited);
}

void FunctionEmitter::walkCone(Value tensor, ArrayRef<Index> indices,
                               OpBuilder *builder,
                               function_ref<bool(Value, ArrayRef<Index>)> visit,
                               Places &visited) {
  if (!isa<RankedTensorType>(tensor.getType()) || scalars.count(tensor))
    return;
  SmallVector<Indices, 1> &places = visited[tensor];
  if (llvm::any_of(places, [&](const Indices &place) {
        return ArrayRef<Index>(place) == indices;
      }))
    return;
  places.push_back(Indices(indices));
  if (!visit(tensor, indices))
    return;
  Operation *op = tensor.getDefiningOp();
  if (viewIfInMemory(tensor)) {
    auto load = matchLoad(tensor);
    if (load && load->other && loads.count(tensor))
      walkCone(load->other, indices, builder, visit, visited);
    return;
  }
  if (!op || isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp>(op))
    return;
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return walkCone(cast.getSource(), indices, builder, visit, visited);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) || !isRead(operand))
      continue;
    auto from = operandIndices(operand, indices, builder);
    // An analysis, which has no builder, must see what irregular accesses read
    // as well: offsets and masks of elements lane by lane, the rest anywhere.
    if (!from && !builder)
      from =
          isa<linalg_ext::GatherOp, linalg_ext::MaskedLoadOp>(op)
              ? Indices(indices)
              : Indices(
                    cast<RankedTensorType>(operand.get().getType()).getRank());
    if (from)
      walkCone(operand.get(), *from, builder, visit, visited);
  }
}

Value FunctionEmitter::evaluateAlone(Value tensor, ArrayRef<Index> indices,
                                     Frame &alone) {
  alone.open(rewriter);
  Frame *outer = std::exchange(frame, &alone);
  Value value = evaluate(tensor, indices);
  frame = outer;
  return value;
}

Value FunctionEmitter::scalarAt(Value tensor, ValueRange indices) {
  Frame alone;
  Indices at;
  for (Value index : indices)
    at.push_back({index, 0, 0, -1});
  return evaluateAlone(tensor, at, alone);
}

Value FunctionEmitter::vectorAt(Value tensor, ValueRange indices, unsigned dim,
                                int64_t lanes) {
  Frame alone;
  alone.lanes = lanes;
  Indices at;
  for (auto [d, index] : llvm::enumerate(indices))
    at.push_back({index, d == dim ? 1 : 0, 0, -1});
  return toLanes(evaluateAlone(tensor, at, alone), lanes);
}
