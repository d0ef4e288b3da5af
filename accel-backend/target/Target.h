//===- Target.h - what an accelerator is made of ----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The machine that a JSON file describes (docs/accel-target.md lists its keys).
// All times are cycles of the machine's one clock, all sizes are bytes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilebridge::accel {

/// Who shares a memory or an engine: there is one for the chip, one for each
/// row or column of PEs, or one for each PE.
enum class Scope { Chip, Row, Column, Pe };

/// Which lines of PEs something runs along. A row is the PEs of one row index.
enum class Lines { None, Rows, Columns, Both };

inline bool hasRows(Lines lines) {
  return lines == Lines::Rows || lines == Lines::Both;
}
inline bool hasColumns(Lines lines) {
  return lines == Lines::Columns || lines == Lines::Both;
}

struct Grid {
  int64_t rows = 1, columns = 1;
  int64_t count() const { return rows * columns; }
};

struct Memory {
  std::string name;
  Scope scope = Scope::Chip;
  uint64_t bytes = 0;
  uint64_t alignmentBytes = 1;
  unsigned banks = 1;
  /// Of one instance. Where reads and writes share one port both are its width.
  double readBytesPerCycle = 0, writeBytesPerCycle = 0;
  bool isPortShared = true;
  double latencyCycles = 0;
};

/// A direction that an engine copies in.
struct Path {
  std::string from, to;
};

struct DmaEngine {
  std::string name;
  Scope scope = Scope::Pe;
  /// Engines of this kind in each instance of the scope.
  unsigned count = 1;
  std::vector<Path> paths;
  /// Dimensions of a descriptor, the contiguous one included.
  unsigned maxDims = 1;
  /// Largest distance between neighbours of a dimension; 0: no limit.
  uint64_t maxStrideBytes = 0;
  /// Largest extents in elements, innermost first; the last one holds for all
  /// dimensions beyond. Empty: no limit.
  std::vector<uint64_t> maxSizes;
  /// Of addresses, of strides, and of the innermost extent in bytes.
  uint64_t alignmentBytes = 1;
  /// Whether a dimension may repeat its source.
  bool strideZero = false;
  /// Transfers that an engine holds, the one it works on included.
  unsigned queueDepth = 1;
  double bytesPerCycle = 0;
  double setupCycles = 0;
  /// What descriptors can say beside a box.
  bool padding = false, indexed = false, accumulate = false;
  Lines multicast = Lines::None;

  bool copies(llvm::StringRef from, llvm::StringRef to) const;
};

/// The network that combines buffers of neighbouring PEs.
struct Reduction {
  Lines lines = Lines::None;
  std::vector<std::string> kinds; // "add", "max", ...
  double bytesPerCycle = 0;
  double latencyCycles = 0;

  bool supports(llvm::StringRef kind) const;
};

struct ComputeUnit {
  std::string name;
  /// Operations a cycle by class of operations and element type.
  llvm::StringMap<llvm::StringMap<double>> rates;
  /// Sizes that work is rounded up to: m, n, k of products, or elements (of a
  /// product the columns). Empty: nothing is rounded.
  std::vector<int64_t> tile;
  /// Memories its operands may be in.
  std::vector<std::string> operandsIn;
  double startupCycles = 0;

  /// 0 where the unit does not do it. "any" as a class or type in the
  /// description stands for all that it does not name.
  double rate(llvm::StringRef operations, llvm::StringRef type) const;
  bool reads(llvm::StringRef memory) const;
};

/// The classes of operations that a rate is given for. A multiplication with
/// its addition is two operations.
namespace operations {
inline constexpr llvm::StringLiteral matmul = "matmul";
inline constexpr llvm::StringLiteral elementwise = "elementwise";
inline constexpr llvm::StringLiteral division = "division"; // and roots
inline constexpr llvm::StringLiteral math = "math"; // exp, log, sin, erf, ...
inline constexpr llvm::StringLiteral reduction = "reduction"; // and scans
inline constexpr llvm::StringLiteral move = "move";     // fill, transpose, copy
inline constexpr llvm::StringLiteral scalar = "scalar"; // control, addresses
inline constexpr llvm::StringLiteral any = "any";
} // namespace operations

struct Target {
  std::string name, description;
  double clockGHz = 1;
  Grid grid;
  /// Far to near.
  std::vector<Memory> memories;
  std::vector<DmaEngine> engines;
  Reduction reduction;
  std::vector<ComputeUnit> units;
  /// The memory of kernel arguments where they fit; else the next farther one.
  std::string tensorsIn;
  /// Cycles a launch takes before the first instruction runs.
  double launchCycles = 0;
  /// Cycles between the last arrival at a barrier and the first that goes on.
  double barrierCycles = 0;

  const Memory *findMemory(llvm::StringRef name) const;
  /// Where compute happens: the nearest memory of a PE's own that every unit
  /// reads.
  const Memory &localMemory() const;
  /// The memory of kernel arguments of so many bytes in total.
  const Memory &tensorMemory(uint64_t bytes) const;
  /// An engine that copies in this direction, or null.
  const DmaEngine *findEngine(llvm::StringRef from, llvm::StringRef to) const;
  /// The fastest unit for these operations on operands in the local memory;
  /// there always is one.
  const ComputeUnit &unitFor(llvm::StringRef operations,
                             llvm::StringRef type) const;
  /// How many instances of a scope the chip has, and which one a PE has.
  int64_t instances(Scope scope) const;
  int64_t instanceOf(Scope scope, int64_t row, int64_t column) const;
};

/// How strict the reader is about where figures come from.
struct ReadOptions {
  /// Each figure needs a source, or the word that it is assumed.
  bool wantsSources = false;
};

/// Reads a description. The error has one line a mistake:
/// `file:line:column: error: ...`.
llvm::Expected<Target> parseTarget(llvm::StringRef text,
                                   llvm::StringRef fileName,
                                   ReadOptions options = {});
llvm::Expected<Target> readTargetFile(llvm::StringRef path,
                                      ReadOptions options = {});

/// A target by what `--target=accel:` is followed by: a path to a file (it has
/// a slash or ends in .json), or the name of a file NAME.json in one of the
/// folders: TILEBRIDGE_TARGET_PATH's, the installed ones, those of this build.
llvm::Expected<Target> findTarget(llvm::StringRef nameOrPath);
/// Makes a description known by its name to findTarget, for the life of the
/// process; one of the same name is replaced.
llvm::Expected<Target> addTarget(llvm::StringRef text,
                                 llvm::StringRef fileName);
/// Names that findTarget knows, sorted.
std::vector<std::string> installedTargets();

llvm::StringRef nameOf(Scope scope);
llvm::StringRef nameOf(Lines lines);

} // namespace tilebridge::accel
