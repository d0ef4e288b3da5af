//===- MathVectors.h - the CPU's own functions of vectors -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// `type`, a number's or a vector's or tensor's of such, with other elements.
mlir::Type withElement(mlir::Type type, mlir::Type element);

/// `count` lanes of a vector of rank 1, from `first` on.
mlir::Value sliceLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
                       int64_t first, int64_t count);

/// Whether a lane of a mask of rank 1 is set, as i1.
mlir::Value isAnySet(mlir::ImplicitLocOpBuilder &b, mlir::Value mask);

/// LLVM's function `name` for vectors of 512 bits, applied to each piece of
/// longer ones. `type`: the result's, a vector of rank 1 that is made of such
/// pieces. Operands that have as many elements are cut, others are for every
/// piece.
mlir::Value callForPieces(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type,
                          llvm::StringRef name, mlir::ValueRange operands);

/// AVX-512's, of vectors of rank 1 of f32 or f64 that are made of 512 bits.
class Avx512 {
public:
  Avx512(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type)
      : b(b), type(type) {}

  /// x as a number of [0.75, 1.5) times 2^exponent. NaN where x is negative; 1
  /// where it is 0 or infinite.
  mlir::Value mantissa(mlir::Value x);
  /// floor(log2(|x|)) as a float: -infinity of 0, infinity of infinity.
  mlir::Value exponent(mlir::Value x);
  /// 1 / sqrt(x), right to 14 bits. NaN where x is negative.
  mlir::Value reciprocalRootEstimate(mlir::Value x);

  /// x * 2^floor(power), rounded once. NaN where the power is NaN.
  mlir::Value timesPower(mlir::Value x, mlir::Value power);
  /// table[index], of f64, of whose index four bits count.
  mlir::Value lookup(llvm::ArrayRef<double> table, mlir::Value index);

  /// What a function is of a special number: the number itself, infinity of its
  /// sign, or 0.
  enum class Special { Same = 1, Infinity = 6, Zero = 8 };
  /// `value` but where x is 0 or infinity.
  mlir::Value withSpecial(mlir::Value value, mlir::Value x, Special ofZero,
                          Special ofInfinity);

private:
  mlir::Value every(int64_t bits, int64_t value);
  mlir::Value none();
  mlir::Value all();
  std::string named(llvm::StringRef name);

  mlir::ImplicitLocOpBuilder &b;
  mlir::VectorType type;
};

} // namespace tilebridge::cpu
