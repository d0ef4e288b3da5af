//===- AccessRemark.h - the remark that every access leaves --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every access of a kernel leaves one remark of this category in the context's
// remark engine, if it has one (MLIR's own, mlir/IR/Remarks.h): `passed` for
// what stays structured, `missed` for what stepped down. `tilebridge explain`
// lists them (compiler/Explain.cpp).
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

/// The category, and the keys of the remarks' arguments.
namespace tilebridge::ttl::access_remark {
inline constexpr llvm::StringLiteral category = "tilebridge-access";
inline constexpr llvm::StringLiteral operation = "Operation"; // "load"
inline constexpr llvm::StringLiteral form = "Form";           // "subview"
/// What programs run whose block wraps around at a modulo: "row gather".
inline constexpr llvm::StringLiteral fallback = "Fallback";
inline constexpr llvm::StringLiteral shape = "Shape"; // array of i64
inline constexpr llvm::StringLiteral element = "Element";
inline constexpr llvm::StringLiteral base = "Base";
inline constexpr llvm::StringLiteral offset = "Offset";
inline constexpr llvm::StringLiteral strides = "Strides"; // array of strings
inline constexpr llvm::StringLiteral mask = "Mask";       // array of strings
inline constexpr llvm::StringLiteral reason = "Reason";
inline constexpr llvm::StringLiteral causeOp = "CauseOperation";
inline constexpr llvm::StringLiteral causeLoc = "CauseLocation"; // a location
} // namespace tilebridge::ttl::access_remark
