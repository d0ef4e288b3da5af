//===- Allocate.cpp - a place for each buffer -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/plan/Buffers.h"
#include "accel-backend/plan/Lifetimes.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/allocation/Solver.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELALLOCATEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static const Memory *memoryNamed(const Target &target, StringRef name) {
  return name == localMemory ? &target.localMemory() : target.findMemory(name);
}

// Buffers in a memory that several PEs share: each has its own part.
static uint64_t bytesOfPe(const Memory &memory, const Target &target) {
  int64_t sharing = target.grid.count() / target.instances(memory.scope);
  return memory.bytes / uint64_t(std::max<int64_t>(sharing, 1));
}

// What the memory and every engine that moves data there need.
static uint64_t alignmentOf(const Memory &memory, const Target &target) {
  uint64_t alignment = std::max<uint64_t>(memory.alignmentBytes, 1);
  for (const DmaEngine &engine : target.engines)
    for (const Path &path : engine.paths)
      if (path.from == memory.name || path.to == memory.name)
        alignment = std::lcm(alignment, engine.alignmentBytes);
  return alignment;
}

allocation::Problem tilebridge::accel::problemOf(ArrayRef<Lifetime> lifetimes,
                                                 const Memory &memory,
                                                 const Target &target) {
  allocation::Problem problem;
  problem.capacity = bytesOfPe(memory, target);
  problem.banks = std::max(memory.banks, 1u);
  uint64_t alignment = alignmentOf(memory, target);
  for (const Lifetime &life : lifetimes) {
    AllocOp alloc = life.op;
    allocation::Buffer buffer;
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    llvm::raw_string_ostream name(buffer.name);
    llvm::interleave(type.getShape(), name, "x");
    name << (type.getRank() ? "x" : "") << type.getElementType();
    uint64_t element = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    buffer.bytes = uint64_t(type.getNumElements()) * element;
    buffer.alignment = std::lcm(alignment, llvm::PowerOf2Ceil(element));
    buffer.begin = life.begin;
    buffer.end = life.end;
    if (std::optional<uint64_t> bank = alloc.getBank())
      if (*bank < problem.banks)
        buffer.bank = unsigned(*bank);
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

void tilebridge::accel::reportOverflow(func::FuncOp kernel,
                                       ArrayRef<Lifetime> lifetimes,
                                       const allocation::Problem &problem,
                                       StringRef memory, StringRef advice) {
  InFlightDiagnostic diagnostic =
      kernel.emitError("'")
      << kernel.getName() << "' needs " << problem.lowerBound() << " bytes of '"
      << memory << "' memory at once, and a PE has " << problem.capacity;
  if (problem.lowerBound() <= problem.capacity)
    diagnostic << ", but no order of its buffers was found that fits";
  if (!advice.empty())
    diagnostic << "; " << advice;
  // The largest first; a handful of them is nearly all there is.
  SmallVector<unsigned> needed = problem.fullest();
  llvm::sort(needed, [&](unsigned a, unsigned b) {
    return std::pair(problem.buffers[b].bytes, a) <
           std::pair(problem.buffers[a].bytes, b);
  });
  constexpr size_t most = 8;
  for (unsigned index : ArrayRef(needed).take_front(most)) {
    Location loc = AllocOp(lifetimes[index].op).getLoc();
    Diagnostic &note = diagnostic.attachNote(loc);
    if (StringRef name = nameIn(loc); !name.empty())
      note << "'" << name << "', ";
    note << problem.buffers[index].name << ": " << problem.buffers[index].bytes
         << " bytes";
  }
  if (needed.size() > most)
    diagnostic.attachNote(kernel.getLoc())
        << "and " << needed.size() - most << " smaller ones";
}

namespace {
struct AccelAllocatePass
    : accel::impl::AccelAllocatePassBase<AccelAllocatePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    sinkAllocations(kernel);
    SmallVector<Lifetime> lifetimes = lifetimesOf(kernel);
    if (lifetimes.empty())
      return;
    if (!*target) {
      kernel.emitError("buffers can only be placed for a target: the module "
                       "has no 'accel.target'");
      return signalPassFailure();
    }
    llvm::MapVector<StringAttr, SmallVector<Lifetime>> byMemory;
    for (const Lifetime &life : lifetimes) {
      AllocOp alloc = life.op;
      auto type = cast<MemRefType>(alloc.getMemref().getType());
      byMemory[cast<MemoryAttr>(type.getMemorySpace()).getName()].push_back(
          life);
    }
    for (auto &[name, inMemory] : byMemory)
      if (failed(place(kernel, name, inMemory, **target)))
        return signalPassFailure();
  }

  static LogicalResult place(func::FuncOp kernel, StringAttr name,
                             ArrayRef<Lifetime> lifetimes,
                             const Target &target) {
    const Memory *memory = memoryNamed(target, name.getValue());
    if (!memory)
      return AllocOp(lifetimes.front().op).emitError("target '")
             << target.name << "' has no memory " << name;
    allocation::Problem problem = problemOf(lifetimes, *memory, target);
    std::optional<allocation::Placement> placement = allocation::solve(problem);
    if (!placement) {
      reportOverflow(kernel, lifetimes, problem, memory->name, "");
      return failure();
    }
    Builder builder(kernel.getContext());
    for (auto [index, life] : llvm::enumerate(lifetimes)) {
      AllocOp alloc = life.op;
      uint64_t offset = placement->offsets[index];
      alloc.setOffset(offset);
      if (problem.banks > 1)
        alloc.setBank(offset / problem.bankBytes());
      if (llvm::is_contained(placement->elsewhere, unsigned(index)))
        alloc.emitRemark("does not fit into bank ")
            << *problem.buffers[index].bank << " of '" << memory->name
            << "' beside what is there at the same time";
    }
    return success();
  }
};
} // namespace
