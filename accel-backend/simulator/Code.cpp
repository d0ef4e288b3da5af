//===- Code.cpp - a kernel as flat instructions ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Code.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tilebridge::accel {

size_t Code::add(Action action, Operation *op, size_t target) {
  instructions.push_back({action, op, target, {}});
  return instructions.size() - 1;
}

FailureOr<Code> Code::compile(func::FuncOp kernel) {
  Code code;
  code.pending.push_back(kernel);
  for (size_t i = 0; i < code.pending.size(); ++i)
    if (failed(code.append(code.pending[i])))
      return failure();
  for (Instruction &instruction : code.instructions)
    if (instruction.action == Action::Call)
      instruction.target =
          code.entries[SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
              instruction.op,
              cast<func::CallOp>(instruction.op).getCalleeAttr())];
  return code;
}

LogicalResult Code::append(func::FuncOp function) {
  entries[function] = next();
  return append(function.getBody().front());
}

LogicalResult Code::append(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(append(op)))
      return failure();
  if (isa<func::ReturnOp>(block.back()))
    add(Action::Return, &block.back());
  return success();
}

LogicalResult Code::append(Operation &op) {
  if (isa<scf::ForOp>(op))
    return appendFor(op);
  if (isa<scf::WhileOp>(op))
    return appendWhile(op);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return appendBranches(op);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        &op, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return op.emitError("there is no function '")
             << call.getCallee() << "' with a body";
    if (!llvm::is_contained(pending, callee))
      pending.push_back(callee);
    add(Action::Call, &op);
    return success();
  }
  if (op.getName().getDialectNamespace() == "scf")
    return op.emitError("the simulator does not know '") << op.getName() << "'";
  add(Action::Evaluate, &op);
  return success();
}

LogicalResult Code::appendFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  size_t begin = add(Action::ForBegin, &op);
  if (failed(append(*loop.getBody())))
    return failure();
  add(Action::ForNext, loop.getBody()->getTerminator(), begin + 1);
  instructions[begin].target = next();
  return success();
}

LogicalResult Code::appendWhile(Operation &op) {
  auto loop = cast<scf::WhileOp>(op);
  size_t begin = add(Action::WhileBegin, &op);
  if (failed(append(*loop.getBeforeBody())))
    return failure();
  size_t test = add(Action::WhileTest, loop.getBeforeBody()->getTerminator());
  if (failed(append(*loop.getAfterBody())))
    return failure();
  add(Action::WhileNext, loop.getAfterBody()->getTerminator(), begin + 1);
  instructions[test].target = next();
  return success();
}

LogicalResult Code::appendBranches(Operation &op) {
  bool isIf = isa<scf::IfOp>(op);
  size_t begin = add(isIf ? Action::IfBegin : Action::Switch, &op);
  std::vector<size_t> starts, yields;
  for (Region &region : op.getRegions()) {
    starts.push_back(next());
    if (region.empty())
      continue;
    if (failed(append(region.front())))
      return failure();
    yields.push_back(add(Action::Yield, region.front().getTerminator()));
  }
  for (size_t yield : yields)
    instructions[yield].target = next();
  instructions[begin].target = starts.size() > 1 ? starts[1] : next();
  instructions[begin].targets = std::move(starts);
  return success();
}

} // namespace tilebridge::accel
