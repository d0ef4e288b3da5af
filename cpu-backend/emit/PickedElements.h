//===- PickedElements.h - elements of a block at indices ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/FunctionEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

namespace tilebridge::cpu {

/// Elements of a linalg_ext.gather_along where lanes are at these indices.
class PickedElements {
public:
  PickedElements(FunctionEmitter &fe, mlir::Operation *op,
                 llvm::ArrayRef<Index> indices);

  /// A scalar, or a vector of the frame's lanes; null after an error.
  mlir::Value evaluate();

private:
  bool isFromOneRow() const;
  mlir::Value row();
  mlir::Value gather(mlir::Value numbers);

  FunctionEmitter &fe;
  mlir::OpBuilder &b;
  linalg_ext::GatherAlongOp op;
  mlir::Location loc;
  unsigned dim;
  /// Of the result's elements; of their row in the source, without its
  /// dimension.
  Indices indices, rowIndices;
  /// The source.
  const View *view;
};

} // namespace tilebridge::cpu
