//===- MathF32.h - exponentials and logarithms of f32, inline ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// On exponentials that may be approximate (MLIR's flag `afn`): what becomes of
/// their results is rounded to bf16 or to fewer bits, and not to f16.
inline constexpr llvm::StringLiteral forBf16Attr = "tilebridge.for_bf16";

/// Writes functions of f32 (a scalar, or vectors of any shape) as arith, math
/// and, with `scalef`, one intrinsic. All are right for every input: denormals
/// in and out, infinities, NaN, overflow. Largest errors, found by trying every
/// f32 against f64: see MathTest.cpp.
class MathF32 {
public:
  struct Cpu {
    /// Fused multiply-adds are fast; otherwise a product and a sum take their
    /// place.
    bool fma;
    /// AVX-512 multiplies by powers of two.
    bool scalef;
    /// Results that underflow are as fast as others.
    bool freeUnderflow;
    /// Of a native vector.
    int64_t vectorBits;
  };
  /// What the exponential's results are rounded to: nothing, f16 or bf16.
  enum class Rounded { Never, ToF16, ToBf16 };
  /// As tilebridge-cpu-approximate-functions found.
  static Rounded roundedTo(mlir::Operation *function);
  MathF32(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, const Cpu &cpu,
          Rounded rounded = Rounded::Never);

  mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  /// Of whole numbers: exact.
  mlir::Value exp2OfWhole(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  /// Only for vectors of 16 lanes, or several of them, with AVX-512; else null.
  mlir::Value log10(mlir::Value x);
  /// Only for native vectors of a CPU with fused multiply-adds; else null.
  /// `general` writes the function for large numbers, of all lanes.
  mlir::Value sinOrCos(mlir::Value x, bool isCosine,
                       llvm::function_ref<mlir::Value()> general);

  struct LogTable;

private:
  struct Decomposed {
    mlir::Value exponent; ///< f32, an integer
    mlir::Value f;        ///< mantissa - 1, in [sqrt(1/2) - 1, sqrt(2) - 1]
    mlir::Value halfSquare;
    mlir::Value tail; ///< log(1 + f) = f - halfSquare + tail
  };

  mlir::Value c(float value);
  mlir::Value ci(int32_t value);
  mlir::Value mulAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> lowToHigh);
  mlir::Value inRange(mlir::Value x, float low, float high,
                      llvm::function_ref<mlir::Value(mlir::Value)> power);
  mlir::Value toBits(mlir::Value x);
  mlir::Value fromBits(mlir::Value x);
  /// AVX-512's, of floats, for 16 lanes or several times as many.
  bool hasTables() const;
  mlir::Value lookup(llvm::ArrayRef<float> table, mlir::Value index);
  mlir::Value scaled(mlir::Value factor, mlir::Value power);
  mlir::Value expForBf16(mlir::Value x);
  mlir::Value exp2ForBf16(mlir::Value x);
  void leaveOutBelow(mlir::Value x, float low);
  mlir::Value expByTable(mlir::Value x);
  mlir::Value exp2ByTable(mlir::Value x);
  mlir::Value timesRoot(mlir::Value sum, mlir::Value power, mlir::Value r,
                        llvm::ArrayRef<float> q);
  mlir::Value expOfRest(mlir::Value x, mlir::Value n);
  mlir::Value sizeUpTo(mlir::Value x, float last);
  mlir::Value joinParts(mlir::Value x, mlir::Value size, mlir::Value below,
                        mlir::Value above);
  mlir::Value erfInParts(mlir::Value x);
  mlir::Value sinOrCosUpToMost(mlir::Value x, bool isCosine);
  mlir::Value tanhInParts(mlir::Value x);
  mlir::Value callScalef(mlir::Value x, mlir::Value power);
  using Factor = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  struct PowerLimits {
    float zero, infinity, normal;
  };
  mlir::Value power(mlir::Value x, const PowerLimits &limits, float scale,
                    Factor factor);
  mlir::Value powerOfNormal(mlir::Value x, float scale, Factor factor);
  /// Of native ones.
  bool isMadeOfVectors() const;
  bool isSeveralVectors() const;
  mlir::Value isAnyAbove(mlir::Value x, float most);
  mlir::Value nearest(mlir::Value x, float scale, float offset);
  mlir::Value timesPower(mlir::Value x, float scale, Factor factor);
  mlir::Value naturalByTable(mlir::Value x);
  mlir::Value binaryByTable(mlir::Value x);
  mlir::Value logByTable(mlir::Value x, const LogTable &table);
  Decomposed decompose(mlir::Value x);
  mlir::Value finishLog(mlir::Value x, mlir::Value result);

  mlir::ImplicitLocOpBuilder &b;
  mlir::Type type, intType;
  bool fma, scalef, freeUnderflow;
  int64_t vectorBits;
  Rounded rounded;
  /// The lanes that callScalef is to compute; null for all.
  mlir::Value wanted;
};

} // namespace tilebridge::cpu
