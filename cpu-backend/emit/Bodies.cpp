//===- Bodies.cpp - scalar code on scalars or vectors ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

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
  // The same for all lanes.
  if (llvm::none_of(values, [](const auto &use) {
        return isa<VectorType>(use.second.getType());
      })) {
    IRMapping mapping;
    for (auto [use, value] : values)
      mapping.map(use, value);
    return llvm::to_vector_of<Value>(
        rewriter.clone(*op, mapping)->getResults());
  }
  auto bound = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  SmallVector<Value> inits;
  for (Type type : op->getResultTypes())
    inits.push_back(toLanes(zeroOf(type, loc), lanes));
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
