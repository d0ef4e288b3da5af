//===- CarryStrides.cpp - strided tensors through loops and branches -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/StridedVariables.h"
#include "triton-to-linalg/lower/ExprBuilder.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_CARRYSTRIDESPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

class Carrier {
public:
  explicit Carrier(Operation *root)
      : rewriter(root->getContext()), strided(root, rewriter) {}

  void run();

private:
  void writeKnownParts();
  void writeCarriedParts();
  void rewrite(Operation *op);
  bool isPack(Value value) {
    return value.getDefiningOp() && packs.contains(value.getDefiningOp());
  }
  SmallVector<Value> flatten(ValueRange operands);
  SmallVector<Type> typesOf(ValueRange results);
  void expandArguments(Block *block, unsigned first);
  void replaceResults(Operation *from, ValueRange to);

  IRRewriter rewriter;
  StridedVariables strided;
  DenseMap<Value, Variable *> variableOf;
  DenseSet<Operation *> packs;
};

} // namespace

/// A part as a value of `type` at the rewriter's place.
static Value write(IRRewriter &rewriter, ExprBuilder &exprs, Location loc,
                   const Part &part, Type type) {
  if (part.expr)
    return exprs.integer(part.expr);
  return part.base.getType() == type
             ? part.base
             : tt::BitcastOp::create(rewriter, loc, type, part.base)
                   .getResult();
}

/// Uses of a part that never changes are uses of its value before the loop.
void Carrier::writeKnownParts() {
  for (Variable &variable : strided.variables) {
    rewriter.setInsertionPoint(variable.op);
    Location loc = variable.op->getLoc();
    ExprBuilder exprs(rewriter, loc, /*asIntegers=*/true);
    for (auto [i, part] : llvm::enumerate(variable.parts.getResults()))
      if (!variable.isCarried[i])
        rewriter.replaceAllUsesWith(
            part,
            write(rewriter, exprs, loc, *variable.known[i], part.getType()));
  }
}

/// What flows into a variable becomes the parts that are carried.
void Carrier::writeCarriedParts() {
  DenseMap<OpOperand *, Value> packed;
  for (Variable &variable : strided.variables)
    for (OpOperand *source : variable.sources) {
      if (packed.count(source))
        continue;
      Operation *owner = source->getOwner();
      rewriter.setInsertionPoint(owner);
      Location loc = owner->getLoc();
      ExprBuilder exprs(rewriter, loc, /*asIntegers=*/true);
      const StridedParts &form = strided.partsOf(source->get());
      SmallVector<Value> values;
      for (auto [i, part] : llvm::enumerate(form.parts)) {
        if (!variable.isCarried[i])
          continue;
        values.push_back(write(rewriter, exprs, loc, strided.resolve(part),
                               variable.parts.getResult(i).getType()));
      }
      auto pack = UnrealizedConversionCastOp::create(
          rewriter, loc, TypeRange(variable.value.getType()), values);
      packs.insert(pack);
      packed[source] = pack.getResult(0);
    }
  for (auto [source, value] : packed)
    rewriter.modifyOpInPlace(
        source->getOwner(),
        [&, source = source, value = value] { source->set(value); });
}

SmallVector<Value> Carrier::flatten(ValueRange operands) {
  SmallVector<Value> values;
  for (Value operand : operands) {
    if (isPack(operand))
      llvm::append_range(values, operand.getDefiningOp()->getOperands());
    else
      values.push_back(operand);
  }
  return values;
}

SmallVector<Type> Carrier::typesOf(ValueRange results) {
  SmallVector<Type> types;
  for (Value result : results) {
    Variable *variable = variableOf.lookup(result);
    if (!variable) {
      types.push_back(result.getType());
      continue;
    }
    for (auto [i, part] : llvm::enumerate(variable->parts.getResults()))
      if (variable->isCarried[i])
        types.push_back(part.getType());
  }
  return types;
}

/// Arguments from `first` on get the parts that they carry.
void Carrier::expandArguments(Block *block, unsigned first) {
  for (unsigned i = block->getNumArguments(); i-- > first;) {
    Variable *variable = variableOf.lookup(block->getArgument(i));
    if (!variable)
      continue;
    unsigned place = i + 1;
    for (auto [k, part] : llvm::enumerate(variable->parts.getResults()))
      if (variable->isCarried[k]) {
        Value argument =
            block->insertArgument(place++, part.getType(), part.getLoc());
        rewriter.replaceAllUsesWith(part, argument);
      }
    rewriter.eraseOp(variable->parts);
    block->eraseArgument(i);
  }
}

void Carrier::replaceResults(Operation *from, ValueRange to) {
  for (Value result : from->getResults()) {
    Variable *variable = variableOf.lookup(result);
    if (!variable) {
      rewriter.replaceAllUsesWith(result, to.front());
      to = to.drop_front();
      continue;
    }
    for (auto [i, part] : llvm::enumerate(variable->parts.getResults()))
      if (variable->isCarried[i]) {
        rewriter.replaceAllUsesWith(part, to.front());
        to = to.drop_front();
      }
    rewriter.eraseOp(variable->parts);
  }
  rewriter.eraseOp(from);
}

void Carrier::rewrite(Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto flattenOperands = [&](Operation *terminator, unsigned first) {
    SmallVector<Value> operands(terminator->getOperands().take_front(first));
    llvm::append_range(operands,
                       flatten(terminator->getOperands().drop_front(first)));
    rewriter.modifyOpInPlace(terminator,
                             [&] { terminator->setOperands(operands); });
  };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip_equal(flatten(select.getTrueValue()),
                                          flatten(select.getFalseValue())))
      parts.push_back(
          arith::SelectOp::create(rewriter, loc, conditionOf(select), yes, no));
    return replaceResults(op, parts);
  }
  SmallVector<Type> types = typesOf(op->getResults());
  Operation *made;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    flattenOperands(loop.getBody()->getTerminator(), 0);
    made = scf::ForOp::create(rewriter, loc, loop.getLowerBound(),
                              loop.getUpperBound(), loop.getStep(),
                              flatten(loop.getInitArgs()), nullptr,
                              loop.getUnsignedCmp());
    expandArguments(loop.getBody(), 1);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    flattenOperands(loop.getConditionOp(), 1);
    flattenOperands(loop.getYieldOp(), 0);
    made = scf::WhileOp::create(rewriter, loc, types, flatten(loop.getInits()),
                                nullptr, nullptr);
    expandArguments(loop.getBeforeBody(), 0);
    expandArguments(loop.getAfterBody(), 0);
  } else {
    auto branch = cast<scf::IfOp>(op);
    flattenOperands(branch.thenYield(), 0);
    flattenOperands(branch.elseYield(), 0);
    made = scf::IfOp::create(rewriter, loc, types, branch.getCondition(),
                             /*addThenBlock=*/false, /*addElseBlock=*/false);
  }
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
    to.takeBody(from);
  replaceResults(op, made->getResults());
}

void Carrier::run() {
  for (Variable &variable : strided.variables)
    variableOf[variable.value] = &variable;
  writeCarriedParts();
  writeKnownParts();
  llvm::SetVector<Operation *> ops;
  for (Variable &variable : strided.variables)
    ops.insert(variable.op);
  for (Operation *op : ops)
    rewrite(op);
  for (Operation *pack : packs)
    rewriter.eraseOp(pack);
}

namespace {
struct CarryStridesPass : ttl::impl::CarryStridesPassBase<CarryStridesPass> {
  using CarryStridesPassBase::CarryStridesPassBase;
  void runOnOperation() override { Carrier(getOperation()).run(); }
};
} // namespace
