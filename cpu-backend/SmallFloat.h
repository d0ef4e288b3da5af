//===- SmallFloat.h - floats of 4 to 16 bits as integers and f32 -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace tilebridge::cpu {

/// The layout of a float narrower than f32.
struct SmallFloatFormat {
  /// What the largest exponent means.
  enum Special {
    Ieee,  ///< infinities and NaNs
    Fn,    ///< numbers, but for the mantissa of all ones, which is NaN; no
           ///< infinity: overflow gives the largest number
    Fnuz,  ///< numbers; NaN is the code of -0; no infinity: overflow gives NaN
    Finite ///< numbers, neither infinity nor NaN; only extended
  };
  unsigned bits, mantissa;
  int bias;
  Special special;

  /// The format of a type, if it is one of f16, bf16, f8E5M2, f8E4M3FN,
  /// f8E5M2FNUZ, f8E4M3FNUZ, or one of those that are only extended: f6E2M3FN,
  /// f6E3M2FN, f4E2M1FN, and f8E8M0FNU, which has no sign and no mantissa.
  static std::optional<SmallFloatFormat> of(mlir::Type type);

  /// Elements of block-scaled matrices and their scales: nothing is rounded to
  /// these types.
  bool isOnlyExtended() const { return special == Finite || mantissa == 0; }

  uint32_t signBit() const { return 1u << (bits - 1); }
  /// The code of the largest number.
  uint32_t largest() const;
  uint32_t nan() const;
};

/// Writes conversions of scalars or vectors of any shape.
class SmallFloatConverter {
public:
  /// What the host has: see the options of tilebridge-cpu-expand-float-types.
  struct Hardware {
    bool f16 = true, lookups = false, bf16Rounding = false, byteLookups = false,
         wordShuffles = false;
  };
  SmallFloatConverter(mlir::ImplicitLocOpBuilder &builder, Hardware has)
      : b(builder), has(has) {}

  /// f32 of a small float: exact.
  mlir::Value extend(mlir::Value x);
  /// bf16 of vectors of 64 floats of 8 bits, by tables; null for others.
  mlir::Value lookUpBf16(mlir::Value x);
  /// A small float of f32, rounded to nearest even or toward zero. `keepsNans`
  /// as below; for bf16.
  mlir::Value truncate(mlir::Value x, mlir::Type type, bool towardZero,
                       bool keepsNans = false);
  /// The bits of f32 `x`, in which lower halves of NaNs are zero, so that
  /// rounding keeps these.
  mlir::Value bitsWithShortNans(mlir::Value x, bool areShort);
  /// Of two vectors of such bits the codes of bf16, the first one's at even
  /// places.
  mlir::Value roundPairs(mlir::Value even, mlir::Value odd, bool towardZero);
  /// f32 `x` rounded to what bf16 holds, still an f32.
  mlir::Value roundToBf16(mlir::Value x, bool keepsNans);
  /// f32 of f64 such that rounding it again, to 22 bits or fewer, gives what
  /// rounding once gives.
  mlir::Value truncateF64ToOdd(mlir::Value x);

private:
  /// Integers of 32 bits whose upper halves are f32 `x` as bf16; what is in the
  /// lower ones is of no use. `keepsNans`: lower halves of NaNs are zero, so
  /// that they stay NaNs of some kind without a test.
  mlir::Value roundInUpperHalf(mlir::Value x, bool towardZero,
                               bool keepsNans = false);
  mlir::Type like(mlir::Value shape, mlir::Type element);
  mlir::Value constant(mlir::Type type, uint32_t value);
  mlir::Value constantF(mlir::Type type, double value);
  mlir::Value extendExponent(mlir::Value x);
  mlir::Value behindZeros(mlir::Value code);
  mlir::Value shiftCode(mlir::Value code, const SmallFloatFormat &format,
                        unsigned width, unsigned mantissa);
  mlir::Value withSpecial(mlir::Value bits, const SmallFloatFormat &format,
                          unsigned shift);
  mlir::Value lookUpF32(mlir::Value x);
  mlir::Value truncateBFloat(mlir::Value x, mlir::Type type, bool towardZero,
                             bool keepsNans);
  mlir::Value upperHalves(mlir::Value bits);
  mlir::Value roundBFloat(mlir::Value x, bool towardZero, bool keepsNans);
  mlir::Value roundNormals(mlir::Value x, mlir::VectorType type);
  mlir::Value isAnySpecial(mlir::Value x);
  mlir::Value isAnyZero(mlir::Value codes);
  mlir::Value lookUp(mlir::Value codes);
  mlir::Value roundMagnitude(mlir::Value magnitude,
                             const SmallFloatFormat &format, bool towardZero);

  mlir::ImplicitLocOpBuilder &b;
  Hardware has;
};

} // namespace tilebridge::cpu
