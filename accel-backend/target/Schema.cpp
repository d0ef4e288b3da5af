//===- Schema.cpp - the keys of a target's file ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Schema.h"

#include "accel-backend/target/Target.h"

#include "llvm/ADT/STLExtras.h"

namespace tilebridge::accel {

namespace {

constexpr double most = 1e15;

constexpr llvm::StringLiteral scopes[] = {"chip", "row", "column", "pe"};
constexpr llvm::StringLiteral engineScopes[] = {"chip", "pe"};
constexpr llvm::StringLiteral lines[] = {"none", "rows", "columns", "both"};

constexpr FieldSchema gridFields[] = {
    {"rows", FieldKind::Integer, true,
     "Rows of PEs; there are 65536 PEs at most", 1, 4096},
    {"columns", FieldKind::Integer, true, "Columns of PEs", 1, 4096},
};
constexpr ObjectSchema gridSchema = {"the grid", gridFields};

constexpr FieldSchema memoryFields[] = {
    {"name", FieldKind::Text, true,
     "What reports and other keys call it; \"local\" may only be the one that "
     "PEs compute in"},
    {"scope", FieldKind::Choice, true,
     "Who shares one: the chip, a row or a column of PEs, or nobody", 0, 0,
     scopes},
    {"size_bytes", FieldKind::Integer, true, "Of one instance", 1, most},
    {"alignment_bytes",
     FieldKind::Integer,
     false,
     "What buffers begin at multiples of, a power of two",
     1,
     1 << 20,
     {},
     nullptr,
     "1"},
    {"banks",
     FieldKind::Integer,
     false,
     "Parts that are reached at the same time, each a consecutive range",
     1,
     4096,
     {},
     nullptr,
     "1"},
    {"bandwidth_bytes_per_cycle", FieldKind::Number, false,
     "Of one instance, reads and writes together; or give the next two", 1e-9,
     most},
    {"read_bandwidth_bytes_per_cycle", FieldKind::Number, false,
     "Of reads, where writes have a port of their own", 1e-9, most},
    {"write_bandwidth_bytes_per_cycle", FieldKind::Number, false,
     "Of writes, where reads have a port of their own", 1e-9, most},
    {"latency_cycles", FieldKind::Number, true,
     "From a request to its first byte", 0, 1e9},
};
constexpr ObjectSchema memorySchema = {"a memory", memoryFields};

constexpr FieldSchema pathFields[] = {
    {"from", FieldKind::Text, true, "The memory that is read"},
    {"to", FieldKind::Text, true, "The memory that is written"},
};
constexpr ObjectSchema pathSchema = {"a path", pathFields};

constexpr FieldSchema engineFields[] = {
    {"name", FieldKind::Text, true, "What reports call it"},
    {"scope", FieldKind::Choice, true,
     "Whether each PE has its own or all share them", 0, 0, engineScopes},
    {"count",
     FieldKind::Integer,
     false,
     "Engines in one instance of the scope",
     1,
     4096,
     {},
     nullptr,
     "1"},
    {"paths",
     FieldKind::Objects,
     true,
     "The directions it copies in, each `{\"from\": memory, \"to\": memory}`",
     0,
     0,
     {},
     &pathSchema},
    {"max_dims", FieldKind::Integer, true,
     "Dimensions of a descriptor, the contiguous one included", 1, 16},
    {"max_stride_bytes",
     FieldKind::Integer,
     false,
     "Largest distance between neighbours in a dimension",
     1,
     most,
     {},
     nullptr,
     "no limit"},
    {"max_sizes_elements",
     FieldKind::Sizes,
     false,
     "Largest extents, innermost first; the last one holds for all beyond it",
     1,
     most,
     {},
     nullptr,
     "no limit"},
    {"alignment_bytes",
     FieldKind::Integer,
     false,
     "What addresses, strides and innermost extents are multiples of, a power "
     "of two",
     1,
     1 << 20,
     {},
     nullptr,
     "1"},
    {"stride_zero",
     FieldKind::Flag,
     false,
     "Whether a dimension may read the same elements again",
     0,
     0,
     {},
     nullptr,
     "false"},
    {"queue_depth_transfers",
     FieldKind::Integer,
     false,
     "Transfers that it holds, the one under way included; a PE that starts "
     "one more waits",
     1,
     65536,
     {},
     nullptr,
     "1"},
    {"bandwidth_bytes_per_cycle", FieldKind::Number, true, "Of one engine",
     1e-9, most},
    {"setup_cycles",
     FieldKind::Number,
     false,
     "That a descriptor takes before its first byte",
     0,
     1e9,
     {},
     nullptr,
     "0"},
    {"padding",
     FieldKind::Flag,
     false,
     "Whether it writes a value around a box that it copies",
     0,
     0,
     {},
     nullptr,
     "false"},
    {"indexed",
     FieldKind::Flag,
     false,
     "Whether it gathers and scatters by a list of indices",
     0,
     0,
     {},
     nullptr,
     "false"},
    {"accumulate",
     FieldKind::Flag,
     false,
     "Whether it adds to what it writes to",
     0,
     0,
     {},
     nullptr,
     "false"},
    {"multicast", FieldKind::Choice, false,
     "Lines of PEs that one read can serve", 0, 0, lines, nullptr, "none"},
};
constexpr ObjectSchema engineSchema = {"a DMA engine", engineFields};

constexpr FieldSchema reductionFields[] = {
    {"lines", FieldKind::Choice, true, "Lines of PEs that it runs along", 0, 0,
     lines},
    {"kinds", FieldKind::Texts, true,
     "What it combines with: add, mul, min, max, and, or, xor"},
    {"bandwidth_bytes_per_cycle", FieldKind::Number, true,
     "Of a link between neighbours", 1e-9, most},
    {"latency_cycles", FieldKind::Number, true, "Of a link", 0, 1e9},
};
constexpr ObjectSchema reductionSchema = {"the reduction network",
                                          reductionFields};

constexpr FieldSchema unitFields[] = {
    {"name", FieldKind::Text, true, "What reports call it, such as matrix"},
    {"operations_per_cycle", FieldKind::Rates, true,
     "By class of operations, then by element type; \"any\" stands for all "
     "that are not named. A multiplication with its addition counts as two"},
    {"tile_elements",
     FieldKind::Sizes,
     false,
     "What work is rounded up to: rows, columns and depth of a product, or "
     "elements of a vector",
     1,
     65536,
     {},
     nullptr,
     "1"},
    {"operands_in", FieldKind::Texts, true,
     "The memories that its operands and results may be in"},
    {"startup_cycles",
     FieldKind::Number,
     false,
     "That an operation on a block takes beside its work",
     0,
     1e9,
     {},
     nullptr,
     "0"},
};
constexpr ObjectSchema unitSchema = {"a compute unit", unitFields};

constexpr FieldSchema fields[] = {
    {"name", FieldKind::Text, true,
     "The target's name; files are found as NAME.json"},
    {"description", FieldKind::Text, false, "For readers"},
    {"clock_GHz", FieldKind::Number, true,
     "The clock that all cycles of the file are of", 1e-6, 1000},
    {"grid",
     FieldKind::Object,
     true,
     "The processing elements",
     0,
     0,
     {},
     &gridSchema},
    {"memories",
     FieldKind::Objects,
     true,
     "From the farthest to the nearest",
     0,
     0,
     {},
     &memorySchema},
    {"tensors_in", FieldKind::Text, true,
     "The memory of kernel arguments; those that do not fit are in the next "
     "farther one"},
    {"dma",
     FieldKind::Objects,
     true,
     "The engines that copy",
     0,
     0,
     {},
     &engineSchema},
    {"reduction",
     FieldKind::Object,
     false,
     "The network that combines buffers of PEs in a line",
     0,
     0,
     {},
     &reductionSchema,
     "no such network"},
    {"compute",
     FieldKind::Objects,
     true,
     "What a PE computes with",
     0,
     0,
     {},
     &unitSchema},
    {"launch_cycles",
     FieldKind::Number,
     false,
     "From a launch to the first instruction",
     0,
     1e9,
     {},
     nullptr,
     "0"},
    {"barrier_cycles",
     FieldKind::Number,
     false,
     "From the last arrival at a barrier to the first that goes on",
     0,
     1e9,
     {},
     nullptr,
     "0"},
};
constexpr ObjectSchema schema = {"the target", fields};

} // namespace

const ObjectSchema &targetSchema() { return schema; }

llvm::ArrayRef<llvm::StringLiteral> rateTypes() {
  static constexpr llvm::StringLiteral types[] = {
      "f64", "f32", "bf16", "f16", "f8", "i64", "i32", "i16", "i8", "any"};
  return types;
}

llvm::ArrayRef<llvm::StringLiteral> rateOperations() {
  static constexpr llvm::StringLiteral classes[] = {
      operations::matmul, operations::elementwise, operations::division,
      operations::math,   operations::reduction,   operations::move,
      operations::scalar, operations::any};
  return classes;
}

bool FieldSchema::isFigure() const {
  switch (kind) {
  case FieldKind::Integer:
  case FieldKind::Number:
  case FieldKind::Flag:
  case FieldKind::Sizes:
  case FieldKind::Rates:
    return true;
  case FieldKind::Choice:
    return key == "multicast" || key == "lines";
  default:
    return false;
  }
}

const FieldSchema *ObjectSchema::find(llvm::StringRef key) const {
  const FieldSchema *found = llvm::find_if(
      fields, [&](const FieldSchema &field) { return field.key == key; });
  return found == fields.end() ? nullptr : found;
}

/// A key and its unit: "latency" and "cycles". Units stand after the last word
/// that is none.
static std::pair<llvm::StringRef, llvm::StringRef>
splitUnit(llvm::StringRef key) {
  static constexpr llvm::StringLiteral units[] = {"_bytes_per_cycle",
                                                  "_GBps",
                                                  "_GB_per_s",
                                                  "_GB_per_second",
                                                  "_TBps",
                                                  "_bytes",
                                                  "_KB",
                                                  "_kb",
                                                  "_KiB",
                                                  "_MB",
                                                  "_MiB",
                                                  "_GB",
                                                  "_bits",
                                                  "_cycles",
                                                  "_ns",
                                                  "_us",
                                                  "_ms",
                                                  "_s",
                                                  "_GHz",
                                                  "_MHz",
                                                  "_Hz",
                                                  "_B",
                                                  "_transfers",
                                                  "_elements",
                                                  "_per_cycle"};
  for (llvm::StringRef unit : units)
    if (key.size() > unit.size() && key.ends_with(unit))
      return {key.drop_back(unit.size()), unit.drop_front()};
  return {key, ""};
}

std::string suggestKey(const ObjectSchema &schema, llvm::StringRef key) {
  auto [stem, unit] = splitUnit(key);
  const FieldSchema *nearest = nullptr;
  unsigned least = std::max<size_t>(2, key.size() / 3) + 1;
  for (const FieldSchema &field : schema.fields) {
    auto [fieldStem, fieldUnit] = splitUnit(field.key);
    if (fieldStem == stem && fieldUnit != unit && !fieldUnit.empty())
      return (unit.empty() ? "keys name their unit: write \""
                           : "this unit is not used here: write \"") +
             field.key.str() + "\"";
    unsigned distance = key.edit_distance(field.key, true, least);
    if (distance < least) {
      least = distance;
      nearest = &field;
    }
  }
  return nearest ? "did you mean \"" + nearest->key.str() + "\"?"
                 : std::string();
}

} // namespace tilebridge::accel
