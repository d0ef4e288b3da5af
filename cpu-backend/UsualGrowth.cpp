//===- UsualGrowth.cpp - how offsets grow from program to program ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/UsualGrowth.h"

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Unknown while it is computed: what depends on itself is not known.
UsualGrowth::Known UsualGrowth::once(Memo &memo, Value value,
                                     Known (UsualGrowth::*compute)(Value)) {
  auto [it, isNew] = memo.try_emplace(value, std::nullopt);
  if (!isNew)
    return it->second;
  Known result = (this->*compute)(value);
  return memo[value] = result;
}

UsualGrowth::Known UsualGrowth::of(Value value) {
  return once(found, value, &UsualGrowth::compute);
}

UsualGrowth::Known UsualGrowth::copyIndex(Value value) {
  Value fixed = copy(value);
  return fixed ? Known(inIndex(b, fixed.getLoc(), fixed)) : std::nullopt;
}

Value UsualGrowth::atLeastOne(Value value) {
  Location loc = value.getLoc();
  return arith::MaxSIOp::create(
      b, loc, value,
      arith::ConstantOp::create(b, loc, b.getOneAttr(value.getType())));
}

static bool isZero(const UsualGrowth::Known &growth) {
  return growth && constantOf(*growth) == 0;
}

UsualGrowth::Known UsualGrowth::ofArgument(BlockArgument argument) {
  if (argument == id)
    return b.getIndexAttr(1);
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<func::FuncOp>(parent))
    return zero();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop)
    return std::nullopt;
  return of(argument == loop.getInductionVar()
                ? loop.getLowerBound()
                : loop.getTiedLoopInit(argument)->get());
}

UsualGrowth::Known UsualGrowth::ofProduct(Operation *op, Known left,
                                          Known right) {
  if (isZero(left)) {
    auto factor = copyIndex(op->getOperand(0));
    return factor ? Known(mulIndex(b, op->getLoc(), *right, *factor))
                  : std::nullopt;
  }
  auto factor = isZero(right) ? copyIndex(op->getOperand(1)) : std::nullopt;
  return factor ? Known(mulIndex(b, op->getLoc(), *left, *factor))
                : std::nullopt;
}

UsualGrowth::Known UsualGrowth::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  SmallVector<Value> read(op->getOperands());
  llvm::SetVector<Value> readInside;
  getUsedValuesDefinedAbove(op->getRegions(), readInside);
  llvm::append_range(read, readInside);
  SmallVector<Known, 4> parts;
  bool grows = false;
  for (Value operand : read) {
    parts.push_back(of(operand));
    if (!parts.back())
      return std::nullopt;
    grows |= !isZero(parts.back());
  }
  if (!grows)
    return zero();
  Location loc = op->getLoc();
  auto index = [&](OpFoldResult growth) { return toValue(b, loc, growth); };
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case(
          [&](arith::AddIOp) { return addIndex(b, loc, *parts[0], *parts[1]); })
      .Case(
          [&](arith::SubIOp) { return subIndex(b, loc, *parts[0], *parts[1]); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](auto) { return *parts[0]; })
      .Case([&](arith::MulIOp) { return ofProduct(op, parts[0], parts[1]); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return isZero(parts[0]) ? *parts[1] : *parts[0]; })
      .Case([&](arith::SelectOp) { return *parts[1]; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          [&](auto) -> Known {
            auto divisor =
                isZero(parts[1]) ? copyIndex(op->getOperand(1)) : std::nullopt;
            if (!divisor)
              return std::nullopt;
            Value by = atLeastOne(index(*divisor)), growth = index(*parts[0]);
            if (isa<arith::DivSIOp, arith::DivUIOp>(op))
              return arith::DivSIOp::create(b, loc, growth, by).getResult();
            return arith::RemSIOp::create(b, loc, growth, by).getResult();
          })
      .Default([](Operation *) { return std::nullopt; });
}

/// What does not depend on the program, computed from the arguments; null if it
/// is not computed from them alone.
Value UsualGrowth::copy(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      result = copy(loop.getLowerBound());
  } else {
    result = copyOperation(value.getDefiningOp());
  }
  if (result)
    map.map(value, result);
  return result;
}

Value UsualGrowth::copyOperation(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op) || isa<ShapedType>(op->getResult(0).getType()))
    return {};
  for (Value operand : op->getOperands())
    if (!copy(operand))
      return {};
  Operation *made = b.clone(*op, map);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(made)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(made);
    made->setOperand(1, atLeastOne(made->getOperand(1)));
  }
  return made->getResult(0);
}

UsualGrowth::Known UsualGrowth::strideOf(Value view, unsigned dim) {
  auto type = cast<MemRefType>(view.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return b.getIndexAttr(strides[dim]);
  if (auto cast = view.getDefiningOp<memref::CastOp>())
    return strideOf(cast.getSource(), dim);
  if (auto cast = view.getDefiningOp<memref::ReinterpretCastOp>()) {
    OpFoldResult stride = cast.getMixedStrides()[dim];
    if (isa<Attribute>(stride))
      return stride;
    return copyIndex(mlir::cast<Value>(stride));
  }
  Value argument = map.lookupOrNull(view);
  if (!argument)
    return std::nullopt;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(b, view.getLoc(), argument);
  return Known(metadata.getStrides()[dim]);
}

UsualGrowth::Known UsualGrowth::ofView(Value view) {
  if (isa<BlockArgument>(view))
    return ofArgument(cast<BlockArgument>(view));
  Location loc = view.getLoc();
  auto sum = [&](Known total, OpFoldResult offset, Known stride) -> Known {
    auto value = dyn_cast<Value>(offset);
    auto growth = value ? of(value) : Known(zero());
    if (isZero(growth))
      return total;
    if (!total || !growth || !stride)
      return std::nullopt;
    return addIndex(b, loc, *total, mulIndex(b, loc, *growth, *stride));
  };
  if (auto cast = view.getDefiningOp<memref::CastOp>())
    return ofView(cast.getSource());
  // Its offset is from where the memory begins, not from where the source does.
  if (auto cast = view.getDefiningOp<memref::ReinterpretCastOp>())
    return sum(zero(), cast.getMixedOffsets().front(), b.getIndexAttr(1));
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part)
    return std::nullopt;
  Known total = ofView(part.getSource());
  for (auto [dim, offset] : llvm::enumerate(part.getMixedOffsets()))
    total = sum(total, offset, strideOf(part.getSource(), dim));
  return total;
}

UsualGrowth::Known UsualGrowth::ofPlaces(Value places) {
  if (!isa<RankedTensorType>(places.getType()))
    return of(places);
  return once(foundPlaces, places, &UsualGrowth::computePlaces);
}

UsualGrowth::Known UsualGrowth::computePlaces(Value places) {
  Operation *op = places.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return of(splat.getInput());
  if (matchLoad(places) || isa<linalg_ext::GatherOp, linalg_ext::GatherRowsOp,
                               linalg_ext::MaskedLoadOp>(op)) {
    read.insert(places);
    return zero();
  }
  if (isUnitReshape(op) || isa<linalg::BroadcastOp, linalg::TransposeOp>(op)) {
    Value source = op->getOperand(0);
    Known growth = ofPlaces(source);
    if (areRead(source))
      read.insert(places);
    return growth;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && isElementwise(op) ? ofElementwise(generic) : std::nullopt;
}

/// The one number that all elements of a tensor are; null: not known.
static Value splatOf(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return splat.getInput();
    if (!isUnitReshape(op) && !isa<linalg::BroadcastOp>(op))
      return {};
    tensor = op->getOperand(0);
  }
  return {};
}

UsualGrowth::Known UsualGrowth::ofElementwise(linalg::GenericOp op) {
  Location loc = op.getLoc();
  Block *body = op.getBody();
  DenseMap<Value, Known> inside;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value argument = op.getMatchingBlockArgument(input);
    inside[argument] = ofPlaces(input->get());
    if (areRead(input->get()))
      read.insert(argument);
  }
  auto factorOf = [&](Value value) -> Known {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == body)
      value = splatOf(op->getOperand(argument.getArgNumber()));
    return value ? copyIndex(value) : std::nullopt;
  };
  auto compute = [&](Operation &each) -> Known {
    SmallVector<Known, 4> parts;
    bool grows = false, isRead = false;
    for (Value operand : each.getOperands()) {
      auto known = inside.find(operand);
      parts.push_back(known == inside.end() ? of(operand) : known->second);
      if (!parts.back())
        return std::nullopt;
      grows |= !isZero(parts.back());
      isRead |= areRead(operand);
    }
    if (isRead) {
      // A number of rows says nothing of where they are.
      if (isa<arith::MulIOp, arith::ShLIOp>(each))
        return std::nullopt;
      read.insert(each.getResult(0));
    }
    if (!grows)
      return zero();
    if (isa<arith::AddIOp>(each))
      return addIndex(b, loc, *parts[0], *parts[1]);
    if (isa<arith::SubIOp>(each))
      return subIndex(b, loc, *parts[0], *parts[1]);
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>(each))
      return *parts[0];
    if (!isa<arith::MulIOp>(each))
      return std::nullopt;
    unsigned growing = isZero(parts[0]) ? 1 : 0;
    Known factor = factorOf(each.getOperand(1 - growing));
    return factor ? Known(mulIndex(b, loc, *parts[growing], *factor))
                  : std::nullopt;
  };
  for (Operation &each : body->without_terminator()) {
    if (each.getNumResults() != 1 || each.getNumRegions() != 0)
      return std::nullopt;
    inside[each.getResult(0)] =
        isa<linalg::IndexOp>(each) ? zero() : compute(each);
  }
  Value result = body->getTerminator()->getOperand(0);
  if (areRead(result))
    read.insert(op.getResult(0));
  auto known = inside.find(result);
  return known == inside.end() ? of(result) : known->second;
}
