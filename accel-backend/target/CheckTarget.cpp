//===- CheckTarget.cpp - whether a machine can be -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Read.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace tilebridge::accel {

namespace {

// The simulator keeps each PE and each engine with its state, some kilobytes.
constexpr int64_t mostPes = 1 << 16;
constexpr int64_t mostEngines = 1 << 18;

class Checker {
public:
  Checker(const Target &target, const ObjectReader &root, Mistakes &mistakes)
      : target(target), root(root), mistakes(mistakes) {}

  void check() {
    checkNames("memories", "memory");
    checkNames("dma", "DMA engine");
    checkNames("compute", "compute unit");
    checkGrid();
    checkMemories();
    checkEngines();
    checkUnits();
    checkReduction();
    // Each of the next ones reads what the ones before found in order.
    if (mistakes.empty())
      checkLocalMemory();
    if (mistakes.empty())
      checkReach();
    if (mistakes.empty())
      checkRates();
  }

private:
  void checkNames(llvm::StringRef key, llvm::StringRef what);
  void checkGrid();
  void checkMemories();
  void checkEngines();
  void checkUnits();
  void checkReduction();
  void checkLocalMemory();
  void checkReach();
  void checkRates();
  bool checkMemoryName(llvm::StringRef name, TextPlace place);

  const Target &target;
  const ObjectReader &root;
  Mistakes &mistakes;
};

void Checker::checkNames(llvm::StringRef key, llvm::StringRef what) {
  llvm::StringSet<> names;
  for (const ObjectReader &object : root.objects(key))
    if (!names.insert(object.text("name")).second)
      mistakes.add(object.placeOf("name"), "there is already a " + what +
                                               " called \"" +
                                               object.text("name") + "\"");
}

bool Checker::checkMemoryName(llvm::StringRef name, TextPlace place) {
  if (target.findMemory(name))
    return true;
  std::string known;
  for (const Memory &memory : target.memories)
    known += (known.empty() ? "\"" : ", \"") + memory.name + "\"";
  mistakes.add(place,
               "there is no memory \"" + name + "\"; there are " + known);
  return false;
}

void Checker::checkGrid() {
  int64_t pes = target.grid.count();
  if (pes > mostPes)
    mistakes.add(root.placeOf("grid"),
                 "a grid of " + llvm::Twine(target.grid.rows) + " rows and " +
                     llvm::Twine(target.grid.columns) + " columns has " +
                     llvm::Twine(pes) +
                     " PEs; the simulator, which keeps the "
                     "state of each, has room for " +
                     llvm::Twine(mostPes));
}

void Checker::checkMemories() {
  bool wasLocal = false;
  for (auto [memory, object] :
       llvm::zip(target.memories, root.objects("memories"))) {
    if (memory.bytes % memory.alignmentBytes != 0)
      mistakes.add(object.placeOf("size_bytes"),
                   "the size is not a multiple of the alignment");
    if (memory.bytes % memory.banks != 0)
      mistakes.add(object.placeOf("banks"), "the size cannot be divided into " +
                                                llvm::Twine(memory.banks) +
                                                " banks");
    if (wasLocal && memory.scope != Scope::Pe)
      mistakes.add(object.place(),
                   "memories are listed from far to near: a memory of the "
                   "scope \"" +
                       nameOf(memory.scope) +
                       "\" does not come after one that a PE has for itself");
    wasLocal |= memory.scope == Scope::Pe;
  }
  TextPlace place = root.placeOf("tensors_in");
  if (checkMemoryName(target.tensorsIn, place) &&
      target.findMemory(target.tensorsIn)->scope != Scope::Chip)
    mistakes.add(place, "kernel arguments are in a memory of the scope "
                        "\"chip\", which \"" +
                            target.tensorsIn + "\" is not");
}

void Checker::checkEngines() {
  for (auto [engine, object] : llvm::zip(target.engines, root.objects("dma"))) {
    int64_t count = target.instances(engine.scope) * int64_t(engine.count);
    if (engine.count > 1 && count > mostEngines)
      mistakes.add(object.placeOf("count"),
                   "all PEs together have " + llvm::Twine(count) +
                       " engines \"" + engine.name +
                       "\"; the simulator, which keeps the state of each, has "
                       "room for " +
                       llvm::Twine(mostEngines));
    for (const ObjectReader &path : object.objects("paths")) {
      checkMemoryName(path.text("from"), path.placeOf("from"));
      checkMemoryName(path.text("to"), path.placeOf("to"));
    }
  }
}

void Checker::checkUnits() {
  for (auto [unit, object] : llvm::zip(target.units, root.objects("compute"))) {
    const JsonNode *names = object.find("operands_in");
    for (const JsonNode &name : names->elements)
      checkMemoryName(name.text, name.place);
    size_t sizes = unit.tile.size();
    if (sizes > 1 && sizes != 3)
      mistakes.add(object.placeOf("tile_elements"),
                   "the tile of a unit has one size, elements, or three: "
                   "rows, columns and depth of a product");
  }
}

void Checker::checkReduction() {
  static constexpr llvm::StringLiteral kinds[] = {"add", "mul", "min", "max",
                                                  "and", "or",  "xor"};
  for (const ObjectReader &object : root.objects("reduction"))
    for (const JsonNode &kind : object.find("kinds")->elements)
      if (!llvm::is_contained(kinds, llvm::StringRef(kind.text)))
        mistakes.add(kind.place,
                     "\"" + kind.text +
                         "\" is no way to combine; there are \"add\", "
                         "\"mul\", \"min\", \"max\", \"and\", \"or\", \"xor\"");
}

void Checker::checkLocalMemory() {
  bool hasLocal = llvm::any_of(target.memories, [&](const Memory &memory) {
    return memory.scope == Scope::Pe &&
           llvm::all_of(target.units, [&](const ComputeUnit &unit) {
             return unit.reads(memory.name);
           });
  });
  if (!hasLocal)
    mistakes.add(root.placeOf("compute"),
                 "no memory of the scope \"pe\" is in \"operands_in\" of every "
                 "compute unit, so that there is none to compute in");
  if (!hasLocal)
    return;
  // What passes call the memory that PEs compute in.
  const std::string &name = target.localMemory().name;
  for (const ObjectReader &memory : root.objects("memories"))
    if (memory.text("name") == "local" && name != "local")
      mistakes.add(memory.placeOf("name"),
                   "\"local\" is the name that kernels have for the memory "
                   "that PEs compute in, here \"" +
                       name + "\"; call this one otherwise");
}

/// Every memory must have a way in and out; and a tensor one to the local
/// memory and back.
void Checker::checkReach() {
  for (auto [memory, object] :
       llvm::zip(target.memories, root.objects("memories"))) {
    llvm::StringRef name = memory.name;
    bool isReached = llvm::any_of(target.engines, [&](const DmaEngine &engine) {
      return llvm::any_of(engine.paths, [&](const Path &path) {
        return path.from == name || path.to == name;
      });
    });
    if (!isReached)
      mistakes.add(object.place(),
                   "no engine reaches the memory \"" + name + "\"");
  }
  const std::string &local = target.localMemory().name;
  for (const Memory &memory : target.memories) {
    if (memory.scope == Scope::Chip) {
      for (auto [from, to] :
           {std::pair(memory.name, local), std::pair(local, memory.name)})
        if (!target.findEngine(from, to) && mistakes.empty())
          mistakes.add(root.placeOf("dma"), "no engine copies from \"" + from +
                                                "\" to \"" + to + "\"");
    }
    if (memory.name == target.tensorsIn)
      break;
  }
}

void Checker::checkRates() {
  bool hasAll = llvm::any_of(target.units, [&](const ComputeUnit &unit) {
    return unit.rate("no class", "no type") > 0;
  });
  if (!hasAll)
    mistakes.add(root.placeOf("compute"),
                 "no compute unit has a rate for \"any\" operation on \"any\" "
                 "type, which stands for all that no unit names");
}

} // namespace

void checkTarget(const Target &target, const ObjectReader &root,
                 Mistakes &mistakes) {
  Checker(target, root, mistakes).check();
}

} // namespace tilebridge::accel
