//===- Atomics.cpp - atomic accesses ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Programs run one at a time, so every access is atomic. Before one, other
// programs may run: those that wait for a lock let its holder go on.

#include "reference/Float.h"
#include "reference/Program.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using tilebridge::linalg_ext::AtomicKind;

namespace tilebridge::reference {

static uint64_t addFloats(uint64_t x, uint64_t y, FloatType type) {
  llvm::APFloat sum = toAPFloat(x, type);
  sum.add(toAPFloat(y, type), llvm::RoundingMode::NearestTiesToEven);
  return fromAPFloat(sum);
}

static uint64_t combine(AtomicKind kind, uint64_t old, uint64_t value,
                        Type type) {
  unsigned width = widthOf(type);
  bool isLess = signedValue(old, width) < signedValue(value, width);
  switch (kind) {
  case AtomicKind::And:
    return old & value;
  case AtomicKind::Or:
    return old | value;
  case AtomicKind::Xor:
    return old ^ value;
  case AtomicKind::Add:
    return truncated(old + value, width);
  case AtomicKind::FAdd:
    return addFloats(old, value, cast<FloatType>(type));
  case AtomicKind::Max:
    return isLess ? value : old;
  case AtomicKind::Min:
    return isLess ? old : value;
  case AtomicKind::UMax:
    return std::max(old, value);
  case AtomicKind::UMin:
    return std::min(old, value);
  case AtomicKind::Xchg:
    return value;
  case AtomicKind::Inc:
    return old >= value ? 0 : old + 1;
  case AtomicKind::Dec:
    return old == 0 || old > value ? value : old - 1;
  }
  llvm_unreachable("all kinds are listed");
}

namespace {
/// An atomic access, lane by lane in row-major order.
template <typename OpT> struct AtomicAccess {
  Program &program;
  OpT op;
  mlir::Value mask;

  Type element() {
    return cast<MemRefType>(op.getBase().getType()).getElementType();
  }

  /// `access(lane, old)` is what is stored in place of the old bits, or
  /// nothing. Gives the old ones; zero where the mask is false.
  FailureOr<Lanes>
  run(llvm::function_ref<std::optional<uint64_t>(size_t, uint64_t)> access) {
    if (failed(program.pass()))
      return failure();
    const View &view = program.view(op.getBase());
    const Datum &offsets = program.get(op.getOffset());
    Lanes olds(offsets.lanes().size(), 0);
    for (size_t lane = 0; lane < olds.size(); ++lane) {
      if (mask && !program.lanes(mask)[lane])
        continue;
      int64_t at = view.offset + signedValue(offsets.lanes()[lane],
                                             widthOf(offsets.elementType()));
      auto old = program.load(op, view, element(), at);
      if (failed(old))
        return failure();
      olds[lane] = *old;
      std::optional<uint64_t> next = access(lane, *old);
      if (next && failed(program.store(op, view, element(), at, *next)))
        return failure();
    }
    return olds;
  }
};
} // namespace

static LogicalResult evaluateReadModifyWrite(Program &program, Operation *op) {
  auto rmw = cast<linalg_ext::AtomicRMWOp>(op);
  AtomicAccess<linalg_ext::AtomicRMWOp> access{program, rmw, rmw.getMask()};
  Type element = access.element();
  auto olds = access.run([&](size_t lane, uint64_t old) {
    return combine(rmw.getKind(), old, program.lanes(rmw.getValue())[lane],
                   element);
  });
  if (failed(olds))
    return failure();
  program.set(rmw.getResult(), std::move(*olds));
  return success();
}

static LogicalResult evaluateCompareAndSwap(Program &program, Operation *op) {
  auto cas = cast<linalg_ext::AtomicCASOp>(op);
  AtomicAccess<linalg_ext::AtomicCASOp> access{program, cas, {}};
  auto olds =
      access.run([&](size_t lane, uint64_t old) -> std::optional<uint64_t> {
        if (old != program.lanes(cas.getCompare())[lane])
          return std::nullopt;
        return program.lanes(cas.getValue())[lane];
      });
  if (failed(olds))
    return failure();
  program.set(cas.getResult(), std::move(*olds));
  return success();
}

static LogicalResult evaluateAtomicLoad(Program &program, Operation *op) {
  auto load = cast<linalg_ext::AtomicLoadOp>(op);
  AtomicAccess<linalg_ext::AtomicLoadOp> access{program, load, load.getMask()};
  auto olds = access.run([](size_t, uint64_t) { return std::nullopt; });
  if (failed(olds))
    return failure();
  program.set(load.getResult(), std::move(*olds));
  return success();
}

static LogicalResult evaluateAtomicStore(Program &program, Operation *op) {
  auto store = cast<linalg_ext::AtomicStoreOp>(op);
  AtomicAccess<linalg_ext::AtomicStoreOp> access{program, store,
                                                 store.getMask()};
  return access.run([&](size_t lane, uint64_t) {
    return program.lanes(store.getValue())[lane];
  });
}

void addAtomicHandlers(HandlerTable &table) {
  table.add<linalg_ext::AtomicRMWOp>(evaluateReadModifyWrite);
  table.add<linalg_ext::AtomicCASOp>(evaluateCompareAndSwap);
  table.add<linalg_ext::AtomicLoadOp>(evaluateAtomicLoad);
  table.add<linalg_ext::AtomicStoreOp>(evaluateAtomicStore);
}

} // namespace tilebridge::reference
