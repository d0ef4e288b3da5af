//===- AccessText.h - a transfer, for the kernel's author -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/bridge/AccessNote.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"

namespace tilebridge::accel {

/// What the kernel's author calls a value; empty where that is not known.
llvm::StringRef nameIn(mlir::Location loc);

/// "kernel.py:7", the innermost place in the kernel; empty where there is none.
std::string placeIn(mlir::Location loc);

/// What a report says of a transfer, an accel.copy or accel.copy_start.
struct AccessText {
  std::string line, tensor; // each empty where that is not known
  bool isLoad = false;
  /// The form, and where it is no box of a view why not.
  linalg_ext::AccessNote note;

  explicit AccessText(mlir::Operation *transfer);
  /// "line", "tensor", "direction", "form", "reason" and "cause"; null where
  /// that is not known, the last two only where there is a reason.
  llvm::json::Object json() const;
};

} // namespace tilebridge::accel
