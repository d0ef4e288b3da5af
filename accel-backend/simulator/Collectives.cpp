//===- Collectives.cpp - what PEs of a line do together -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Combine.h"
#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using tilebridge::reference::Lanes;
using tilebridge::reference::View;

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Lines have numbers: those along rows, along columns, and the grid. The
/// coordinates named are those that vary.
int64_t Simulator::lineOf(const Pe &pe, ArrayRef<int64_t> coordinates) const {
  bool rows = llvm::is_contained(coordinates, 0);
  bool columns = llvm::is_contained(coordinates, 1);
  if (rows && columns)
    return 0;
  return columns ? 1 + pe.row : 1 + target.grid.rows + pe.column;
}

size_t Simulator::sizeOfLine(ArrayRef<int64_t> coordinates) const {
  size_t size = 1;
  for (int64_t one : coordinates)
    size *= size_t(one == 0 ? target.grid.rows : target.grid.columns);
  return size;
}

std::optional<size_t> Simulator::join(Pe &pe, Operation *op,
                                      ArrayRef<int64_t> coordinates,
                                      size_t member) {
  int64_t line = lineOf(pe, coordinates);
  // Multicasts, barriers and reductions each have a sequence of their own.
  int64_t kind = isa<CopyOp, CopyStartOp>(op) ? 0 : isa<BarrierOp>(op) ? 1 : 2;
  int64_t sequence = line * 3 + kind;
  uint64_t turn = pe.sequence[sequence]++;
  auto [entry, isNew] = groupOf.try_emplace({sequence, turn}, groups.size());
  if (isNew)
    groups.push_back({op, sizeOfLine(coordinates), {}, 0, false});
  Group &group = groups[entry->second];
  group.arrived.push_back(member);
  if (group.op == op)
    return entry->second;
  InFlightDiagnostic diagnostic = error(pe, op);
  diagnostic << "does not do what the other PEs of its line do as number "
             << turn + 1 << " in turn";
  diagnostic.attachNote(group.op->getLoc()) << "the others are here";
  return std::nullopt;
}

Step Simulator::gather(
    Pe &pe, Operation *op, ArrayRef<int64_t> coordinates,
    llvm::function_ref<bool(Group &, double &until)> finish) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  if (pe.ownCollective) {
    pe.syncCycles += pe.time - pe.parkedSince.value_or(pe.time);
    trace.add(Trace::Kind::Pe, size_t(pe.number), op->getName().getStringRef(),
              pe.parkedSince.value_or(pe.time), pe.time);
    pe.ownCollective.reset();
    pe.parkedSince.reset();
    return Step::Next;
  }
  std::optional<size_t> number = join(pe, op, coordinates, size_t(pe.number));
  if (!number)
    return Step::Failed;
  pe.ownCollective = number;
  pe.parkedSince = pe.time;
  Group &group = groups[*number];
  group.last = std::max(group.last, pe.time);
  if (group.arrived.size() < group.members) {
    pe.waitsFor = (op->getName().getStringRef() + ", at which " +
                   Twine(group.members) + " PEs meet")
                      .str();
    return Step::Parked;
  }
  double until = group.last;
  if (!finish(group, until))
    return Step::Failed;
  for (size_t one : group.arrived)
    resumeAt(*pes[one], until);
  return Step::Parked;
}

Step Simulator::executeBarrier(Pe &pe, Operation *op) {
  return gather(pe, op, cast<BarrierOp>(op).getCoordinates(),
                [&](Group &, double &until) {
                  until += target.barrierCycles;
                  return true;
                });
}

//===----------------------------------------------------------------------===//
// Multicast
//===----------------------------------------------------------------------===//

/// All PEs of the line must copy the same elements to boxes of the same shape.
bool Simulator::checkMulticast(Pe &pe, const Transfer &transfer) {
  const Group &group = groups[*transfer.group];
  const Transfer &first = transfers[group.arrived.front()];
  const View &a = first.from.view, &b = transfer.from.view;
  bool isSame = a.address + uint64_t(a.offset) * first.elementBytes ==
                    b.address + uint64_t(b.offset) * transfer.elementBytes &&
                a.sizes == b.sizes && a.strides == b.strides &&
                first.rows == transfer.rows && first.mask == transfer.mask &&
                first.pad == transfer.pad;
  const DmaEngine &kind = target.engines[engines[transfer.engine].kind];
  ArrayRef<int64_t> coordinates = transfer.multicast;
  bool varyRows = llvm::is_contained(coordinates, 0);
  bool varyColumns = llvm::is_contained(coordinates, 1);
  if ((varyRows && !hasColumns(kind.multicast)) ||
      (varyColumns && !hasRows(kind.multicast))) {
    error(pe, transfer.op) << "is multicast along lines that the engine '"
                           << kind.name << "' does not serve";
    return false;
  }
  if (isSame)
    return true;
  const Pe &other = *pes[first.pe];
  error(pe, transfer.op)
      << "takes part in a multicast with another source than PE (" << other.row
      << ", " << other.column << ") does: byte "
      << int64_t(b.address - a.address) +
             (b.offset - a.offset) * int64_t(transfer.elementBytes)
      << " from where that one begins, in a box of " << b.sizes.size()
      << " dimensions";
  return false;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

bool Simulator::combineLine(Operation *op, Group &group, double &until) {
  auto reduce = cast<ReduceLineOp>(op);
  Type element =
      cast<MemRefType>(reduce.getBuffer().getType()).getElementType();
  llvm::sort(group.arrived); // In the order of their numbers.
  std::vector<Lanes> lanes;
  for (size_t one : group.arrived)
    lanes.push_back(readBlock(*pes[one], reduce.getBuffer()).lanes());
  auto combineInto = [&](Lanes &to, const Lanes &from) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = combined(reduce.getKind(), to[i], from[i], element);
  };
  size_t count = lanes.size();
  bool isTree = reduce.getAlgorithm() == LineAlgorithm::Tree;
  if (isTree) {
    for (size_t step = 1; step < count; step *= 2)
      for (size_t i = 0; i + step < count; i += 2 * step)
        combineInto(lanes[i], lanes[i + step]);
  } else {
    for (size_t i = 1; i < count; ++i)
      combineInto(lanes[0], lanes[i]);
  }
  double bytes = double(lanes[0].size()) * reference::bytesOf(element);
  const Reduction &network = target.reduction;
  double hops =
      isTree ? std::ceil(std::log2(double(count))) : double(count - 1);
  double hop = network.latencyCycles + bytes / network.bytesPerCycle;
  until += hops * hop;
  if (!reduce.getTarget())
    until += hop; // And back.
  for (auto [place, one] : llvm::enumerate(group.arrived)) {
    Pe &pe = *pes[one];
    bool hasResult = !reduce.getTarget() ||
                     pe.program->integer(reduce.getTarget()) == int64_t(place);
    const View &view = pe.program->view(reduce.getBuffer());
    if (hasResult)
      writeBlock(pe, reduce.getBuffer(), lanes[0]);
    else
      scratchpads.undefine(view.array, view.address,
                           Region::of(view, reference::bytesOf(element)));
  }
  return true;
}

Step Simulator::executeReduceLine(Pe &pe, Operation *op) {
  auto reduce = cast<ReduceLineOp>(op);
  ArrayRef<int64_t> coordinates = reduce.getCoordinates();
  bool isServed = true;
  for (int64_t one : coordinates)
    isServed &= one == 0 ? hasColumns(target.reduction.lines)
                         : hasRows(target.reduction.lines);
  StringRef kind = stringifyCombiningKind(reduce.getKind());
  kind.consume_front("u");
  kind.consume_back("num");
  if (!isServed || !target.reduction.supports(kind)) {
    error(pe, op) << "combines along lines or in a way that the reduction "
                     "network of the target has not";
    return Step::Failed;
  }
  if (!pe.ownCollective && !checkBlock(pe, op, reduce.getBuffer(), true, true))
    return Step::Failed;
  return gather(pe, op, coordinates, [&](Group &group, double &until) {
    return combineLine(op, group, until);
  });
}

} // namespace tilebridge::accel
