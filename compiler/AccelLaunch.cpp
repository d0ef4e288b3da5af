//===- AccelLaunch.cpp - what is known of a launch ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/AccelLaunch.h"

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Specialize.h"
#include "reference/Datum.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

using namespace mlir;

namespace tilebridge::compiler {

ArrayRef<Type> ownArguments(func::FuncOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  return types.drop_back(
      std::min<size_t>(types.size(), linalg_ext::kProgramArguments));
}

unsigned slotsOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  bool isPointer =
      memref && memref.getRank() == 1 &&
      memref.getStridesAndOffset().first == SmallVector<int64_t>{1};
  return !memref || isPointer ? 1 : 1 + 2 * memref.getRank();
}

LaunchFacts::LaunchFacts(func::FuncOp kernel, const accel::Target &target,
                         const accel::SimLaunch &launch) {
  uint64_t total = 0;
  for (const reference::MemoryRange &array : launch.memory)
    total += array.size;
  const std::string &memory = target.tensorMemory(total).name;
  llvm::SmallVector<int64_t> grid(launch.grid.begin(), launch.grid.end());
  options.grid = grid;
  llvm::SmallVector<std::string> integers, placed;
  llvm::SmallVector<unsigned> alone;
  llvm::SmallVector<std::pair<unsigned, const reference::MemoryRange *>> arrays;
  ArrayRef<uint64_t> slots = launch.slots;
  bool areKnown = !launch.memory.empty();
  for (auto [i, type] : llvm::enumerate(ownArguments(kernel))) {
    if (isa<MemRefType>(type)) {
      placed.push_back(std::to_string(i) + "=" + memory);
      auto found = llvm::find_if(
          launch.memory, [&](const reference::MemoryRange &array) {
            auto begin = reinterpret_cast<uint64_t>(array.begin);
            return slots[0] >= begin &&
                   (slots[0] - begin < array.size || slots[0] == begin);
          });
      if (found == launch.memory.end())
        areKnown &= slots[0] == 0; // Nothing is reached through null.
      else
        arrays.push_back({unsigned(i), &*found});
    } else if (auto integer = dyn_cast<IntegerType>(type)) {
      int64_t value = reference::signedValue(slots[0], integer.getWidth());
      integers.push_back(std::to_string(i) + "=" + std::to_string(value));
    }
    slots = slots.drop_front(slotsOf(type));
  }
  for (auto [i, one] : arrays) {
    auto overlaps = [&, i = i, one = one](const auto &other) {
      auto begin = reinterpret_cast<uint64_t>(one->begin);
      auto otherBegin = reinterpret_cast<uint64_t>(other.second->begin);
      return other.first != i && begin < otherBegin + other.second->size &&
             otherBegin < begin + one->size;
    };
    if (llvm::any_of(arrays, overlaps))
      overlapping.push_back(i);
    else if (areKnown)
      alone.push_back(i);
  }
  options.arguments = integers;
  options.placed = placed;
  options.noalias = alone;
  llvm::raw_string_ostream out(key);
  llvm::interleave(grid, out, ",");
  out << ';';
  llvm::interleave(integers, out, ",");
  out << ';';
  llvm::interleave(placed, out, ",");
  out << ';';
  llvm::interleave(alone, out, ",");
}

LogicalResult LaunchFacts::checkLowered(func::FuncOp kernel,
                                        const accel::Target &target) const {
  auto refuse = [&] {
    return kernel.emitError("'") << kernel.getName() << "' was lowered for ";
  };
  constexpr llvm::StringLiteral what = "; lower it again from its TTIR";
  auto asText = [](ArrayRef<int64_t> counts) {
    std::string text;
    llvm::raw_string_ostream out(text);
    llvm::interleave(counts, out, "x");
    return text;
  };
  if (auto name =
          kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(
              accel::targetAttr)) {
    llvm::Expected<accel::Target> own = accel::findTarget(name.getValue());
    if (!own)
      llvm::consumeError(own.takeError());
    else if (own->grid.rows != target.grid.rows ||
             own->grid.columns != target.grid.columns)
      return refuse() << "the " << own->grid.rows << "x" << own->grid.columns
                      << " PEs of '" << own->name << "', and '" << target.name
                      << "' has " << target.grid.rows << "x"
                      << target.grid.columns << what;
  }
  if (auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>(accel::gridAttr))
    if (grid.asArrayRef() != ArrayRef<int64_t>(options.grid))
      return refuse() << "a grid of " << asText(grid)
                      << " programs, and this launch has "
                      << asText(ArrayRef<int64_t>(options.grid)) << what;
  for (const std::string &text : options.arguments) {
    auto [number, value] = llvm::StringRef(text).split('=');
    unsigned argument = 0;
    number.getAsInteger(10, argument);
    auto own = kernel.getArgAttrOfType<IntegerAttr>(argument, accel::valueAttr);
    if (own && std::to_string(own.getInt()) != value)
      return refuse() << own.getInt() << " as argument " << argument
                      << ", and this launch has " << value << what;
  }
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (kernel.getArgAttr(i, accel::noaliasAttr) &&
        llvm::is_contained(overlapping, i))
      return refuse() << "an argument " << i
                      << " whose memory no other argument's overlaps with, as "
                         "this launch's does"
                      << what;
  return success();
}

} // namespace tilebridge::compiler
