//===- Assignment.h - which program a PE runs -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What `accel.program` gives, in one place: the passes that prove something of
// it and what runs it must agree, also for PEs that have no program.
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelDialect.h"

#include <array>

namespace tilebridge::accel {

/// On a kernel: how many neighbours of the launch grid are run as one program,
/// by dimension, x first. On the loop over them: the same.
constexpr llvm::StringLiteral mergeAttr = "accel.merge";

/// How many programs are one, by dimension.
using Merge = std::array<int64_t, 3>;
constexpr Merge unmerged = {1, 1, 1};

inline int64_t countOf(const Merge &merge) {
  return merge[0] * merge[1] * merge[2];
}

/// What a value of `accel.merge` says; none where it is not three numbers
/// above 0, or too many together.
std::optional<Merge> readMerge(mlir::Attribute value);

/// What is said of a kernel or a loop; all ones without the attribute.
Merge mergeOf(mlir::Operation *op);

/// A launch grid with neighbours as one: where their number does not divide
/// it, the last ones are fewer.
std::array<int64_t, 3> merged(const std::array<int64_t, 3> &launch,
                              const Merge &merge);

/// The grid of PEs, and that of the launch, x first; of merged programs where
/// neighbours are merged.
struct Grids {
  int64_t rows = 1, columns = 1;
  std::array<int64_t, 3> launch = {1, 1, 1};

  int64_t pes() const { return rows * columns; }
  int64_t programs() const { return launch[0] * launch[1] * launch[2]; }
};

/// The turn of one PE. Where it is not active, the ids are those of another
/// program: the last one where programs are numbered, each id at most the last
/// of its dimension where dimensions are mapped, the one that a table names.
struct Turn {
  std::array<int64_t, 3> id;
  bool active;
};

/// A table's entry is the number of a program, x first, or -1 - p: none, and
/// the ids are those of program p.
Turn turnOf(AssignmentAttr assignment, const Grids &grids, int64_t step,
            int64_t row, int64_t column);

/// How many steps it takes until each program has had its turn.
int64_t stepsOf(AssignmentAttr assignment, const Grids &grids);

} // namespace tilebridge::accel
