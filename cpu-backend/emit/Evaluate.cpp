//===- Evaluate.cpp - tensors at an index ------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

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
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second->view.get();
  if (auto it = loads.find(tensor); it != loads.end())
    return it->second.get();
  return nullptr;
}

Value FunctionEmitter::evaluate(Value tensor, ArrayRef<Index> indices) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return mapScalar(tensor);
  if (auto it = scalars.find(tensor); it != scalars.end())
    return it->second;
  unsigned level = levelOf(indices);
  const void *key = tensor.getAsOpaquePointer();
  for (auto &[at, value] : frame->levels[level]->values[key])
    if (at == Indices(indices))
      return value;
  OpBuilder::InsertionGuard guard(rewriter);
  moveTo(level);
  const View *view = viewIfInMemory(tensor);
  Value value = view ? read(*view, indices, tensor.getLoc())
                     : evaluateDefinition(tensor, indices);
  if (value)
    frame->levels[level]->values[key].push_back({Indices(indices), value});
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
  if (isElementwise(op))
    return evaluateElementwise(llvm::cast<OpResult>(tensor), indices);
  if (isIrregularLoad(op))
    return evaluateIrregular(op, indices);
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
      frame->levels[level]->values[other.getAsOpaquePointer()].push_back(
          {Indices(indices), value});
  return results[result.getResultNumber()];
}

/// What divides by zero, or overflows, is undefined in one lane only; the CPU's
/// integer division would end the process. Such lanes are divided by one.
static Value safeDivisor(OpBuilder &builder, Operation *op, Value dividend,
                         Value divisor) {
  Location loc = op->getLoc();
  Type type = divisor.getType();
  Type element = getElementTypeOrSelf(type);
  auto constant = [&](const APInt &value) -> Value {
    TypedAttr attr = IntegerAttr::get(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  };
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
                      arith::CeilDivSIOp>(op);
  APInt known;
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) &&
      !known.isZero() && !(isSigned && known.isAllOnes()))
    return divisor;
  auto is = [&](Value value, const APInt &what) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 constant(what));
  };
  Value bad = is(divisor, APInt::getZero(bits));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(
        builder, loc, is(divisor, APInt::getAllOnes(bits)),
        is(dividend, APInt::getSignedMinValue(bits)));
    bad = arith::OrIOp::create(builder, loc, bad, overflow);
  }
  return arith::SelectOp::create(builder, loc, bad, constant(APInt(bits, 1)),
                                 divisor);
}

/// `op` on scalars (lanes == 0) or vectors; null after an error.
Operation *FunctionEmitter::cloneElementwise(Operation *op,
                                             ArrayRef<Value> operands,
                                             int64_t lanes) {
  SmallVector<Value> values(operands);
  bool scalarCondition =
      isa<arith::SelectOp>(op) && !isa<VectorType>(values[0].getType());
  if (lanes != 0)
    for (auto [i, value] : llvm::enumerate(values))
      if (i != 0 || !scalarCondition)
        values[i] = toLanes(value, lanes);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    values[1] = safeDivisor(rewriter, op, values[0], values[1]);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    types.push_back(lanes != 0 ? Type(VectorType::get({lanes}, element))
                               : element);
  }
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), types, values,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, 0);
  return rewriter.insert(copy);
}

/// What has no vector form (a call, a branch): lane by lane, in a loop.
/// `lookup` gives the new value of what the op uses, a scalar or a vector.
SmallVector<Value>
FunctionEmitter::cloneByLane(Operation *op, int64_t lanes,
                             function_ref<Value(Value)> lookup) {
  Location loc = op->getLoc();
  SmallVector<Value> inits;
  for (Type type : op->getResultTypes())
    inits.push_back(toLanes(zeroOf(type, loc), lanes));
  llvm::SetVector<Value> uses;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        uses.insert(operand);
  });
  SmallVector<std::pair<Value, Value>> values;
  for (Value use : uses) {
    values.push_back({use, lookup(use)});
    if (!values.back().second)
      return {};
  }
  auto bound = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop = scf::ForOp::create(rewriter, loc, bound(0), bound(lanes),
                                 bound(1), inits);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(loop.getBody());
  OpFoldResult lane = loop.getInductionVar();
  IRMapping mapping;
  for (auto [use, value] : values)
    mapping.map(
        use,
        isa<VectorType>(value.getType())
            ? vector::ExtractOp::create(rewriter, loc, value, lane).getResult()
            : value);
  Operation *copy = rewriter.clone(*op, mapping);
  SmallVector<Value> next;
  for (auto [element, vector] :
       llvm::zip_equal(copy->getResults(), loop.getRegionIterArgs()))
    next.push_back(
        vector::InsertOp::create(rewriter, loc, element, vector, lane));
  if (!next.empty())
    scf::YieldOp::create(rewriter, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

LogicalResult FunctionEmitter::cloneBody(Block &block,
                                         ArrayRef<Value> arguments,
                                         ArrayRef<Index> indices, int64_t lanes,
                                         SmallVectorImpl<Value> &results) {
  DenseMap<Value, Value> local;
  DenseMap<Value, unsigned> indexOf;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    local[argument] = value;
  auto lookup = [&](Value value) -> Value {
    if (auto it = indexOf.find(value); it != indexOf.end())
      return laneIndices(indices[it->second], value.getType());
    if (auto it = local.find(value); it != local.end())
      return it->second;
    return mapScalar(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      indexOf[index] = index.getDim();
      continue;
    }
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    if (cast && indexOf.count(cast.getIn())) {
      local[cast] = laneIndices(indices[indexOf[cast.getIn()]], cast.getType());
      continue;
    }
    SmallVector<Value> operands;
    bool anyLanes = false;
    for (Value operand : op.getOperands()) {
      operands.push_back(lookup(operand));
      if (!operands.back())
        return op.emitError("uses a value that is not available here");
      anyLanes |= isa<VectorType>(operands.back().getType());
    }
    SmallVector<Value> values;
    if (op.getNumRegions() != 0) {
      // Everything, as if each lane were different: a branch may be.
      values = cloneByLane(&op, lanes, lookup);
      if (values.empty())
        return failure();
    } else if (op.getNumOperands() == 0) {
      values = llvm::to_vector_of<Value>(rewriter.clone(op)->getResults());
    } else if (op.hasTrait<OpTrait::Elementwise>()) {
      Operation *copy = cloneElementwise(&op, operands, anyLanes ? lanes : 0);
      values = llvm::to_vector_of<Value>(copy->getResults());
    } else if (anyLanes) {
      values = cloneByLane(&op, lanes, lookup);
      if (values.empty())
        return failure();
    } else {
      IRMapping mapping;
      for (auto [from, to] : llvm::zip_equal(op.getOperands(), operands))
        mapping.map(from, to);
      values =
          llvm::to_vector_of<Value>(rewriter.clone(op, mapping)->getResults());
    }
    for (auto [from, to] : llvm::zip_equal(op.getResults(), values))
      local[from] = to;
  }
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(lookup(value));
  return success();
}

void FunctionEmitter::walkCone(
    Value tensor, ArrayRef<Index> indices, OpBuilder *builder,
    function_ref<bool(Value, ArrayRef<Index>)> visit) {
  if (!isa<RankedTensorType>(tensor.getType()) || scalars.count(tensor))
    return;
  if (!visit(tensor, indices))
    return;
  Operation *op = tensor.getDefiningOp();
  if (viewIfInMemory(tensor)) {
    auto load = matchLoad(tensor);
    if (load && load->other && loads.count(tensor))
      walkCone(load->other, indices, builder, visit);
    return;
  }
  if (!op || isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp>(op))
    return;
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return walkCone(cast.getSource(), indices, builder, visit);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        (linalgOp && linalgOp.isDpsInit(&operand) &&
         (!isElementwise(op) ||
          linalgOp.getMatchingBlockArgument(&operand).use_empty())))
      continue;
    if (auto from = operandIndices(operand, indices, builder))
      walkCone(operand.get(), *from, builder, visit);
  }
}

Value FunctionEmitter::evaluateAlone(Value tensor, ArrayRef<Index> indices,
                                     Frame &alone) {
  auto level = std::make_unique<Level>();
  level->block = rewriter.getInsertionBlock();
  if (rewriter.getInsertionPoint() != level->block->end())
    level->before = &*rewriter.getInsertionPoint();
  alone.levels.push_back(std::move(level));
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
