//===- FlatLoop.cpp - one loop over the steps of all tiles ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/FlatLoop.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::frontend;

bool FlatLoop::find() {
  return findNumber() && findChoices() && placeFirst() && placeLast();
}

bool FlatLoop::findNumber() {
  if (loop.getUnsignedCmp() || !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !matchPattern(loop.getStep(), m_One()))
    return false;
  auto count = loop.getUpperBound().getDefiningOp<arith::MulIOp>();
  if (!count)
    return false;
  unsigned arguments = loop.getNumRegionIterArgs();
  for (unsigned at : {1, 0}) {
    steps = count->getOperand(at);
    tiles = count->getOperand(1 - at);
    unsigned counter = 0;
    while (counter < arguments && !isCounter(counter))
      ++counter;
    if (counter == arguments &&
        !llvm::any_of(*body, [&](Operation &op) { return isRemainder(op); }))
      continue;
    for (unsigned i = 0; i < arguments; ++i)
      if (i != counter)
        carried.push_back(i);
    return true;
  }
  return false;
}

/// `number = tl.where(number == steps - 1, 0, number + 1)`, at the beginning of
/// an iteration, where it is -1 before the loop, or at its end.
bool FlatLoop::isCounter(unsigned i) {
  BlockArgument argument = loop.getRegionIterArg(i);
  auto next = yielded[i].getDefiningOp<arith::SelectOp>();
  if (!next || argument.getType() != loop.getInductionVar().getType() ||
      !loop.getResult(i).use_empty())
    return false;
  auto isLast = next.getCondition().getDefiningOp<arith::CmpIOp>();
  auto add = next.getFalseValue().getDefiningOp<arith::AddIOp>();
  if (!isLast || isLast.getPredicate() != arith::CmpIPredicate::eq ||
      isLast.getLhs() != argument || !isLastStep(isLast.getRhs()) ||
      !matchPattern(next.getTrueValue(), m_Zero()) || !add ||
      add.getLhs() != argument || !matchPattern(add.getRhs(), m_One()) ||
      !add->hasOneUse())
    return false;
  APInt init;
  if (!matchPattern(loop.getInitArgs()[i], m_ConstantInt(&init)))
    return false;
  if (init.isZero()) {
    current = argument;
    counting = {next, add};
    return next->hasOneUse();
  }
  // What the number was before it counts is not asked for.
  current = next;
  counting = {next, add, isLast};
  return init.isAllOnes() && isLast->hasOneUse() &&
         llvm::all_of(argument.getUsers(),
                      [&](Operation *user) { return counting.contains(user); });
}

static bool isSame(Value value, Value other) {
  APInt number, otherNumber;
  return value == other || (matchPattern(value, m_ConstantInt(&number)) &&
                            matchPattern(other, m_ConstantInt(&otherNumber)) &&
                            number == otherNumber);
}

/// `number = i % steps`; `i // steps` is then the tile's.
bool FlatLoop::isRemainder(Operation &op) {
  auto remainder = dyn_cast<arith::RemSIOp>(op);
  Value all = loop.getInductionVar();
  if (!remainder || remainder.getLhs() != all ||
      !isSame(remainder.getRhs(), steps))
    return false;
  current = remainder;
  counting = {remainder};
  for (Operation *user : all.getUsers())
    if (auto quotient = dyn_cast<arith::DivSIOp>(user);
        quotient && quotient->getBlock() == body && quotient.getLhs() == all &&
        isSame(quotient.getRhs(), steps))
      tileNumbers.insert(quotient);
  return true;
}

bool FlatLoop::isLastStep(Value value) {
  APInt number, count;
  if (matchPattern(value, m_ConstantInt(&number)))
    return matchPattern(steps, m_ConstantInt(&count)) && number == count - 1;
  if (auto sub = value.getDefiningOp<arith::SubIOp>())
    return sub.getLhs() == steps && matchPattern(sub.getRhs(), m_One());
  auto add = value.getDefiningOp<arith::AddIOp>();
  return add && add.getLhs() == steps &&
         matchPattern(add.getRhs(), m_ConstantInt(&number)) &&
         number.isAllOnes();
}

/// Whether a condition says that this is the first step, or the last one.
bool FlatLoop::isStep(Value condition, bool isFirst) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         compare.getLhs() == current &&
         (isFirst ? matchPattern(compare.getRhs(), m_Zero())
                  : isLastStep(compare.getRhs()));
}

bool FlatLoop::findChoices() {
  for (Operation &op : body->without_terminator()) {
    if (counting.contains(&op))
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    auto select = dyn_cast<arith::SelectOp>(op);
    Value condition = branch   ? branch.getCondition()
                      : select ? select.getCondition()
                               : Value();
    if (!condition)
      continue;
    for (bool isFirst : {true, false})
      if (isStep(condition, isFirst) && !addChoice(&op, isFirst))
        return false;
  }
  return !firstBranches.empty() || !lastBranches.empty();
}

bool FlatLoop::addChoice(Operation *op, bool isFirst) {
  auto &choices = isFirst ? first : last;
  if (moved.contains(op))
    return false; // A tile has one step.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    // Others stay in the inner loop.
    auto argument = dyn_cast<BlockArgument>(select.getFalseValue());
    bool isHandedOn =
        isFirst ? argument && argument.getOwner() == body &&
                      argument != loop.getInductionVar() && argument.hasOneUse()
                : llvm::all_of(select->getUsers(), [&](Operation *user) {
                    return user == body->getTerminator();
                  });
    if (!isHandedOn)
      return true;
    choices[select] = {select.getTrueValue(), select.getFalseValue()};
  } else {
    auto branch = cast<scf::IfOp>(op);
    if (branch.elseBlock() && !llvm::hasSingleElement(*branch.elseBlock()))
      return false;
    (isFirst ? firstBranches : lastBranches).push_back(branch);
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      choices[result] = {branch.thenYield().getOperand(i),
                         branch.elseYield().getOperand(i)};
  }
  moved.insert(op);
  return true;
}

/// Whether a value can be computed again where `known` are.
bool FlatLoop::canCopy(Value value, Known known) {
  if (!isInLoop(value) || known(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == body && op->getNumRegions() == 0 &&
         !moved.contains(op) && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canCopy(operand, known); });
}

bool FlatLoop::canCopyBranch(scf::IfOp branch, Known known) {
  auto result = branch->walk([&](Operation *op) {
    bool isCopied =
        op == branch || llvm::all_of(op->getOperands(), [&](Value operand) {
          return branch->isAncestor(operand.getParentBlock()->getParentOp()) ||
                 canCopy(operand, known);
        });
    return isCopied ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// What a first step does is before all others of a tile: nothing stands before
/// it that reads or writes memory.
bool FlatLoop::placeFirst() {
  llvm::DenseSet<Value> done;
  auto known = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == body)
      return value == loop.getInductionVar() || value == current ||
             llvm::is_contained(carried, argument.getArgNumber() - 1);
    Operation *op = value.getDefiningOp();
    return value == current || tileNumbers.contains(op) || done.contains(value);
  };
  auto isOfFirst = [&](Value value) { return first.contains(value); };
  for (Operation &op : body->without_terminator()) {
    if (llvm::is_contained(firstBranches, &op) ||
        llvm::any_of(op.getResults(), isOfFirst)) {
      if (!beginsWith(op, known))
        return false;
      done.insert_range(op.getResults());
    } else if (!firstBranches.empty() &&
               op.isBeforeInBlock(firstBranches.back()) &&
               !isMemoryEffectFree(&op)) {
      return false;
    }
  }
  return true;
}

/// Whether what a first step chooses is what the inner loop begins with: it
/// stands for an argument that only first steps look at.
bool FlatLoop::beginsWith(Operation &op, Known known) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (branch && !canCopyBranch(branch, known))
    return false;
  auto isFirst = [&](Operation *user) {
    return user == &op || llvm::any_of(firstBranches, [&](scf::IfOp other) {
             return other->isAncestor(user);
           });
  };
  return llvm::all_of(op.getResults(), [&](Value result) {
    const Choice &choice = first.at(result);
    auto argument = dyn_cast<BlockArgument>(choice.otherwise);
    if (!argument || argument.getOwner() != body ||
        argument == loop.getInductionVar() || argument == current ||
        !(branch || canCopy(choice.there, known)))
      return false;
    return firstOf.try_emplace(argument.getArgNumber() - 1, result).second &&
           llvm::all_of(argument.getUsers(), isFirst);
  });
}

/// What a last step does is behind all others of a tile: nothing stands behind
/// it that reads or writes memory, it knows what the inner loop ends with, and
/// what it chooses is only handed on.
bool FlatLoop::placeLast() {
  llvm::DenseSet<Value> ended;
  for (unsigned i : carried)
    ended.insert(endOfStep(i));
  auto known = [&](Value value) {
    return value == current || value == loop.getInductionVar() ||
           ended.contains(value) || last.contains(value) ||
           tileNumbers.contains(value.getDefiningOp());
  };
  bool isBehind = false;
  for (Operation &op : body->without_terminator()) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && llvm::is_contained(lastBranches, branch)) {
      if (!canCopyBranch(branch, known))
        return false;
      isBehind = true;
    } else if (isBehind && !isMemoryEffectFree(&op)) {
      return false;
    }
  }
  auto isHandedOn = [&](Operation *user) {
    return user == body->getTerminator() ||
           llvm::any_of(lastBranches, [&](scf::IfOp branch) {
             return branch->isProperAncestor(user);
           });
  };
  return llvm::all_of(last, [&](const auto &entry) {
    auto [value, choice] = entry;
    bool isOfBranch = isa<scf::IfOp>(value.getDefiningOp());
    return (isOfBranch || canCopy(choice.there, known)) &&
           !last.contains(choice.otherwise) &&
           llvm::all_of(value.getUsers(), isHandedOn);
  });
}
