//===- RepeatedLanes.h - elements next to themselves ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"
#include "cpu-backend/emit/View.h"

namespace tilebridge::cpu {

/// A block whose rows have each element of those of `source` so many times, a
/// power of two, one next to the other: a word of eight weights for each.
struct RepeatedLanes {
  mlir::Value source;
  int64_t times;

  /// Nothing if `op` is no such block.
  static std::optional<RepeatedLanes> match(mlir::Operation *op);

  /// So many lanes from the given indices on, along the last dimension, where
  /// the last index is a multiple of the lanes' number or of `times`.
  mlir::Value evaluate(Emitter &emitter, llvm::ArrayRef<Index> indices,
                       int64_t lanes, mlir::Location loc) const;
};

} // namespace tilebridge::cpu
