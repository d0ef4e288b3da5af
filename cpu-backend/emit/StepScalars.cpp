//===- StepScalars.cpp - numbers of several iterations of a loop ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Places grow by the same from iteration to iteration where they are sums and
// products with what stays. Such a sum is taken not to wrap around within a
// block, as that of a block that the kernel reads is.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/StepBlocks.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

StepBlocks::StepBlocks(OpBuilder &b, scf::ForOp loop, RankedTensorType sums,
                       int64_t steps, bool isSwapped)
    : b(b), loop(loop), sums(sums), steps(steps), isSwapped(isSwapped) {
  if (auto known = loop.getStaticTripCount())
    hasRest = known->urem(steps) != 0;
}

bool StepBlocks::isFixed(Value value) {
  return loop.isDefinedOutsideOfLoop(value);
}

/// What the loop adds to a number that it carries; null if it does anything
/// else with it.
Value StepBlocks::carriedStep(BlockArgument argument) {
  if (argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar() ||
      !isa<IntegerType, IndexType>(argument.getType()))
    return {};
  auto add = loop.getTiedLoopYieldedValue(argument)
                 ->get()
                 .getDefiningOp<arith::AddIOp>();
  if (!add)
    return {};
  for (unsigned i : {0, 1})
    if (add->getOperand(i) == argument && isFixed(add->getOperand(1 - i)))
      return add->getOperand(1 - i);
  return {};
}

scf::ForOp StepBlocks::begin(Value acc) {
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  int64_t step = *getConstantIntValue(loop.getStep());
  OpFoldResult from = inIndex(b, loc, loop.getLowerBound()),
               length = subIndex(b, loc, inIndex(b, loc, loop.getUpperBound()),
                                 from);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value trips = toValue(b, loc, length);
  if (step != 1) {
    trips = arith::AddIOp::create(b, loc, trips, number(step - 1));
    trips = arith::DivSIOp::create(b, loc, trips, number(step));
  }
  blocks = scf::ForOp::create(b, loc, number(0), trips, number(steps), acc);
  if (!blocks.getBody()->empty())
    blocks.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(blocks.getBody());
  Value i = blocks.getInductionVar();
  count = b.getIndexAttr(steps);
  if (hasRest) {
    Value left = arith::SubIOp::create(b, loc, trips, i);
    count = arith::MinSIOp::create(b, loc, left, number(steps)).getResult();
  }
  auto as = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    return arith::IndexCastOp::create(b, loc, type, value);
  };
  OpFoldResult at =
      addIndex(b, loc, mulIndex(b, loc, i, b.getIndexAttr(step)), from);
  map.map(loop.getInductionVar(),
          as(toValue(b, loc, at), loop.getInductionVar().getType()));
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    Value grows = carriedStep(argument);
    if (!grows)
      continue;
    Value far = arith::MulIOp::create(b, loc, as(i, argument.getType()), grows);
    map.map(argument, arith::AddIOp::create(
                          b, loc, loop.getTiedLoopInit(argument)->get(), far)
                          .getResult());
  }
  return blocks;
}

void StepBlocks::undo() {
  b.setInsertionPoint(loop);
  blocks.erase();
}

Value StepBlocks::first(Value value) {
  if (isFixed(value))
    return value;
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !isPure(op) || !value.getType().isIntOrIndexOrFloat())
    return {};
  for (Value operand : op->getOperands())
    if (Value known = first(operand))
      map.map(operand, known);
    else
      return {};
  b.clone(*op, map);
  return map.lookup(value);
}

OpFoldResult StepBlocks::first(OpFoldResult value) {
  auto scalar = dyn_cast<Value>(value);
  if (!scalar)
    return value;
  if (Value result = first(scalar))
    return result;
  return {};
}

std::optional<OpFoldResult> StepBlocks::growthOf(OpFoldResult value) {
  auto scalar = dyn_cast<Value>(value);
  return scalar ? growthOf(scalar)
                : std::optional(OpFoldResult(b.getIndexAttr(0)));
}

std::optional<OpFoldResult> StepBlocks::growthOf(Value value) {
  OpFoldResult zero = b.getIndexAttr(0);
  if (isFixed(value))
    return zero;
  Location loc = loop.getLoc();
  // Narrow integers often run over.
  if (auto integer = dyn_cast<IntegerType>(value.getType());
      integer && integer.getWidth() < 32 && integer.getWidth() != 1)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument == loop.getInductionVar())
      return b.getIndexAttr(*getConstantIntValue(loop.getStep()));
    Value step = carriedStep(argument);
    return step ? std::optional(inIndex(b, loc, step)) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || !isPure(op) ||
      op->getNumRegions() != 0)
    return std::nullopt;
  SmallVector<OpFoldResult, 2> parts;
  bool grows = false;
  for (Value operand : op->getOperands()) {
    auto part = growthOf(operand);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
    grows |= constantOf(*part) != 0;
  }
  if (!grows)
    return zero;
  if (isa<arith::AddIOp>(op))
    return addIndex(b, loc, parts[0], parts[1]);
  if (isa<arith::SubIOp>(op))
    return subIndex(b, loc, parts[0], parts[1]);
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return parts[0];
  if (!isa<arith::MulIOp>(op))
    return std::nullopt;
  for (unsigned i : {0, 1})
    if (constantOf(parts[1 - i]) == 0)
      if (Value factor = first(op->getOperand(1 - i)))
        return mulIndex(b, loc, parts[i], inIndex(b, loc, factor));
  return std::nullopt;
}

/// Indices are kept as integers.
static Type elementOf(Type type) {
  return type.isIndex() ? Type(IntegerType::get(type.getContext(), 64)) : type;
}

static Value castIndex(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::IndexCastOp::create(b, loc, type, value).getResult();
}

Value StepBlocks::makeLine(Location loc, Type type, ValueRange inputs,
                           function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto line = RankedTensorType::get({steps}, elementOf(type));
  return elementwiseBlock(b, loc, line, inputs,
                          [&](OpBuilder &inner, ValueRange arguments) {
                            return castIndex(inner, loc, body(inner, arguments),
                                             line.getElementType());
                          });
}

Value StepBlocks::lineOf(Value scalar) {
  if (Value known = lines.lookup(scalar))
    return known;
  Value line = makeLineOf(scalar);
  if (line)
    lines[scalar] = line;
  return line;
}

Value StepBlocks::makeLineOf(Value scalar) {
  Type type = scalar.getType();
  if (!type.isIntOrIndexOrFloat())
    return {};
  Location loc = scalar.getLoc();
  if (isFixed(scalar)) {
    auto line = RankedTensorType::get({steps}, elementOf(type));
    scalar = castIndex(b, loc, scalar, elementOf(type));
    return tensor::SplatOp::create(b, loc, line, scalar);
  }
  if (isa<BlockArgument>(scalar)) {
    Value begin = map.lookupOrNull(scalar);
    auto growth = growthOf(scalar);
    if (!begin || !growth)
      return {};
    Value grows = toValue(b, loc, *growth);
    return makeLine(loc, type, {}, [&](OpBuilder &inner, ValueRange) -> Value {
      Value i = linalg::IndexOp::create(inner, loc, 0);
      Value far = castIndex(inner, loc,
                            arith::MulIOp::create(inner, loc, i, grows), type);
      return arith::AddIOp::create(inner, loc, begin, far);
    });
  }
  Operation *op = scalar.getDefiningOp();
  if (op->getBlock() != loop.getBody())
    return {};
  if (isa<memref::LoadOp>(op))
    return lineOfLoad(scalar);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isPure(op))
    return {};
  SmallVector<Value> inputs, differing;
  for (Value operand : op->getOperands()) {
    if (isFixed(operand) || llvm::is_contained(differing, operand))
      continue;
    differing.push_back(operand);
    inputs.push_back(lineOf(operand));
    if (!inputs.back())
      return {};
  }
  return makeLine(
      loc, type, inputs, [&](OpBuilder &inner, ValueRange arguments) {
        IRMapping each;
        for (auto [old, argument] : llvm::zip(differing, arguments))
          each.map(old, castIndex(inner, loc, argument, old.getType()));
        return inner.clone(*op, each)->getResult(0);
      });
}

Value StepBlocks::lineOfLoad(Value scalar) {
  auto load = scalar.getDefiningOp<memref::LoadOp>();
  auto type = load.getMemRefType();
  if (load.getIndices().size() != 1 || !isFixed(load.getMemRef()) ||
      !hasUnitStride(type, 0))
    return {};
  auto growth = growthOf(load.getIndices()[0]);
  Value at = first(load.getIndices()[0]);
  if (!growth || !at)
    return {};
  Location loc = load.getLoc();
  // Arguments of a kernel begin at 0.
  auto argument = dyn_cast<BlockArgument>(load.getMemRef());
  OpFoldResult offset = at;
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    auto whole =
        memref::ExtractStridedMetadataOp::create(b, loc, load.getMemRef());
    offset = addIndex(b, loc, offset, whole.getOffset());
  }
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return readBox(loc, load.getMemRef(), offset, {one, *growth}, zero, one, zero,
                 {zero, count}, {}, std::nullopt, scalar.getType());
}
