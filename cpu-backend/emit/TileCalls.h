//===- TileCalls.h - instructions of AMX ------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// Rows of a tile, and columns of 32 bits.
inline constexpr int64_t tileSide = 16;

/// Bytes of a row of a tile.
inline constexpr int64_t tileRowBytes = 64;

/// The intrinsic llvm.x86.`name` with numbers of tiles, then `operands`.
void callTile(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &name,
              llvm::ArrayRef<int64_t> tiles, mlir::ValueRange operands);

} // namespace tilebridge::cpu
