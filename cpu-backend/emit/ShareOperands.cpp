//===- ShareOperands.cpp - tilebridge-cpu-share-operands --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Programs of one column of the output multiply the same `b`. A thread runs
// them one after another, so that what the first one has packed is there for
// the others. Two programs have the same `b` if the numbers that it is computed
// from are the same, and memory is: no program may depend on what another one
// writes, and no write comes before the loop that reads. Blocks of tokens that
// are sorted by their experts have the same expert more often than not.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/LaunchUniform.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Plan.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUSHAREOPERANDSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// Walks back from an operand to the numbers that decide it.
class KeyFinder {
public:
  /// `isInTurns`: numbers of the turns of loops around are keys, too, such as
  /// those of experts.
  KeyFinder(scf::ForOp loop, bool isInTurns)
      : loop(loop), func(loop->getParentOfType<func::FuncOp>()),
        isInTurns(isInTurns), ofLaunch(func, [](Operation *op) {
          return op->getNumRegions() == 0 && isMemoryEffectFree(op);
        }) {}

  std::optional<SmallVector<Value>> run(Value operand,
                                        ArrayRef<Value> besides) {
    // An iteration that one program did not have is not packed.
    SmallVector<Value> open = {operand, loop.getLowerBound(),
                               loop.getUpperBound(), loop.getStep()};
    llvm::append_range(open, besides);
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (seen.insert(value).second && !visit(value, open))
        return std::nullopt;
    }
    llvm::SetVector<Value> sources;
    for (Value key : keys) {
      if (!isNumber(key.getType()))
        return std::nullopt;
      sources.insert(sourceOf(key));
    }
    return sources.takeVector();
  }

private:
  static bool isNumber(Type type) {
    return type.isIndex() ||
           (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
  }

  /// The only number that `key` is computed from, besides those of the launch:
  /// several keys are one then. What several numbers have in common, such as a
  /// remainder, is not looked into.
  Value sourceOf(Value key) {
    while (Operation *op = key.getDefiningOp()) {
      if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
               arith::MaxSIOp, arith::ExtSIOp, arith::ExtUIOp,
               arith::IndexCastOp>(op) ||
          loop->isProperAncestor(op))
        break;
      SmallVector<Value, 2> numbers;
      for (Value operand : op->getOperands())
        if (!ofLaunch.contains(operand) &&
            !llvm::is_contained(numbers, operand))
          numbers.push_back(operand);
      if (numbers.size() != 1)
        break;
      key = numbers.front();
    }
    return key;
  }

  bool visit(Value value, SmallVectorImpl<Value> &open) {
    bool isTensor = isa<TensorType>(value.getType());
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody()) {
        if (isTensor)
          return false;
        if (argument != loop.getInductionVar()) {
          open.push_back(loop.getTiedLoopInit(argument)->get());
          open.push_back(loop.getTiedLoopYieldedValue(argument)->get());
        }
        return true;
      }
      Operation *parent = argument.getOwner()->getParentOp();
      if (parent != func &&
          !(isInTurns && isa<scf::ForOp>(parent) && isNumber(value.getType())))
        return false;
      if (!ofLaunch.contains(value))
        keys.insert(value);
      return true;
    }
    Operation *op = value.getDefiningOp();
    bool isInside = loop->isProperAncestor(op);
    if (!isInside && isNumber(value.getType())) {
      if (!ofLaunch.contains(value))
        keys.insert(value);
      return true;
    }
    if (mayWrite(op) || isa<scf::ForOp, scf::WhileOp>(op) ||
        (!isInside && isa<scf::SCFDialect>(op->getDialect()) &&
         !isa<scf::IfOp>(op)))
      return false;
    llvm::append_range(open, op->getOperands());
    op->walk([&](Operation *inner) {
      for (Value used : inner->getOperands())
        if (inner != op &&
            !op->isAncestor(used.getParentBlock()->getParentOp()))
          open.push_back(used);
    });
    return true;
  }

  scf::ForOp loop;
  func::FuncOp func;
  bool isInTurns;
  DenseSet<Value> seen;
  LaunchUniform ofLaunch;
  llvm::SetVector<Value> keys;
};

/// Programs that wait for one another see what the others write.
bool ordersPrograms(func::FuncOp func) { return anyInside(func, mayWait); }

/// Whatever a program writes, it writes after the loop, which it enters once;
/// or where `isInTurns`, after loops around it.
bool readsBeforeWrites(scf::ForOp loop, func::FuncOp func, bool isInTurns) {
  for (Operation *at = loop; at != func; at = at->getParentOp()) {
    bool isAround = isInTurns && isa<scf::ForOp>(at) && !mayWrite(at);
    if (at != loop && !isAround && !isa<scf::IfOp, scf::IndexSwitchOp>(at))
      return false;
    for (Operation &other : *at->getBlock()) {
      if (&other == at)
        break;
      if (mayWrite(&other))
        return false;
    }
  }
  return !mayWrite(loop);
}

/// Moves what only `operand` needs into a branch that may be left out.
void wrap(linalg::MatmulOp op, scf::ForOp loop) {
  Value operand = op.getInputs()[1];
  Block *body = loop.getBody();
  SmallVector<Operation *> moved;
  DenseSet<Operation *> set;
  OpBuilder builder(op);
  for (Operation &at : llvm::reverse(*body)) {
    if (&at == op || at.hasTrait<OpTrait::IsTerminator>() ||
        at.getNumResults() == 0 || at.use_empty())
      continue;
    bool isOnly = llvm::all_of(at.getUses(), [&](OpOperand &use) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      return set.contains(user) || use.get() == operand;
    });
    if (!isOnly || at.hasTrait<OpTrait::ConstantLike>())
      continue;
    set.insert(&at);
    moved.push_back(&at);
  }
  Location loc = op.getLoc();
  Value condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
  auto branch = scf::IfOp::create(builder, loc, operand.getType(), condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  branch->setAttr(sharedAttr, builder.getUnitAttr());
  op.getInputsMutable()[1].assign(branch.getResult(0));
  Block *then = branch.thenBlock();
  for (Operation *at : llvm::reverse(moved))
    at->moveBefore(then, then->end());
  builder.setInsertionPointToEnd(then);
  scf::YieldOp::create(builder, loc, operand);
  builder.setInsertionPointToEnd(branch.elseBlock());
  auto type = cast<RankedTensorType>(operand.getType());
  Value nothing = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                          type.getElementType());
  scf::YieldOp::create(builder, loc, nothing);
}

struct CpuShareOperandsPass
    : tilebridge::cpu::impl::CpuShareOperandsPassBase<CpuShareOperandsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func->hasAttr("tilebridge.kernel") ||
        func.getNumArguments() < 6 || ordersPrograms(func))
      return;
    findDeepMatmuls(func);
    SmallVector<linalg::MatmulOp> products;
    func.walk([&](linalg::MatmulOp op) {
      if (op->hasAttr(deepAttr))
        products.push_back(op);
    });
    for (linalg::MatmulOp op : products) {
      auto loop = cast<scf::ForOp>(op->getParentOp());
      Value operand = op.getInputs()[1];
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != loop.getBody() || !operand.hasOneUse() ||
          isa<scf::ForOp, scf::WhileOp>(def) ||
          cast<RankedTensorType>(operand.getType())
              .getElementType()
              .isInteger(1) ||
          !readsBeforeWrites(loop, func,
                             /*isInTurns=*/findMaskedRows(op) != nullptr))
        continue;
      auto keys = findSharingKeys(op);
      if (keys && keys->size() <= maxSharingKeys)
        wrap(op, loop);
    }
  }
};

} // namespace

std::optional<SmallVector<Value>>
tilebridge::cpu::findSharingKeys(linalg::MatmulOp op, ArrayRef<Value> besides) {
  return KeyFinder(cast<scf::ForOp>(op->getParentOp()),
                   findMaskedRows(op) != nullptr)
      .run(op.getInputs()[1], besides);
}
