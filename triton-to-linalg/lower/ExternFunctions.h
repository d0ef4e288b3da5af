//===- ExternFunctions.h - what external functions mean -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace tilebridge::ttl {

/// One use of an external function on scalars.
struct ExternCall {
  mlir::ImplicitLocOpBuilder &b;
  mlir::ValueRange in;
  mlir::Type result;
};

/// What an external function takes, and what it means.
struct ExternFunction {
  /// A letter for the result, then one for each operand: f is f32, d f64, F one
  /// of them, i i32, l i64, I one of them, s i16. All of one call's F are the
  /// same type, and so are all of its I.
  const char *types;
  mlir::Value (*build)(ExternCall);
};

using ExternTable = llvm::StringMap<ExternFunction>;

// One family a file. Names are libdevice's, without the prefix; those of F
// without the f that its functions of f32 end in.
void addFloatExterns(ExternTable &);
void addFloatPartExterns(ExternTable &);
void addIntegerExterns(ExternTable &);
void addCastExterns(ExternTable &);
void addDirectedExterns(ExternTable &);
void addSpecialExterns(ExternTable &);
void addBesselExterns(ExternTable &);

template <typename Op> mlir::Value externUnary(ExternCall c) {
  return Op::create(c.b, c.in[0]);
}
template <typename Op> mlir::Value externBinary(ExternCall c) {
  return Op::create(c.b, c.in[0], c.in[1]);
}

} // namespace tilebridge::ttl
