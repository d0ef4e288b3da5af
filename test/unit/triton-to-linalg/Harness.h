//===- Harness.h - programs of integers, and what they compute ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <random>
#include <string>

namespace tilebridge::test {

/// A value of a program: one number, or those of a tensor in row-major order.
using Lanes = std::vector<llvm::APInt>;

/// A function of TTIR that returns one tensor, and its values by computing
/// every operation as Triton defines it.
class Program {
public:
  /// The body of a function of %a, %b (i32) and %w (i64); it ends with
  /// `tt.return` of a value of `type`.
  Program(const std::string &type, const std::string &body);

  bool isValid() const { return module.get() != nullptr; }
  mlir::Value result() const { return returned; }

  /// Gives the arguments values and computes everything.
  void run(int32_t a, int32_t b, int64_t w);
  const Lanes &lanesOf(mlir::Value value) const {
    return values.find(value)->second;
  }

  /// The value of an expression in the last run; `lane` is the index in the one
  /// dimension that it varies in. None where a division is undefined.
  std::optional<llvm::APInt> evaluate(const ttl::Expr *expr,
                                      int64_t lane = 0) const;
  /// The value of a form at the position with these indices.
  std::optional<llvm::APInt> evaluate(const ttl::TensorForm &form,
                                      llvm::ArrayRef<int64_t> at) const;
  /// Whether a mask is true at a position.
  std::optional<bool> evaluate(const ttl::MaskForm &mask,
                               llvm::ArrayRef<int64_t> at) const;

private:
  void compute(mlir::Operation &op);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Value returned;
  llvm::DenseMap<mlir::Value, Lanes> values;
};

/// The indices of each position of a tensor, in row-major order.
std::vector<llvm::SmallVector<int64_t>>
positionsOf(llvm::ArrayRef<int64_t> shape);

/// Numbers that break things: small ones, powers of two, the ends of the range.
int64_t awkward(std::mt19937_64 &random, unsigned width);

} // namespace tilebridge::test
