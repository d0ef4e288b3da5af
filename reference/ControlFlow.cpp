//===- ControlFlow.cpp - loops, branches and calls ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tilebridge::reference {

static void setResults(Program &program, Operation *op,
                       ArrayRef<Datum> results) {
  for (auto [value, datum] : llvm::zip(op->getResults(), results))
    program.set(value, datum);
}

static SmallVector<Datum> datumsOf(Program &program, ValueRange values) {
  SmallVector<Datum> result;
  for (mlir::Value value : values)
    result.push_back(program.get(value));
  return result;
}

static LogicalResult evaluateFor(Program &program, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  Type type = loop.getInductionVar().getType();
  unsigned width = widthOf(type);
  bool isUnsigned = loop.getUnsignedCmp();
  auto bound = [&](mlir::Value value) -> __int128 {
    uint64_t bits = program.lanes(value).front();
    return isUnsigned ? __int128(bits) : signedValue(bits, width);
  };
  __int128 upper = bound(loop.getUpperBound());
  int64_t step = program.integer(loop.getStep());
  if (step <= 0 && !isUnsigned)
    return program.error(op) << "runs a loop with step " << step;
  SmallVector<Datum> carried = datumsOf(program, loop.getInitArgs());
  for (__int128 i = bound(loop.getLowerBound()); i < upper; i += step) {
    SmallVector<Datum> arguments = {
        Datum(type, {}, {truncated(uint64_t(i), width)})};
    arguments.append(carried);
    if (failed(program.run(*loop.getBody(), arguments, carried)))
      return failure();
  }
  setResults(program, op, carried);
  return success();
}

static LogicalResult evaluateWhile(Program &program, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Datum> carried = datumsOf(program, loop.getInits());
  while (true) {
    SmallVector<Datum> values;
    if (failed(program.run(*loop.getBeforeBody(), carried, values)))
      return failure();
    bool goesOn = values.front().lanes().front() != 0;
    values.erase(values.begin());
    if (!goesOn) {
      setResults(program, op, values);
      return success();
    }
    if (failed(program.run(*loop.getAfterBody(), values, carried)))
      return failure();
  }
}

static LogicalResult runRegion(Program &program, Operation *op,
                               Region &region) {
  SmallVector<Datum> results;
  if (!region.empty() && failed(program.run(region.front(), {}, results)))
    return failure();
  setResults(program, op, results);
  return success();
}

static LogicalResult evaluateIf(Program &program, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  bool isTrue = program.lanes(branch.getCondition()).front() != 0;
  return runRegion(program, op,
                   isTrue ? branch.getThenRegion() : branch.getElseRegion());
}

static LogicalResult evaluateIndexSwitch(Program &program, Operation *op) {
  auto branch = cast<scf::IndexSwitchOp>(op);
  int64_t value = program.integer(branch.getArg());
  for (auto [i, one] : llvm::enumerate(branch.getCases()))
    if (one == value)
      return runRegion(program, op, branch.getCaseRegions()[i]);
  return runRegion(program, op, branch.getDefaultRegion());
}

static LogicalResult evaluateCall(Program &program, Operation *op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op->emitError("there is no function '")
           << call.getCallee() << "' with a body";
  SmallVector<Datum> results;
  if (failed(
          program.call(callee, datumsOf(program, op->getOperands()), results)))
    return failure();
  setResults(program, op, results);
  return success();
}

void addControlFlowHandlers(HandlerTable &table) {
  table.add<scf::ForOp>(evaluateFor);
  table.add<scf::WhileOp>(evaluateWhile);
  table.add<scf::IfOp>(evaluateIf);
  table.add<scf::IndexSwitchOp>(evaluateIndexSwitch);
  table.add<func::CallOp>(evaluateCall);
}

} // namespace tilebridge::reference
