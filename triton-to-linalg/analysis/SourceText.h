//===- SourceText.h - expressions and operations for the author ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include <string>

namespace tilebridge::ttl {

/// The name that the kernel's source gives a value: its variable, a parameter,
/// "pid(0)"; empty if there is none.
std::string nameOf(mlir::Value value);

/// A uniform expression as its author would write it, such as
/// "stride_am*pid_m"; what has no name is "?".
std::string textOf(const Expr *expr);
/// The same for an integer of the program.
std::string textOf(mlir::Value scalar);

/// A mask by its parts: "i0 < n - start" for a bound of dimension 0.
llvm::SmallVector<std::string> textsOf(const MaskForm &mask);

/// An operation in words of the kernel's language: "values loaded from memory",
/// "'^'", "tl.where".
std::string describe(mlir::Operation *op);

} // namespace tilebridge::ttl
