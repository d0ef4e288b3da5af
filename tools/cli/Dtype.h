//===- Dtype.h - types of array elements ------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>

namespace tilebridge::cli {

/// The type of an array's elements.
struct Dtype {
  enum Kind { Bool, Signed, Unsigned, Float, Raw };

  const char *name;    // as Triton calls it: "fp32"
  const char *written; // as NumPy's files have it: "<f4"
  Kind kind;
  unsigned size;         // bytes
  unsigned exponentBits; // of floats
  unsigned fractionBits;
  bool hasInfinity; // whether the largest exponent stands for infinities and
                    // NaNs

  /// One element as text, and from a number.
  std::string format(const uint8_t *element) const;
  void store(double value, uint8_t *element) const;
};

/// By any usual name: "f32", "fp32", "float32", "bf16", "i8", "u8", "bool",
/// "fp8e4nv", "float8_e4m3fn". Null: unknown.
const Dtype *findDtype(const std::string &name);

/// By what NumPy's files say: "<f4", "|b1". Types that NumPy lacks are "<V2" or
/// "|V1" there. Null: unknown.
const Dtype *findWrittenDtype(const std::string &descr);

/// Whether an array of such elements may be passed for a pointer to `wanted`:
/// signs do not matter, and bytes without meaning stand for any type of their
/// size.
bool isCompatible(const Dtype &given, const Dtype &wanted);

} // namespace tilebridge::cli
