//===- ProgramLoop.cpp - a thread's programs, one after another -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/ProgramGrid.h"

#include "runtime/executable_abi.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {
class ProgramLoop : private ProgramGrid {
public:
  ProgramLoop(OpBuilder &b, Location loc, Value launch)
      : ProgramGrid(b, loc, launch), launch(launch) {}

  void create(const ProgramCall &kernel, Value begin, Value end);
  void createTiles(const ProgramCall &kernel, Value begin, Value end,
                   Value scratch);
  void createMerged(const ProgramCall &kernel, ArrayRef<MergedCall> merged,
                    Value begin, Value end);
  Value atOnce(ArrayRef<MergedCall> merged);
  Value count(const ProgramCall &kernel);

private:
  /// Of a launch: all i64, but for `together`, an i1.
  struct Tiles {
    Value end, step, together;
  };
  Tiles askTiles(const ProgramCall &kernel);
  void createClear(const ProgramCall &kernel, Value together, Value scratch);
  func::CallOp call(const ProgramCall &call, ValueRange ids);
  void findStep(ArrayRef<MergedCall> merged);
  /// Of a program in a launch with merged ones.
  struct Place {
    /// All programs of its group exist.
    Value isWhole;
    /// Its number in the group: 0 is the first one.
    Value number;
    /// Its number among the programs before the group's next one.
    Value inDistance;
  };
  Place placeOf(const MergedCall &merged, Value program, ValueRange ids);
  void createGroup(const ProgramCall &kernel, ArrayRef<MergedCall> merged,
                   Value first, ValueRange ids);
  SmallVector<Value> createMember(const ProgramCall &kernel,
                                  ArrayRef<MergedCall> merged, Value program,
                                  ValueRange ids, const Place &place);
  SmallVector<Value> createOne(const ProgramCall &kernel,
                               ArrayRef<MergedCall> merged, ValueRange state);
  /// What one group and those between its programs take of the grid's numbers.
  Value blockOf(const MergedCall &merged) {
    return arith::MulIOp::create(b, loc, distance, number(merged.count));
  }
  Value hasEnough(const MergedCall &merged);

  Value launch;
  /// Of merged programs: the distance of their ids along the axis, or, where
  /// such ids follow one another, of their places in that order; of their
  /// numbers in the grid, `lower` times as far; how many there are along it.
  Value step, lower, distance, length;
  /// The launch's arguments are not those that programs are merged for.
  Value isOff;
};
} // namespace

func::CallOp ProgramLoop::call(const ProgramCall &call, ValueRange ordered) {
  SmallVector<Value> arguments = call.arguments, ids = ofAxes(ordered);
  for (int dim = 0; dim < 3; ++dim) {
    arguments[call.firstId + dim] = ids[dim];
    arguments[call.firstId + 3 + dim] = counts[dim];
  }
  func::FuncOp function = call.function;
  return func::CallOp::create(b, loc, function, arguments);
}

/// The divisions run once a call: the loop then counts like an odometer. For
/// programs with products, which take far longer, they run for each.
void ProgramLoop::create(const ProgramCall &kernel, Value begin, Value end) {
  if (kernel.order)
    setOrder(kernel);
  OpBuilder::InsertionGuard guard(b);
  if (isScattered()) {
    auto loop = scf::ForOp::create(b, loc, begin, end, number(1));
    b.setInsertionPointToStart(loop.getBody());
    call(kernel, idsOf(loop.getInductionVar()));
    return;
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, number(1), idsOf(begin));
  b.setInsertionPointToStart(loop.getBody());
  ValueRange ids = loop.getRegionIterArgs();
  call(kernel, ids);
  scf::YieldOp::create(b, loc, next(ids));
}

ProgramLoop::Tiles ProgramLoop::askTiles(const ProgramCall &kernel) {
  ValueRange answer = ask(kernel.tiles, kernel);
  return {arith::MaxSIOp::create(b, loc, answer[0], number(0)), answer[1],
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, answer[1],
                                number(0))};
}

Value ProgramLoop::count(const ProgramCall &kernel) {
  Tiles tiles = askTiles(kernel);
  Value programs = total();
  setCount(tiles.end);
  return choose(tiles.together, total(), programs);
}

/// The programs' tiles are the grid then. Or else each program runs its own,
/// one after the other, as if it were the thread's only one: what one tile
/// writes the next one may read. Both are one loop, as a kernel that is called
/// at one place is inlined there.
void ProgramLoop::createTiles(const ProgramCall &kernel, Value begin, Value end,
                              Value scratch) {
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
  auto ofTiles = scf::ForOp::create(b, loc, first, last, by, inits);
  b.setInsertionPointToStart(ofTiles.getBody());
  createClear(kernel, together, scratch);
  Value tile = ofTiles.getInductionVar();
  if (isScattered()) {
    call(kernel, either(idsOf(tile), tile));
    return;
  }
  ValueRange ids = ofTiles.getRegionIterArgs();
  call(kernel, ids);
  Value following = arith::AddIOp::create(b, loc, tile, by);
  scf::YieldOp::create(b, loc, either(ProgramGrid::next(ids), following));
}

/// Tiles that do not run together find nothing of those before.
void ProgramLoop::createClear(const ProgramCall &kernel, Value together,
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

/// What the functions that say so agree on; 0 where they do not.
void ProgramLoop::findStep(ArrayRef<MergedCall> merged) {
  Value agreed;
  for (const MergedCall &each : merged) {
    if (!each.step)
      continue;
    Value result = ask(each.step, each.call).front();
    // A quotient by what is no distance is not what is merged for.
    result = arith::MaxSIOp::create(b, loc, result, number(0));
    result = arith::MinSIOp::create(
        b, loc, result, number(std::numeric_limits<int32_t>::max()));
    if (agreed) {
      Value isSame = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           result, agreed);
      result = choose(isSame, result, number(0));
    }
    agreed = result;
  }
  step = agreed ? agreed : number(1);
  lower = number(1);
  for (unsigned dim = 0; dim < merged.front().axis; ++dim)
    lower = arith::MulIOp::create(b, loc, lower, counts64[dim]);
  length = counts64[merged.front().axis];
  if (llvm::all_of(
          merged, [](const MergedCall &each) { return each.leastApart > 0; })) {
    step = setApart(step, merged.front().leastApart);
    length = apartCount;
  }
  distance = arith::MulIOp::create(b, loc, step, lower);
  isOff = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance,
                                number(0));
}

/// Whether the grid has so many groups of this size that all threads have work.
Value ProgramLoop::hasEnough(const MergedCall &merged) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, total(),
                               number(merged.leastGroups * merged.count));
}

Value ProgramLoop::atOnce(ArrayRef<MergedCall> merged) {
  findStep(merged);
  Value most = blockOf(merged.back());
  for (size_t i = merged.size() - 1; i-- > 0;) {
    const MergedCall &more = merged[i];
    Value span = arith::MulIOp::create(b, loc, step, number(more.count));
    Value exists =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, span, length);
    exists = arith::AndIOp::create(b, loc, exists, hasEnough(more));
    most = choose(exists, blockOf(more), most);
  }
  return choose(isOff, number(1), most);
}

/// Where a program is among those that run together.
ProgramLoop::Place ProgramLoop::placeOf(const MergedCall &merged, Value program,
                                        ValueRange ids) {
  Value id = isScattered()
                 ? arith::RemUIOp::create(b, loc, program, length).getResult()
                 : wide(ids[merged.axis]);
  Value span = arith::MulIOp::create(b, loc, step, number(merged.count));
  Value inSpan = arith::RemUIOp::create(b, loc, id, span);
  Value end = arith::AddIOp::create(
      b, loc, arith::SubIOp::create(b, loc, id, inSpan), span);
  Place place;
  place.isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, end, length);
  place.number = arith::DivUIOp::create(b, loc, inSpan, step);
  Value inStep = arith::RemUIOp::create(b, loc, inSpan, step);
  Value inRow = arith::RemUIOp::create(b, loc, program, lower);
  place.inDistance = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, inStep, lower), inRow);
  return place;
}

/// The programs `first`, `first + distance`, ...: by one call, or else in
/// smaller groups, or one by one.
void ProgramLoop::createGroup(const ProgramCall &kernel,
                              ArrayRef<MergedCall> merged, Value first,
                              ValueRange ids) {
  if (merged.empty()) {
    call(kernel, ids);
    return;
  }
  Value done = call(merged.front().call, ids).getResult(0);
  Value one = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  Value isLeft = arith::XOrIOp::create(b, loc, done, one);
  auto rest = scf::IfOp::create(b, loc, isLeft, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rest.thenBlock());
  Value behind = arith::AddIOp::create(b, loc, first, blockOf(merged.front()));
  ArrayRef<MergedCall> smaller = merged.drop_front();
  Value each = smaller.empty() ? distance : blockOf(smaller.front());
  auto loop = scf::ForOp::create(b, loc, first, behind, each);
  b.setInsertionPointToStart(loop.getBody());
  Value next = loop.getInductionVar();
  createGroup(kernel, smaller, next, idsOf(next));
}

/// Runs the group that begins with the program, if one does, and goes on behind
/// those that belong to groups that have begun.
SmallVector<Value> ProgramLoop::createMember(const ProgramCall &kernel,
                                             ArrayRef<MergedCall> merged,
                                             Value program, ValueRange ids,
                                             const Place &place) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        place.number, number(0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    createGroup(kernel, merged, program, ids);
  }
  // The next program begins a group, too, or else the next that does is behind
  // all of these.
  Value following = arith::AddIOp::create(b, loc, program, number(1));
  Value inNext = arith::AddIOp::create(b, loc, place.inDistance, number(1));
  Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         inNext, distance);
  Value beginsToo = arith::AndIOp::create(b, loc, isFirst, isInside);
  Value left =
      arith::SubIOp::create(b, loc, number(merged.front().count), place.number);
  Value behind = arith::AddIOp::create(
      b, loc, arith::SubIOp::create(b, loc, program, place.inDistance),
      arith::MulIOp::create(b, loc, left, distance));
  Value next = arith::SelectOp::create(b, loc, beginsToo, following, behind);
  SmallVector<Value> result = {next};
  llvm::append_range(result, idsOf(next));
  return result;
}

/// Runs the program, or the group that it is part of; what follows.
SmallVector<Value> ProgramLoop::createOne(const ProgramCall &kernel,
                                          ArrayRef<MergedCall> merged,
                                          ValueRange state) {
  ValueRange ids = state.drop_front();
  if (merged.empty()) {
    call(kernel, ids);
    SmallVector<Value> following = {
        arith::AddIOp::create(b, loc, state[0], number(1))};
    llvm::append_range(following,
                       isScattered() ? idsOf(following[0]) : next(ids));
    return following;
  }
  Place place = placeOf(merged.front(), state[0], ids);
  Value isMember = place.isWhole;
  // The last kind is always taken: programs would share its lines.
  if (merged.size() > 1)
    isMember =
        arith::AndIOp::create(b, loc, isMember, hasEnough(merged.front()));
  auto branch = scf::IfOp::create(b, loc, state.getTypes(), isMember,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc,
                       createMember(kernel, merged, state[0], ids, place));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, createOne(kernel, merged.drop_front(), state));
  return branch.getResults();
}

/// Which programs run together depends on the grid alone, so that each gives
/// the same bits in every launch: the call whose range has the first program of
/// a group runs all of it, even those beyond its range, and others leave them.
void ProgramLoop::createMerged(const ProgramCall &kernel,
                               ArrayRef<MergedCall> merged, Value begin,
                               Value end) {
  findStep(merged);
  auto branch = scf::IfOp::create(b, loc, isOff, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // In an order of the kernel's own.
  ProgramLoop(b, loc, launch).create(kernel, begin, end);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> inits = {begin};
  llvm::append_range(inits, idsOf(begin));
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  scf::WhileOp::create(
      b, loc, types, inits,
      [&](OpBuilder &, Location, ValueRange state) {
        Value isLeft = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             state[0], end);
        scf::ConditionOp::create(b, loc, isLeft, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        scf::YieldOp::create(b, loc, createOne(kernel, merged, state));
      });
}

void tilebridge::cpu::createProgramLoop(OpBuilder &b, Location loc,
                                        const ProgramCall &kernel,
                                        ArrayRef<MergedCall> merged,
                                        Value launch, Value begin, Value end,
                                        Value scratch) {
  ProgramLoop loop(b, loc, launch);
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
  return ProgramLoop(b, loc, launch).atOnce(merged);
}

Value tilebridge::cpu::createProgramCount(OpBuilder &b, Location loc,
                                          const ProgramCall &kernel,
                                          Value launch) {
  return ProgramLoop(b, loc, launch).count(kernel);
}
