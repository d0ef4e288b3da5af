//===- Evaluate.cpp - runs a kernel of the bridge IR op by op ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Evaluate.h"

#include "reference/Probe.h"
#include "reference/Program.h"
#include "reference/Schedule.h"

#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <random>

using namespace mlir;

namespace tilebridge::reference {

func::FuncOp findKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(linalg_ext::kKernelAttr))
      continue;
    if (kernel) {
      function.emitError("a module has one kernel; here is a second one");
      return nullptr;
    }
    kernel = function;
  }
  if (!kernel)
    module.emitError("holds no kernel: no function has the attribute '")
        << linalg_ext::kKernelAttr << "'";
  return kernel;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// A pointer takes one slot, a descriptor its sizes and strides as well.
static bool isPointer(MemRefType type) {
  return type.getRank() == 1 &&
         type.getStridesAndOffset().first == SmallVector<int64_t>{1};
}

static unsigned slotCountOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return !memref || isPointer(memref) ? 1 : 1 + 2 * memref.getRank();
}

static ArrayRef<Type> ownArguments(func::FuncOp kernel) {
  return kernel.getArgumentTypes().drop_back(linalg_ext::kProgramArguments);
}

unsigned slotCountOf(func::FuncOp kernel) {
  unsigned count = 0;
  for (Type type : ownArguments(kernel))
    count += slotCountOf(type);
  return count;
}

static int arrayOf(const Launch &launch, uint64_t address) {
  for (auto [i, array] : llvm::enumerate(launch.memory)) {
    uint64_t begin = reinterpret_cast<uint64_t>(array.begin);
    if (begin && address >= begin &&
        (address - begin < array.size || address == begin))
      return int(i);
  }
  return View::kNoArray;
}

static View readView(const Launch &launch, MemRefType type,
                     ArrayRef<uint64_t> slots) {
  View view;
  view.address = slots[0];
  view.array = arrayOf(launch, view.address);
  if (isPointer(type)) {
    view.sizes = {INT64_MAX};
    view.strides = {1};
    return view;
  }
  for (int64_t i = 0; i < type.getRank(); ++i) {
    view.sizes.push_back(int64_t(slots[1 + i]));
    view.strides.push_back(int64_t(slots[1 + type.getRank() + i]));
  }
  return view;
}

SmallVector<Datum> readArguments(ArrayRef<Type> types, const Launch &launch) {
  SmallVector<Datum> arguments;
  ArrayRef<uint64_t> slots = launch.slots;
  for (Type type : types) {
    if (auto memref = dyn_cast<MemRefType>(type))
      arguments.push_back(
          Datum(memref.getElementType(), readView(launch, memref, slots)));
    else
      arguments.push_back(
          Datum(type, {}, {truncated(slots[0], widthOf(type))}));
    slots = slots.drop_front(slotCountOf(type));
  }
  return arguments;
}

std::string describeArray(func::FuncOp kernel, const Launch &launch,
                          unsigned array) {
  SmallVector<std::string> found;
  ArrayRef<uint64_t> slots = launch.slots;
  for (BlockArgument argument :
       kernel.getArguments().drop_back(linalg_ext::kProgramArguments)) {
    if (isa<MemRefType>(argument.getType()) &&
        arrayOf(launch, slots[0]) == int(array)) {
      auto name = dyn_cast<NameLoc>(argument.getLoc());
      found.push_back(name ? "'" + name.getName().str() + "'"
                           : std::to_string(argument.getArgNumber()));
    }
    slots = slots.drop_front(slotCountOf(argument.getType()));
  }
  if (found.empty())
    found.push_back(std::to_string(launch.memory[array].argument));
  return (found.size() > 1 ? "arguments " : "argument ") +
         llvm::join(found, " and ");
}

/// The kernel's own arguments, its program's ids and the grid.
static SmallVector<Datum> readArguments(func::FuncOp kernel,
                                        const Launch &launch,
                                        std::array<uint32_t, 3> program) {
  SmallVector<Datum> arguments = readArguments(ownArguments(kernel), launch);
  Type i32 = IntegerType::get(kernel.getContext(), 32);
  for (uint32_t id : program)
    arguments.push_back(Datum(i32, {}, {id}));
  for (uint32_t count : launch.grid)
    arguments.push_back(Datum(i32, {}, {count}));
  return arguments;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::vector<uint64_t> orderOf(const Launch &launch) {
  auto [x, y, z] = launch.grid;
  if (launch.only) {
    auto [px, py, pz] = *launch.only;
    return {(uint64_t(pz) * y + py) * x + px};
  }
  std::vector<uint64_t> order(uint64_t(x) * y * z);
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (launch.seed)
    std::shuffle(order.begin(), order.end(), std::mt19937_64(*launch.seed));
  return order;
}

/// Whether a program may wait for another: it reads atomically in a loop.
static bool mayWait(ModuleOp module) {
  auto find = [](Operation *op) {
    if (!isa<linalg_ext::AtomicCASOp, linalg_ext::AtomicRMWOp,
             linalg_ext::AtomicLoadOp>(op))
      return WalkResult::advance();
    // A function that is called may be called in a loop.
    bool isRepeated =
        op->getParentOfType<LoopLikeOpInterface>() ||
        !op->getParentOfType<func::FuncOp>()->hasAttr(linalg_ext::kKernelAttr);
    return isRepeated ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module.walk(find).wasInterrupted();
}

Outcome evaluate(func::FuncOp kernel, const Launch &launch) {
  Outcome outcome;
  std::unique_ptr<Probe> probe;
  if (!launch.probeFolder.empty()) {
    probe = Probe::create(kernel, launch.probeFolder, launch.probeOp);
    outcome.isError = !probe;
    if (!probe)
      return outcome;
  }
  LaunchState state{launch, probe.get(), nullptr, &outcome.assertion};
  auto runProgram = [&](uint64_t number) {
    auto [x, y, z] = launch.grid;
    std::array<uint32_t, 3> id = {uint32_t(number % x),
                                  uint32_t(number / x % y),
                                  uint32_t(number / x / y)};
    SmallVector<Datum> results;
    Program program(state, id);
    return succeeded(
        program.call(kernel, readArguments(kernel, launch, id), results));
  };
  std::vector<uint64_t> order = orderOf(launch);
  bool isDone;
  if (mayWait(kernel->getParentOfType<ModuleOp>())) {
    // Few accesses a turn: what waits wants to see what others did.
    constexpr unsigned turn = 16;
    Schedule schedule(order, turn, runProgram);
    state.pass = [&] { return schedule.pass(); };
    isDone = schedule.run();
  } else {
    isDone = llvm::all_of(order, runProgram);
  }
  outcome.isError = !isDone && outcome.assertion.empty();
  return outcome;
}

} // namespace tilebridge::reference
