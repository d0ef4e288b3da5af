//===- BridgeAttrs.h - names of the bridge IR's attributes ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tilebridge::linalg_ext {

/// On a function: it is a kernel.
inline constexpr char kKernelAttr[] = "tilebridge.kernel";
/// On a kernel: how Triton writes the types of the arguments, an array of
/// strings.
inline constexpr char kSignatureAttr[] = "tilebridge.signature";
/// On an argument: a number that divides the value, or the address.
inline constexpr char kDivisibilityAttr[] = "tilebridge.divisibility";
/// On a matrix product: sums are to be taken in short chains.
inline constexpr char kShortSumsAttr[] = "tilebridge.short_sums";

/// The last arguments of every function: the program's ids and their counts.
inline constexpr unsigned kProgramArguments = 6;

} // namespace tilebridge::linalg_ext
