//===- ReadTarget.cpp - from a file to a target ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Read.h"

#include "llvm/Support/Errc.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tilebridge::accel {

template <typename EnumT>
static EnumT choiceOf(const ObjectReader &object, llvm::StringRef key,
                      EnumT otherwise, std::initializer_list<EnumT> all) {
  std::string text = object.text(key);
  for (EnumT one : all)
    if (nameOf(one) == text)
      return one;
  return otherwise;
}

static Scope scopeOf(const ObjectReader &object) {
  return choiceOf(object, "scope", Scope::Chip,
                  {Scope::Chip, Scope::Row, Scope::Column, Scope::Pe});
}

static Lines linesOf(const ObjectReader &object, llvm::StringRef key) {
  return choiceOf(object, key, Lines::None,
                  {Lines::None, Lines::Rows, Lines::Columns, Lines::Both});
}

static Memory readMemory(const ObjectReader &object, Mistakes &mistakes) {
  Memory memory;
  memory.name = object.text("name");
  memory.scope = scopeOf(object);
  memory.bytes = uint64_t(object.number("size_bytes"));
  memory.alignmentBytes = uint64_t(object.number("alignment_bytes", 1));
  memory.banks = unsigned(object.number("banks", 1));
  memory.latencyCycles = object.number("latency_cycles");
  bool hasShared = object.find("bandwidth_bytes_per_cycle") != nullptr;
  memory.isPortShared = hasShared;
  double shared = object.number("bandwidth_bytes_per_cycle");
  memory.readBytesPerCycle =
      hasShared ? shared : object.number("read_bandwidth_bytes_per_cycle");
  memory.writeBytesPerCycle =
      hasShared ? shared : object.number("write_bandwidth_bytes_per_cycle");
  // A value that is wrong has been reported, and is no missing one.
  bool givesShared = object.isGiven("bandwidth_bytes_per_cycle");
  bool givesRead = object.isGiven("read_bandwidth_bytes_per_cycle");
  bool givesWrite = object.isGiven("write_bandwidth_bytes_per_cycle");
  if (givesShared ? givesRead || givesWrite : !givesRead || !givesWrite)
    mistakes.add(object.place(),
                 "a memory has either \"bandwidth_bytes_per_cycle\" or both "
                 "\"read_bandwidth_bytes_per_cycle\" and "
                 "\"write_bandwidth_bytes_per_cycle\"");
  return memory;
}

static DmaEngine readEngine(const ObjectReader &object) {
  DmaEngine engine;
  engine.name = object.text("name");
  engine.scope = scopeOf(object);
  engine.count = unsigned(object.number("count", 1));
  for (const ObjectReader &path : object.objects("paths"))
    engine.paths.push_back({path.text("from"), path.text("to")});
  engine.maxDims = unsigned(object.number("max_dims", 1));
  engine.maxStrideBytes = uint64_t(object.number("max_stride_bytes"));
  if (const JsonNode *sizes = object.find("max_sizes_elements"))
    for (const JsonNode &size : sizes->elements)
      engine.maxSizes.push_back(uint64_t(size.number));
  engine.alignmentBytes = uint64_t(object.number("alignment_bytes", 1));
  engine.strideZero = object.flag("stride_zero");
  engine.queueDepth = unsigned(object.number("queue_depth_transfers", 1));
  engine.bytesPerCycle = object.number("bandwidth_bytes_per_cycle");
  engine.setupCycles = object.number("setup_cycles");
  engine.padding = object.flag("padding");
  engine.indexed = object.flag("indexed");
  engine.accumulate = object.flag("accumulate");
  engine.multicast = linesOf(object, "multicast");
  return engine;
}

static ComputeUnit readUnit(const ObjectReader &object) {
  ComputeUnit unit;
  unit.name = object.text("name");
  if (const JsonNode *rates = object.find("operations_per_cycle"))
    for (const JsonNode::Member &operation : rates->members)
      for (const JsonNode::Member &type : operation.value.members)
        unit.rates[operation.key][type.key] = type.value.number;
  if (const JsonNode *tile = object.find("tile_elements"))
    for (const JsonNode &size : tile->elements)
      unit.tile.push_back(int64_t(size.number));
  unit.operandsIn = object.texts("operands_in");
  unit.startupCycles = object.number("startup_cycles");
  return unit;
}

static Target readObject(const ObjectReader &root, Mistakes &mistakes) {
  Target target;
  target.name = root.text("name");
  target.description = root.text("description");
  target.clockGHz = root.number("clock_GHz", 1);
  for (const ObjectReader &grid : root.objects("grid"))
    target.grid = {int64_t(grid.number("rows", 1)),
                   int64_t(grid.number("columns", 1))};
  for (const ObjectReader &memory : root.objects("memories"))
    target.memories.push_back(readMemory(memory, mistakes));
  target.tensorsIn = root.text("tensors_in");
  for (const ObjectReader &engine : root.objects("dma"))
    target.engines.push_back(readEngine(engine));
  for (const ObjectReader &reduction : root.objects("reduction"))
    target.reduction = {linesOf(reduction, "lines"), reduction.texts("kinds"),
                        reduction.number("bandwidth_bytes_per_cycle"),
                        reduction.number("latency_cycles")};
  for (const ObjectReader &unit : root.objects("compute"))
    target.units.push_back(readUnit(unit));
  target.launchCycles = root.number("launch_cycles");
  target.barrierCycles = root.number("barrier_cycles");
  return target;
}

llvm::Expected<Target> parseTarget(llvm::StringRef text,
                                   llvm::StringRef fileName,
                                   ReadOptions options) {
  Mistakes mistakes(fileName);
  JsonNode node;
  TextError error;
  Target target;
  if (!parseJson(text, node, error)) {
    mistakes.add(error.place, error.message);
  } else if (node.kind != JsonNode::Kind::Object) {
    mistakes.add(node.place, "a target is an object, not " + node.kindName());
  } else {
    ObjectReader root(node, targetSchema(), mistakes, options.wantsSources);
    target = readObject(root, mistakes);
    // What is half read would give mistakes that are none.
    if (mistakes.empty())
      checkTarget(target, root, mistakes);
  }
  if (mistakes.empty())
    return target;
  return llvm::createStringError(llvm::errc::invalid_argument, "%s",
                                 mistakes.text().c_str());
}

llvm::Expected<Target> readTargetFile(llvm::StringRef path,
                                      ReadOptions options) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(
        buffer.getError(), "%s: error: cannot be read: %s", path.str().c_str(),
        buffer.getError().message().c_str());
  return parseTarget((*buffer)->getBuffer(), path, options);
}

} // namespace tilebridge::accel
