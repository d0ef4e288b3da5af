//===- MergedProgramLoop.cpp - programs that run together -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ProgramLoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// What the functions that say so agree on; 0 where they do not.
void ProgramLoopEmitter::findStep(ArrayRef<MergedCall> merged) {
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
Value ProgramLoopEmitter::hasEnough(const MergedCall &merged) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, total(),
                               number(merged.leastGroups * merged.count));
}

Value ProgramLoopEmitter::atOnce(ArrayRef<MergedCall> merged) {
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
ProgramLoopEmitter::Place ProgramLoopEmitter::placeOf(const MergedCall &merged,
                                                      Value program,
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

/// A kernel that is inlined where launches have nothing but programs alone is
/// not where a few of them are.
void ProgramLoopEmitter::callRarely(const ProgramCall &kernel, ValueRange ids) {
  call(kernel, ids).setNoInlineAttr(b.getUnitAttr());
}

/// The programs `first`, `first + distance`, ...: by one call, or else in
/// smaller groups, or one by one.
void ProgramLoopEmitter::createGroup(const ProgramCall &kernel,
                                     ArrayRef<MergedCall> merged, Value first,
                                     ValueRange ids) {
  if (merged.empty()) {
    callRarely(kernel, ids);
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
SmallVector<Value> ProgramLoopEmitter::createMember(const ProgramCall &kernel,
                                                    ArrayRef<MergedCall> merged,
                                                    Value program,
                                                    ValueRange ids,
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
SmallVector<Value> ProgramLoopEmitter::createOne(const ProgramCall &kernel,
                                                 ArrayRef<MergedCall> merged,
                                                 ValueRange state) {
  ValueRange ids = state.drop_front();
  if (merged.empty()) {
    callRarely(kernel, ids);
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
void ProgramLoopEmitter::createMerged(const ProgramCall &kernel,
                                      ArrayRef<MergedCall> merged, Value begin,
                                      Value end) {
  findStep(merged);
  auto branch = scf::IfOp::create(b, loc, isOff, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // In an order of the kernel's own.
  ProgramLoopEmitter(b, loc, launch).create(kernel, begin, end);
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
