//===- NextProgram.cpp - what the programs that run next read -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A thread's programs follow one another along the axis that counts fastest:
// the one that the kernel's order says (OrderPrograms.cpp), or else the first
// one that has several.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NextProgram.h"

#include "cpu-backend/OrderPrograms.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

static Value isNumber(OpBuilder &b, Location loc, Value value, int64_t number) {
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq, value,
      arith::ConstantIntOp::create(b, loc, value.getType(), number));
}

/// For y and z, and x if the kernel has an order of its own. Computed once, at
/// the function's begin.
Value FunctionEmitter::isFastestAxis(unsigned axis) {
  Value &known = fastestAxis[axis];
  if (known)
    return known;
  auto order = oldFunc->getAttrOfType<FlatSymbolRefAttr>(orderAttr);
  OpBuilder::InsertionGuard guard(rewriter);
  Block *entry =
      cast<BlockArgument>(mapScalar(oldFunc.getArgument(0))).getOwner();
  Location loc = oldFunc.getLoc();
  if (order && !orderedAxis) {
    rewriter.setInsertionPointToStart(entry);
    orderedAxis =
        func::CallOp::create(rewriter, loc, order, rewriter.getI32Type(),
                             entry->getArguments())
            .getResult(0);
  }
  if (order) {
    rewriter.setInsertionPointAfterValue(orderedAxis);
    return known = isNumber(rewriter, loc, orderedAxis, axis);
  }
  if (axis == 0)
    return {};
  rewriter.setInsertionPointToStart(entry);
  auto counts = oldFunc.getArguments().take_back(kProgramArguments / 2);
  for (unsigned slower = 0; slower < axis; ++slower) {
    Value isAlone = isNumber(rewriter, loc, mapScalar(counts[slower]), 1);
    known =
        known ? arith::AndIOp::create(rewriter, loc, known, isAlone) : isAlone;
  }
  return known;
}

NextProgram::NextProgram(FunctionEmitter &fe, Location loc, Value offset)
    : fe(fe), loc(loc) {
  OpBuilder &b = fe.builder();
  func::FuncOp func = fe.oldFunc;
  // Groups of merged programs are taken along x; their ids may lie apart.
  auto merged = func->getAttrOfType<IntegerAttr>(mergedAxisAttr);
  unsigned axes = merged ? 1 : 3;
  bool isGroupAlongX =
      merged && merged.getInt() == 0 && !func->hasAttr(mergedStepAttr);
  auto leastApart = func->getAttrOfType<IntegerAttr>(mergedApartAttr);
  atOnce = isGroupAlongX || leastApart ? fe.programsAtOnce() : 1;
  auto numbers = func.getArguments().take_back(kProgramArguments);
  if (leastApart) {
    Value divisor = divisorOf(func, 0);
    if (!divisor)
      return;
    apart = fe.mapScalar(divisor);
    least = leastApart.getInt();
  }
  for (unsigned axis = 0; axis < axes; ++axis) {
    if (numbers[axis].use_empty())
      continue;
    Value id = fe.mapScalar(numbers[axis]);
    auto growth = growthOfProgram(b, loc, offset, id, apart);
    if (growth)
      growth = mulIndex(b, loc, *growth, b.getIndexAttr(atOnce));
    if (growth && constantOf(*growth) != 0)
      steps.push_back({*growth, id, fe.mapScalar(numbers[3 + axis]),
                       fe.isFastestAxis(axis)});
  }
}

OpFoldResult NextProgram::growth() const {
  OpBuilder &b = fe.builder();
  OpFoldResult growth = steps.front().growth;
  for (const Step &step : ArrayRef(steps).drop_front())
    growth = arith::SelectOp::create(b, loc, step.isFastest,
                                     toValue(b, loc, step.growth),
                                     toValue(b, loc, growth))
                 .getResult();
  return growth;
}

/// Whether the group of programs so many `ahead` exists, and groups follow one
/// another at that distance.
Value NextProgram::existsApart(const Step &step, int64_t ahead) const {
  OpBuilder &b = fe.builder();
  auto index = [&](Value value) {
    return toValue(b, loc, inIndex(b, loc, value));
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto is = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value distance = index(apart), count = index(step.count);
  Value later = arith::AddIOp::create(
      b, loc, index(step.id),
      arith::MulIOp::create(b, loc, distance, number(ahead * atOnce)));
  Value rest = arith::RemSIOp::create(b, loc, count, distance);
  Value isWhole = is(arith::CmpIPredicate::eq, rest, number(0));
  Value isEnough = is(arith::CmpIPredicate::sge, count, number(least));
  return arith::AndIOp::create(
      b, loc, is(arith::CmpIPredicate::slt, later, count),
      arith::AndIOp::create(b, loc, isWhole, isEnough));
}

Value NextProgram::exists(int64_t ahead) const {
  OpBuilder &b = fe.builder();
  if (apart)
    return existsApart(steps.front(), ahead);
  Value any;
  for (const Step &step : steps) {
    Value later = arith::AddIOp::create(
        b, loc, step.id,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(ahead * atOnce)));
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         later, step.count);
    if (step.isFastest)
      exists = arith::AndIOp::create(b, loc, exists, step.isFastest);
    any = any ? arith::OrIOp::create(b, loc, any, exists).getResult() : exists;
  }
  return any;
}
