//===- Specialize.h - what is known of a launch ---------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tilebridge::accel {

/// On an integer argument: the value that the kernel was specialized for.
constexpr llvm::StringLiteral valueAttr = "accel.value";

/// Facts about a launch. What is not here stays as it is: the kernel then works
/// for every launch. Arguments go by their numbers in the function.
struct LaunchFacts {
  std::optional<std::array<int64_t, 3>> grid;
  std::map<unsigned, int64_t> integers;
  /// Pointers whose memory overlaps with that of no other argument.
  std::set<unsigned> noalias;
  /// The target's memory that a pointer's memory is in.
  std::map<unsigned, std::string> placed;
  /// What the lowering leaves away, for a comparison: more buffers of a load
  /// than these (0: none is left away), and multicasts.
  int64_t mostDepth = 0;
  bool isUnicast = false;
  /// How many neighbours of the launch grid are run as one, by dimension;
  /// empty: one.
  llvm::SmallVector<int64_t, 3> merge;
};

/// Makes constants of integer arguments and of the grid, and attributes of
/// the other facts. Fails, with an error at the function, where a fact does not
/// fit the argument.
mlir::LogicalResult specialize(mlir::func::FuncOp kernel,
                               const LaunchFacts &facts);

} // namespace tilebridge::accel
