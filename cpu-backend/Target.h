//===- Target.h - the CPU that code is made for -----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace tilebridge::cpu {

/// A CPU by name and features, and the few facts that decide how code is
/// shaped.
struct CpuTarget {
  std::string triple;
  /// LLVM's name of the CPU, such as "znver4".
  std::string cpu;
  /// Features on top of what the name implies, in order: "+avx2,-sse4a".
  std::string features;
  /// Width of the vectors that code is written for.
  unsigned vectorBits = 128;
  /// f16 <-> f32 in hardware, for vectors and scalars.
  bool hasF16Convert = false;
  /// A fused multiply-add of f32 and f64 in hardware.
  bool hasFma = false;
  /// AVX-512's product with a power of two, for vectors of 128 to 512 bits.
  bool hasScalef = false;
  /// Results that underflow, or are subnormal, are as fast as others.
  bool hasFreeUnderflow = false;
  /// AVX512_BF16's sums of two products and VNNI's of two and of four, for
  /// vectors of vectorBits.
  bool hasBf16Pairs = false, hasI16Pairs = false;
  /// x86's maximum: the second operand where one is NaN.
  bool hasSecondIfNan = false;
  /// x86's pmaddwd.
  bool hasI16PairSums = false;
  /// AVX512_VBMI: bytes are looked up in tables of 128.
  bool hasByteLookups = false;
  /// Two multiply-adds of vectors of vectorBits a cycle, two loads of such
  /// vectors, and a second cache of 2 MiB.
  bool hasTwoFmas = false;
  /// Intel's estimates of square roots for vectors of 512 bits, from which
  /// products get to roots sooner than the divider does.
  bool hasRootEstimates = false;
  /// AMX's products of tiles.
  bool hasBf16Tiles = false, hasI8Tiles = false;
  /// What a launch has to read and write to write around the caches; 0 where
  /// there are no such stores.
  int64_t streamBytes = 0;
  /// What it has to read by one access to ask for what comes later; 0: never.
  int64_t prefetchBytes = 0;
  /// That threads of a launch share: those of the host that the process may
  /// use; else as many as a machine is taken to have.
  int64_t cores = 16;
  /// What one compare-and-exchange takes.
  unsigned exchangeBytes = 8;
  /// Number of vector registers.
  unsigned vectorRegisters = 16;
  /// One of "b", "d", "e" (the letter of glibc's vector functions for
  /// vectorBits), or empty where there are none.
  std::string libmvecIsa;

  /// "cpu" is the host; "cpu:NAME" another CPU that LLVM knows, of x86-64 or
  /// AArch64; either may end in ",+feature,-feature".
  static llvm::Expected<CpuTarget> parse(llvm::StringRef spec);
  static llvm::Expected<CpuTarget> host() { return parse("cpu"); }

  /// Whether code for this target cannot run here, whatever its features.
  bool isForeign() const;

  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createMachine(bool fastCompile = false) const;
};

} // namespace tilebridge::cpu
