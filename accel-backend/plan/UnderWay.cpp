//===- UnderWay.cpp - where transfers are under way -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A token is used up by a wait, and by what passes it on: a yield, the initial
// value of a loop. Of each one that is made, be it a result or an argument of a
// loop's body, exactly one use is on every path to the end of its block.
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/UnderWay.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
/// Uses of a token on the paths through something.
struct Uses {
  unsigned least = 0, most = 0;
  /// One that is in a loop.
  Operation *repeated = nullptr;

  void add(const Uses &other) {
    least += other.least;
    most += other.most;
    if (!repeated)
      repeated = other.repeated;
  }
};
} // namespace

static Uses usesIn(Region &region, Value token);

static Uses usesBy(Operation *op, Value token) {
  Uses uses;
  uses.least = uses.most = unsigned(llvm::count(op->getOperands(), token));
  if (op->getNumRegions() == 0)
    return uses;
  Uses nested;
  bool isFirst = true;
  for (Region &region : op->getRegions()) {
    Uses own = usesIn(region, token);
    if (isa<LoopLikeOpInterface>(op)) {
      if (own.most && !nested.repeated)
        nested.repeated = op;
      continue;
    }
    // One of several branches runs.
    nested.least = isFirst ? own.least : std::min(nested.least, own.least);
    nested.most = std::max(nested.most, own.most);
    nested.repeated = nested.repeated ? nested.repeated : own.repeated;
    isFirst = false;
  }
  uses.add(nested);
  return uses;
}

static Uses usesIn(Region &region, Value token) {
  Uses uses;
  for (Block &block : region)
    for (Operation &op : block)
      uses.add(usesBy(&op, token));
  return uses;
}

/// True if the token is that of no transfer, wherever it comes from.
static bool isCompleted(Value token, llvm::SmallPtrSetImpl<Value> &seen) {
  if (!seen.insert(token).second)
    return true;
  auto all = [&](ValueRange values) {
    return llvm::all_of(values,
                        [&](Value value) { return isCompleted(value, seen); });
  };
  if (auto argument = dyn_cast<BlockArgument>(token)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && all({loop.getTiedLoopInit(argument)->get(),
                        loop.getTiedLoopYieldedValue(argument)->get()});
  }
  Operation *op = token.getDefiningOp();
  unsigned number = cast<OpResult>(token).getResultNumber();
  if (isa<CompletedOp>(op))
    return true;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return all({select.getTrueValue(), select.getFalseValue()});
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return all({branch.thenYield().getOperand(number),
                branch.elseYield().getOperand(number)});
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return all({loop.getInitArgs()[number],
                loop.getBody()->getTerminator()->getOperand(number)});
  return false;
}

static LogicalResult verifyToken(Value token) {
  Uses uses;
  Operation *owner = token.getDefiningOp();
  if (!owner)
    owner = cast<BlockArgument>(token).getOwner()->getParentOp();
  Block *block = token.getParentBlock();
  for (Operation &op : *block)
    uses.add(usesBy(&op, token));
  if (uses.least == 1 && uses.most == 1 && !uses.repeated)
    return success();
  llvm::SmallPtrSet<Value, 8> seen;
  if (isCompleted(token, seen))
    return success();
  StringRef what = isa<CopyStartOp>(owner)
                       ? "starts a transfer that"
                       : "hands on the token of a transfer that";
  if (uses.repeated) {
    InFlightDiagnostic diagnostic = owner->emitError(what)
                                    << " each iteration of a loop waits for";
    diagnostic.attachNote(uses.repeated->getLoc()) << "this loop";
    return failure();
  }
  if (uses.most == 0)
    return owner->emitError(what) << " nothing waits for";
  InFlightDiagnostic diagnostic =
      owner->emitError(what)
      << (uses.most > 1 ? " is waited for more than once on a path"
                        : " is not waited for on every path");
  for (Operation *user : token.getUsers())
    diagnostic.attachNote(user->getLoc()) << "the token goes here";
  return failure();
}

LogicalResult tilebridge::accel::verifyTokens(func::FuncOp kernel) {
  bool isValid = true;
  auto verify = [&](Value value) {
    if (isa<TokenType>(value.getType()))
      isValid &= succeeded(verifyToken(value));
  };
  kernel.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), verify);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), verify);
  });
  return success(isValid);
}

//===----------------------------------------------------------------------===//
// From the start to the wait
//===----------------------------------------------------------------------===//

namespace {
class Follower {
public:
  UnderWay result;

  void follow(Value token) {
    if (!seen.insert(token).second)
      return;
    Operation *op = token.getDefiningOp();
    walk(token, op ? op->getNextNode() : &token.getParentBlock()->front());
  }

private:
  /// From `op` on, until the token is used up.
  void walk(Value token, Operation *op) {
    for (; op; op = op->getNextNode()) {
      if (llvm::is_contained(op->getOperands(), token))
        return pass(token, op);
      bool isInside = llvm::any_of(token.getUsers(), [&](Operation *user) {
        return op->isProperAncestor(user);
      });
      if (isInside) {
        for (Region &region : op->getRegions())
          if (!region.empty())
            walk(token, &region.front().front());
        return;
      }
      op->walk([&](Operation *nested) { result.ops.insert(nested); });
    }
  }

  /// The op uses the token: as a wait, or it passes it on.
  void pass(Value token, Operation *op) {
    if (isa<arith::SelectOp>(op))
      return follow(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get() != token)
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        follow(loop.getTiedLoopRegionIterArg(&operand));
        follow(loop.getTiedLoopResult(&operand));
        continue;
      }
      if (!isa<scf::YieldOp>(op))
        continue;
      Operation *parent = op->getParentOp();
      unsigned number = operand.getOperandNumber();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        BlockArgument argument = loop.getRegionIterArgs()[number];
        if (!seen.contains(argument))
          ++result.later[parent];
        follow(argument);
      }
      if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(parent))
        follow(parent->getResult(number));
    }
  }

  llvm::SmallPtrSet<Value, 8> seen;
};
} // namespace

UnderWay tilebridge::accel::underWay(CopyStartOp start) {
  Follower follower;
  follower.follow(start.getToken());
  return std::move(follower.result);
}
