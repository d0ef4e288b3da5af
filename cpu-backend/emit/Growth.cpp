//===- Growth.cpp - how offsets grow from step to step -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Growth.h"

#include "cpu-backend/emit/View.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

OpFoldResult tilebridge::cpu::inIndex(OpBuilder &b, Location loc, Value value) {
  if (auto known = getConstantIntValue(value))
    return b.getIndexAttr(*known);
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value)
      .getResult();
}

namespace {
/// How much a value grows where something else grows by one step.
class Growth {
public:
  using Known = std::optional<OpFoldResult>;
  /// `ofArgument` tells it for arguments of blocks, `isFixed` which values stay
  /// as they are.
  Growth(OpBuilder &b, Location loc, function_ref<bool(Value)> isFixed,
         function_ref<Known(BlockArgument)> ofArgument)
      : b(b), loc(loc), isFixed(isFixed), ofArgument(ofArgument) {}

  /// What grows by what it is divided by, wherever it is: the quotient is one
  /// more, the remainder the same.
  void divide(Value value) { dividend = value; }

  /// Of type index; nothing where it is not known.
  Known of(Value value) {
    if (isFixed(value))
      return zero();
    if (--budget < 0)
      return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    Operation *op = value.getDefiningOp();
    if (isDivided(op))
      return b.getIndexAttr(isa<arith::DivSIOp, arith::DivUIOp>(op));
    if (!isPure(op) || op->getNumRegions() != 0)
      return std::nullopt;
    SmallVector<OpFoldResult, 4> parts;
    bool grows = false;
    for (Value operand : op->getOperands()) {
      auto part = of(operand);
      if (!part)
        return std::nullopt;
      parts.push_back(*part);
      grows |= constantOf(*part) != 0;
    }
    if (!grows)
      return zero();
    if (isa<arith::AddIOp>(op))
      return addIndex(b, loc, parts[0], parts[1]);
    if (isa<arith::SubIOp>(op))
      return subIndex(b, loc, parts[0], parts[1]);
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return parts[0];
    for (unsigned i : {0, 1}) {
      if (op->getNumOperands() != 2 || constantOf(parts[1 - i]) != 0)
        continue;
      Value fixed = op->getOperand(1 - i);
      if (isa<arith::MulIOp>(op))
        return mulIndex(b, loc, parts[i], inIndex(b, loc, fixed));
      // Elements that share a byte or word. (Where the dividend changes its
      // sign one step is lost.)
      auto step = constantOf(parts[i]), divisor = getConstantIntValue(fixed);
      if (isa<arith::DivSIOp, arith::DivUIOp>(op) && i == 0 && step &&
          divisor.value_or(0) > 0 && *step % *divisor == 0)
        return b.getIndexAttr(*step / *divisor);
      // Cut to the bounds of a tensor, at its ends.
      if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
        return parts[i];
    }
    return std::nullopt;
  }

private:
  OpFoldResult zero() { return b.getIndexAttr(0); }

  bool isDivided(Operation *op) {
    if (!dividend ||
        !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            op))
      return false;
    Value from = op->getOperand(0);
    while (Operation *cast = from.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
        break;
      from = cast->getOperand(0);
    }
    return from == dividend;
  }

  OpBuilder &b;
  Location loc;
  Value dividend;
  function_ref<bool(Value)> isFixed;
  function_ref<Known(BlockArgument)> ofArgument;
  int budget = 64;
};
} // namespace

std::optional<OpFoldResult>
tilebridge::cpu::growthInLoop(OpBuilder &b, Location loc, Value offset,
                              scf::ForOp loop,
                              function_ref<Value(BlockArgument)> carriedStep) {
  auto isFixed = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  };
  auto ofArgument = [&](BlockArgument argument) -> Growth::Known {
    if (argument.getOwner() != loop.getBody())
      return std::nullopt;
    Value step = argument == loop.getInductionVar() ? loop.getStep()
                                                    : carriedStep(argument);
    return step ? Growth::Known(inIndex(b, loc, step)) : std::nullopt;
  };
  return Growth(b, loc, isFixed, ofArgument).of(offset);
}

std::optional<OpFoldResult>
tilebridge::cpu::growthOfProgram(OpBuilder &b, Location loc, Value offset,
                                 Value program, Value divisor) {
  auto isFixed = [](Value) { return false; };
  function_ref<Growth::Known(BlockArgument)> ofArgument;
  auto growthOf = [&](Value value) {
    Growth growth(b, loc, isFixed, ofArgument);
    if (divisor)
      growth.divide(program);
    return growth.of(value);
  };
  auto tell = [&](BlockArgument argument) -> Growth::Known {
    if (argument == program)
      return divisor ? inIndex(b, loc, divisor) : b.getIndexAttr(1);
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return b.getIndexAttr(0);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return std::nullopt;
    Value start = argument == loop.getInductionVar()
                      ? loop.getLowerBound()
                      : loop.getTiedLoopInit(argument)->get();
    return growthOf(start);
  };
  ofArgument = tell;
  return growthOf(offset);
}
