//===- ReducedBlocks.h - blocks without unit dimensions ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_REDUCEDBLOCKS_H
#define TILEBRIDGE_CPU_BACKEND_REDUCEDBLOCKS_H

#include "cpu-backend/UnitDims.h"

#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// `all`, a number for each dimension of a block of `shape`, for those of
/// another size than 1.
template <typename T>
llvm::SmallVector<T> withoutUnits(llvm::ArrayRef<T> all,
                                  llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<T> kept;
  for (auto [value, size] : llvm::zip_equal(all, shape))
    if (size != 1)
      kept.push_back(value);
  return kept;
}

mlir::RankedTensorType withoutUnits(mlir::RankedTensorType type);

/// A part of a block in memory.
struct BlockPart {
  mlir::Value view;
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  mlir::RankedTensorType type;
};

/// `view` of `sizes`, the part of a block of `shape` that exists, without
/// dimensions of size 1: nothing where there is nothing along one of them.
BlockPart partWithoutUnits(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value view,
                           llvm::SmallVector<mlir::OpFoldResult> sizes,
                           llvm::ArrayRef<int64_t> shape);

/// What blocks are without dimensions of size 1, while those who use them
/// change one after the other.
class ReducedBlocks {
public:
  ReducedBlocks(mlir::OpBuilder &b, const UnitDims &dims) : b(b), dims(dims) {}

  /// The block without the dimensions; of one element the number.
  mlir::Value without(mlir::Value value);

  /// The block as it was, for those who want it so, where what gave it gives
  /// something else; else null.
  mlir::Value with(mlir::Location loc, mlir::Value value);

  /// `less` takes the place of `result`; true.
  bool give(mlir::Value result, mlir::Value less);

  /// What is carried, or given by a branch, is so without the dimensions.
  void retype(mlir::Value value);

  /// One number for all elements, or nothing yet, as a block of `type`.
  mlir::Value inShape(mlir::Value value, mlir::RankedTensorType type);
  mlir::Value empty(mlir::Location loc, mlir::RankedTensorType type);
  mlir::Value reshape(mlir::Value value, mlir::RankedTensorType type);

  /// The element of a block of one.
  mlir::Value elementOf(mlir::Value block);

  /// Erases those of `ops`, each behind what it uses, that nobody needs now.
  void eraseReplaced(llvm::ArrayRef<mlir::Operation *> ops);
  void setReplaced(mlir::Operation *op) { replaced.insert(op); }
  /// What gave it gives something else.
  bool isReplaced(mlir::Value value) const {
    return replaced.contains(value.getDefiningOp());
  }

private:
  mlir::Value numberOf(mlir::Value value);
  mlir::Value expanded(mlir::Location loc, mlir::Value less,
                       mlir::RankedTensorType type);

  mlir::OpBuilder &b;
  const UnitDims &dims;
  llvm::DenseMap<mlir::Value, mlir::Value> reduced;
  llvm::DenseSet<mlir::Operation *> replaced;
  /// What is carried, as it was: without users in the end.
  llvm::SmallVector<mlir::Operation *> stubs;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_REDUCEDBLOCKS_H
