//===- ProgramBatch.cpp - several programs as one function ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/ProgramBatch.h"
#include "cpu-backend/PersistentTiles.h"

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

LogicalResult ProgramBatch::run() {
  if (!program.getBody().hasOneBlock() || hasOrder(program) ||
      program->hasAttr(tilesAttr))
    return failure();
  b.setInsertionPointAfter(program);
  Location loc = program.getLoc();
  batch = func::FuncOp::create(
      b, loc, (program.getName() + ".merged").str(),
      b.getFunctionType(program.getArgumentTypes(), b.getI1Type()));
  batch.setAllArgAttrs(llvm::to_vector_of<Attribute>(
      llvm::map_range(llvm::seq(program.getNumArguments()), [&](unsigned i) {
        auto attributes = program.getArgAttrDict(i);
        return attributes ? attributes : b.getDictionaryAttr({});
      })));
  batch.setPrivate();
  b.setInsertionPointToStart(batch.addEntryBlock());
  for (auto [old, argument] :
       llvm::zip_equal(program.getArguments(), batch.getArguments()))
    set(old, Batched::same(argument));
  Value id = program.getArguments().take_back(kProgramArguments)[merged.axis];
  Value one = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 1);
  Batched first{Kind::Linear, same.lookup(id), one};
  first.isId = first.isExact = true;
  if (merged.divisor) {
    // Its slice comes first, so that the step is there.
    ScalarSlice slice;
    if (failed(addToSlice(merged.divisor, program.getBody().front(), slice)))
      return batch.erase(), failure();
    IRMapping map = same;
    for (Operation *op : slice) {
      if (llvm::is_contained(op->getOperands(), id))
        return batch.erase(), failure();
      b.clone(*op, map);
    }
    Value step = map.lookup(merged.divisor);
    Type i32 = b.getI32Type();
    first.step = step.getType() == i32 ? step
                 : step.getType().isIndex()
                     ? arith::IndexCastOp::create(b, loc, i32, step).getResult()
                     : arith::TruncIOp::create(b, loc, i32, step).getResult();
  }
  values[id] = first;
  same.erase(id);
  if (failed(visit(program.getBody().front()))) {
    batch.erase();
    return failure();
  }
  Value holds = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  func::ReturnOp::create(b, loc, holds);
  return success();
}

void ProgramBatch::set(Value old, Batched batched) {
  values[old] = batched;
  if (batched.kind == Kind::Same)
    same.map(old, batched.value);
  if (auto type = dyn_cast<RankedTensorType>(batched.value.getType());
      type && type.hasStaticShape() && batched.kind == Kind::Block)
    mostBytes = std::max<int64_t>(
        mostBytes, type.getNumElements() *
                       llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

LogicalResult ProgramBatch::visit(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// Nothing that the op or its regions use differs from program to program.
bool ProgramBatch::usesOnlySame(Operation *op) {
  auto differs = [&](Value operand) {
    auto it = values.find(operand);
    return it != values.end() && it->second.kind != Kind::Same;
  };
  return !anyInside(op, [&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), differs);
  });
}

LogicalResult ProgramBatch::visit(Operation *op) {
  if (usesOnlySame(op)) {
    Operation *clone = b.clone(*op, same);
    for (auto [old, result] :
         llvm::zip_equal(op->getResults(), clone->getResults()))
      set(old, Batched::same(result));
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch);
  auto isOf = [&](auto kind) {
    using T = decltype(kind);
    return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<T>) ||
           llvm::any_of(op->getResultTypes(), llvm::IsaPred<T>);
  };
  if (isOf(BaseMemRefType()))
    return visitMemory(op);
  if (isOf(TensorType()))
    return visitBlocks(op);
  return visitScalar(op);
}

Value ProgramBatch::demandSame(Value old) {
  Batched batched = lookup(old);
  if (!batched.value || batched.kind == Kind::Block)
    return {};
  if (batched.kind == Kind::Linear) {
    if (!isTopLevel(old.getDefiningOp()))
      return {};
    checks.push_back({old, Value()});
    set(old, Batched::same(batched.value));
  }
  return batched.value;
}

OpFoldResult ProgramBatch::demandSame(OpFoldResult old) {
  auto value = dyn_cast<Value>(old);
  return value ? OpFoldResult(demandSame(value)) : old;
}

FailureOr<SmallVector<OpFoldResult>>
ProgramBatch::demandSame(ArrayRef<OpFoldResult> old) {
  SmallVector<OpFoldResult> result;
  for (OpFoldResult each : old) {
    result.push_back(demandSame(each));
    if (!result.back())
      return failure();
  }
  return result;
}

bool ProgramBatch::demand(OpFoldResult old, int64_t wanted) {
  if (auto known = getConstantIntValue(old))
    return *known == wanted;
  auto value = cast<Value>(old);
  Batched batched = lookup(value);
  if (!batched.value || batched.kind == Kind::Block ||
      !isTopLevel(value.getDefiningOp()))
    return false;
  checks.push_back({value, Value(), wanted});
  return true;
}

LogicalResult ProgramBatch::visitFor(scf::ForOp loop) {
  Value from = demandSame(loop.getLowerBound()),
        to = demandSame(loop.getUpperBound()),
        step = demandSame(loop.getStep());
  if (!from || !to || !step)
    return failure();
  // What a loop carries is what it begins with; blocks and floats may always
  // differ.
  SmallVector<Value> inits;
  SmallVector<Batched> carried;
  for (Value init : loop.getInitArgs()) {
    Batched batched = lookup(init);
    if (isa<TensorType>(init.getType()))
      batched = Batched::block(asBlock(init));
    else if (isa<FloatType>(init.getType()) || batched.kind == Kind::Block)
      batched = Batched::block(asVector(init));
    if (!batched.value)
      return failure();
    batched.isId = batched.isExact = false;
    carried.push_back(batched);
    inits.push_back(batched.value);
  }
  auto result = scf::ForOp::create(b, loop.getLoc(), from, to, step, inits,
                                   nullptr, loop.getUnsignedCmp());
  for (NamedAttribute attribute : loop->getDiscardableAttrs())
    result->setAttr(attribute.getName(), attribute.getValue());
  auto as = [](Batched batched, Value value) {
    batched.value = value;
    return batched;
  };
  {
    OpBuilder::InsertionGuard guard(b);
    if (Block *body = result.getBody(); body->mightHaveTerminator())
      body->getTerminator()->erase();
    b.setInsertionPointToEnd(result.getBody());
    set(loop.getInductionVar(), Batched::same(result.getInductionVar()));
    for (auto [old, argument, batched] : llvm::zip_equal(
             loop.getRegionIterArgs(), result.getRegionIterArgs(), carried))
      set(old, as(batched, argument));
    if (failed(visit(*loop.getBody())))
      return failure();
    SmallVector<Value> yields;
    for (auto [old, batched] : llvm::zip_equal(
             loop.getBody()->getTerminator()->getOperands(), carried)) {
      if (batched.kind == Kind::Block) {
        bool isBlock = isa<TensorType>(old.getType());
        yields.push_back(isBlock ? asBlock(old) : asVector(old));
      } else {
        Batched next = lookup(old);
        if (next.kind != batched.kind || next.step != batched.step)
          return failure();
        yields.push_back(next.value);
      }
      if (!yields.back())
        return failure();
    }
    scf::YieldOp::create(b, loop.getLoc(), yields);
  }
  for (auto [old, value, batched] :
       llvm::zip_equal(loop.getResults(), result.getResults(), carried))
    set(old, as(batched, value));
  return success();
}

LogicalResult ProgramBatch::visitIf(scf::IfOp branch) {
  Value condition = demandSame(branch.getCondition());
  if (!condition)
    return failure();
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(isa<TensorType>(type) ? Type(withPrograms(type)) : type);
  if (llvm::is_contained(types, Type()))
    return failure();
  bool hasElse = !branch.getElseRegion().empty();
  auto result =
      scf::IfOp::create(b, branch.getLoc(), types, condition, hasElse);
  auto visitBranch = [&](Block *old, Block *block) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    if (!block->empty())
      block->back().erase();
    b.setInsertionPointToEnd(block);
    if (failed(visit(*old)))
      return failure();
    SmallVector<Value> yields;
    for (Value value : old->getTerminator()->getOperands()) {
      bool isBlock = isa<TensorType>(value.getType());
      Batched batched = lookup(value);
      if (!isBlock && batched.kind != Kind::Same)
        return failure();
      yields.push_back(isBlock ? asBlock(value) : batched.value);
      if (!yields.back())
        return failure();
    }
    scf::YieldOp::create(b, branch.getLoc(), yields);
    return success();
  };
  if (failed(visitBranch(branch.thenBlock(), result.thenBlock())) ||
      (hasElse && failed(visitBranch(branch.elseBlock(), result.elseBlock()))))
    return failure();
  for (auto [old, value] :
       llvm::zip_equal(branch.getResults(), result.getResults()))
    set(old, isa<TensorType>(value.getType()) ? Batched::block(value)
                                              : Batched::same(value));
  return success();
}

LogicalResult ProgramBatch::finish() {
  auto fail = [&] {
    batch.erase();
    return failure();
  };
  Location loc = program.getLoc();
  b.setInsertionPointToStart(&batch.getBody().front());
  for (BlockArgument argument : ones) {
    Value one =
        arith::ConstantOp::create(b, loc, b.getOneAttr(argument.getType()));
    argument.replaceAllUsesWith(one);
  }
  if (checks.empty())
    return success();
  Block &body = batch.getBody().front();
  Block &whole = program.getBody().front();
  ScalarSlice steps, slice;
  Value id = program.getArguments().take_back(kProgramArguments)[merged.axis];
  Value idStep = values.lookup(id).step;
  if (failed(addToSlice(idStep, body, steps)))
    return fail();
  for (const Check &check : checks)
    if (failed(addToSlice(check.old, whole, slice)) ||
        (check.step && failed(addToSlice(check.step, body, steps))))
      return fail();
  moveToBegin(b, steps, body);
  Value holds = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  auto require = [&](Value so, Value left, Value right) -> Value {
    Value isEqual =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, right);
    return arith::AndIOp::create(b, loc, so, isEqual);
  };
  IRMapping first;
  first.map(program.getArguments(), batch.getArguments());
  for (Operation *op : slice)
    b.clone(*op, first);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  for (const Check &check : checks)
    if (check.known)
      holds = require(holds, first.lookup(check.old), number(*check.known));
  auto loop = scf::ForOp::create(b, loc, number(1), number(merged.count),
                                 number(1), ValueRange{holds});
  b.setInsertionPointToStart(loop.getBody());
  auto times = [&](Value step) -> Value {
    Type type = step.getType();
    Value k = loop.getInductionVar();
    if (!type.isIndex())
      k = arith::IndexCastOp::create(b, loc, type, k);
    return arith::MulIOp::create(b, loc, k, step);
  };
  IRMapping each;
  each.map(program.getArguments(), batch.getArguments());
  each.map(id, arith::AddIOp::create(b, loc, first.lookup(id), times(idStep))
                   .getResult());
  for (Operation *op : slice)
    b.clone(*op, each);
  Value so = loop.getRegionIterArg(0);
  for (const Check &check : checks) {
    Value expected = first.lookup(check.old);
    if (check.step)
      expected = arith::AddIOp::create(b, loc, expected, times(check.step));
    so = require(so, each.lookup(check.old), expected);
  }
  scf::YieldOp::create(b, loc, so);
  b.setInsertionPointAfter(loop);
  holds = loop.getResult(0);
  auto branch = scf::IfOp::create(b, loc, holds, /*withElseRegion=*/false);
  moveRestInto(branch, *branch.thenBlock());
  body.getTerminator()->setOperand(0, holds);
  return success();
}

Value tilebridge::cpu::divisorOf(func::FuncOp func, unsigned axis) {
  Value id = func.getArguments().take_back(kProgramArguments)[axis];
  SmallVector<Value> names = {id};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>(user))
        names.push_back(user->getResult(0));
      if (isa<arith::DivSIOp, arith::DivUIOp>(user) &&
          user->getOperand(0) == name && user->getParentOp() == func &&
          !matchPattern(user->getOperand(1), m_Constant()))
        return user->getOperand(1);
    }
  }
  return {};
}

int64_t tilebridge::cpu::elementsOf(Value view) {
  int64_t most = 1;
  auto see = [&](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && shaped.hasStaticShape())
      most = std::max(most, shaped.getNumElements());
  };
  see(view.getType());
  for (Operation *user : view.getUsers())
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(user->getOperands()),
                             SmallVector<Value>(user->getResults()))) {
      if (!isa<TensorType>(value.getType()))
        continue;
      see(value.getType());
      if (auto part = value.getDefiningOp<tensor::ExtractSliceOp>())
        see(part.getSourceType());
      for (Operation *next : value.getUsers())
        if (isa<tensor::PadOp, tensor::InsertSliceOp>(next))
          see(next->getResult(0).getType());
    }
  return most;
}
