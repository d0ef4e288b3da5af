//===- ProgramLoop.cpp - a thread's programs, one after another -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ProgramLoopEmitter.h"
#include "cpu-backend/merge/ProgramBatch.h"

#include "runtime/executable_abi.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

func::CallOp ProgramLoopEmitter::call(const ProgramCall &call,
                                      ValueRange ordered, Value isRest) {
  SmallVector<Value> arguments = call.arguments, ids = ofAxes(ordered);
  Value none = isRest ? arith::ConstantIntOp::create(b, loc, -1, 32) : Value();
  for (int dim = 0; dim < 3; ++dim) {
    arguments[call.firstId + dim] =
        isRest ? choose(isRest, none, ids[dim]) : ids[dim];
    arguments[call.firstId + 3 + dim] = counts[dim];
  }
  func::FuncOp function = call.function;
  return func::CallOp::create(b, loc, function, arguments);
}

Value ProgramLoopEmitter::isRest(const ProgramCall &kernel, Value at,
                                 Value end) {
  return kernel.callsBehind()
             ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, at, end)
             : Value();
}

/// The divisions run once a call: the loop then counts like an odometer. For
/// programs with products, which take far longer, they run for each. A kernel
/// that leaves something is called some more times, in the same loop, as one
/// that is called at one place is inlined there.
void ProgramLoopEmitter::create(const ProgramCall &kernel, Value begin,
                                Value end) {
  if (kernel.order)
    setOrder(kernel);
  OpBuilder::InsertionGuard guard(b);
  int64_t calls = kernel.callsBehind();
  Value stop = calls ? arith::AddIOp::create(b, loc, end, number(calls)) : end;
  if (isScattered()) {
    auto loop = scf::ForOp::create(b, loc, begin, stop, number(1));
    b.setInsertionPointToStart(loop.getBody());
    Value program = loop.getInductionVar();
    call(kernel, idsOf(program), isRest(kernel, program, end));
    return;
  }
  auto loop = scf::ForOp::create(b, loc, begin, stop, number(1), idsOf(begin));
  b.setInsertionPointToStart(loop.getBody());
  ValueRange ids = loop.getRegionIterArgs();
  call(kernel, ids, isRest(kernel, loop.getInductionVar(), end));
  scf::YieldOp::create(b, loc, next(ids));
}

ProgramLoopEmitter::Tiles
ProgramLoopEmitter::askTiles(const ProgramCall &kernel) {
  ValueRange answer = ask(kernel.tiles, kernel);
  return {arith::MaxSIOp::create(b, loc, answer[0], number(0)), answer[1],
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, answer[1],
                                number(0))};
}

Value ProgramLoopEmitter::count(const ProgramCall &kernel) {
  Tiles tiles = askTiles(kernel);
  Value programs = total();
  setCount(tiles.end);
  return choose(tiles.together, total(), programs);
}

/// The programs' tiles are the grid then. Or else each program runs its own,
/// one after the other, as if it were the thread's only one: what one tile
/// writes the next one may read. Both are one loop, as a kernel that is called
/// at one place is inlined there.
void ProgramLoopEmitter::createTiles(const ProgramCall &kernel, Value begin,
                                     Value end, Value scratch) {
  auto [tiles, step, together] = askTiles(kernel);
  Value next = arith::AddIOp::create(b, loc, begin, number(1)),
        stop = choose(together, next, end);
  auto ofPrograms = scf::ForOp::create(b, loc, begin, stop, number(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ofPrograms.getBody());
  SmallVector<Value> own = idsOf(ofPrograms.getInductionVar());
  Value first = choose(together, begin, wide(own[0])),
        last = choose(together, end, tiles),
        by = choose(together, number(1), step);
  // Nothing is divided by 0.
  setCount(arith::MaxSIOp::create(b, loc, tiles, number(1)));
  if (kernel.order)
    setOrder(kernel, together);
  auto either = [&, isTogether = together](ValueRange ids, Value tile) {
    Value x = arith::TruncIOp::create(b, loc, b.getI32Type(), tile);
    return SmallVector<Value>{choose(isTogether, ids[0], x),
                              choose(isTogether, ids[1], own[1]),
                              choose(isTogether, ids[2], own[2])};
  };
  SmallVector<Value> inits;
  if (!isScattered())
    inits = either(idsOf(first), first);
  // What tiles leave is done behind the last one, or else behind each.
  Value behind = last;
  int64_t calls = kernel.callsBehind();
  if (calls)
    behind = choose(together,
                    arith::AddIOp::create(b, loc, last, number(calls)), last);
  auto ofTiles = scf::ForOp::create(b, loc, first, behind, by, inits);
  b.setInsertionPointToStart(ofTiles.getBody());
  Value tile = ofTiles.getInductionVar();
  SmallVector<Value> ids(ofTiles.getRegionIterArgs());
  if (isScattered())
    ids = either(idsOf(tile), tile);
  if (calls) {
    auto each = scf::ForOp::create(
        b, loc, number(0), choose(together, number(1), number(1 + calls)),
        number(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    call(kernel, ids,
         choose(together, isRest(kernel, tile, last),
                isRest(kernel, each.getInductionVar(), number(1))));
  } else {
    createClear(kernel, together, scratch);
    call(kernel, ids);
  }
  if (isScattered())
    return;
  Value following = arith::AddIOp::create(b, loc, tile, by);
  scf::YieldOp::create(b, loc, either(ProgramGrid::next(ids), following));
}

/// Tiles that do not run together find nothing of those before.
void ProgramLoopEmitter::createClear(const ProgramCall &kernel, Value together,
                                     Value scratch) {
  auto bytes =
      kernel.function->getAttrOfType<IntegerAttr>("tilebridge.scratch_bytes");
  if (!bytes || bytes.getInt() == 0)
    return;
  Value one = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  Value apart = arith::XOrIOp::create(b, loc, together, one);
  auto branch = scf::IfOp::create(b, loc, apart, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 8),
        size =
            number(std::min<int64_t>(bytes.getInt(), TB_SCRATCH_ZEROED_BYTES));
  LLVM::MemsetOp::create(b, loc, scratch, zero, size, /*isVolatile=*/false);
}

void tilebridge::cpu::createProgramLoop(OpBuilder &b, Location loc,
                                        const ProgramCall &kernel,
                                        ArrayRef<MergedCall> merged,
                                        Value launch, Value begin, Value end,
                                        Value scratch) {
  ProgramLoopEmitter loop(b, loc, launch);
  if (kernel.tiles)
    loop.createTiles(kernel, begin, end, scratch);
  else if (merged.empty())
    loop.create(kernel, begin, end);
  else
    loop.createMerged(kernel, merged, begin, end);
}

Value tilebridge::cpu::createProgramsAtOnce(OpBuilder &b, Location loc,
                                            ArrayRef<MergedCall> merged,
                                            Value launch) {
  return ProgramLoopEmitter(b, loc, launch).atOnce(merged);
}

Value tilebridge::cpu::createProgramCount(OpBuilder &b, Location loc,
                                          const ProgramCall &kernel,
                                          Value launch) {
  return ProgramLoopEmitter(b, loc, launch).count(kernel);
}

func::FuncOp tilebridge::cpu::kernelOfSinglePrograms(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(mergedCountAttr))
      return {};
    if (function->hasAttr("tilebridge.kernel"))
      kernel = function;
  }
  if (!kernel || kernel.isExternal() ||
      kernel.getNumArguments() < linalg_ext::kProgramArguments)
    return {};
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (kernel.getArgAttr(i, "tilebridge.launch"))
      return {};
  return kernel;
}
