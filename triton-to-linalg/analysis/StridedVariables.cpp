//===- StridedVariables.cpp - strided tensors that flow -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/StridedVariables.h"

#include "frontend/TTOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

StridedVariables::StridedVariables(Operation *root, IRRewriter &rewriter)
    : root(root), rewriter(rewriter) {
  collect();
  while (!variables.empty() && dropUnstrided())
    ;
  findKnownParts();
}

void StridedVariables::add(Operation *op, Value value,
                           ArrayRef<OpOperand *> sources) {
  if (!canBeStrided(value.getType()))
    return;
  Variable variable;
  variable.op = op;
  variable.value = value;
  variable.sources.assign(sources.begin(), sources.end());
  variables.push_back(std::move(variable));
}

void StridedVariables::addLoop(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    OpOperand *sources[] = {&loop.getInitArgsMutable()[i],
                            &yield->getOpOperand(i)};
    add(loop, argument, sources);
    add(loop, loop.getResult(i), sources);
  }
}

void StridedVariables::addLoop(scf::WhileOp loop) {
  scf::YieldOp yield = loop.getYieldOp();
  for (auto [i, argument] : llvm::enumerate(loop.getBeforeArguments()))
    add(loop, argument, {&loop.getInitsMutable()[i], &yield->getOpOperand(i)});
  scf::ConditionOp condition = loop.getConditionOp();
  for (auto [i, argument] : llvm::enumerate(loop.getAfterArguments())) {
    add(loop, argument, {&condition.getArgsMutable()[i]});
    add(loop, loop.getResult(i), {&condition.getArgsMutable()[i]});
  }
}

void StridedVariables::addBranch(scf::IfOp branch) {
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    add(branch, result,
        {&branch.thenYield()->getOpOperand(i),
         &branch.elseYield()->getOpOperand(i)});
}

Value ttl::conditionOf(arith::SelectOp select) {
  if (!isa<RankedTensorType>(select.getCondition().getType()))
    return select.getCondition();
  auto splat = select.getCondition().getDefiningOp<tt::SplatOp>();
  return splat ? splat.getSrc() : Value();
}

void StridedVariables::addSelect(arith::SelectOp select) {
  if (conditionOf(select))
    add(select, select.getResult(),
        {&select->getOpOperand(1), &select->getOpOperand(2)});
}

void StridedVariables::collect() {
  root->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<scf::ForOp, scf::WhileOp>([&](auto loop) { addLoop(loop); })
        .Case([&](scf::IfOp branch) {
          if (branch.getNumResults())
            addBranch(branch);
        })
        .Case([&](arith::SelectOp select) { addSelect(select); });
  });
  for (Variable &variable : variables)
    split(variable);
}

/// Writes a tensor as its parts, and all its uses as what they make.
void StridedVariables::split(Variable &variable) {
  Value value = variable.value;
  if (auto argument = dyn_cast<BlockArgument>(value))
    rewriter.setInsertionPointToStart(argument.getOwner());
  else
    rewriter.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  variable.parts = UnrealizedConversionCastOp::create(rewriter, loc,
                                                      partTypesOf(type), value);
  variable.rebuilt =
      rebuildStrided(rewriter, loc, type, variable.parts.getResults());
  rewriter.replaceAllUsesExcept(value, variable.rebuilt, variable.parts);
}

void StridedVariables::giveUp(Variable &variable) {
  rewriter.replaceAllUsesWith(variable.rebuilt, variable.value);
  // What was made of the parts has no other users.
  SmallVector<Operation *> dead = {variable.parts};
  for (size_t i = 0; i < dead.size(); ++i)
    for (Operation *user : dead[i]->getUsers())
      if (!llvm::is_contained(dead, user))
        dead.push_back(user);
  for (Operation *op : llvm::reverse(dead))
    op->dropAllReferences();
  for (Operation *op : llvm::reverse(dead))
    rewriter.eraseOp(op);
  variable.parts = nullptr;
}

/// Gives up the variables that a value flows into which is not strided; true if
/// there were any.
bool StridedVariables::dropUnstrided() {
  // Numbers must keep their values; offsets are taken not to wrap around.
  AccessAnalysis ofNumbers(pool, /*isExact=*/true), ofPointers(pool);
  formOf.clear();
  DenseSet<Value> unstrided;
  for (Variable &variable : variables)
    for (OpOperand *source : variable.sources) {
      Value value = source->get();
      if (formOf.count(value) || unstrided.contains(value))
        continue;
      bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(value));
      if (std::optional<StridedParts> form =
              stridedPartsOf(pool, isPointer ? ofPointers : ofNumbers, value))
        formOf[value] = *form;
      else
        unstrided.insert(value);
    }
  auto isBad = [&](Variable &variable) {
    return llvm::any_of(variable.sources, [&](OpOperand *source) {
      return unstrided.contains(source->get());
    });
  };
  SmallVector<bool> bad = llvm::map_to_vector(variables, isBad);
  if (!llvm::is_contained(bad, true))
    return false;
  std::vector<Variable> kept;
  for (auto [variable, isDropped] : llvm::zip_equal(variables, bad))
    if (!isDropped)
      kept.push_back(variable);
  for (auto [variable, isDropped] : llvm::zip_equal(variables, bad))
    if (isDropped)
      giveUp(variable);
  variables = std::move(kept);
  return true;
}

//===----------------------------------------------------------------------===//
// Parts that do not change
//===----------------------------------------------------------------------===//

const Expr *StridedVariables::resolve(const Expr *expr, bool &isUnknown) {
  if (expr->kind == Expr::Kind::Scalar) {
    auto found = partOf.find(expr->value);
    if (found == partOf.end())
      return expr;
    Variable &variable = variables[found->second];
    unsigned number = cast<OpResult>(expr->value).getResultNumber();
    if (variable.isCarried[number])
      return expr;
    if (!variable.known[number]) {
      isUnknown = true;
      return expr;
    }
    return variable.known[number]->expr;
  }
  const Expr *operands[3] = {};
  bool changed = false;
  for (auto [to, from] : llvm::zip(operands, expr->operands)) {
    to = from ? resolve(from, isUnknown) : nullptr;
    changed |= to != from;
  }
  return changed ? pool.withOperands(expr, operands) : expr;
}

Part StridedVariables::resolve(const Part &part, bool &isUnknown) {
  if (part.expr)
    return {{}, resolve(part.expr, isUnknown)};
  auto found = partOf.find(part.base);
  if (found == partOf.end())
    return part;
  Variable &variable = variables[found->second];
  unsigned number = cast<OpResult>(part.base).getResultNumber();
  if (variable.isCarried[number])
    return part;
  if (!variable.known[number]) {
    isUnknown = true;
    return part;
  }
  return *variable.known[number];
}

static bool isFromOutside(Value value, Operation *op) {
  return value.getDefiningOp() != op &&
         !op->isAncestor(value.getParentBlock()->getParentOp());
}

/// All values of it are made outside of `op`.
static bool isFromOutside(const Expr *expr, Operation *op) {
  if ((expr->anchor && op->isAncestor(expr->anchor)) ||
      (expr->value && !isFromOutside(expr->value, op)))
    return false;
  return llvm::all_of(expr->operands, [&](const Expr *operand) {
    return !operand || isFromOutside(operand, op);
  });
}

static bool isFromOutside(const Part &part, Operation *op) {
  return part.expr ? isFromOutside(part.expr, op)
                   : isFromOutside(part.base, op);
}

void StridedVariables::findKnownParts() {
  for (auto [number, variable] : llvm::enumerate(variables)) {
    for (Value part : variable.parts.getResults())
      partOf[part] = number;
    variable.known.resize(variable.parts.getNumResults());
    variable.isCarried.assign(variable.parts.getNumResults(), false);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Variable &variable : variables)
      for (size_t i = 0; i < variable.known.size(); ++i) {
        if (variable.isCarried[i])
          continue;
        std::optional<Part> all = std::nullopt;
        bool differ = false;
        for (OpOperand *source : variable.sources) {
          bool isUnknown = false;
          Part part = resolve(formOf[source->get()].parts[i], isUnknown);
          if (isUnknown)
            continue;
          differ |= all && !(*all == part);
          all = part;
        }
        if (differ || (all && !isFromOutside(*all, variable.op))) {
          variable.isCarried[i] = true;
          changed = true;
        } else if (all && !(variable.known[i] && *variable.known[i] == *all)) {
          // Only from unknown to known: what was known and is another value now
          // depends on a part that turned out to be carried.
          variable.isCarried[i] = variable.known[i].has_value();
          variable.known[i] = all;
          changed = true;
        }
      }
  }
  // What nothing flows into but itself does not occur in a program that ends.
  for (Variable &variable : variables)
    for (size_t i = 0; i < variable.known.size(); ++i)
      if (!variable.known[i])
        variable.isCarried[i] = true;
}
