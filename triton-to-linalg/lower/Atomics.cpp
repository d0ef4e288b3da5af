//===- Atomics.cpp - atomic accesses ----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/AccessAnalysis.h"
#include "triton-to-linalg/analysis/SourceText.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Accesses.h"
#include "triton-to-linalg/lower/Memory.h"
#include "triton-to-linalg/lower/Scalar.h"
#include "triton-to-linalg/lower/TensorAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {
/// An atomic access as the bridge writes it: base and element offset (a tensor
/// of offsets or one i64), and a mask that is not true everywhere.
struct AtomicAccess {
  Location loc;
  Value base, offsets, mask;

  AtomicAccess(OpBuilder &builder, Operation *op, Value pointers, Type type,
               Value mask = {});
};
} // namespace

static Type elementOf(Value pointers) {
  return memoryElement(
      cast<tt::PointerType>(getElementTypeOrSelf(pointers.getType()))
          .getPointeeType());
}

AtomicAccess::AtomicAccess(OpBuilder &builder, Operation *op, Value pointers,
                           Type type, Value mask)
    : loc(op->getLoc()),
      mask(mask && matchPattern(mask, m_One()) ? Value() : mask) {
  Type element = elementOf(pointers);
  if (!isa<RankedTensorType>(pointers.getType())) {
    reportAccess(op, "atomic scalar", type, pointers);
    ScalarAddress address = scalarAddress(builder, loc, pointers, element);
    base = address.base;
    offsets = builder.createOrFold<arith::IndexCastOp>(
        loc, builder.getI64Type(), address.index);
    return;
  }
  ExprPool pool;
  AccessAnalysis analysis(pool);
  AccessReport report;
  report.op = op;
  report.form = "atomic elements";
  report.type = type;
  std::optional<PointerForm> form = analysis.pointers(pointers);
  if (!form) {
    report.form = "atomic elements by addresses";
    report.reason = analysis.reason();
  } else if (form->offset) {
    describeOffset(report, form->base, *form->offset);
  }
  if (this->mask && wantsAccessReports(op))
    report.mask = textsOf(analysis.mask(this->mask));
  reportAccess(report);
  loc = locationOf(report);
  ElementAddress address =
      elementAddress(builder, loc, pointers,
                     form && form->isDirect ? form->base : Value(), element);
  base = address.base;
  offsets = address.offsets;
}

/// Every lane gives what memory held.
template <typename Op>
static void replaceBy(OpBuilder &builder, Op op, Value old) {
  op.replaceAllUsesWith(fromMemory(builder, op.getLoc(), old, op.getType()));
  op.erase();
}

// The enums of both dialects have the same numbers.
static linalg_ext::MemSem semOf(tt::MemSemantic sem) {
  return *linalg_ext::symbolizeMemSem(static_cast<uint32_t>(sem));
}
static linalg_ext::MemScope scopeOf(tt::MemSyncScope scope) {
  return *linalg_ext::symbolizeMemScope(static_cast<uint32_t>(scope));
}

void ttl::lowerAtomicRMW(tt::AtomicRMWOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getType(), op.getMask());
  auto kind = *linalg_ext::symbolizeAtomicKind(
      static_cast<uint32_t>(op.getAtomicRmwOp()));
  Value value = toMemory(builder, access.loc, op.getVal());
  replaceBy(builder, op,
            linalg_ext::AtomicRMWOp::create(
                builder, access.loc, value.getType(), kind, semOf(op.getSem()),
                scopeOf(op.getScope()), access.base, access.offsets, value,
                access.mask));
}

void ttl::lowerAtomicCAS(tt::AtomicCASOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getType());
  Value compare = toMemory(builder, access.loc, op.getCmp()),
        value = toMemory(builder, access.loc, op.getVal());
  replaceBy(builder, op,
            linalg_ext::AtomicCASOp::create(builder, access.loc,
                                            value.getType(), semOf(op.getSem()),
                                            scopeOf(op.getScope()), access.base,
                                            access.offsets, compare, value));
}

void ttl::lowerAtomicLoad(tt::AtomicLoadOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getType(), op.getMask());
  replaceBy(builder, op,
            linalg_ext::AtomicLoadOp::create(
                builder, access.loc, memoryType(op.getType()),
                semOf(op.getSem()), scopeOf(op.getScope()), access.base,
                access.offsets, access.mask));
}

/// Programs wait for one another by reading the same place again and again,
/// which what is read elsewhere may stand for if it is no atomic access. Blocks
/// are read lane by lane for that, so only where such a loop is around them.
bool ttl::mustReadEachTime(tt::LoadOp op) {
  return op.getIsVolatile() && (!isa<RankedTensorType>(op.getType()) ||
                                op->getParentOfType<scf::WhileOp>());
}

void ttl::lowerVolatileLoad(tt::LoadOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getType(), op.getMask());
  // As on GPUs: whole elements, and no order among other accesses.
  Value read = linalg_ext::AtomicLoadOp::create(
      builder, access.loc, memoryType(op.getType()),
      linalg_ext::MemSem::Relaxed, linalg_ext::MemScope::Sys, access.base,
      access.offsets, access.mask);
  if (access.mask && op.getOther())
    read =
        arith::SelectOp::create(builder, access.loc, access.mask, read,
                                toMemory(builder, access.loc, op.getOther()));
  replaceBy(builder, op, read);
}

void ttl::lowerAtomicStore(tt::AtomicStoreOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getValue().getType(),
                      op.getMask());
  Value value = toMemory(builder, access.loc, op.getValue());
  linalg_ext::AtomicStoreOp::create(builder, access.loc, semOf(op.getSem()),
                                    scopeOf(op.getScope()), value, access.base,
                                    access.offsets, access.mask);
  op.erase();
}

/// Nanoseconds after which a wait without a timeout is an error: programs that
/// share a thread run one after the other, and one that waits for a later one
/// would wait for ever.
static constexpr int64_t longestWait = INT64_C(60'000'000'000);

/// Reads one element until it has the expected value, at most `budget` times
/// after the first, or with a null budget as long as is allowed.
static std::pair<Value, Value> poll(OpBuilder &builder, tt::AtomicPollOp op,
                                    Value base, Value offset, Value expected,
                                    Value budget) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64),
        one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value start = budget ? budget : zero, end;
  if (!budget) {
    Value now = linalg_ext::ClockOp::create(builder, loc, builder.getI64Type()),
          longest = arith::ConstantIntOp::create(builder, loc, longestWait, 64);
    end = arith::AddIOp::create(builder, loc, now, longest);
  }
  Type types[] = {builder.getI1Type(), builder.getI64Type()};
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange(types), ValueRange(start),
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value seen = linalg_ext::AtomicLoadOp::create(
            b, l, expected.getType(), semOf(op.getSem()),
            scopeOf(op.getScope()), base, offset, Value());
        Value equal = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                            seen, expected);
        Value other = arith::CmpIOp::create(b, l, arith::CmpIPredicate::ne,
                                            seen, expected);
        // Reads or nanoseconds that are left.
        Value left = args[0];
        if (!budget)
          left = arith::SubIOp::create(
              b, l, end, linalg_ext::ClockOp::create(b, l, b.getI64Type()));
        Value more =
            arith::CmpIOp::create(b, l, arith::CmpIPredicate::sgt, left, zero);
        Value again = arith::AndIOp::create(b, l, other, more);
        scf::ConditionOp::create(b, l, again, ValueRange({equal, args[0]}));
      },
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value rest = budget
                         ? arith::SubIOp::create(b, l, args[1], one).getResult()
                         : args[1];
        scf::YieldOp::create(b, l, rest);
      });
  if (!budget)
    linalg_ext::AssertOp::create(
        builder, loc, loop.getResult(0),
        "a program has waited for a minute for a value that none of those "
        "that run has written; programs that wait for later ones need "
        "launch_cooperative_grid=True, and a grid of at most 1024");
  return {loop.getResult(0), loop.getResult(1)};
}

void ttl::lowerAtomicPoll(tt::AtomicPollOp op) {
  OpBuilder builder(op);
  AtomicAccess access(builder, op, op.getPtr(), op.getExpected().getType());
  Location loc = access.loc;
  Value expected = toMemory(builder, loc, op.getExpected());
  // A read takes a nanosecond or more: counting reads in place of time waits at
  // least as long as asked for.
  Value budget = op.getTimeout();
  auto type = dyn_cast<RankedTensorType>(expected.getType());
  if (!type) {
    op.replaceAllUsesWith(
        poll(builder, op, access.base, access.offsets, expected, budget).first);
    op.erase();
    return;
  }
  // One element after the other: each has to be seen once, and all share the
  // budget.
  Value result = arith::ConstantOp::create(builder, loc,
                                           builder.getZeroAttr(op.getType()));
  SmallVector<Value> carried = {result};
  if (budget)
    carried.push_back(budget);
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0),
        step = arith::ConstantIndexOp::create(builder, loc, 1);
  OpBuilder inner = builder;
  SmallVector<Value> indices, outer = carried;
  SmallVector<scf::ForOp> loops;
  for (int64_t size : type.getShape()) {
    Value end = arith::ConstantIndexOp::create(inner, loc, size);
    auto loop = scf::ForOp::create(inner, loc, begin, end, step, outer);
    indices.push_back(loop.getInductionVar());
    outer.assign(loop.getRegionIterArgs().begin(),
                 loop.getRegionIterArgs().end());
    loops.push_back(loop);
    inner = OpBuilder::atBlockEnd(loop.getBody());
  }
  Value offset = tensor::ExtractOp::create(inner, loc, access.offsets, indices);
  Value wanted = tensor::ExtractOp::create(inner, loc, expected, indices);
  auto [seen, left] =
      poll(inner, op, access.base, offset, wanted, budget ? outer[1] : Value());
  SmallVector<Value> yielded = {
      tensor::InsertOp::create(inner, loc, seen, outer[0], indices)};
  if (budget)
    yielded.push_back(left);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(loop.getBody());
    scf::YieldOp::create(atEnd, loc, yielded);
    yielded.assign(loop.getResults().begin(), loop.getResults().end());
  }
  op.replaceAllUsesWith(yielded[0]);
  op.erase();
}
