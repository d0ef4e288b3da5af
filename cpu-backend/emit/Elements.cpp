//===- Elements.cpp - loops over elements, for roots of their own ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilebridge::cpu;

static LogicalResult openLoops(Emitter &emitter, Location loc,
                               ArrayRef<int64_t> shape,
                               SmallVector<Value> &indices, ElementBody body) {
  if (indices.size() == shape.size())
    return body(indices);
  OpBuilder &b = emitter.builder();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(b, loc, shape[indices.size()]);
  auto loop = scf::ForOp::create(b, loc, zero, end, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices.push_back(loop.getInductionVar());
  return openLoops(emitter, loc, shape, indices, body);
}

/// Pairs of vectors, pairs of pairs, and so on.
Value tilebridge::cpu::joinLanes(OpBuilder &b, Location loc,
                                 SmallVector<Value> parts) {
  while (parts.size() > 1) {
    int64_t lanes = cast<VectorType>(parts.front().getType()).getNumElements();
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    SmallVector<Value> wider;
    for (size_t i = 0; i < parts.size(); i += 2)
      wider.push_back(
          vector::ShuffleOp::create(b, loc, parts[i], parts[i + 1], order));
    parts = std::move(wider);
  }
  return parts.front();
}

LogicalResult tilebridge::cpu::forEachElement(Emitter &emitter, Location loc,
                                              ArrayRef<int64_t> shape,
                                              ElementBody body) {
  SmallVector<Value> indices;
  return openLoops(emitter, loc, shape, indices, body);
}

Value tilebridge::cpu::loadElements(OpBuilder &b, Location loc, Value buffer,
                                    Position indices, Type element,
                                    int64_t lanes) {
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  Value value;
  if (lanes == 0)
    value = memref::LoadOp::create(b, loc, buffer, indices);
  else
    value = vector::LoadOp::create(b, loc, VectorType::get(lanes, stored),
                                   buffer, indices);
  if (stored == element)
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

void tilebridge::cpu::storeElements(OpBuilder &b, Location loc, Value value,
                                    Value buffer, Position indices) {
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (getElementTypeOrSelf(value.getType()) != stored)
    value = arith::ExtUIOp::create(
        b, loc, vector ? Type(vector.clone(stored)) : stored, value);
  if (vector)
    vector::StoreOp::create(b, loc, value, buffer, indices);
  else
    memref::StoreOp::create(b, loc, value, buffer, indices);
}

bool tilebridge::cpu::canRunOnVectors(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    // Lanes that no element belongs to must not trap.
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return false;
    if (op.getNumRegions() != 0 || !OpTrait::hasElementwiseMappableTraits(&op))
      return false;
    auto isElement = [](Type type) { return type.isIntOrIndexOrFloat(); };
    if (!llvm::all_of(op.getOperandTypes(), isElement) ||
        !llvm::all_of(op.getResultTypes(), isElement))
      return false;
  }
  return true;
}

SmallVector<Value> tilebridge::cpu::inlineRegion(Emitter &emitter, Block &block,
                                                 ValueRange arguments,
                                                 int64_t lanes) {
  OpBuilder &b = emitter.builder();
  IRMapping map;
  map.map(block.getArguments(), arguments);
  auto toLanes = [&](Value value, Location loc) -> Value {
    if (lanes == 0 || isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(
        b, loc, VectorType::get(lanes, value.getType()), value);
  };
  // What the region reads of its surroundings.
  block.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!map.contains(operand) &&
          !block.getParent()->isAncestor(operand.getParentRegion()))
        map.map(operand, toLanes(emitter.mapScalar(operand), op->getLoc()));
  });
  for (Operation &op : block.without_terminator()) {
    Operation *copy = b.clone(op, map);
    if (lanes == 0)
      continue;
    if (isa<arith::ConstantOp>(op)) {
      map.map(op.getResult(0), toLanes(copy->getResult(0), op.getLoc()));
      continue;
    }
    for (OpResult result : copy->getResults())
      result.setType(VectorType::get(lanes, result.getType()));
  }
  SmallVector<Value> results;
  for (Value yielded : block.getTerminator()->getOperands())
    results.push_back(
        toLanes(map.lookup(yielded), block.getTerminator()->getLoc()));
  return results;
}
