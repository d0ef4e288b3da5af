//===- UsualGrowth.h - how offsets grow from program to program -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_USUALGROWTH_H
#define TILEBRIDGE_CPU_BACKEND_USUALGROWTH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace tilebridge::cpu {

/// How much values of the kernel usually grow from one program to the next one
/// along an axis, in code of another function that has the same arguments.
/// What happens at a boundary (of a quotient, of a minimum) is not usual.
class UsualGrowth {
public:
  using Known = std::optional<mlir::OpFoldResult>;
  UsualGrowth(mlir::OpBuilder &b, mlir::IRMapping &map, mlir::Value id)
      : b(b), map(map), id(id) {}

  /// The kernel's argument that is a program's number along the axis.
  mlir::Value program() const { return id; }

  /// Of type index; nothing where that is not known.
  Known of(mlir::Value value);

  /// In elements, of where a view begins.
  Known ofView(mlir::Value view);

  /// The same of a tensor of places. What is read from memory, and only added
  /// to others, is somewhere in the same row.
  Known ofPlaces(mlir::Value places);
  /// Whether places are sums of what is read, too: then they are not the same
  /// where they do not grow.
  bool areRead(mlir::Value places) const { return read.contains(places); }

private:
  using Memo = mlir::DenseMap<mlir::Value, Known>;
  Known once(Memo &memo, mlir::Value value,
             Known (UsualGrowth::*compute)(mlir::Value));
  Known compute(mlir::Value value);
  Known ofArgument(mlir::BlockArgument argument);
  Known ofProduct(mlir::Operation *op, Known left, Known right);
  mlir::Value copy(mlir::Value value);
  mlir::Value copyOperation(mlir::Operation *op);
  Known copyIndex(mlir::Value value);
  Known computePlaces(mlir::Value places);
  Known ofElementwise(mlir::linalg::GenericOp op);
  Known strideOf(mlir::Value view, unsigned dim);
  mlir::OpFoldResult zero() { return b.getIndexAttr(0); }
  /// Of divisors: programs that divide by 0, or overflow, do not run yet.
  mlir::Value atLeastOne(mlir::Value value);

  mlir::OpBuilder &b;
  mlir::IRMapping &map;
  mlir::Value id;
  /// A tensor that a number is taken from is known in another way than one of
  /// places.
  Memo found, foundPlaces;
  mlir::DenseSet<mlir::Value> read;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_USUALGROWTH_H
