//===- Engines.cpp - queues of transfers, and ports of memories -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccessText.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

size_t Simulator::portNumber(unsigned memory, const Pe &pe) const {
  return size_t(
      target.instanceOf(target.memories[memory].scope, pe.row, pe.column));
}

Port &Simulator::readPort(unsigned memory, const Pe &pe) {
  return readPorts[memory][portNumber(memory, pe)];
}

Port &Simulator::writePort(unsigned memory, const Pe &pe) {
  auto &ports = target.memories[memory].isPortShared ? readPorts : writePorts;
  return ports[memory][portNumber(memory, pe)];
}

double Simulator::pass(unsigned memory, const Pe &pe, double time,
                       uint64_t bytes, bool isWrite, StringRef what,
                       std::optional<uint64_t> charged) {
  const Memory &one = target.memories[memory];
  MemoryStats &stats = outcome.stats.memories[memory];
  (isWrite ? stats.bytesWritten : stats.bytesRead) += bytes;
  double cycles = double(charged.value_or(bytes)) /
                  (isWrite ? one.writeBytesPerCycle : one.readBytesPerCycle);
  Port &port = isWrite ? writePort(memory, pe) : readPort(memory, pe);
  double end = port.serve(time, cycles);
  trace.add(Trace::Kind::Port, size_t(memory) * 65536 + portNumber(memory, pe),
            what, end - cycles, end, "", bytes);
  return end;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// The one of the PE's engines for this direction that has least to do; null
/// where all are full, and the PE is then parked. `kind` is null where there is
/// none.
Engine *Simulator::chooseEngine(Pe &pe, unsigned from, unsigned to,
                                const DmaEngine *&kind) {
  kind =
      target.findEngine(target.memories[from].name, target.memories[to].name);
  if (!kind)
    return nullptr;
  size_t number = size_t(kind - target.engines.data());
  size_t first = engineBase[number];
  if (kind->scope == Scope::Pe)
    first += size_t(pe.number) * kind->count;
  Engine *best = nullptr;
  for (size_t i = first; i < first + kind->count; ++i)
    if (!best || engines[i].queue.size() < best->queue.size())
      best = &engines[i];
  if (best->queue.size() < kind->queueDepth)
    return best;
  if (!pe.parkedSince)
    pe.parkedSince = pe.time;
  pe.waitsFor = "a place in the queue of the engine '" + kind->name + "'";
  best->waiters.push_back(&pe);
  return nullptr;
}

void Simulator::tryStart(Engine &engine, double time) {
  if (engine.isBusy || engine.queue.empty())
    return;
  Transfer &transfer = transfers[engine.queue.front()];
  transfer.isReady = true;
  if (!transfer.group) {
    begin(transfer.number, time);
    return;
  }
  // A multicast begins when it is the first of all of the line's engines.
  Group &group = groups[*transfer.group];
  group.last = std::max(group.last, time);
  bool areReady = group.arrived.size() == group.members &&
                  llvm::all_of(group.arrived, [&](size_t one) {
                    return transfers[one].isReady;
                  });
  if (areReady)
    begin(group.arrived, group.last);
}

void Simulator::begin(ArrayRef<size_t> together, double time) {
  const Transfer &first = transfers[together.front()];
  const DmaEngine &kind = target.engines[engines[first.engine].kind];
  const Memory &source = target.memories[first.from.memory];
  const Memory &sink = target.memories[first.to.memory];
  double start = time + kind.setupCycles;
  uint64_t bytes = first.bytes();
  std::string name = source.name + " to " + sink.name;
  if (together.size() > 1)
    name += " x" + std::to_string(together.size());
  // Bytes stream through: the slowest part of the way sets the pace.
  uint64_t charged = std::max(first.chargedRead, first.chargedWrite);
  double streamed = start + double(charged) / kind.bytesPerCycle;
  streamed =
      std::max(streamed, pass(first.from.memory, *pes[first.pe], start, bytes,
                              /*isWrite=*/false, name, first.chargedRead));
  for (size_t one : together) {
    const Transfer &member = transfers[one];
    uint64_t written = bytes;
    if (member.pad)
      written = uint64_t(reference::countOf(member.whole.sizes)) *
                member.elementBytes;
    // What is added to is read before.
    if (member.accumulate)
      streamed = std::max(streamed, pass(member.to.memory, *pes[member.pe],
                                         start, written, /*isWrite=*/false,
                                         name, member.chargedWrite));
    streamed = std::max(streamed,
                        pass(member.to.memory, *pes[member.pe], start, written,
                             /*isWrite=*/true, name, member.chargedWrite));
  }
  outcome.stats.multicastSavedBytes += bytes * (together.size() - 1);
  double end = streamed + source.latencyCycles + sink.latencyCycles;
  for (size_t one : together) {
    Transfer &member = transfers[one];
    Engine &engine = engines[member.engine];
    engine.isBusy = true;
    engine.busy += streamed - time;
    member.completeAt = end;
    EngineStats &stats = outcome.stats.engines[engine.kind];
    stats.transfers += 1;
    stats.bytes += bytes;
    auto &[count, moved] = moves[member.op];
    count += 1;
    moved += bytes;
    if (trace.isOn)
      trace.add(Trace::Kind::Engine, member.engine, name, time, streamed,
                placeIn(member.op->getLoc()), bytes);
    // The next transfer's way through the memories overlaps this one's latency.
    schedule(streamed, EventKind::EngineFree, member.engine);
    schedule(end, EventKind::Complete, one);
    if (options.landing == Landing::Random) {
      double share = std::uniform_real_distribution<double>(0, 1)(random);
      schedule(time + share * (end - time), EventKind::Land, one);
    }
  }
}

} // namespace tilebridge::accel
