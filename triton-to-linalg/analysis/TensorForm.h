//===- TensorForm.h - integer tensors as sums over dimensions ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/Expr.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace tilebridge::ttl {

/// Why an analysis stopped, and at which operation: the text of a remark.
struct Reason {
  std::string text;
  mlir::Operation *op = nullptr;
};

/// `base + stride * i` for all lanes i, where `condition` (i1) holds: a modulo
/// that does not wrap in this block. With `inner`, which divides the number of
/// lanes, `base + outer * (i / inner) + stride * (i % inner)`: quotient and
/// remainder of a block that begins at a multiple of the divisor. With `inner`
/// and without `outer` runs of so many lanes are linear: a lane is its run's
/// first one, which may be anything, plus `stride * (i % inner)`; base is zero.
/// Where halves are exchanged, those of each run of `inner` lanes have changed
/// places: `i ^ 2` is `4 * (i / 4) + (i % 4 ^ 2)`. Base is what it would be
/// then in the first lane.
struct LinearCase {
  const Expr *base;
  const Expr *stride;
  const Expr *condition;
  int64_t inner = 0;
  const Expr *outer = nullptr;
  bool exchangesHalves = false;

  bool hasRuns() const { return inner && !outer; }
  /// Of a run; 0: all.
  int64_t linearLanes() const { return exchangesHalves ? inner / 2 : inner; }
};

/// Runs of fewer lanes are not worth a row each.
constexpr int64_t shortestRun = 8;

/// Halves of more lanes are rows that take turns, not exchanged within vectors.
constexpr int64_t longestExchange = 32;

/// What one dimension of a tensor adds to the value of a lane.
struct DimTerm {
  enum class Kind { None, Linear, Lanes };
  Kind kind = Kind::None;
  /// Linear: stride * i.
  const Expr *stride = nullptr;
  /// Lanes: any value a lane; null where it cannot be told from another
  /// dimension's.
  const Expr *lanes = nullptr;
  std::optional<LinearCase> linear;
};

/// value[i0, i1, ...] = uniform + term0(i0) + term1(i1) + ..., in arithmetic of
/// `width` bits. A dimension of size 1 has no term.
struct TensorForm {
  llvm::SmallVector<int64_t> shape;
  unsigned width = 0;
  const Expr *uniform = nullptr;
  llvm::SmallVector<DimTerm> terms;

  unsigned countOf(DimTerm::Kind kind) const;
  bool isUniform() const {
    return countOf(DimTerm::Kind::None) == terms.size();
  }
  bool isLinear() const { return countOf(DimTerm::Kind::Lanes) == 0; }
  /// The one dimension that the value varies in; none if it is uniform or
  /// varies in several.
  std::optional<unsigned> onlyDim() const;
};

/// Arithmetic on forms. Each gives nothing where the result has no form.
class FormAlgebra {
public:
  explicit FormAlgebra(ExprPool &pool) : pool(pool) {}

  TensorForm uniform(llvm::ArrayRef<int64_t> shape, const Expr *value) const;
  TensorForm range(llvm::ArrayRef<int64_t> shape, unsigned dim,
                   const Expr *start, const Expr *stride) const;
  /// The values of `tensor`, which varies in `dim` only.
  TensorForm lanes(mlir::Value tensor, unsigned dim) const;

  TensorForm add(const TensorForm &a, const TensorForm &b) const;
  TensorForm scale(const TensorForm &a, const Expr *factor) const;
  /// Sign extension of `tensor`, which has the form a. Nothing if constants
  /// show that a linear range wraps around within the block. Numbers of 8 or 16
  /// bits are linear only where they are seen not to wrap.
  std::optional<TensorForm> extend(const TensorForm &a, unsigned width,
                                   mlir::Value tensor) const;
  /// Zero extension by `op`. A range that may begin below zero is linear only
  /// where it does not cross zero.
  std::optional<TensorForm> extendUnsigned(const TensorForm &a, unsigned width,
                                           mlir::Operation *op) const;
  TensorForm truncate(const TensorForm &a, unsigned width) const;
  std::optional<TensorForm> select(const Expr *condition, const TensorForm &a,
                                   const TensorForm &b) const;
  /// Remainder or quotient by a uniform divisor, computed by `op` with
  /// `result`.
  std::optional<TensorForm> divide(Expr::Kind kind, const TensorForm &a,
                                   const Expr *divisor,
                                   mlir::Operation *op) const;

  /// What is `a` where no lane of that is below `bound`, or above it, and
  /// something else in other lanes; computed by `op`.
  std::optional<TensorForm> whereNotBelow(const TensorForm &a,
                                          const Expr *bound,
                                          mlir::Operation *op) const {
    return within(a, bound, /*isLower=*/true, op);
  }
  std::optional<TensorForm> whereNotAbove(const TensorForm &a,
                                          const Expr *bound,
                                          mlir::Operation *op) const {
    return within(a, bound, /*isLower=*/false, op);
  }

  /// `a` with one bit exchanged, `a ^ bit`, computed by `op`: the other one of
  /// each pair, the other half of each run, or long runs in turn; nothing for
  /// several bits, and where lanes do not begin and end at multiples of twice
  /// the bit.
  std::optional<TensorForm> exchanged(const TensorForm &a, int64_t bit,
                                      mlir::Operation *op) const;

  /// The form after a shape operation: dimension i of the result is `map[i]` of
  /// the source, or new where that is -1.
  TensorForm remap(const TensorForm &a, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int> map) const;
  /// Any row-major reshape.
  std::optional<TensorForm> reshape(const TensorForm &a,
                                    llvm::ArrayRef<int64_t> shape) const;

  /// True where it is known that no lane of a linear form leaves the range of
  /// the type, as a signed or as an unsigned number.
  bool staysInType(const TensorForm &a, bool isSigned) const;

  /// True where constants show that the values leave the range of the type
  /// within a block.
  bool wraps(const TensorForm &a, bool isSigned) const;

private:
  std::optional<LinearCase> addCases(const LinearCase &a, const LinearCase &b,
                                     unsigned width) const;
  std::optional<TensorForm> within(const TensorForm &a, const Expr *bound,
                                   bool isLower, mlir::Operation *op) const;
  std::optional<int64_t> splitOf(const TensorForm &a, unsigned dim,
                                 const Expr *divisor) const;
  std::optional<LinearCase> runsOf(const TensorForm &a, unsigned dim,
                                   const Expr *divisor, bool isRemainder,
                                   const Expr *condition) const;
  std::optional<LinearCase> divideCase(Expr::Kind kind, const TensorForm &a,
                                       unsigned dim, const Expr *divisor,
                                       mlir::Operation *op) const;
  std::optional<TensorForm> extendNarrow(const TensorForm &a, unsigned width,
                                         mlir::Value tensor) const;
  DimTerm addTerms(const DimTerm &a, const DimTerm &b, unsigned width) const;
  DimTerm linear(const Expr *stride) const;

  ExprPool &pool;
};

} // namespace tilebridge::ttl
