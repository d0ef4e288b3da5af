//===- Compute.cpp - work on blocks in scratchpads ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/simulator/Blocks.h"
#include "accel-backend/simulator/Cost.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cstring>

using namespace mlir;
using tilebridge::reference::Datum;
using tilebridge::reference::Lanes;
using tilebridge::reference::View;

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void Simulator::spend(Pe &pe, Operation *op, const Work &work,
                      ArrayRef<Value> reads, ArrayRef<Value> writes) {
  double start = pe.time, end = start + work.cycles;
  StringRef name = op->getName().getStringRef();
  auto touch = [&](Value memref, bool isWrite) {
    const View &view = pe.program->view(memref);
    uint64_t bytes =
        uint64_t(reference::countOf(view.sizes)) *
        reference::bytesOf(cast<MemRefType>(memref.getType()).getElementType());
    end = std::max(
        end, pass(memoryOf(memref, view), pe, start, bytes, isWrite, name));
  };
  for (Value memref : reads)
    touch(memref, false);
  for (Value memref : writes)
    touch(memref, true);
  for (const Work::Part &part : work.parts) {
    UnitStats &stats = outcome.stats.units[part.unit];
    stats.operations += part.operations;
    stats.busyCycles += part.cycles;
    pe.unitCycles[part.unit] += part.cycles;
    stats.mostBusyCycles =
        std::max(stats.mostBusyCycles, pe.unitCycles[part.unit]);
  }
  pe.time = end;
  if (trace.isOn)
    trace.add(Trace::Kind::Pe, size_t(pe.number), name, start, end,
              placeIn(op->getLoc()));
}

// Whether nobody asks for what an op writes: products, and floats.
static bool isOnlyTimed(Operation *op, ValueRange writes) {
  return isa<linalg::ContractionOpInterface>(op) ||
         llvm::all_of(writes, [](Value memref) {
           return isa<FloatType>(
               cast<MemRefType>(memref.getType()).getElementType());
         });
}

void Simulator::defineBlock(Pe &pe, Value memref) {
  if (!isScratch(memref))
    return;
  const View &view = pe.program->view(memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  scratchpads.define(view.array, view.address,
                     Region::of(view, reference::bytesOf(element)));
}

Step Simulator::executeLinalg(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  auto block = cast<linalg::LinalgOp>(op);
  for (Value operand : op->getOperands())
    if (isa<TensorType>(operand.getType()))
      return executeUnknown(pe, op);
  FailureOr<Loops> loops = loopsOf(block, pe);
  if (failed(loops))
    return Step::Failed;
  SmallVector<Value> reads, writes;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isInit = block.isDpsInit(&operand);
    bool isRead =
        !block.getBlock()->getArgument(operand.getOperandNumber()).use_empty();
    if (!checkBlock(pe, op, operand.get(), isRead, isInit))
      return Step::Failed;
    if (isRead)
      reads.push_back(operand.get());
    if (isInit)
      writes.push_back(operand.get());
  }
  if (!(options.isOnlyTime && isOnlyTimed(op, writes)) && !multiply(pe, op) &&
      failed(evaluateBlocks(block, pe, *loops)))
    return Step::Failed;
  for (Value memref : writes)
    defineBlock(pe, memref);
  auto [work, isNew] = costs.try_emplace(op);
  bool isStatic =
      !llvm::is_contained(block.getStaticLoopRanges(), ShapedType::kDynamic);
  if (isNew || !isStatic)
    work->second = workOf(op, target, loops->ranges);
  spend(pe, op, work->second, reads, writes);
  return Step::Next;
}

Step Simulator::executeCompute(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  auto compute = cast<ComputeOp>(op);
  Block &body = compute.getBody().front();
  bool isSkipped = options.isOnlyTime && isOnlyTimed(op, compute.getOuts());
  SmallVector<Datum> arguments, yielded;
  size_t number = 0;
  SmallVector<Value> reads, writes;
  for (auto [argument, value] :
       llvm::zip(body.getArguments(), op->getOperands())) {
    if (!isa<MemRefType>(value.getType()))
      return executeUnknown(pe, op);
    bool isInit = number++ >= compute.getInputs().size();
    bool isRead = !argument.use_empty();
    if (!checkBlock(pe, op, value, isRead, isInit))
      return Step::Failed;
    if (isRead)
      reads.push_back(value);
    if (isInit)
      writes.push_back(value);
    if (!isSkipped)
      arguments.push_back(readBlock(pe, value));
  }
  if (isSkipped)
    for (Value value : compute.getOuts())
      defineBlock(pe, value);
  else if (failed(pe.program->run(body, arguments, yielded)))
    return Step::Failed;
  for (auto [value, datum] : llvm::zip(compute.getOuts(), yielded))
    writeBlock(pe, value, datum.lanes());
  auto [work, isNew] = costs.try_emplace(op);
  if (isNew)
    work->second = workOf(op, target);
  spend(pe, op, work->second, reads, writes);
  return Step::Next;
}

} // namespace tilebridge::accel
