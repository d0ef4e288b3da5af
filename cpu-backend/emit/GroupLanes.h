//===- GroupLanes.h - lanes in groups of a few elements ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/RepeatedLanes.h"

namespace tilebridge::cpu {

/// What `op` gives at `indices`, of elements that change places with others, or
/// are there several times; null after an error.
class GroupLanes {
public:
  GroupLanes(FunctionEmitter &fe, mlir::Operation *op,
             llvm::ArrayRef<Index> indices)
      : fe(fe), b(fe.builder()), op(op), indices(indices), loc(op->getLoc()) {}

  mlir::Value exchange(const Exchange &exchange);
  mlir::Value repeat(const RepeatedLanes &repeated);

private:
  bool areAligned() const;
  mlir::Value byLane();
  mlir::Value shuffled(mlir::Value lanes, llvm::ArrayRef<int64_t> order);

  FunctionEmitter &fe;
  mlir::OpBuilder &b;
  mlir::Operation *op;
  llvm::ArrayRef<Index> indices;
  mlir::Location loc;
};

} // namespace tilebridge::cpu
