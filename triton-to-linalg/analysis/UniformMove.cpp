//===- UniformMove.cpp - values that differ by one number -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/UniformMove.h"

#include "frontend/TTOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

bool ttl::canMove(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isa<tt::PointerType>(tensor.getElementType()) ||
           (isa<IntegerType>(tensor.getElementType()) &&
            !tensor.getElementType().isInteger(1));
  auto pointer = dyn_cast<tt::PointerType>(type);
  return pointer && !pointer.isBlockPointer();
}

Type ttl::deltaTypeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<IntegerType>(element) ? element
                                   : IntegerType::get(type.getContext(), 64);
}

/// What an addition adds to each element, if that is one number: an operand's
/// value and the other operand.
static std::optional<UniformMove>
stepOf(ExprPool &pool, AccessAnalysis &analysis, Operation *op) {
  auto uniform = [&](Value value) -> const Expr * {
    if (!isa<RankedTensorType>(value.getType()))
      return pool.scalar(value);
    std::optional<TensorForm> form = analysis.integers(value);
    return form && form->isUniform() ? form->uniform : nullptr;
  };
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    if (const Expr *offset = uniform(add.getOffset()))
      return UniformMove{add.getPtr(), pool.extend(offset, 64, true)};
  } else if (auto add = dyn_cast<arith::AddIOp>(op)) {
    if (const Expr *term = uniform(add.getRhs()))
      return UniformMove{add.getLhs(), term};
    if (const Expr *term = uniform(add.getLhs()))
      return UniformMove{add.getRhs(), term};
  } else if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    if (const Expr *term = uniform(sub.getRhs()))
      return UniformMove{sub.getLhs(),
                         pool.sub(pool.constant(term->width, 0), term)};
  }
  return std::nullopt;
}

UniformMove ttl::uniformMoveOf(ExprPool &pool, AccessAnalysis &analysis,
                               Value value) {
  Type type = value.getType();
  unsigned width = deltaTypeOf(type).getIntOrFloatBitWidth();
  UniformMove move{value, pool.constant(width, 0)};
  while (Operation *op = move.root.getDefiningOp()) {
    if (!isa<tt::PointerType>(getElementTypeOrSelf(type)))
      if (std::optional<TensorForm> form = analysis.integers(move.root);
          form && form->isUniform())
        return {Value(), pool.add(move.delta, form->uniform)};
    std::optional<UniformMove> step = stepOf(pool, analysis, op);
    if (!step)
      break;
    move.root = step->root;
    move.delta = pool.add(move.delta, step->delta);
  }
  return move;
}

Value ttl::movedValue(OpBuilder &builder, Location loc, Type type, Value root,
                      Value delta) {
  Value all = delta;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    all =
        tt::SplatOp::create(builder, loc, tensor.clone(delta.getType()), delta);
  if (!root)
    return all;
  if (isa<tt::PointerType>(getElementTypeOrSelf(type)))
    return tt::AddPtrOp::create(builder, loc, type, root, all);
  return arith::AddIOp::create(builder, loc, root, all);
}
