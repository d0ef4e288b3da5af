//===- PersistentTiles.h - programs that loop over tiles --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilebridge::cpu {

/// On a kernel whose programs are tiles: each program of the launch runs those
/// from its id along x on, in steps. The function of its arguments, without the
/// hidden ones and with the counts of the launch, that returns as two i64 where
/// the tiles end and the step; a step of 0 says that all programs together run
/// each tile from 0 on once, in any order. In the kernel the count along x is
/// where the tiles end.
inline constexpr llvm::StringLiteral tilesAttr = "tilebridge.tiles";

} // namespace tilebridge::cpu
