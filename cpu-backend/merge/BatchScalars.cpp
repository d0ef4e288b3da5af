//===- BatchScalars.cpp - scalars of several programs ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums, differences and products with what is the same grow by the same step
// from program to program, in the arithmetic of their width. Where they are
// cast to a wider type, cut to bounds or divided, this is what happens in
// nearly all programs; ProgramBatch::finish() compares. All other scalars are
// blocks with an element a program.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/merge/ProgramBatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// `value` cast from integer to integer, as signed numbers.
static Value castInteger(OpBuilder &b, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return b.createOrFold<arith::IndexCastOp>(loc, type, value);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return b.createOrFold<arith::ExtSIOp>(loc, type, value);
  return b.createOrFold<arith::TruncIOp>(loc, type, value);
}

/// One cast a step, so that equal steps are one value.
Value ProgramBatch::castStep(Value step, Type type) {
  Value &result = castSteps[{step, type}];
  if (!result) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(step);
    result = castInteger(b, step.getLoc(), step, type);
  }
  return result;
}

/// The value is only where a view of memory begins. Such a sum is taken not to
/// wrap around from program to program, as it is within a block: it would lead
/// to the other end of memory.
static bool isOnlyOffset(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(user))
      return isOnlyOffset(user->getResult(0));
    if (auto view = dyn_cast<memref::ReinterpretCastOp>(user))
      return llvm::is_contained(view.getOffsets(), use.get()) &&
             !llvm::is_contained(view.getSizes(), use.get()) &&
             !llvm::is_contained(view.getStrides(), use.get());
    return isa<memref::LoadOp, memref::StoreOp>(user);
  });
}

std::optional<Batched> ProgramBatch::castLinear(Operation *op) {
  if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
           arith::ExtUIOp, arith::TruncIOp>(op))
    return std::nullopt;
  Batched from = lookup(op->getOperand(0));
  Type type = op->getResult(0).getType();
  auto bits = [](Type t) {
    return t.isIndex() ? 64u : t.getIntOrFloatBitWidth();
  };
  bool isWider = bits(type) > bits(from.value.getType());
  bool isTaken =
      from.isExact || (!isTopLevel(op) && isOnlyOffset(op->getResult(0)));
  if (isWider && !isTaken && !isTopLevel(op))
    return std::nullopt;
  Batched result = from;
  result.value = b.clone(*op, same)->getResult(0);
  result.step = castStep(from.step, type);
  result.isExact &= bits(type) >= bits(from.value.getType());
  if (isWider && !isTaken)
    checks.push_back({op->getResult(0), result.step});
  return result;
}

/// A condition that decides what is run, or how much of a block is inside.
static bool decides(Value condition) {
  return llvm::any_of(condition.getUsers(), [](Operation *user) {
    if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(user))
      return decides(user->getResult(0));
    return isa<scf::IfOp>(user) || (isa<arith::SelectOp>(user) &&
                                    user->getResult(0).getType().isIndex());
  });
}

/// What is likely to grow by some step, or to stay as it is: to be compared.
std::optional<Batched> ProgramBatch::guessLinear(Operation *op) {
  if (!isTopLevel(op) || op->getNumOperands() != 2)
    return std::nullopt;
  Batched left = lookup(op->getOperand(0)), right = lookup(op->getOperand(1));
  Type type = op->getResult(0).getType();
  auto guess = [&](Value step) {
    checks.push_back({op->getResult(0), step});
    Value value = b.clone(*op, same)->getResult(0);
    return step ? Batched{Kind::Linear, value, step} : Batched::same(value);
  };
  bool isFirst = left.kind == Kind::Linear && right.kind == Kind::Same;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) {
    if (!isFirst)
      return std::nullopt;
    if (!left.isId || op->getOperand(1) != merged.divisor)
      return guess({});
    return guess(
        arith::ConstantOp::create(b, op->getLoc(), b.getOneAttr(type)));
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    if (!isFirst)
      return std::nullopt;
    bool isStep = left.isId && op->getOperand(1) == merged.divisor;
    return guess(isStep ? Value() : left.step);
  }
  bool isMin = isa<arith::MinSIOp, arith::MinUIOp>(op);
  if (isMin || isa<arith::MaxSIOp, arith::MaxUIOp>(op)) {
    bool isSecond = right.kind == Kind::Linear && left.kind == Kind::Same;
    if (!isFirst && !isSecond)
      return std::nullopt;
    // How much of a block is inside, cut to the block's size, or where it is,
    // cut to the tensor's.
    Value other = (isFirst ? right : left).value;
    bool isSize = isMin && matchPattern(other, m_Constant());
    return guess(isSize ? Value() : (isFirst ? left : right).step);
  }
  if (isa<arith::CmpIOp>(op) && decides(op->getResult(0)))
    return guess({});
  return std::nullopt;
}

std::optional<Batched> ProgramBatch::linear(Operation *op) {
  if (op->getNumResults() != 1 ||
      !op->getResult(0).getType().isSignlessIntOrIndex())
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (lookup(operand).kind == Kind::Block)
      return std::nullopt;
  // Operands that are cloned are the first program's.
  for (Value operand : op->getOperands())
    same.map(operand, lookup(operand).value);
  auto undo = llvm::scope_exit([&] {
    for (Value operand : op->getOperands())
      if (lookup(operand).kind != Kind::Same)
        same.erase(operand);
  });
  if (auto cast = castLinear(op))
    return cast;
  Location loc = op->getLoc();
  if (op->getNumOperands() != 2)
    return std::nullopt;
  Batched left = lookup(op->getOperand(0)), right = lookup(op->getOperand(1));
  auto stepOf = [&](const Batched &part) -> Value {
    if (part.kind == Kind::Linear)
      return part.step;
    return arith::ConstantOp::create(b, loc,
                                     b.getZeroAttr(part.value.getType()));
  };
  Value step;
  if (isa<arith::AddIOp>(op)) {
    step = left.kind == Kind::Same ? right.step
           : right.kind == Kind::Same
               ? left.step
               : b.createOrFold<arith::AddIOp>(loc, left.step, right.step);
  } else if (isa<arith::SubIOp>(op)) {
    step = right.kind == Kind::Same
               ? left.step
               : b.createOrFold<arith::SubIOp>(loc, stepOf(left), right.step);
  } else if (isa<arith::MulIOp>(op) &&
             (left.kind == Kind::Same || right.kind == Kind::Same)) {
    bool isFirst = left.kind == Kind::Linear;
    step = b.createOrFold<arith::MulIOp>(loc, (isFirst ? left : right).step,
                                         (isFirst ? right : left).value);
  } else {
    return guessLinear(op);
  }
  Value value = b.clone(*op, same)->getResult(0);
  if (matchPattern(step, m_Zero()))
    return Batched::same(value);
  return Batched{Kind::Linear, value, step};
}

LogicalResult ProgramBatch::visitScalar(Operation *op) {
  if (auto result = linear(op)) {
    set(op->getResult(0), *result);
    return success();
  }
  if (Value block = vectorOf(op)) {
    set(op->getResult(0), Batched::block(block));
    return success();
  }
  return failure();
}

/// Indices are kept as integers.
static Type elementOf(OpBuilder &b, Type type) {
  return type.isIndex() ? Type(b.getI64Type()) : type;
}

Value ProgramBatch::asVector(Value old) {
  Batched batched = lookup(old);
  if (!batched.value || batched.kind == Kind::Block)
    return batched.value;
  Location loc = old.getLoc();
  Type element = elementOf(b, old.getType());
  auto type = RankedTensorType::get({merged.count}, element);
  Value scalar = batched.value;
  if (scalar.getType().isIndex())
    scalar = arith::IndexCastOp::create(b, loc, element, scalar);
  if (batched.kind == Kind::Same)
    return tensor::SplatOp::create(b, loc, type, scalar);
  Value step = castStep(batched.step, element);
  return elementwiseBlock(
      b, loc, type, {}, [&](OpBuilder &inner, ValueRange) -> Value {
        Value k = linalg::IndexOp::create(inner, loc, 0);
        Value at = castInteger(inner, loc, k, element);
        Value far = arith::MulIOp::create(inner, loc, at, step);
        return arith::AddIOp::create(inner, loc, scalar, far);
      });
}

/// The op for each program.
Value ProgramBatch::vectorOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isPure(op) ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return {};
  Location loc = op->getLoc();
  SmallVector<Value> inputs, scalars;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndexOrFloat())
      return {};
    if (lookup(operand).kind == Kind::Same)
      continue;
    scalars.push_back(operand);
    inputs.push_back(asVector(operand));
  }
  Type type = op->getResult(0).getType();
  auto blockType = RankedTensorType::get({merged.count}, elementOf(b, type));
  return elementwiseBlock(
      b, loc, blockType, inputs, [&](OpBuilder &inner, ValueRange arguments) {
        IRMapping map = same;
        for (auto [old, argument] : llvm::zip_equal(scalars, arguments))
          map.map(old, castInteger(inner, loc, argument, old.getType()));
        Value result = inner.clone(*op, map)->getResult(0);
        return castInteger(inner, loc, result, blockType.getElementType());
      });
}
