//===- Expr.h - integer expressions over a program's scalars ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The analyses of offsets and masks compute with these instead of making
// operations: nothing is written into the program until an access is lowered,
// and then only what it needs (ExprBuilder.h).
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/IntegerFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/FoldingSet.h"

#include <deque>

namespace tilebridge::ttl {

/// An integer of 1 to 64 bits, with the exact arithmetic of its width. Equal
/// expressions of one pool are one object. Most are uniform: one value a
/// program. A few have a value for each lane of a 1-D tensor (`varies`).
class Expr : public llvm::FoldingSetNode {
public:
  enum class Kind {
    Constant,
    Scalar,  // an SSA scalar (integer or index)
    Element, // the first element of an SSA tensor, all of whose elements are
             // equal
    Lane,    // along `dim` of an SSA tensor that varies there only
    Iota,    // 0, 1, 2, ...
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    RemS,
    RemU,
    MinS,
    MaxS,
    MinU,
    And,
    SExt,
    ZExt,
    Trunc,
    Cmp,
    Select
  };

  Kind kind;
  unsigned width;
  bool varies = false;
  llvm::APInt constant; // Constant
  mlir::Value value;    // Scalar, Element, Lane
  unsigned dim = 0;     // Lane
  mlir::arith::CmpIPredicate compare = mlir::arith::CmpIPredicate::eq;
  const Expr *operands[3] = {};
  /// A division happens where the program has it: before this operation.
  /// Elsewhere its divisor may be zero.
  mlir::Operation *anchor = nullptr;
  /// All values that it can have, and how many of their lowest bits are zero.
  std::optional<mlir::ConstantIntRanges> range;
  unsigned zeros = 0;

  bool isConstant() const { return kind == Kind::Constant; }
  bool isConstant(int64_t c) const {
    return isConstant() && constant.getSExtValue() == c;
  }
  std::optional<int64_t> asConstant() const;
  /// Known not to be negative as a signed number.
  bool isNonNegative() const;

  void Profile(llvm::FoldingSetNodeID &id) const;
};

/// Known not to be negative as a signed number: constants, program ids, what is
/// computed from them without overflow.
bool isNonNegative(mlir::Value scalar);

/// Makes and owns expressions; simplifies what can be seen locally, and what
/// the facts about scalars decide.
class ExprPool {
public:
  explicit ExprPool(const IntegerFacts *facts = nullptr) : facts(facts) {}

  const Expr *constant(unsigned width, int64_t value);
  const Expr *boolean(bool value) { return constant(1, value ? -1 : 0); }
  /// An SSA integer or index; a constant of the program becomes a Constant.
  const Expr *scalar(mlir::Value value);
  const Expr *element(mlir::Value tensor);
  const Expr *lane(mlir::Value tensor, unsigned dim);
  const Expr *iota(unsigned width);

  const Expr *add(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::Add, a, b);
  }
  const Expr *sub(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::Sub, a, b);
  }
  const Expr *mul(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::Mul, a, b);
  }
  const Expr *minS(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::MinS, a, b);
  }
  const Expr *maxS(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::MaxS, a, b);
  }
  const Expr *minU(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::MinU, a, b);
  }
  const Expr *conjunction(const Expr *a, const Expr *b) {
    return binary(Expr::Kind::And, a, b);
  }
  /// A quotient or remainder that the program computes in `anchor`; without one
  /// the divisor is not zero.
  const Expr *division(Expr::Kind kind, const Expr *a, const Expr *b,
                       mlir::Operation *anchor = nullptr);
  const Expr *binary(Expr::Kind kind, const Expr *a, const Expr *b,
                     mlir::Operation *anchor = nullptr);
  const Expr *extend(const Expr *a, unsigned width, bool isSigned);
  const Expr *truncate(const Expr *a, unsigned width);
  const Expr *cmp(mlir::arith::CmpIPredicate predicate, const Expr *a,
                  const Expr *b);
  const Expr *select(const Expr *condition, const Expr *a, const Expr *b);
  /// The operation of `expr`, which is no leaf, on other operands.
  const Expr *withOperands(const Expr *expr,
                           llvm::ArrayRef<const Expr *> operands);

private:
  const Expr *unique(const Expr &expr);
  void inferFacts(Expr &expr) const;
  /// The one of `a` and `b` that a minimum or maximum always gives; or null.
  const Expr *decided(Expr::Kind kind, const Expr *a, const Expr *b) const;

  const IntegerFacts *facts;
  std::deque<Expr> nodes;
  llvm::FoldingSet<Expr> set;
};

} // namespace tilebridge::ttl
