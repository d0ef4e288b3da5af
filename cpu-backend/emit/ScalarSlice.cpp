//===- ScalarSlice.cpp - scalars that can be computed first ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/ScalarSlice.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

LogicalResult tilebridge::cpu::addToSlice(Value value, Block &block,
                                          ScalarSlice &slice) {
  BackwardSliceOptions options;
  options.inclusive = true;
  if (value.getDefiningOp() && failed(getBackwardSlice(value, &slice, options)))
    return failure();
  return success(llvm::all_of(slice, [&](Operation *op) {
    return op->getBlock() == &block && op->getNumRegions() == 0 &&
           isMemoryEffectFree(op) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }));
}

Value tilebridge::cpu::copyWithSources(OpBuilder &b, IRMapping &map,
                                       Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copyWithSources(b, map, operand);
  b.clone(*op, map);
  return map.lookup(value);
}

BlockArgument tilebridge::cpu::scalarArgumentOf(Value value) {
  while (value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp())
                 ? argument
                 : BlockArgument();
    Operation *op = value.getDefiningOp();
    value = isa<arith::ExtSIOp, arith::IndexCastOp>(op) ? op->getOperand(0)
                                                        : Value();
  }
  return {};
}

bool tilebridge::cpu::mayBeOne(BlockArgument argument) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto divisor = func.getArgAttrOfType<IntegerAttr>(
      argument.getArgNumber(), linalg_ext::kDivisibilityAttr);
  return argument.getType().isSignlessInteger() &&
         (!divisor || divisor.getInt() == 1);
}

void tilebridge::cpu::moveToBegin(OpBuilder &b, const ScalarSlice &slice,
                                  Block &block) {
  b.setInsertionPointToStart(&block);
  Operation *last = nullptr;
  for (Operation *op : slice) {
    if (last)
      op->moveAfter(last);
    else
      op->moveBefore(&block, block.begin());
    last = op;
  }
  if (last)
    b.setInsertionPointAfter(last);
}

void tilebridge::cpu::moveRestInto(Operation *op, Block &to) {
  Block::iterator end = op->getBlock()->getTerminator()->getIterator();
  for (Operation &behind : llvm::make_early_inc_range(
           llvm::make_range(std::next(op->getIterator()), end)))
    behind.moveBefore(to.getTerminator());
}

scf::IfOp tilebridge::cpu::versionRest(
    OpBuilder &b, Value condition,
    llvm::function_ref<void(OpBuilder &, IRMapping &)> assume) {
  auto branch = scf::IfOp::create(b, condition.getLoc(), condition,
                                  /*withElseRegion=*/true);
  Block *general = branch.elseBlock();
  moveRestInto(branch, *general);
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  IRMapping known;
  assume(then, known);
  for (Operation &op : general->without_terminator())
    then.clone(op, known);
  return branch;
}
