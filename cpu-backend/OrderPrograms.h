//===- OrderPrograms.h - the order in which programs run --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_ORDERPROGRAMS_H
#define TILEBRIDGE_CPU_BACKEND_ORDERPROGRAMS_H

#include "llvm/ADT/StringRef.h"

namespace tilebridge::cpu {

/// On a kernel: the function of its arguments, without the hidden ones, that
/// returns as an i32 the axis along which programs follow one another; without
/// it they do along x. The other two keep their order. n + `lastAxis`, for n >
/// 1: programs n apart along x follow one another, then those beside them; x
/// has a multiple of n.
inline constexpr llvm::StringLiteral orderAttr = "tilebridge.order";

/// z.
inline constexpr int lastAxis = 2;

/// On such a function, an integer: it may return more than an axis. Of programs
/// n apart so many or less follow one another, as many in each group, before
/// those beside them do (0: all that there are).
inline constexpr llvm::StringLiteral apartAttr = "tilebridge.apart";

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_ORDERPROGRAMS_H
