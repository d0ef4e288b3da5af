//===- OverlapPrograms.cpp - a program begins before the last one ends ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A norm sums a row, waits until lanes are added and a root is taken, and then
// stores the row: of a short row the waiting is a fifth of the time, as the CPU
// does not look so far ahead that it would begin the next row. Here a thread's
// next program begins where its last one would wait. Programs are in no order,
// so none can tell.
//===----------------------------------------------------------------------===//

#include "cpu-backend/LeftProgram.h"
#include "cpu-backend/OverlappedPrograms.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/ProgramLoop.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUOVERLAPPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static constexpr int64_t wordsOfState = 8;

/// Rows that are longer gain little, and the CPU's prefetchers follow one row
/// better than two. (A layer norm of bf16, AMD Zen 4, in all caches and out of
/// them: rows of 256 to 1024 took 0.79 to 0.88 of the time, 2048 up to 1.1.)
static constexpr int64_t mostNarrowBytes = 2048;

/// Of wider elements, which take less time to compute than to come from the
/// last cache, where all rows are in the second one. (An RMS norm of 64 rows of
/// 256 to 1024 f32 took 0.80 to 0.86 of the time, in the last cache up
/// to 1.25.)
static constexpr int64_t mostBytes = 4096, mostBytesOfLaunch = 256 << 10;

namespace {
class Rewriter {
public:
  Rewriter(func::FuncOp kernel, OverlappedPrograms &halves)
      : kernel(kernel), halves(halves), b(kernel.getBody()),
        loc(halves.first.getLoc()) {}

  void rewrite() {
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> old;
    for (Operation &op : body.without_terminator())
      if (!isa<memref::AllocOp>(op))
        old.push_back(&op);
    for (memref::AllocOp buffer : llvm::reverse(halves.buffers))
      buffer->moveBefore(&body, body.begin());
    b.setInsertionPoint(old.front());
    LeftProgram left(kernel, b, loc, wordsOfState, halves.later.kept);
    Value isRest = left.isRest();
    Value once = arith::OrIOp::create(b, loc, isRest, pays());
    Value times =
        arith::SelectOp::create(b, loc, once, constant(1), constant(2));
    auto turns = scf::ForOp::create(b, loc, constant(0), times, constant(1));
    b.setInsertionPointToStart(turns.getBody());
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          turns.getInductionVar(), constant(0));
    Value isProgram = arith::AndIOp::create(
        b, loc, isFirst,
        arith::XOrIOp::create(
            b, loc, isRest,
            arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1)));
    IRMapping map;
    left.read(map);
    cloneMiddle(left, old, map);
    auto begin = scf::IfOp::create(b, loc, isProgram, /*withElseRegion=*/true);
    cloneEnd(left, old, map);
    b.setInsertionPoint(begin.thenYield());
    left.write();
    b.setInsertionPoint(begin.elseYield());
    left.clear();
    // What is not of the second half is the first one's.
    for (Operation *op : llvm::reverse(old))
      if (halves.middle.contains(op) || halves.end.contains(op) ||
          (isPure(op) && op->use_empty()))
        op->erase();
      else
        op->moveBefore(begin.thenBlock(), begin.thenBlock()->begin());
    kernel->setAttr(deferredAttr, b.getUnitAttr());
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value index(Value value) {
    return value.getType().isIndex()
               ? value
               : arith::IndexCastOp::create(b, loc, b.getIndexType(), value)
                     .getResult();
  }
  Value isAtMost(Value value, int64_t most) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, value,
                                 constant(most));
  }

  /// Whether this program's row is short, and, of wide elements, the launch's
  /// rows are few.
  Value pays() {
    IRMapping map;
    for (Operation *op : halves.early.slice)
      b.clone(*op, map);
    Value length = arith::SubIOp::create(
        b, loc, index(map.lookupOrDefault(halves.first.getUpperBound())),
        index(map.lookupOrDefault(halves.first.getLowerBound())));
    int64_t most = halves.isNarrow ? mostNarrowBytes : mostBytes;
    Value isShort = isAtMost(length, most / halves.bytes);
    if (halves.isNarrow)
      return isShort;
    // Of at most 2^12 bytes, and of three counts below 2^17.
    Value elements = arith::MinSIOp::create(b, loc, length, constant(most));
    for (Value count :
         kernel.getArguments().take_back(linalg_ext::kProgramArguments / 2))
      elements = arith::MulIOp::create(
          b, loc, elements,
          arith::MinSIOp::create(b, loc, index(count), constant(1 << 17)));
    return arith::AndIOp::create(
        b, loc, isShort, isAtMost(elements, mostBytesOfLaunch / halves.bytes));
  }

  /// Between the halves: gives the numbers that the last loops take from there.
  void cloneMiddle(LeftProgram &left, ArrayRef<Operation *> old,
                   IRMapping &map) {
    if (halves.middle.empty() && halves.last.kept.empty())
      return;
    SmallVector<Type> types =
        llvm::to_vector(ValueRange(halves.last.kept.getArrayRef()).getTypes());
    auto branch = scf::IfOp::create(b, loc, types, left.isThere(),
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      IRMapping own = map;
      SmallPtrSet<Operation *, 8> ofEnd(halves.end.begin(), halves.end.end());
      for (Operation *op : old) {
        if (llvm::any_of(op->getOperands(), [&](Value value) {
              return ofEnd.contains(value.getDefiningOp());
            }))
          ofEnd.insert(op);
        if (!ofEnd.contains(op) &&
            (halves.middle.contains(op) || halves.later.slice.contains(op)))
          b.clone(*op, own);
      }
      SmallVector<Value> numbers;
      for (Value value : halves.last.kept)
        numbers.push_back(own.lookupOrDefault(value));
      yield(numbers);
      b.setInsertionPointToStart(branch.elseBlock());
      SmallVector<Value> zeros;
      for (Type type : types)
        zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
      yield(zeros);
    }
    for (auto [value, result] :
         llvm::zip_equal(halves.last.kept, branch.getResults()))
      map.map(value, result);
  }

  /// A branch without results has its end already.
  void yield(ValueRange values) {
    if (!values.empty())
      scf::YieldOp::create(b, loc, values);
  }

  void cloneEnd(LeftProgram &left, ArrayRef<Operation *> old, IRMapping map) {
    auto branch =
        scf::IfOp::create(b, loc, left.isThere(), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (Operation *op : old)
      if (halves.end.contains(op) || halves.last.slice.contains(op))
        b.clone(*op, map);
  }

  func::FuncOp kernel;
  OverlappedPrograms &halves;
  OpBuilder b;
  Location loc;
};

struct OverlapProgramsPass
    : public tilebridge::cpu::impl::CpuOverlapProgramsPassBase<
          OverlapProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = findLeavingKernel(getOperation());
    if (!kernel)
      return;
    if (auto halves = findOverlappedPrograms(kernel))
      Rewriter(kernel, *halves).rewrite();
  }
};
} // namespace
