//===- ProgramGrid.h - the order of a launch's programs ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/ProgramLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {

/// Code that counts through the programs of a launch's grid.
class ProgramGrid {
public:
  ProgramGrid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value launch);

protected:
  using Value = mlir::Value;

  /// What a function of the kernel says, for the arguments of this launch.
  mlir::ValueRange ask(mlir::func::FuncOp function, const ProgramCall &kernel);
  /// From here on the grid has so many programs along x, an i64.
  void setCount(Value count);
  /// How many programs the grid has, an i64.
  Value total();
  /// What an order function returns for this launch (OrderPrograms.h), if
  /// `condition` holds, an i1, or null: it does.
  void setOrder(const ProgramCall &kernel, Value condition = {});
  /// Programs that are `distance` apart along x, an i64, follow one another, if
  /// there are `least`, and a multiple of the distance; returns how far apart
  /// they are in this order.
  Value setApart(Value distance, int64_t least);
  /// The fastest first: x y z, y x z or z x y.
  mlir::SmallVector<Value> inOrder(mlir::ValueRange ofAxes);
  mlir::SmallVector<Value> ofAxes(mlir::ValueRange inOrder);
  /// The ids of a program, in order.
  mlir::SmallVector<Value> idsOf(Value program);
  /// Ids are more than an odometer's.
  bool isScattered() const { return apart != nullptr; }
  /// The next program's ids, in order, as an odometer counts.
  mlir::SmallVector<Value> next(mlir::ValueRange ids);

  Value choose(Value condition, Value one, Value other) {
    return mlir::arith::SelectOp::create(b, loc, condition, one, other);
  }
  Value wide(Value value) {
    return mlir::arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  }
  Value number(int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::SmallVector<Value> counts, counts64;
  /// How many programs there are along x that are so far apart, an i64.
  Value apartCount;

private:
  /// Which axis counts fastest, where that is not x; null if it is x.
  Value isY, isZ, isOther;
  /// How far programs that follow one another are apart along x, and how many
  /// do before those beside them (both i64); null if they are neighbours.
  Value apart, together;
};

} // namespace tilebridge::cpu
