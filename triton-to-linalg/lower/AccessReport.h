//===- AccessReport.h - what became of an access, told as a remark -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A report becomes a remark of the context's engine (triton-to-linalg/
// AccessRemark.h) and, where the access stepped down, a diagnostic.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/AccessRemark.h"
#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include <string>

namespace tilebridge::ttl {

struct AccessReport {
  mlir::Operation *op = nullptr;
  llvm::StringRef form;
  /// The form in programs whose block wraps around at a modulo; empty: the
  /// same.
  llvm::StringRef fallback;
  mlir::Type type; // of the value, a scalar or a tensor
  std::string base, offset;
  llvm::SmallVector<std::string> strides, mask;
  /// Empty where nothing was lost.
  Reason reason;
};

/// Whether anybody reads what is beside form and reason.
bool wantsAccessReports(mlir::Operation *op);

/// What is linear of an offset: `offset` and a stride a dimension, "?" where
/// that differs from lane to lane. With `isSplit` a linear case tells of two
/// dimensions.
void describeOffset(AccessReport &report, mlir::Value base,
                    const TensorForm &offset, bool isSplit = false);

void reportAccess(const AccessReport &report);

/// The location for what an access becomes: with a note of what was lost, if
/// anything was (triton-to-linalg/bridge/AccessNote.h).
mlir::Location locationOf(const AccessReport &report);

/// An access whose form is given by its operation alone.
/// `base` is a scalar pointer, or a descriptor with the indices of a block.
void reportAccess(mlir::Operation *op, llvm::StringRef form, mlir::Type type,
                  mlir::Value base, mlir::ValueRange indices = {});

} // namespace tilebridge::ttl
