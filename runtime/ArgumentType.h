//===- ArgumentType.h - types of kernel arguments --------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/tilebridge.h"

#include <string>
#include <string_view>

namespace tilebridge::rt {

/// One string of a signature, taken apart.
struct ArgumentType {
  enum Kind { Pointer, Integer, Real, Descriptor };

  Kind kind = Pointer;
  unsigned bits = 64;
  bool isUnsigned = false; // "u32"; a kernel's own signature may say "i32" for
                           // the same argument
  bool isBFloat = false;
  unsigned rank = 0;      // of a descriptor
  std::string element;    // of a pointer or descriptor: "fp16"
  std::string blockShape; // of a descriptor: "32,64"

  size_t slotCount() const { return kind == Descriptor ? 2 + 2 * rank : 1; }
};

bool parseArgumentType(std::string_view text, ArgumentType &type);

/// Whether a value of type `given` may be passed where the kernel has `wanted`:
/// signs of integers are ignored, as they are in TTIR, and so is the `k`
/// (const) of "*kfp32".
bool isCompatible(const ArgumentType &given, const ArgumentType &wanted);

/// Writes the slots of one argument. Returns false with the reason if the value
/// does not fit the type.
bool writeSlots(const tilebridge_argument &argument, const ArgumentType &given,
                const ArgumentType &wanted, uint64_t *slots, std::string &why);

/// `value` rounded to nearest even, as the bits of binary16 or bfloat16.
uint16_t toHalfBits(double value);
uint16_t toBFloatBits(double value);

} // namespace tilebridge::rt
