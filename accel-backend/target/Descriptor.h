//===- Descriptor.h - what an engine can do in one go ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/target/Target.h"

#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <optional>
#include <string>

namespace tilebridge::accel {

/// A size or a stride that is not known; MLIR has the same number for it.
constexpr int64_t unknownExtent = std::numeric_limits<int64_t>::min();

/// A box of elements that is copied, as far as it is known: two sides of the
/// same sizes.
struct Box {
  uint64_t elementBytes = 1;
  /// Of each dimension the most that its size can be, and whether that is its
  /// size.
  llvm::SmallVector<int64_t> most;
  llvm::SmallVector<bool> isExact;
  /// In elements.
  llvm::SmallVector<int64_t> sourceStrides, destStrides;
};

/// A dimension that has to be copied in parts, of so many positions at most.
struct Piece {
  int64_t dimension, size;
};

/// What has to be taken apart first for one descriptor of the engine to say the
/// rest; none where it says all. Strides that are not known are taken to be
/// good. `why` gets what the descriptor cannot say.
std::optional<Piece> nextPiece(const Box &box, const DmaEngine &engine,
                               std::string *why = nullptr);

/// True if one descriptor of the engine says all of a box whose positions in
/// the dimension `indexed`, if there is one, come from a list. The list is a
/// dimension of the descriptor, and no stride.
bool isOneDescriptor(Box box, std::optional<int64_t> indexed,
                     const DmaEngine &engine, std::string *why = nullptr);

} // namespace tilebridge::accel
