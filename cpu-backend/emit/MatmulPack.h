//===- MatmulPack.h - operands of a product into memory ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/MatmulForm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// A scalar or vector of an operand as what is multiplied.
using Convert = llvm::function_ref<mlir::Value(mlir::Value)>;

/// So many elements of a row of an operand that is in no memory: row, first
/// column, number.
using Fetch = llvm::function_ref<mlir::Value(
    mlir::ImplicitLocOpBuilder &, mlir::Value, mlir::Value, int64_t)>;

/// Copies src to dst (one static shape of rank 2; rows of dst contiguous),
/// converting elements; src may have any strides. Vectors have up to `lanes`
/// elements, and squares that are transposed up to `side` rows. What lies
/// `ahead` columns further is prefetched, if that is not 0.
void emitPack(mlir::ImplicitLocOpBuilder &b, mlir::Value src, mlir::Value dst,
              int64_t lanes, int64_t side, int64_t ahead, Convert convert);

/// Copies src: KxN (any strides) into the panels of dst, from their row
/// `firstRow` on: dst[panel][k / group][column * group + k % group], with
/// `tile` columns a panel, up to that with the last column before `end`. What
/// lies `ahead` rows further is prefetched, if that is not 0.
void emitPackPanels(mlir::ImplicitLocOpBuilder &b, mlir::Value src,
                    mlir::Value dst, mlir::Value firstRow, int64_t group,
                    int64_t ahead, int64_t together, const MatmulTile &tile,
                    mlir::Value end, Convert convert);

/// The same for a matrix that `fetch` gives.
void emitPackComputed(mlir::ImplicitLocOpBuilder &b,
                      mlir::RankedTensorType type, Fetch fetch, mlir::Value dst,
                      mlir::Value firstRow, int64_t group, int64_t together,
                      const MatmulTile &tile, mlir::Value end, Convert convert);

/// Elements of rows in turn, as an instruction takes them that adds up several
/// products in a lane: vectors of `lanes` elements of each row.
llvm::SmallVector<mlir::Value> interleaveRows(mlir::ImplicitLocOpBuilder &b,
                                              llvm::ArrayRef<mlir::Value> rows,
                                              int64_t lanes);

/// `body` for each panel of so many of `n` columns, up to the one with the last
/// column before `end` (null: all panels): its number, its first column, and
/// how many it has.
void forPanels(
    mlir::ImplicitLocOpBuilder &b, int64_t n, int64_t columns, mlir::Value end,
    llvm::function_ref<void(mlir::Value, mlir::Value, int64_t)> body);

/// Emits what fits a matrix of any strides: one that is contiguous along its
/// rows, along its columns, or along none; what its type does not say the
/// program asks.
void byUnitStride(mlir::ImplicitLocOpBuilder &b, mlir::Value src,
                  llvm::function_ref<void(mlir::Value)> rows,
                  llvm::function_ref<void(mlir::Value)> columns,
                  llvm::function_ref<void()> neither);

/// Asks for the cache line of an element, which need not exist.
void emitPrefetch(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                  mlir::Value row, mlir::Value column);

/// A scalar or vector of a narrower type as one of `element`.
mlir::Value widenTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    mlir::Type element, bool isUnsigned);

/// One element of an operand that is read where it lies. (By a vector of one:
/// the lowering of memref.load takes strides as positive.)
mlir::Value loadOne(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                    mlir::ValueRange at);

/// for (i = 0; i < count; i += step); the loop is left out if it has one
/// iteration.
void emitLoop(mlir::ImplicitLocOpBuilder &b, int64_t count, int64_t step,
              llvm::function_ref<void(mlir::Value)> body);

/// if (condition) then else otherwise.
void emitChoice(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
                llvm::function_ref<void()> then,
                llvm::function_ref<void()> otherwise);

/// `value` + `offset` as an index.
mlir::Value offsetBy(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                     int64_t offset);

/// The matrix with its dimensions exchanged.
mlir::Value swapDims(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);

} // namespace tilebridge::cpu
