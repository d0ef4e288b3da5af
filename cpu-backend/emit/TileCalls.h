//===- TileCalls.h - instructions of AMX ------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "cpu-backend/emit/Matmul.h"

namespace tilebridge::cpu {

/// Rows of a tile, and columns of 32 bits.
inline constexpr int64_t tileSide = 16;

/// Bytes of a row of a tile.
inline constexpr int64_t tileRowBytes = 64;

/// The intrinsic llvm.x86.`name` with numbers of tiles, then `operands`.
void callTile(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &name,
              llvm::ArrayRef<int64_t> tiles, mlir::ValueRange operands);

/// Memory that tiles are loaded from and stored to, by its address and the
/// distance of its rows.
class TileMemory {
public:
  TileMemory(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);
  /// Rows of elements of so many bytes.
  TileMemory(mlir::ImplicitLocOpBuilder &b, const RowsInMemory &rows,
             int64_t bytes)
      : b(b), base(rows.address), bytes(bytes), rowBytes(rows.rowBytes) {}

  mlir::Value address(mlir::ValueRange indices);
  /// Of rows, in bytes.
  mlir::Value rowDistance();

private:
  mlir::Value inBytes(mlir::Value elements);
  mlir::Value asPointer(mlir::Value address);
  mlir::Value asI64(mlir::Value index);

  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<mlir::Value> strides;
  mlir::Value base;
  int64_t bytes;
  mlir::Value rowBytes;
};

} // namespace tilebridge::cpu
