//===- ProgramGrid.cpp - the order of a launch's programs -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ProgramGrid.h"
#include "cpu-backend/OrderPrograms.h"

#include "runtime/executable_abi.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

ProgramGrid::ProgramGrid(OpBuilder &b, Location loc, Value launch)
    : b(b), loc(loc) {
  for (int dim = 0; dim < 3; ++dim) {
    Value address =
        LLVM::GEPOp::create(b, loc, launch.getType(), b.getI8Type(), launch,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(
                                offsetof(tb_launch_v1, grid) + dim * 4)});
    counts.push_back(LLVM::LoadOp::create(b, loc, b.getI32Type(), address, 4));
    counts64.push_back(wide(counts.back()));
  }
}

void ProgramGrid::setCount(Value count) {
  counts64[0] = count;
  counts[0] = arith::TruncIOp::create(b, loc, b.getI32Type(), count);
}

Value ProgramGrid::total() {
  Value total = counts64[0];
  for (Value count : ArrayRef<Value>(counts64).drop_front())
    total = arith::MulIOp::create(b, loc, total, count);
  return total;
}

ValueRange ProgramGrid::ask(func::FuncOp function, const ProgramCall &kernel) {
  // Its arguments are the kernel's without the hidden ones.
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
  SmallVector<Value> arguments(kernel.arguments);
  arguments.truncate(kernel.firstId + linalg_ext::kProgramArguments);
  for (int dim = 0; dim < 3; ++dim) {
    arguments[kernel.firstId + dim] = zero;
    arguments[kernel.firstId + 3 + dim] = counts[dim];
  }
  return func::CallOp::create(b, loc, function, arguments).getResults();
}

void ProgramGrid::setOrder(const ProgramCall &kernel, Value condition) {
  func::FuncOp function = kernel.order;
  Value order = ask(function, kernel).front();
  if (condition)
    order = choose(condition, order,
                   arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0));
  auto is = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq, order,
        arith::ConstantIntOp::create(b, loc, b.getI32Type(), number));
  };
  isY = is(1), isZ = is(2);
  isOther = arith::OrIOp::create(b, loc, isY, isZ);
  auto most = function->getAttrOfType<IntegerAttr>(apartAttr);
  if (!most)
    return;
  Type i32 = b.getI32Type();
  Value last = arith::ConstantIntOp::create(b, loc, i32, lastAxis);
  apart = wide(
      arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, order, last),
                             arith::ConstantIntOp::create(b, loc, i32, 1)));
  together = apartCount = arith::DivUIOp::create(b, loc, counts64[0], apart);
  if (most.getInt() == 0)
    return;
  // Groups are equally large: one with few programs would gain little.
  auto ceilDiv = [&](Value count, Value divisor) -> Value {
    Value last = arith::SubIOp::create(b, loc, count, number(1));
    return arith::AddIOp::create(
        b, loc, arith::DivUIOp::create(b, loc, last, divisor), number(1));
  };
  Value groups = ceilDiv(apartCount, number(most.getInt()));
  together = ceilDiv(apartCount, groups);
}

Value ProgramGrid::setApart(Value distance, int64_t least) {
  auto is = [&](arith::CmpIPredicate predicate, Value one, int64_t other) {
    return arith::CmpIOp::create(b, loc, predicate, one, number(other))
        .getResult();
  };
  Value divisor = arith::MaxSIOp::create(b, loc, distance, number(1));
  Value rest = arith::RemUIOp::create(b, loc, counts64[0], divisor);
  Value isPossible =
      arith::AndIOp::create(b, loc, is(arith::CmpIPredicate::eq, rest, 0),
                            is(arith::CmpIPredicate::sgt, distance, 0));
  isPossible = arith::AndIOp::create(
      b, loc, isPossible, is(arith::CmpIPredicate::uge, counts64[0], least));
  apart = choose(isPossible, divisor, number(1));
  together = apartCount = arith::DivUIOp::create(b, loc, counts64[0], apart);
  return choose(isPossible, number(1), distance);
}

SmallVector<Value> ProgramGrid::inOrder(ValueRange axes) {
  if (!isOther)
    return axes;
  return {choose(isOther, choose(isY, axes[1], axes[2]), axes[0]),
          choose(isOther, axes[0], axes[1]), choose(isZ, axes[1], axes[2])};
}
SmallVector<Value> ProgramGrid::ofAxes(ValueRange ordered) {
  if (!isOther)
    return ordered;
  return {choose(isOther, ordered[1], ordered[0]),
          choose(isY, ordered[0], choose(isZ, ordered[2], ordered[1])),
          choose(isZ, ordered[0], ordered[2])};
}

SmallVector<Value> ProgramGrid::idsOf(Value program) {
  auto narrow = [&](Value value) {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), value).getResult();
  };
  SmallVector<Value> sizes = inOrder(counts64);
  Value rows = arith::DivUIOp::create(b, loc, program, sizes[0]),
        first = arith::RemUIOp::create(b, loc, program, sizes[0]);
  if (apart) {
    Value size = arith::MulIOp::create(b, loc, together, apart),
          group = arith::DivUIOp::create(b, loc, first, size),
          inGroup = arith::RemUIOp::create(b, loc, first, size),
          before = arith::MulIOp::create(b, loc, group, together);
    // The last one may be smaller.
    Value height = arith::MinUIOp::create(
        b, loc, together, arith::SubIOp::create(b, loc, apartCount, before));
    Value row = arith::AddIOp::create(
        b, loc, before, arith::RemUIOp::create(b, loc, inGroup, height));
    first =
        arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, row, apart),
                              arith::DivUIOp::create(b, loc, inGroup, height));
  }
  return {narrow(first), narrow(arith::RemUIOp::create(b, loc, rows, sizes[1])),
          narrow(arith::DivUIOp::create(b, loc, rows, sizes[1]))};
}

SmallVector<Value> ProgramGrid::next(ValueRange ids) {
  Type i32 = b.getI32Type();
  Value one = arith::ConstantIntOp::create(b, loc, i32, 1),
        zero = arith::ConstantIntOp::create(b, loc, i32, 0);
  auto step = [&](Value id, Value carry, Value count, Value &carryOut) {
    Value more = arith::AddIOp::create(b, loc, id, carry);
    Value full =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, count);
    carryOut = arith::SelectOp::create(b, loc, full, one, zero);
    return arith::SelectOp::create(b, loc, full, zero, more).getResult();
  };
  SmallVector<Value> sizes = inOrder(counts);
  Value carry, nextCarry;
  Value first = step(ids[0], one, sizes[0], carry);
  // A carry of 0 leaves an id below its count, so `full` is false there.
  Value second = step(ids[1], carry, sizes[1], nextCarry);
  return {first, second, arith::AddIOp::create(b, loc, ids[2], nextCarry)};
}
