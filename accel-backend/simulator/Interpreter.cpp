//===- Interpreter.cpp - the instructions of one PE -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/Assignment.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using tilebridge::reference::Datum;

namespace tilebridge::accel {

LogicalResult Simulator::runPe(Pe &pe) {
  while (true) {
    if (options.mostInstructions &&
        ++pe.instructions > options.mostInstructions) {
      error(pe, code.instructions[pe.at].op)
          << "has run " << options.mostInstructions
          << " instructions, the limit of this launch";
      return failure();
    }
    Step step = execute(pe, code.instructions[pe.at], executors[pe.at]);
    if (step == Step::Failed)
      return failure();
    if (step == Step::Parked)
      return success();
    if (step == Step::Next)
      ++pe.at;
    if (pe.isDone)
      return success();
  }
}

Step Simulator::jump(Pe &pe, size_t target) {
  pe.at = target;
  return Step::Jumped;
}

void Simulator::assign(Pe &pe, ValueRange to, ValueRange from) {
  SmallVector<Datum> values; // They may swap.
  for (Value value : from)
    values.push_back(pe.program->get(value));
  for (auto [value, datum] : llvm::zip(to, values))
    pe.program->set(value, datum);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Step Simulator::execute(Pe &pe, const Instruction &instruction,
                        Executor executor) {
  Operation *op = instruction.op;
  // Tests and increments of loops are instructions, too.
  if (instruction.action != Action::Evaluate)
    pe.time += 1 / target.unitFor(operations::scalar, "i32")
                       .rate(operations::scalar, "i32");
  switch (instruction.action) {
  case Action::Evaluate:
    return (this->*executor)(pe, op);
  case Action::ForBegin:
    return beginFor(pe, instruction);
  case Action::ForNext:
    return nextFor(pe, instruction);
  case Action::WhileBegin:
    assign(pe, cast<scf::WhileOp>(op).getBeforeArguments(),
           cast<scf::WhileOp>(op).getInits());
    return Step::Next;
  case Action::WhileTest:
    return testWhile(pe, instruction);
  case Action::WhileNext:
    assign(pe, cast<scf::WhileOp>(op->getParentOp()).getBeforeArguments(),
           op->getOperands());
    return jump(pe, instruction.target);
  case Action::IfBegin: {
    bool isTrue =
        pe.program->lanes(cast<scf::IfOp>(op).getCondition()).front() != 0;
    return isTrue ? Step::Next : jump(pe, instruction.target);
  }
  case Action::Switch: {
    auto branch = cast<scf::IndexSwitchOp>(op);
    int64_t value = pe.program->integer(branch.getArg());
    for (auto [i, one] : llvm::enumerate(branch.getCases()))
      if (one == value)
        return jump(pe, instruction.targets[i + 1]);
    return jump(pe, instruction.targets[0]);
  }
  case Action::Yield:
    assign(pe, op->getParentOp()->getResults(), op->getOperands());
    return jump(pe, instruction.target);
  case Action::Call:
    return call(pe, instruction);
  case Action::Return:
    return finishCall(pe, op);
  }
  return Step::Failed;
}

Step Simulator::beginFor(Pe &pe, const Instruction &instruction) {
  auto loop = cast<scf::ForOp>(instruction.op);
  unsigned width = reference::widthOf(loop.getInductionVar().getType());
  auto bound = [&](Value value) -> __int128 {
    uint64_t bits = pe.program->lanes(value).front();
    return loop.getUnsignedCmp() ? __int128(bits)
                                 : reference::signedValue(bits, width);
  };
  LoopState state;
  state.at = bound(loop.getLowerBound());
  state.upper = bound(loop.getUpperBound());
  state.step = pe.program->integer(loop.getStep());
  if (state.step <= 0) {
    error(pe, loop) << "runs a loop with step " << state.step;
    return Step::Failed;
  }
  if (state.at >= state.upper) {
    assign(pe, loop.getResults(), loop.getInitArgs());
    return jump(pe, instruction.target);
  }
  assign(pe, loop.getRegionIterArgs(), loop.getInitArgs());
  pe.program->setInteger(loop.getInductionVar(), int64_t(state.at));
  pe.loops.push_back(state);
  return Step::Next;
}

Step Simulator::nextFor(Pe &pe, const Instruction &instruction) {
  auto loop = cast<scf::ForOp>(instruction.op->getParentOp());
  LoopState &state = pe.loops.back();
  state.at += state.step;
  if (state.at < state.upper) {
    assign(pe, loop.getRegionIterArgs(), instruction.op->getOperands());
    pe.program->setInteger(loop.getInductionVar(), int64_t(state.at));
    return jump(pe, instruction.target);
  }
  pe.loops.pop_back();
  assign(pe, loop.getResults(), instruction.op->getOperands());
  return Step::Next;
}

Step Simulator::testWhile(Pe &pe, const Instruction &instruction) {
  auto condition = cast<scf::ConditionOp>(instruction.op);
  auto loop = cast<scf::WhileOp>(condition->getParentOp());
  bool goesOn = pe.program->lanes(condition.getCondition()).front() != 0;
  if (goesOn) {
    assign(pe, loop.getAfterArguments(), condition.getArgs());
    return Step::Next;
  }
  assign(pe, loop.getResults(), condition.getArgs());
  return jump(pe, instruction.target);
}

Step Simulator::call(Pe &pe, const Instruction &instruction) {
  constexpr size_t most = 100;
  if (pe.frames.size() == most) {
    error(pe, instruction.op) << "nests calls more than " << most
                              << " deep; recursion is not supported";
    return Step::Failed;
  }
  Operation *callee = code.instructions[instruction.target].op;
  auto function = callee->getParentOfType<func::FuncOp>();
  auto frame = std::make_unique<Frame>();
  for (auto [argument, operand] :
       llvm::zip(function.getArguments(), instruction.op->getOperands()))
    (*frame)[argument] = pe.program->get(operand);
  pe.program->useFrame(*frame);
  pe.frames.push_back(std::move(frame));
  pe.callers.push_back(pe.at);
  return jump(pe, instruction.target);
}

Step Simulator::finishCall(Pe &pe, Operation *op) {
  if (pe.callers.empty()) {
    pe.isDone = true;
    trace.add(Trace::Kind::Pe, size_t(pe.number), "kernel", target.launchCycles,
              pe.time);
    return Step::Jumped;
  }
  SmallVector<Datum> results;
  for (Value value : op->getOperands())
    results.push_back(pe.program->get(value));
  pe.at = pe.callers.back();
  pe.callers.pop_back();
  pe.frames.pop_back();
  pe.program->useFrame(*pe.frames.back());
  for (auto [value, datum] :
       llvm::zip(code.instructions[pe.at].op->getResults(), results))
    pe.program->set(value, datum);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Simulator::Executor Simulator::executorOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Executor>(op)
      .Case<CopyOp>([](auto) { return &Simulator::executeCopy; })
      .Case<CopyStartOp>([](auto) { return &Simulator::executeCopyStart; })
      .Case<CompletedOp>([](auto) { return &Simulator::executeCompleted; })
      .Case<WaitOp>([](auto) { return &Simulator::executeWait; })
      .Case<AllocOp>([](auto) { return &Simulator::executeAlloc; })
      .Case<DeallocOp, memref::AssumeAlignmentOp>(
          [](auto) { return &Simulator::executeNothing; })
      .Case<BarrierOp>([](auto) { return &Simulator::executeBarrier; })
      .Case<ReduceLineOp>([](auto) { return &Simulator::executeReduceLine; })
      .Case<AtomicOp>([](auto) { return &Simulator::executeAtomic; })
      .Case<linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
            linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(
          [](auto) { return &Simulator::executeScalarAtomic; })
      .Case<ComputeOp>([](auto) { return &Simulator::executeCompute; })
      .Case<PeIdOp>([](auto) { return &Simulator::executePeId; })
      .Case<PeCountOp>([](auto) { return &Simulator::executePeCount; })
      .Case<ProgramOp>([](auto) { return &Simulator::executeProgram; })
      .Case<linalg::LinalgOp>([](auto) { return &Simulator::executeLinalg; })
      .Case<memref::LoadOp>([](auto) { return &Simulator::executeLoad; })
      .Case<memref::StoreOp>([](auto) { return &Simulator::executeStore; })
      .Case<memref::ExpandShapeOp>(
          [](auto) { return &Simulator::executeExpandShape; })
      .Case<memref::CollapseShapeOp>(
          [](auto) { return &Simulator::executeCollapseShape; })
      .Case<memref::CastOp, memref::DimOp, memref::ExtractStridedMetadataOp,
            memref::ExtractAlignedPointerAsIndexOp, arith::ConstantOp>(
          [](auto) { return &Simulator::evaluateFree; })
      .Case<linalg_ext::PrintOp, linalg_ext::AssertOp>(
          [](auto) { return &Simulator::evaluateHost; })
      .Default([](Operation *op) {
        return reference::HandlerTable::all().find(op)
                   ? &Simulator::evaluateScalar
                   : &Simulator::executeUnknown;
      });
}

Step Simulator::evaluateFree(Pe &pe, Operation *op) {
  const reference::Handler *handler = reference::HandlerTable::all().find(op);
  return succeeded((*handler)(*pe.program, op)) ? Step::Next : Step::Failed;
}

Step Simulator::evaluateScalar(Pe &pe, Operation *op) {
  pe.time +=
      1 /
      target.unitFor(operations::scalar, "i32").rate(operations::scalar, "i32");
  return evaluateFree(pe, op);
}

/// Lines of several PEs come in the order of time.
Step Simulator::evaluateHost(Pe &pe, Operation *op) {
  return letOthersGoFirst(pe) ? Step::Parked : evaluateScalar(pe, op);
}

Step Simulator::executePeId(Pe &pe, Operation *op) {
  pe.program->setInteger(op->getResult(0), cast<PeIdOp>(op).getCoordinate() == 0
                                               ? pe.row
                                               : pe.column);
  return Step::Next;
}

Step Simulator::executePeCount(Pe &pe, Operation *op) {
  pe.program->setInteger(op->getResult(0),
                         cast<PeCountOp>(op).getCoordinate() == 0
                             ? target.grid.rows
                             : target.grid.columns);
  return Step::Next;
}

Step Simulator::executeProgram(Pe &pe, Operation *op) {
  auto program = cast<ProgramOp>(op);
  Grids grids;
  grids.rows = target.grid.rows;
  grids.columns = target.grid.columns;
  grids.launch = {pe.program->integer(program.getCountX()),
                  pe.program->integer(program.getCountY()),
                  pe.program->integer(program.getCountZ())};
  Turn turn = turnOf(program.getAssignment(), grids,
                     pe.program->integer(program.getStep()), pe.row, pe.column);
  pe.program->setInteger(program.getX(), turn.id[0]);
  pe.program->setInteger(program.getY(), turn.id[1]);
  pe.program->setInteger(program.getZ(), turn.id[2]);
  pe.program->setInteger(program.getActive(), turn.active);
  pe.time +=
      4 /
      target.unitFor(operations::scalar, "i32").rate(operations::scalar, "i32");
  return Step::Next;
}

Step Simulator::executeUnknown(Pe &pe, Operation *op) {
  error(pe, op) << "cannot run '" << op->getName()
                << "': it is no op of lowered kernels";
  return Step::Failed;
}

} // namespace tilebridge::accel
