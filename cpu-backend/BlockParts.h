//===- BlockParts.h - every so manyth element of a block --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_BLOCKPARTS_H
#define TILEBRIDGE_CPU_BACKEND_BLOCKPARTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// What a part has of a dimension of a block: `size` elements from `offset` on,
/// each `stride` behind the one before; or one element, and no dimension.
struct Along {
  int64_t offset = 0, size = 1, stride = 1;
  bool isDropped = false;

  bool operator==(const Along &o) const {
    return offset == o.offset && size == o.size && stride == o.stride &&
           isDropped == o.isDropped;
  }
  bool isAll(int64_t whole) const {
    return !isDropped && offset == 0 && stride == 1 && size == whole;
  }
};
using Part = llvm::SmallVector<Along>;

/// Makes a part of a block without the rest: of loads it is read alone, and
/// what is computed from them element by element is computed from parts.
/// `create` gives what `canRead` says that it can.
class PartReader {
public:
  explicit PartReader(mlir::MLIRContext *context) : b(context) {}

  bool canRead(mlir::Value block, llvm::ArrayRef<Along> part);
  mlir::Value create(mlir::Value block, llvm::ArrayRef<Along> part);
  /// Something on the way is a reshape, which would be in memory.
  bool isReshaped = false;

private:
  bool isOnlySplit(mlir::Operation *op);
  mlir::Value createAnew(mlir::Value block, llvm::ArrayRef<Along> part);
  mlir::Value createLoad(mlir::Value block, llvm::ArrayRef<Along> part);
  mlir::Value createElementwise(mlir::Operation *op,
                                llvm::ArrayRef<Along> part);
  mlir::Value createBroadcast(mlir::linalg::BroadcastOp op,
                              llvm::ArrayRef<Along> part);
  mlir::Value createTranspose(mlir::linalg::TransposeOp op,
                              llvm::ArrayRef<Along> part);
  mlir::OpFoldResult countIn(mlir::Location loc, mlir::OpFoldResult size,
                             const Along &along);

  mlir::OpBuilder b;
  /// Blocks that are read, and which part of each.
  llvm::DenseMap<mlir::Value, Part> seen;
  llvm::DenseSet<mlir::Operation *> split;
  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_BLOCKPARTS_H
