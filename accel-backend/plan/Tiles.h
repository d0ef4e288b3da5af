//===- Tiles.h - decisions that other passes apply ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilebridge::accel {

/// On an operation that gives or stores a block: the size that each of its
/// dimensions is to have. Blocks of the same classes become smaller with it.
constexpr llvm::StringLiteral tileAttr = "accel.tile";
/// On a kernel: the assignment of its programs, which is then not chosen.
constexpr llvm::StringLiteral assignmentAttr = "accel.assignment";
/// On an atomic access: the coordinate along which PEs combine their values
/// first.
constexpr llvm::StringLiteral reduceAttr = "accel.reduce";
/// On a kernel: nothing is multicast.
constexpr llvm::StringLiteral unicastAttr = "accel.unicast";
/// On a kernel: buffers that local memory has no room for go to a memory
/// farther away.
constexpr llvm::StringLiteral spillAttr = "accel.spill";
/// On a buffer that went there: why.
constexpr llvm::StringLiteral spilledAttr = "accel.spilled";
/// On a kernel: the most buffers that a load of a loop may have.
constexpr llvm::StringLiteral mostDepthAttr = "accel.most_depth";

} // namespace tilebridge::accel
