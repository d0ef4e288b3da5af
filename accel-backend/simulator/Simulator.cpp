//===- Simulator.cpp - one launch while it runs ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/AccessText.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilebridge::accel {

/// A lowered kernel ends in the arguments of the bridge IR, of which the ids
/// are not used.
static constexpr unsigned idArguments = 3;

Simulator::Simulator(const Target &target, const SimLaunch &launch,
                     const SimOptions &options, SimOutcome &outcome)
    : target(target), launch(launch), options(options), outcome(outcome),
      scratchpads(target), random(options.seed) {
  trace.isOn = options.wantsTrace;
}

LogicalResult Simulator::run(func::FuncOp kernel) {
  if (failed(prepare(kernel)))
    return failure();
  while (!events.empty()) {
    Event event = events.top();
    events.pop();
    if (failed(handle(event)))
      return failure();
  }
  for (const auto &pe : pes)
    if (!pe->isDone)
      return reportDeadlock();
  return finish();
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

LogicalResult Simulator::placeBuffers(ModuleOp module) {
  WalkResult result = module.walk([&](AllocOp op) {
    auto type = cast<MemRefType>(op.getType());
    auto space = dyn_cast_or_null<MemoryAttr>(type.getMemorySpace());
    StringRef name = space ? space.getName().getValue() : StringRef();
    // What compute works on, whatever the target calls it.
    const Memory *memory =
        name == localMemory ? &target.localMemory() : target.findMemory(name);
    if (!memory) {
      op.emitError("is in the memory '")
          << name << "', but the target '" << target.name
          << "' has no memory of this name";
      return WalkResult::interrupt();
    }
    Buffer buffer;
    buffer.op = op;
    buffer.memory = unsigned(memory - target.memories.data());
    buffer.offset = op.getOffset().value_or(0);
    buffer.bytes = uint64_t(type.getNumElements()) *
                   reference::bytesOf(type.getElementType());
    FailureOr<unsigned> number =
        scratchpads.addBuffer(buffer, op.getOffset().has_value(), 64);
    if (failed(number))
      return WalkResult::interrupt();
    bufferOf[op] = int(*number);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Simulator::prepare(func::FuncOp function) {
  kernel = function;
  isLegalized = kernel->hasAttr("accel.legalized");
  FailureOr<Code> compiled = Code::compile(kernel);
  if (failed(compiled) ||
      failed(placeBuffers(kernel->getParentOfType<ModuleOp>())))
    return failure();
  code = std::move(*compiled);
  for (const Instruction &instruction : code.instructions)
    executors.push_back(instruction.action == Action::Evaluate
                            ? executorOf(instruction.op)
                            : nullptr);

  for (const Memory &memory : target.memories) {
    readPorts.emplace_back(target.instances(memory.scope));
    writePorts.emplace_back(target.instances(memory.scope));
  }
  for (auto [i, kind] : llvm::enumerate(target.engines)) {
    engineBase.push_back(engines.size());
    int64_t count = target.instances(kind.scope) * kind.count;
    for (int64_t k = 0; k < count; ++k) {
      trace.name(Trace::Kind::Engine, engines.size(),
                 kind.name + " " + std::to_string(k));
      engines.push_back(
          {unsigned(i), int64_t(engines.size()), {}, false, 0, {}});
    }
  }
  uint64_t total = 0;
  for (const reference::MemoryRange &array : launch.memory)
    total += array.size;
  chipMemory = unsigned(&target.tensorMemory(total) - target.memories.data());
  memoryOfArray.assign(launch.memory.size(), chipMemory);

  Stats &stats = outcome.stats;
  stats.kernel = kernel.getName().str();
  stats.target = target.name;
  stats.clockGHz = target.clockGHz;
  stats.pes = target.grid.count();
  for (const Memory &memory : target.memories)
    stats.memories.push_back({memory.name});
  for (const ComputeUnit &unit : target.units)
    stats.units.push_back({unit.name});
  for (const DmaEngine &engine : target.engines)
    stats.engines.push_back({engine.name});
  startPes(kernel);
  return success();
}

void Simulator::startPes(func::FuncOp kernel) {
  referenceLaunch.slots = launch.slots;
  referenceLaunch.grid = launch.grid;
  referenceLaunch.isChecked = !launch.memory.empty();
  referenceLaunch.memory = launch.memory;
  referenceLaunch.print = launch.print;
  state.reset(new reference::LaunchState{referenceLaunch, nullptr, nullptr,
                                         &outcome.assertion});
  ArrayRef<Type> types =
      kernel.getArgumentTypes().drop_back(linalg_ext::kProgramArguments);
  Type i32 = IntegerType::get(kernel.getContext(), 32);
  SmallVector<reference::Datum> arguments =
      reference::readArguments(types, referenceLaunch);
  for (unsigned i = 0; i < idArguments; ++i)
    arguments.push_back(reference::Datum(i32, {}, {uint64_t(0)}));
  for (uint32_t count : launch.grid)
    arguments.push_back(reference::Datum(i32, {}, {count}));
  // Where the compiler placed an argument nearer or farther than the others.
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto placed = kernel.getArgAttrOfType<StringAttr>(i, "accel.placed");
    const Memory *memory =
        placed ? target.findMemory(placed.getValue()) : nullptr;
    if (memory && argument.isView() && argument.view().array >= 0)
      memoryOfArray[argument.view().array] =
          unsigned(memory - target.memories.data());
  }
  for (int64_t i = 0; i < target.grid.count(); ++i) {
    auto pe = std::make_unique<Pe>();
    pe->number = i;
    pe->row = i / target.grid.columns;
    pe->column = i % target.grid.columns;
    pe->program.reset(new reference::Program(
        *state, {uint32_t(pe->row), uint32_t(pe->column), 0}));
    pe->unitCycles.assign(target.units.size(), 0);
    pe->frames.push_back(std::make_unique<Frame>());
    pe->program->useFrame(*pe->frames.back());
    for (auto [value, datum] : llvm::zip(kernel.getArguments(), arguments))
      pe->program->set(value, datum);
    trace.name(Trace::Kind::Pe, i,
               "PE " + std::to_string(pe->row) + "," +
                   std::to_string(pe->column));
    pes.push_back(std::move(pe));
    resumeAt(*pes.back(), target.launchCycles);
  }
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Simulator::schedule(double time, EventKind kind, size_t what) {
  events.push({time, scheduled++, kind, what});
}

void Simulator::resumeAt(Pe &pe, double time) {
  pe.waitsFor.clear();
  pe.time = std::max(pe.time, time);
  schedule(pe.time, EventKind::Resume, size_t(pe.number));
}

bool Simulator::letOthersGoFirst(Pe &pe) {
  if (events.empty() || events.top().time >= pe.time)
    return false;
  resumeAt(pe, pe.time);
  return true;
}

LogicalResult Simulator::handle(const Event &event) {
  switch (event.kind) {
  case EventKind::Resume:
    return runPe(*pes[event.what]);
  case EventKind::EngineFree: {
    Engine &engine = engines[event.what];
    engine.isBusy = false;
    engine.queue.pop_front();
    for (Pe *pe : std::exchange(engine.waiters, {}))
      resumeAt(*pe, event.time);
    tryStart(engine, event.time);
    return success();
  }
  case EventKind::Land:
    return success(land(transfers[event.what]));
  case EventKind::Complete: {
    Transfer &transfer = transfers[event.what];
    transfer.isComplete = true;
    if (options.landing == Landing::Random && !transfer.hasLanded &&
        !land(transfer))
      return failure();
    if (transfer.hasWaiter)
      resumeAt(*pes[transfer.pe], event.time);
    return success();
  }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

InFlightDiagnostic Simulator::error(const Pe &pe, Operation *op) const {
  InFlightDiagnostic diagnostic = op->emitError();
  diagnostic << "PE (" << pe.row << ", " << pe.column << ") ";
  return diagnostic;
}

LogicalResult Simulator::reportDeadlock() {
  const Pe *first = nullptr;
  size_t stuck = 0;
  for (const auto &pe : pes)
    if (!pe->isDone) {
      first = first ? first : pe.get();
      ++stuck;
    }
  Operation *op = code.instructions[first->at].op;
  InFlightDiagnostic diagnostic = op->emitError("deadlock: ");
  diagnostic << stuck << " of " << pes.size()
             << " PEs wait for what never comes; PE (" << first->row << ", "
             << first->column << ") waits here for " << first->waitsFor;
  size_t notes = 0;
  for (const auto &pe : pes)
    if (!pe->isDone && pe.get() != first &&
        code.instructions[pe->at].op != op && notes++ < 4)
      diagnostic.attachNote(code.instructions[pe->at].op->getLoc())
          << "PE (" << pe->row << ", " << pe->column << ") waits here for "
          << pe->waitsFor;
  if (stuck < pes.size())
    diagnostic.attachNote(kernel.getLoc())
        << "the other " << pes.size() - stuck << " PEs have ended";
  return failure();
}

/// In the order of the kernel; the parts of one access, such as the transfers
/// before a loop and in it, are one entry.
void Simulator::countAccesses() {
  std::vector<AccessStats> &all = outcome.stats.accesses;
  kernel.walk([&](Operation *op) {
    if (!isa<CopyOp, CopyStartOp>(op))
      return;
    llvm::json::Object text = AccessText(op).json();
    auto known = llvm::find_if(
        all, [&](const AccessStats &one) { return one.text == text; });
    if (known == all.end())
      known = all.insert(all.end(), {std::move(text)});
    auto [transfers, bytes] = moves.lookup(op);
    known->transfers += transfers;
    known->bytes += bytes;
  });
}

LogicalResult Simulator::finish() {
  Stats &stats = outcome.stats;
  for (Transfer &transfer : transfers)
    if (!transfer.isWaited) {
      error(*pes[transfer.pe], transfer.op)
          << "starts a transfer that is never waited for";
      return failure();
    }
  for (const auto &pe : pes) {
    stats.cycles = std::max(stats.cycles, pe->time);
    stats.waitCycles += pe->waitCycles;
    stats.syncCycles += pe->syncCycles;
  }
  auto [x, y, z] = launch.grid;
  stats.programs = int64_t(x) * y * z;
  for (auto [i, memory] : llvm::enumerate(target.memories)) {
    MemoryStats &one = stats.memories[i];
    double instances = double(target.instances(memory.scope));
    for (size_t k = 0; k < readPorts[i].size(); ++k) {
      one.busyCycles = std::max(
          {one.busyCycles, readPorts[i][k].busy, writePorts[i][k].busy});
      if (readPorts[i][k].busy + writePorts[i][k].busy > 0)
        trace.name(Trace::Kind::Port, i * 65536 + k,
                   memory.name + (readPorts[i].size() > 1
                                      ? " " + std::to_string(k)
                                      : std::string()));
    }
    double read = double(one.bytesRead) / memory.readBytesPerCycle;
    double written = double(one.bytesWritten) / memory.writeBytesPerCycle;
    one.rooflineCycles =
        (memory.isPortShared ? read + written : std::max(read, written)) /
        instances;
  }
  for (const Engine &engine : engines) {
    double &most = stats.engines[engine.kind].mostBusyCycles;
    most = std::max(most, engine.busy);
  }
  if (!options.isOnlyTime)
    countAccesses();
  if (options.wantsTrace)
    stats.trace = trace.json(target.clockGHz);
  return success();
}

SimOutcome simulate(ModuleOp module, const Target &target,
                    const SimLaunch &launch, const SimOptions &options) {
  SimOutcome outcome;
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("accel.kernel") ||
        (!kernel && function->hasAttr(linalg_ext::kKernelAttr)))
      kernel = function;
  if (!kernel || kernel.isExternal() ||
      kernel.getNumArguments() < linalg_ext::kProgramArguments) {
    module.emitError("holds no lowered kernel: no function with a body has the "
                     "attribute 'accel.kernel'");
    outcome.isError = true;
    return outcome;
  }
  Simulator simulator(target, launch, options, outcome);
  outcome.isError = failed(simulator.run(kernel)) && outcome.assertion.empty();
  return outcome;
}

} // namespace tilebridge::accel
