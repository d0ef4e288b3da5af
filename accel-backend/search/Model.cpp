//===- Model.cpp - how long a lowered kernel takes ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/Model.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Turns.h"
#include "accel-backend/simulator/Cost.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::accel;

static bool computes(Operation *op) {
  return isa<linalg::LinalgOp, ComputeOp>(op);
}

// Whether anything is computed between the start of a transfer and the wait for
// it: the transfer then runs beside that. A token that leaves its block does.
static bool isOverlapped(Operation *start) {
  if (start->getNumResults() != 1)
    return false;
  for (Operation *user : start->getUsers()) {
    if (!isa<WaitOp>(user) || user->getBlock() != start->getBlock())
      return true;
    for (Operation *op = start->getNextNode(); op != user;
         op = op->getNextNode()) {
      bool found = op->walk([](Operation *nested) {
                       return computes(nested) ? WalkResult::interrupt()
                                               : WalkResult::advance();
                     }).wasInterrupted();
      if (found)
        return true;
    }
  }
  return false;
}

/// What is started before a loop for one of its iterations.
enum class Ahead {
  /// Nothing.
  None,
  /// The first one, beside which nothing is there yet to run.
  First,
  /// A later one, of those that the loop has anyway.
  Later
};

static Ahead aheadOf(Operation *start) {
  if (start->getNumResults() != 1)
    return Ahead::None;
  for (OpOperand &use : start->getResult(0).getUses()) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    if (!loop || use.getOperandNumber() < loop.getNumControlOperands())
      continue;
    Value own = loop.getTiedLoopRegionIterArg(&use);
    return llvm::any_of(own.getUsers(), llvm::IsaPred<WaitOp>) ? Ahead::First
                                                               : Ahead::Later;
  }
  return Ahead::None;
}

static SmallVector<scf::ForOp> loopsAround(Operation *op) {
  SmallVector<scf::ForOp> loops;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    loops.push_back(loop);
  return loops;
}

namespace {
/// What a loop of one PE waits for at least, in all of its iterations: a load
/// takes its time, and so many of each are under way at once as have buffers. A
/// store is waited for before the next one starts, and gets behind the loads in
/// the queue of an engine that does both.
struct LoopCost {
  /// What is done beside them.
  double busy = 0;
  double transfers = 0, latency = 0, times = 0;
  double depth = 1;
  double stores = 0, storeLatency = 0;
  const DmaEngine *loadedBy = nullptr, *storedBy = nullptr;

  double excess() const {
    double least = (busy + transfers + latency * times) / depth;
    return std::max(leastExcess(), least - busy);
  }
  /// With any number of buffers.
  double leastExcess() const {
    double loaded = std::max(0.0, transfers - busy);
    double stored = stores + storeLatency * times;
    if (loadedBy && loadedBy == storedBy && storedBy->count < 2)
      stored += loaded;
    return std::max(loaded, stored - busy);
  }
};

/// What all PEs do, as far as it can be told from the text.
class Model {
public:
  Model(func::FuncOp kernel, const Target &target)
      : kernel(kernel), target(target) {}

  Estimate run();

private:
  void addTransfer(Operation *op, Value source, Value dest,
                   std::optional<ArrayRef<int64_t>> multicast);
  void addAccess(Operation *op, Value memref, bool isWrite);
  void addTraffic(const Memory &memory, double bytes, bool isWrite);

  /// How many PEs do an operation at once: those without a
  /// program leave much away.
  double pesOf(Operation *op);
  double shareOf(Value condition);

  const Memory &memoryOfSide(Value side) const {
    // A tensor will be in local memory.
    auto type = dyn_cast<MemRefType>(side.getType());
    if (!type)
      return target.localMemory();
    if (auto space = dyn_cast_or_null<MemoryAttr>(type.getMemorySpace())) {
      if (const Memory *named = target.findMemory(space.getName().getValue()))
        return *named;
      return target.localMemory();
    }
    return memoryOf(side, target);
  }

  func::FuncOp kernel;
  const Target &target;
  Estimate result;
  /// Of one PE.
  double compute = 0, waits = 0, serialTransfers = 0;
  std::map<std::string, double> engines;
  /// The last transfer, which nothing runs beside.
  double last = 0;
  /// Made when it is asked for something.
  std::optional<Turns> turns;
  llvm::DenseMap<Value, double> shares;
  /// Inner loops before outer ones.
  llvm::MapVector<Operation *, LoopCost> loops;

  /// Time in which this PE does nothing else.
  void addBusy(Operation *op, double cycles) {
    for (scf::ForOp loop : loopsAround(op))
      loops[loop].busy += cycles;
  }
};
} // namespace

void Model::addTraffic(const Memory &memory, double bytes, bool isWrite) {
  (isWrite ? result.bytesWritten : result.bytesRead)[memory.name] += bytes;
}

double Model::shareOf(Value condition) {
  auto [it, isNew] = shares.try_emplace(condition, 1);
  if (!isNew)
    return it->second;
  if (!turns)
    turns.emplace(kernel, target, gridsOf(kernel, target));
  const InstanceValues::Row *row = turns->valuesOf(condition);
  if (!row)
    return it->second;
  // As many as there are at once in any step.
  ptrdiff_t pes = target.grid.count(), most = 0;
  for (ArrayRef<int64_t> rest(*row); !rest.empty(); rest = rest.drop_front(pes))
    most = std::max(most, pes - llvm::count(rest.take_front(pes), 0));
  it->second = double(most) / double(pes);
  return it->second;
}

double Model::pesOf(Operation *op) {
  double share = 1;
  for (; op != kernel; op = op->getParentOp())
    if (auto guard = dyn_cast<scf::IfOp>(op->getParentOp()))
      if (op->getBlock() == guard.thenBlock())
        share = std::min(share, shareOf(guard.getCondition()));
  return share * double(target.grid.count());
}

void Model::addTransfer(Operation *op, Value source, Value dest,
                        std::optional<ArrayRef<int64_t>> multicast) {
  Ahead ahead = aheadOf(op);
  if (ahead == Ahead::Later)
    return;
  const Memory &from = memoryOfSide(source), &to = memoryOfSide(dest);
  auto isStatic = [](Value side) {
    return cast<ShapedType>(side.getType()).hasStaticShape();
  };
  // A box is nearly always as large as the block: only edges are smaller.
  double bytes = bytesOf(isStatic(source) ? source.getType() : dest.getType());
  double times = timesRun(op, kernel);
  double pes = pesOf(op), fanOut = 1;
  if (multicast)
    for (int64_t coordinate : *multicast)
      fanOut *=
          double(coordinate == 0 ? target.grid.rows : target.grid.columns);
  addTraffic(from, bytes * times * pes / fanOut, false);
  addTraffic(to, bytes * times * pes, true);
  result.multicastSavedBytes += bytes * times * pes * (1 - 1 / fanOut);

  const DmaEngine *engine = target.findEngine(from.name, to.name);
  double width =
      engine && engine->bytesPerCycle > 0 ? engine->bytesPerCycle : 1;
  double setUp = engine ? engine->setupCycles : 0;
  double latency = from.latencyCycles + to.latencyCycles;
  double own = setUp + bytes / width;
  // At once with all others: its part of the memory that is farther away.
  const Memory &far = from.scope == Scope::Pe ? to : from;
  double shared = far.scope == Scope::Pe
                      ? 0
                      : bytes * pes / fanOut /
                            (from.scope == Scope::Pe ? far.writeBytesPerCycle
                                                     : far.readBytesPerCycle);
  if (engine)
    engines[engine->name] += own * times / std::max(1u, engine->count);
  double alone = std::max(own, shared) + latency;
  auto around = op->getParentOfType<scf::ForOp>();
  if (isOverlapped(op) && ahead == Ahead::None) {
    if (!isInChipMemory(source.getType())) {
      last = alone;
      if (around) {
        LoopCost &cost = loops[around];
        cost.stores += std::max(own, shared) * times;
        cost.storeLatency = std::max(cost.storeLatency, latency);
        cost.storedBy = engine;
        cost.times = std::max(cost.times, times);
      }
    } else if (around) {
      LoopCost &cost = loops[around];
      cost.transfers += std::max(own, shared) * times;
      cost.latency = std::max(cost.latency, latency);
      cost.loadedBy = engine;
      cost.times = std::max(cost.times, times);
      if (auto depth = op->getAttrOfType<IntegerAttr>(depthAttr))
        // More than there are iterations are never under way.
        cost.depth =
            std::max(1.0, std::min(double(depth.getInt()),
                                   timesRun(op, around->getParentOp())));
    }
    return;
  }
  waits += latency * times;
  serialTransfers += std::max(own, shared) * times;
  addBusy(op, alone * times);
}

// One element, by the core that runs the program.
void Model::addAccess(Operation *op, Value memref, bool isWrite) {
  const Memory &memory = memoryOfSide(memref);
  double times = timesRun(op, kernel);
  auto type = cast<MemRefType>(memref.getType());
  double bytes = double(type.getElementTypeBitWidth()) / 8;
  addTraffic(memory, bytes * times * pesOf(op), isWrite);
  waits += memory.latencyCycles * times;
  addBusy(op, memory.latencyCycles * times);
}

Estimate Model::run() {
  kernel.walk([&](scf::ForOp loop) { loops[loop]; });
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      addTransfer(op, copy.getSource(), copy.getDest(), copy.getMulticast());
    else if (auto start = dyn_cast<CopyStartOp>(op))
      addTransfer(op, start.getSource(), start.getDest(), start.getMulticast());
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      addAccess(op, load.getMemRef(), false);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      addAccess(op, store.getMemRef(), true);
    if (!computes(op))
      return WalkResult::advance();
    // What is not known to be larger is an edge.
    SmallVector<int64_t> ranges;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      for (int64_t range : linalgOp.getStaticLoopRanges())
        ranges.push_back(ShapedType::isDynamic(range) ? 1 : range);
    double cycles = workOf(op, target, ranges).cycles * timesRun(op, kernel);
    compute += cycles;
    addBusy(op, cycles);
    return WalkResult::skip();
  });

  double most = compute + waits + serialTransfers, least = most;
  for (auto &[loop, cost] : loops) {
    double excess = cost.excess();
    most += excess;
    least += cost.leastExcess();
    addBusy(loop, excess);
  }
  result.terms["compute"] = compute;
  for (auto [name, cycles] : engines) {
    result.terms["engine " + name] = cycles;
    most = std::max(most, cycles);
    least = std::max(least, cycles);
  }
  for (const Memory &memory : target.memories) {
    double instances = double(target.instances(memory.scope));
    double reads = result.bytesRead[memory.name] / memory.readBytesPerCycle;
    double writes =
        result.bytesWritten[memory.name] / memory.writeBytesPerCycle;
    double cycles =
        (memory.isPortShared ? reads + writes : std::max(reads, writes)) /
        instances;
    result.terms["memory " + memory.name] = cycles;
    most = std::max(most, cycles);
    least = std::max(least, cycles);
  }
  result.cycles = target.launchCycles + most + last;
  result.leastCycles = target.launchCycles + least + last;
  return result;
}

Estimate tilebridge::accel::estimate(func::FuncOp kernel,
                                     const Target &target) {
  return Model(kernel, target).run();
}
