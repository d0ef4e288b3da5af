//===- CarryStrides.cpp - strided tensors through loops and branches -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every tensor that a loop carries, a branch gives or a select chooses is
// taken to be strided until a value that flows into it is not: the tensor is
// written as its parts (a base, an offset, a stride a dimension), which stand
// for what will be carried, and analysis goes on from them. What is left then
// is a fixed point; parts that never change need not be carried at all.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/StridedParts.h"
#include "triton-to-linalg/lower/ExprBuilder.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_CARRYSTRIDESPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// A tensor that values flow into.
struct Variable {
  Operation *op; // the loop, branch or select
  Value value;   // an argument or a result of it
  SmallVector<OpOperand *, 2> sources;
  /// Gives the parts of `value`; all other uses are of `rebuilt`.
  UnrealizedConversionCastOp parts;
  Value rebuilt;
  /// A part that is one value whenever it flows in; null: not yet known.
  SmallVector<std::optional<Part>> known;
  SmallVector<bool> isCarried;
};

class Carrier {
public:
  explicit Carrier(Operation *root)
      : root(root), rewriter(root->getContext()) {}

  void run();

private:
  void collect();
  void add(Operation *op, Value value, ArrayRef<OpOperand *> sources);
  void addLoop(scf::ForOp loop);
  void addLoop(scf::WhileOp loop);
  void addBranch(scf::IfOp branch);
  void addSelect(arith::SelectOp select);
  void split(Variable &variable);
  void giveUp(Variable &variable);
  bool dropUnstrided();
  void findKnownParts();
  Part resolve(const Part &part, bool &isUnknown);
  const Expr *resolve(const Expr *expr, bool &isUnknown);
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

  Operation *root;
  IRRewriter rewriter;
  ExprPool pool;
  std::vector<Variable> variables;
  DenseMap<Value, unsigned> partOf; // a part: the variable's number
  DenseMap<Value, Variable *> variableOf;
  DenseMap<Value, StridedParts> formOf; // of sources
  DenseSet<Operation *> packs;
};

} // namespace

void Carrier::add(Operation *op, Value value, ArrayRef<OpOperand *> sources) {
  if (!canBeStrided(value.getType()))
    return;
  Variable variable;
  variable.op = op;
  variable.value = value;
  variable.sources.assign(sources.begin(), sources.end());
  variables.push_back(std::move(variable));
}

void Carrier::addLoop(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    OpOperand *sources[] = {&loop.getInitArgsMutable()[i],
                            &yield->getOpOperand(i)};
    add(loop, argument, sources);
    add(loop, loop.getResult(i), sources);
  }
}

void Carrier::addLoop(scf::WhileOp loop) {
  scf::YieldOp yield = loop.getYieldOp();
  for (auto [i, argument] : llvm::enumerate(loop.getBeforeArguments()))
    add(loop, argument, {&loop.getInitsMutable()[i], &yield->getOpOperand(i)});
  scf::ConditionOp condition = loop.getConditionOp();
  for (auto [i, argument] : llvm::enumerate(loop.getAfterArguments())) {
    add(loop, argument, {&condition.getArgsMutable()[i]});
    add(loop, loop.getResult(i), {&condition.getArgsMutable()[i]});
  }
}

void Carrier::addBranch(scf::IfOp branch) {
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    add(branch, result,
        {&branch.thenYield()->getOpOperand(i),
         &branch.elseYield()->getOpOperand(i)});
}

/// The one condition of a select between tensors.
static Value conditionOf(arith::SelectOp select) {
  if (!isa<RankedTensorType>(select.getCondition().getType()))
    return select.getCondition();
  auto splat = select.getCondition().getDefiningOp<tt::SplatOp>();
  return splat ? splat.getSrc() : Value();
}

void Carrier::addSelect(arith::SelectOp select) {
  if (conditionOf(select))
    add(select, select.getResult(),
        {&select->getOpOperand(1), &select->getOpOperand(2)});
}

void Carrier::collect() {
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
void Carrier::split(Variable &variable) {
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

void Carrier::giveUp(Variable &variable) {
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
bool Carrier::dropUnstrided() {
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

const Expr *Carrier::resolve(const Expr *expr, bool &isUnknown) {
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

Part Carrier::resolve(const Part &part, bool &isUnknown) {
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

void Carrier::findKnownParts() {
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

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

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
  for (Variable &variable : variables) {
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
  for (Variable &variable : variables)
    for (OpOperand *source : variable.sources) {
      if (packed.count(source))
        continue;
      Operation *owner = source->getOwner();
      rewriter.setInsertionPoint(owner);
      Location loc = owner->getLoc();
      ExprBuilder exprs(rewriter, loc, /*asIntegers=*/true);
      const StridedParts &form = formOf[source->get()];
      SmallVector<Value> values;
      for (auto [i, part] : llvm::enumerate(form.parts)) {
        if (!variable.isCarried[i])
          continue;
        bool isUnknown = false;
        values.push_back(write(rewriter, exprs, loc, resolve(part, isUnknown),
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
  collect();
  while (!variables.empty() && dropUnstrided())
    ;
  if (variables.empty())
    return;
  for (Variable &variable : variables)
    variableOf[variable.value] = &variable;
  findKnownParts();
  writeCarriedParts();
  writeKnownParts();
  llvm::SetVector<Operation *> ops;
  for (Variable &variable : variables)
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
