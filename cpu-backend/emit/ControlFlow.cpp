//===- ControlFlow.cpp - loops and branches with tensors ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A tensor that goes into or out of a region is memory: the argument, and the
// result, are a buffer that whoever hands on a value fills. Where the plan gave
// both one storage, nothing has to be copied.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilebridge::cpu;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static SmallVector<Value> withoutTensors(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values)
    if (!isTensor(value))
      result.push_back(value);
  return result;
}

static SmallVector<Type> scalarTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      result.push_back(type);
  return result;
}

/// The new values of those of `values` that are no tensors.
FailureOr<SmallVector<Value>> FunctionEmitter::mapScalars(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : withoutTensors(values)) {
    result.push_back(mapScalar(value));
    if (!result.back())
      return failure();
  }
  return result;
}

void FunctionEmitter::bindScalars(ValueRange from, ValueRange to) {
  for (auto [value, mapped] : llvm::zip_equal(withoutTensors(from), to))
    map.map(value, mapped);
}

void FunctionEmitter::bindTensors(ValueRange values) {
  for (Value value : values)
    if (isTensor(value))
      setBuffer(value, bufferFor(value));
}

LogicalResult FunctionEmitter::assign(ValueRange from, ValueRange to,
                                      Location loc) {
  struct Copy {
    Value tensor, memref;
  };
  SmallVector<Copy> copies;
  for (auto [value, target] : llvm::zip_equal(from, to)) {
    if (!isTensor(value) || packedInBranches.count(target))
      continue;
    Value memref = bufferFor(target);
    if (auto it = buffers.find(value);
        it != buffers.end() && it->second->memref == memref)
      continue;
    copies.push_back({value, memref});
  }
  // Written in order, as if all at once: what an earlier one would overwrite is
  // computed before.
  for (auto [i, copy] : llvm::enumerate(copies)) {
    bool hazard = !mayWriteDirectly(copy.tensor, copy.memref);
    for (const Copy &earlier : ArrayRef(copies).take_front(i))
      hazard |= reads(copy.tensor, earlier.memref);
    if (!hazard)
      continue;
    Value temporary = newBuffer(copy.tensor);
    if (failed(materialize(copy.tensor, temporary)))
      return failure();
    setBuffer(copy.tensor, temporary);
  }
  for (const Copy &copy : copies)
    if (failed(materialize(copy.tensor, copy.memref)))
      return failure();
  return success();
}

/// Computing `tensor` reads `memref`.
bool FunctionEmitter::reads(Value tensor, Value memref) {
  bool found = false;
  Indices any(cast<RankedTensorType>(tensor.getType()).getRank());
  walkCone(tensor, any, nullptr, [&](Value value, ArrayRef<Index>) {
    if (auto it = buffers.find(value); it != buffers.end())
      found |= it->second->memref == memref;
    return !found;
  });
  return found;
}

/// Computing `tensor` reads `memref` only where it is written at the same time.
bool FunctionEmitter::mayWriteDirectly(Value tensor, Value memref) {
  Indices identity =
      ownIndices(cast<RankedTensorType>(tensor.getType()).getRank());
  bool safe = true;
  walkCone(tensor, identity, nullptr, [&](Value value, ArrayRef<Index> at) {
    if (auto it = buffers.find(value);
        it != buffers.end() && it->second->memref == memref)
      safe &= at == ArrayRef<Index>(identity);
    return safe;
  });
  return safe;
}

/// `argument`, which begins as `init`, is what a product of the loop adds to,
/// and zero.
bool FunctionEmitter::isZeroOfDeepMatmul(Value init, Value argument) const {
  if (!argument.hasOneUse() || !isa<RankedTensorType>(argument.getType()))
    return false;
  Operation *user = *argument.getUsers().begin();
  return user->hasAttr(deepAttr) && isInlineZero(init);
}

/// Before the new loop, with these bounds: sums that begin at zero are not
/// written. The first product overwrites what is there; so it is zero only if
/// there is no iteration, or if what is there counts.
LogicalResult FunctionEmitter::beginAtZero(scf::ForOp loop,
                                           ValueRange arguments,
                                           ValueRange bounds) {
  Location loc = loop.getLoc();
  for (Value argument : arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto it = deepMatmuls.find(*argument.getUsers().begin());
    ImplicitLocOpBuilder b(loc, rewriter);
    if (it != deepMatmuls.end() && it->second->kernel(b).mayBeginAtZero()) {
      it->second->beginsAtZero = true;
      Value isEmpty = arith::CmpIOp::create(rewriter, loc,
                                            loop.getUnsignedCmp()
                                                ? arith::CmpIPredicate::uge
                                                : arith::CmpIPredicate::sge,
                                            bounds[0], bounds[1]);
      // What is not multiplied would be what others have left there: numbers
      // may be subnormal, which some CPUs compute with slowly.
      if (Value end = it->second->columnsEnd) {
        int64_t columns =
            cast<RankedTensorType>(argument.getType()).getDimSize(1);
        Value isPart =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end,
                                  arith::ConstantIndexOp::create(b, columns));
        isEmpty = arith::OrIOp::create(b, isEmpty, isPart);
      }
      auto branch =
          scf::IfOp::create(rewriter, loc, isEmpty, /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    Value init = loop.getTiedLoopInit(cast<BlockArgument>(argument))->get();
    if (failed(materialize(init, bufferFor(argument))))
      return failure();
  }
  return success();
}

LogicalResult FunctionEmitter::emitFor(scf::ForOp op) {
  Location loc = op.getLoc();
  findSwapped(op);
  SmallVector<Value> from, to, zeros;
  for (auto [init, arg] :
       llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    if (isZeroOfDeepMatmul(init, arg)) {
      zeros.push_back(arg);
      continue;
    }
    from.push_back(init);
    to.push_back(arg);
  }
  if (failed(assign(from, to, loc)))
    return failure();
  auto inits = mapScalars(op.getInitArgs());
  auto bounds =
      mapScalars({op.getLowerBound(), op.getUpperBound(), op.getStep()});
  if (failed(inits) || failed(bounds))
    return failure();
  bindTensors(op.getRegionIterArgs());
  if (failed(openMasks(op)))
    return failure();
  auto products = openDeepMatmuls(op, *inits);
  if (failed(products) || failed(beginAtZero(op, zeros, *bounds)))
    return failure();
  size_t ownArgs = inits->size() - products->size();
  auto loop =
      scf::ForOp::create(rewriter, loc, (*bounds)[0], (*bounds)[1],
                         (*bounds)[2], *inits, nullptr, op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  oldLoops[loop] = op;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    map.map(op.getInductionVar(), loop.getInductionVar());
    bindScalars(op.getRegionIterArgs(),
                loop.getRegionIterArgs().take_front(ownArgs));
    enterDeepMatmuls(*products, loop);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
    if (failed(assign(yield.getOperands(), op.getRegionIterArgs(),
                      yield.getLoc())))
      return failure();
    auto yielded = mapScalars(yield.getOperands());
    if (failed(yielded))
      return failure();
    for (DeepMatmul *product : *products)
      yielded->push_back(product->next);
    if (!yielded->empty())
      scf::YieldOp::create(rewriter, loc, *yielded);
  }
  closeDeepMatmuls(*products);
  bindScalars(op.getResults(), loop.getResults().take_front(ownArgs));
  for (auto [result, argument] :
       llvm::zip_equal(op.getResults(), op.getRegionIterArgs()))
    if (isTensor(result))
      setBuffer(result, bufferFor(argument));
  return success();
}

LogicalResult FunctionEmitter::emitWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  if (failed(assign(op.getInits(), op.getBeforeArguments(), loc)))
    return failure();
  auto inits = mapScalars(op.getInits());
  if (failed(inits))
    return failure();
  bindTensors(op.getBeforeArguments());
  for (Value argument : op.getAfterArguments())
    if (isTensor(argument))
      bufferFor(argument);
  auto loop =
      scf::WhileOp::create(rewriter, loc, scalarTypes(op.getResultTypes()),
                           *inits, nullptr, nullptr);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(loop.getBeforeBody());
  bindScalars(op.getBeforeArguments(), loop.getBeforeArguments());
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  if (failed(assign(condition.getArgs(), op.getAfterArguments(),
                    condition.getLoc())))
    return failure();
  auto forwarded = mapScalars(condition.getArgs());
  auto keepGoing = mapScalars(ValueRange{condition.getCondition()});
  if (failed(forwarded) || failed(keepGoing))
    return failure();
  scf::ConditionOp::create(rewriter, loc, keepGoing->front(), *forwarded);

  rewriter.setInsertionPointToEnd(loop.getAfterBody());
  bindScalars(op.getAfterArguments(), loop.getAfterArguments());
  bindTensors(op.getAfterArguments());
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  scf::YieldOp yield = op.getYieldOp();
  if (failed(
          assign(yield.getOperands(), op.getBeforeArguments(), yield.getLoc())))
    return failure();
  auto yielded = mapScalars(yield.getOperands());
  if (failed(yielded))
    return failure();
  scf::YieldOp::create(rewriter, loc, *yielded);

  rewriter.setInsertionPointAfter(loop);
  bindScalars(op.getResults(), loop.getResults());
  for (auto [result, argument] :
       llvm::zip_equal(op.getResults(), op.getAfterArguments()))
    if (isTensor(result))
      setBuffer(result, bufferFor(argument));
  return success();
}

LogicalResult FunctionEmitter::emitBranches(Operation *op) {
  Location loc = op->getLoc();
  for (Value result : op->getResults())
    if (isTensor(result))
      bufferFor(result);
  FailureOr<Value> condition = conditionOfPacking(op);
  if (failed(condition))
    return failure();
  Value selector = *condition ? *condition : mapScalar(op->getOperand(0));
  if (!selector)
    return failure();
  SmallVector<Type> types = scalarTypes(op->getResultTypes());
  Operation *branch;
  if (auto ifOp = dyn_cast<scf::IfOp>(op))
    branch = scf::IfOp::create(rewriter, loc, types, selector,
                               !ifOp.getElseRegion().empty());
  else {
    auto switchOp = cast<scf::IndexSwitchOp>(op);
    branch =
        scf::IndexSwitchOp::create(rewriter, loc, types, selector,
                                   switchOp.getCases(), switchOp.getNumCases());
  }
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branch->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    if (to.empty())
      to.emplaceBlock();
    to.front().clear();
    rewriter.setInsertionPointToEnd(&to.front());
    llvm::SaveAndRestore rare(isRare, isRare || (op->hasAttr(rareElseAttr) &&
                                                 from.getRegionNumber() == 1));
    if (failed(emitBlock(from.front())))
      return failure();
    auto yield = cast<scf::YieldOp>(from.front().getTerminator());
    if (failed(packInBranch(yield.getOperands(), op->getResults())) ||
        failed(assign(yield.getOperands(), op->getResults(), yield.getLoc())))
      return failure();
    auto yielded = mapScalars(yield.getOperands());
    if (failed(yielded))
      return failure();
    scf::YieldOp::create(rewriter, loc, *yielded);
  }
  bindScalars(op->getResults(), branch->getResults());
  bindTensors(op->getResults());
  return success();
}
