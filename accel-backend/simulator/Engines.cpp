//===- Engines.cpp - queues of transfers, and ports of memories -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

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
                       uint64_t bytes, bool isWrite, StringRef what) {
  const Memory &one = target.memories[memory];
  MemoryStats &stats = outcome.stats.memories[memory];
  (isWrite ? stats.bytesWritten : stats.bytesRead) += bytes;
  double cycles = double(bytes) /
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

std::string describePlace(Operation *op) {
  std::string text;
  op->getLoc()->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
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
  double streamed = start + double(bytes) / kind.bytesPerCycle;
  streamed = std::max(streamed, pass(first.from.memory, *pes[first.pe], start,
                                     bytes, /*isWrite=*/false, name));
  for (size_t one : together) {
    const Transfer &member = transfers[one];
    uint64_t written = bytes;
    if (member.pad)
      written = uint64_t(reference::countOf(member.whole.sizes)) *
                member.elementBytes;
    streamed = std::max(streamed, pass(member.to.memory, *pes[member.pe], start,
                                       written, /*isWrite=*/true, name));
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
    if (trace.isOn)
      trace.add(Trace::Kind::Engine, member.engine, name, time, streamed,
                describePlace(member.op), bytes);
    // The next transfer's way through the memories overlaps this one's latency.
    schedule(streamed, EventKind::EngineFree, member.engine);
    schedule(end, EventKind::Complete, one);
    if (options.landing == Landing::Random) {
      double share = std::uniform_real_distribution<double>(0, 1)(random);
      schedule(time + share * (end - time), EventKind::Land, one);
    }
  }
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Whether one descriptor of the engine says all of a transfer.
bool Simulator::checkDescriptor(Pe &pe, const Transfer &transfer) {
  const DmaEngine &kind = target.engines[engines[transfer.engine].kind];
  auto fail = [&]() {
    InFlightDiagnostic diagnostic = error(pe, transfer.op);
    diagnostic << "needs more than a descriptor of the engine '" << kind.name
               << "' says: ";
    return diagnostic;
  };
  if (transfer.hasRows && !kind.indexed)
    return fail() << "it has no indices", false;
  if (transfer.pad && !kind.padding)
    return fail() << "it writes no padding", false;
  reference::View from = transfer.from.view, to = transfer.to.view;
  if (transfer.hasRows) {
    // The indexed dimension is no stride.
    size_t dim = size_t(transfer.dim);
    from.sizes = transfer.isScatter ? from.sizes : to.sizes;
    from.sizes[dim] = to.sizes[dim] = 1;
  }
  RegionPair pair = RegionPair::of(from, to, transfer.elementBytes);
  if (reference::countOf(pair.sizes) == 0)
    return true;
  bool isContiguous =
      pair.sizes.empty() || (pair.fromStrides.back() == transfer.elementBytes &&
                             pair.toStrides.back() == transfer.elementBytes);
  size_t dims = pair.sizes.size() + !isContiguous + transfer.hasRows;
  if (dims > kind.maxDims)
    return fail() << dims << " dimensions, it has " << kind.maxDims, false;
  for (size_t i = 0; i < pair.sizes.size(); ++i) {
    bool isInner = isContiguous && i + 1 == pair.sizes.size();
    size_t fromInner = pair.sizes.size() - 1 - i + !isContiguous;
    if (!kind.maxSizes.empty()) {
      uint64_t most =
          kind.maxSizes[std::min(fromInner, kind.maxSizes.size() - 1)];
      if (uint64_t(pair.sizes[i]) > most)
        return fail() << "an extent of " << pair.sizes[i] << ", its most is "
                      << most,
               false;
    }
    for (int64_t stride : {pair.fromStrides[i], pair.toStrides[i]}) {
      uint64_t distance = uint64_t(stride < 0 ? -stride : stride);
      if (kind.maxStrideBytes && distance > kind.maxStrideBytes)
        return fail() << "a stride of " << stride << " bytes, its most is "
                      << kind.maxStrideBytes,
               false;
      if (stride == 0 && !kind.strideZero)
        return fail() << "a stride of 0", false;
      if (!isInner && distance % kind.alignmentBytes)
        return fail() << "a stride of " << stride << " bytes, no multiple of "
                      << kind.alignmentBytes,
               false;
    }
  }
  uint64_t inner =
      (isContiguous && !pair.sizes.empty() ? pair.sizes.back() : 1) *
      uint64_t(transfer.elementBytes);
  for (uint64_t address : {pair.from, pair.to, inner})
    if (address % kind.alignmentBytes)
      return fail() << (address == inner ? "rows of " : "an address of ")
                    << (address == inner ? inner : address)
                    << " bytes, no multiple of " << kind.alignmentBytes,
             false;
  return true;
}

} // namespace tilebridge::accel
