//===- AccessNote.h - why an access is no box of a view --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The op's location carries it (a fused location with metadata), so that what a
// backend makes of the op keeps it without knowing of it.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Location.h"

#include <optional>
#include <string>

namespace tilebridge::linalg_ext {

/// On a load that the second branch of an `scf.if` gives: that branch always
/// may be taken, and where it is not, the first one gives the same.
inline constexpr llvm::StringLiteral sameLoadAttr = "tilebridge.same_load";

struct AccessNote {
  std::string form;   // "element gather"
  std::string reason; // "the offset is not linear: it depends on ..."
  /// The operation of the source that it comes from, with its place; empty
  /// where there is none.
  std::string cause;
};

/// The location, with a note in place of the one that it had.
mlir::Location withAccessNote(mlir::Location loc, const AccessNote &note);

std::optional<AccessNote> accessNoteOf(mlir::Location loc);

} // namespace tilebridge::linalg_ext
