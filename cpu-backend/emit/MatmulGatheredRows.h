//===- MatmulGatheredRows.h - rows of `a` from anywhere ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"

namespace tilebridge::cpu {

class GatheredRows {
public:
  GatheredRows(FunctionEmitter &fe, const DeepMatmul &product, const View &view)
      : fe(fe), product(product), b(product.op->getLoc(), fe.builder()),
        kernel(product.kernel(b)), view(view),
        lanes(kernel.lanesOfRow(view.shape[1], view.elementType())),
        type(mlir::VectorType::get({lanes}, view.elementType())) {}

  mlir::LogicalResult emit();
  /// Where tiles find their rows: those that are not even are packed.
  mlir::LogicalResult emitTiles();
  /// Rows of single elements, by squares.
  mlir::LogicalResult emitSquares(int64_t side);

private:
  /// The place of a row that is not there.
  static constexpr int64_t nowhere = std::numeric_limits<int64_t>::min();

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  mlir::Value at(mlir::OpFoldResult value) {
    return toValue(b, b.getLoc(), value);
  }
  mlir::Value plus(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, x, y);
  }
  mlir::LogicalResult findPlaces();
  mlir::LogicalResult emitTile(const Index &rows);
  void packTile(mlir::Value first);
  void putTile(mlir::Value first, mlir::Value address, mlir::Value rowBytes);
  mlir::Value hasAllColumns();
  void forVectors(llvm::function_ref<mlir::Value(mlir::Value)> load);
  void copyAll(mlir::Value row);
  void copy(mlir::Value place);
  void copyPart(mlir::Value place, mlir::Value exists);
  mlir::Value isBelow(mlir::Value column, mlir::OpFoldResult bound);

  FunctionEmitter &fe;
  const DeepMatmul &product;
  mlir::ImplicitLocOpBuilder b;
  MatmulKernel kernel;
  const View &view;
  int64_t lanes;
  mlir::VectorType type;
  /// Places of all rows, as i64; what elements are that are not there; the row
  /// that is packed.
  mlir::Value places, others, row;
};

} // namespace tilebridge::cpu
