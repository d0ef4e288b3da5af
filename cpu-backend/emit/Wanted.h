//===- Wanted.h - the part of a tensor that somebody sees --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tilebridge::cpu {

/// Indices [low, low + size) along a dimension; or, where `mask` is not null,
/// those that it is true for. Nobody sees them where one of the conditions of
/// branches is not what stands beside it.
struct WantedPart {
  mlir::OpFoldResult low, size;
  mlir::Value mask = {};
  llvm::SmallVector<std::pair<mlir::Value, bool>, 1> conditions = {};

  /// Those of the first three that are no constants.
  llvm::SmallVector<mlir::Value> values() const;
  bool hasSameIndices(const WantedPart &other) const {
    return low == other.low && size == other.size && mask == other.mask;
  }
  bool operator==(const WantedPart &other) const {
    return hasSameIndices(other) && conditions == other.conditions;
  }
};

/// Indices along a dimension of `length`: those of all parts.
struct WantedRange {
  int64_t length;
  llvm::SmallVector<WantedPart, 1> parts;

  /// The indices, if they are the same in all branches.
  const WantedPart *only() const {
    return llvm::all_of(parts,
                        [&](const WantedPart &part) {
                          return part.hasSameIndices(parts.front());
                        })
               ? &parts.front()
               : nullptr;
  }
  /// As far as this says it with values that are known; nothing if that may be
  /// all.
  std::optional<WantedRange>
  of(llvm::function_ref<bool(mlir::Value)> isKnown) const;

  bool operator==(const WantedRange &other) const {
    return length == other.length && parts == other.parts;
  }
};

/// What may say which indices are wanted: ends of what is stored, or also masks
/// by which elements are stored or selected.
enum class WantedBy { Ends, Masks };

/// The indices along dimension `dim` of `tensor` that what is stored in the end
/// depends on, by values of its function, wherever these are computed; nothing
/// if that may be all. What lies at other indices may be anything. What the
/// reductions `besides` make of the tensor is not looked at.
std::optional<WantedRange>
findWanted(mlir::Value tensor, unsigned dim, WantedBy by = WantedBy::Ends,
           llvm::ArrayRef<mlir::Operation *> besides = {});

/// Those of the rows, or columns, of a product; a batch has several products.
std::optional<WantedRange> findWantedRows(mlir::Operation *product);
std::optional<WantedRange> findWantedColumns(mlir::Operation *product);

/// `range` as far as it is known where `op` begins; nothing if that may be all.
std::optional<WantedRange> knownBefore(const WantedRange &range,
                                       mlir::Operation *op);

/// A mask of rank 1, the same for all of `mask` but along dimension `dim`, that
/// is true wherever `mask` is; null if none is found. Of several, the one that
/// the fewest loops are around.
mlir::Value findRowMask(mlir::Value mask, unsigned dim);

/// All of these; and those of a condition of the scalar code of `op`, along a
/// dimension of its loops.
llvm::SmallVector<mlir::Value, 2> findRowMasks(mlir::Value mask, unsigned dim);
llvm::SmallVector<mlir::Value, 2>
findRowMasks(mlir::linalg::GenericOp op, mlir::Value condition, unsigned dim);

/// The mask of rank 1 along dimension `dim` of the operand that is true
/// wherever the elementwise op of `use` lets elements of it through; null if
/// none is found.
mlir::Value findSelectingRows(mlir::OpOperand &use, unsigned dim);

/// The number n of a mask that says i < n, as those of boxes are where rows are
/// stored one by one; null if it is another mask.
mlir::OpFoldResult countOfFirst(mlir::Value mask);

/// What has few elements in a row is computed up to a multiple of so many rows,
/// a divisor of `rows`, which the block has.
int64_t rowsAtEnd(int64_t rows, int64_t length);

/// Moves the numbers of such indices before what computes their tensors, where
/// they can be computed there.
void hoistWanted(mlir::func::FuncOp func);

} // namespace tilebridge::cpu
