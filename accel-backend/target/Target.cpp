//===- Target.cpp - what an accelerator is made of ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Target.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tilebridge::accel {

llvm::StringRef nameOf(Scope scope) {
  static constexpr llvm::StringLiteral names[] = {"chip", "row", "column",
                                                  "pe"};
  return names[unsigned(scope)];
}

llvm::StringRef nameOf(Lines lines) {
  static constexpr llvm::StringLiteral names[] = {"none", "rows", "columns",
                                                  "both"};
  return names[unsigned(lines)];
}

bool DmaEngine::copies(llvm::StringRef from, llvm::StringRef to) const {
  return llvm::any_of(paths, [&](const Path &path) {
    return path.from == from && path.to == to;
  });
}

bool Reduction::supports(llvm::StringRef kind) const {
  return lines != Lines::None && llvm::is_contained(kinds, kind);
}

double ComputeUnit::rate(llvm::StringRef operations,
                         llvm::StringRef type) const {
  for (llvm::StringRef named : {operations, llvm::StringRef("any")}) {
    auto types = rates.find(named);
    if (types == rates.end())
      continue;
    for (llvm::StringRef one : {type, llvm::StringRef("any")}) {
      auto found = types->second.find(one);
      if (found != types->second.end())
        return found->second;
    }
  }
  return 0;
}

bool ComputeUnit::reads(llvm::StringRef memory) const {
  return llvm::is_contained(operandsIn, memory);
}

const Memory *Target::findMemory(llvm::StringRef name) const {
  auto found = llvm::find_if(
      memories, [&](const Memory &memory) { return memory.name == name; });
  return found == memories.end() ? nullptr : &*found;
}

const Memory &Target::localMemory() const {
  for (const Memory &memory : llvm::reverse(memories))
    if (memory.scope == Scope::Pe &&
        llvm::all_of(units, [&](const ComputeUnit &unit) {
          return unit.reads(memory.name);
        }))
      return memory;
  return memories.back(); // Not for a target that was read from a file.
}

const Memory &Target::tensorMemory(uint64_t bytes) const {
  const Memory *best = findMemory(tensorsIn);
  for (const Memory *memory = best; memory && memory >= memories.data();
       --memory) {
    best = memory;
    if (memory->bytes >= bytes)
      break;
  }
  return best ? *best : memories.front();
}

const DmaEngine *Target::findEngine(llvm::StringRef from,
                                    llvm::StringRef to) const {
  auto found = llvm::find_if(engines, [&](const DmaEngine &engine) {
    return engine.copies(from, to);
  });
  return found == engines.end() ? nullptr : &*found;
}

const ComputeUnit &Target::unitFor(llvm::StringRef operations,
                                   llvm::StringRef type) const {
  return *std::max_element(units.begin(), units.end(),
                           [&](const ComputeUnit &a, const ComputeUnit &b) {
                             return a.rate(operations, type) <
                                    b.rate(operations, type);
                           });
}

int64_t Target::instances(Scope scope) const {
  switch (scope) {
  case Scope::Chip:
    return 1;
  case Scope::Row:
    return grid.rows;
  case Scope::Column:
    return grid.columns;
  case Scope::Pe:
    return grid.count();
  }
  return 1;
}

int64_t Target::instanceOf(Scope scope, int64_t row, int64_t column) const {
  switch (scope) {
  case Scope::Chip:
    return 0;
  case Scope::Row:
    return row;
  case Scope::Column:
    return column;
  case Scope::Pe:
    return row * grid.columns + column;
  }
  return 0;
}

} // namespace tilebridge::accel
