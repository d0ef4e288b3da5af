//===- Nest.h - loops over pieces -------------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

namespace tilebridge::accel {

/// Loops one in the other, being written from outside inwards.
class Nest {
public:
  Nest(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), ends(1) {}

  /// Another loop from 0 to `all` in steps of `size`; its index.
  mlir::Value open(mlir::OpFoldResult all, int64_t size) {
    mlir::Value zero = mlir::arith::ConstantIndexOp::create(builder, loc, 0);
    mlir::Value end = mlir::getValueOrCreateConstantIndexOp(builder, loc, all);
    mlir::Value step = mlir::arith::ConstantIndexOp::create(builder, loc, size);
    auto loop = mlir::scf::ForOp::create(builder, loc, zero, end, step);
    builder.setInsertionPointToStart(loop.getBody());
    ends.emplace_back();
    return loop.getInductionVar();
  }
  mlir::Value open(int64_t all, int64_t size) {
    return open(builder.getIndexAttr(all), size);
  }

  /// A box of a memref, or the memref where that is all of it.
  mlir::Value part(mlir::Value memref,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes) {
    auto type = mlir::cast<mlir::MemRefType>(memref.getType());
    bool isAll = true;
    for (auto [d, size] : llvm::enumerate(sizes))
      isAll &= mlir::isConstantIntValue(offsets[d], 0) &&
               mlir::isConstantIntValue(size, type.getDimSize(d));
    if (isAll)
      return memref;
    llvm::SmallVector<mlir::OpFoldResult> strides(offsets.size(),
                                                  builder.getIndexAttr(1));
    return mlir::memref::SubViewOp::create(builder, loc, memref, offsets, sizes,
                                           strides);
  }

  /// What is done at the end of the innermost loop so far.
  void atEnd(std::function<void(mlir::OpBuilder &)> action) {
    ends.back().push_back(std::move(action));
  }

  /// Writes the ends, inner ones first. What is inside has been written.
  void close() {
    while (true) {
      for (auto &action : ends.back())
        action(builder);
      ends.pop_back();
      if (ends.empty())
        return;
      builder.setInsertionPointAfter(
          builder.getInsertionBlock()->getParentOp());
    }
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// By loop; the first are those outside of all.
  llvm::SmallVector<
      llvm::SmallVector<std::function<void(mlir::OpBuilder &)>, 2>>
      ends;
};

} // namespace tilebridge::accel
