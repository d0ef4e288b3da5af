//===- PairedBuffer.h - a row whose even elements come first ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// Scratch memory of f32 that holds its even elements, then its odd ones, so
/// that loops which have the lanes of bf16 in that order read and write it as
/// they are, from any element on.
class PairedBuffer {
public:
  /// `group`: lanes of two native vectors, of which those of the first one are
  /// even.
  PairedBuffer(mlir::memref::ViewOp view, int64_t group)
      : view(view), group(group) {}

  /// Whether it can be one: finds all its accesses.
  bool find();

  bool contains(mlir::Operation *access) const {
    return llvm::is_contained(accesses, access);
  }

  llvm::ArrayRef<mlir::Operation *> getAccesses() const { return accesses; }

  /// Changes all accesses; of those for which it returns true lanes are in
  /// groups already.
  void rewrite(llvm::function_ref<bool(mlir::Operation *)> isInGroups);

private:
  /// Where the even lanes of an access begin, and the odd ones.
  std::pair<mlir::Value, mlir::Value> places(mlir::ImplicitLocOpBuilder &b,
                                             mlir::Value index);
  void rewrite(mlir::vector::LoadOp load, bool isInGroups);
  void rewrite(mlir::vector::StoreOp store, bool isInGroups);
  void rewrite(mlir::vector::MaskedLoadOp load);

  mlir::memref::ViewOp view;
  int64_t group;
  llvm::SmallVector<mlir::Operation *> accesses;
};

/// The value with the lanes of each group in order: even ones first, or, with
/// `back`, as they are in memory.
mlir::Value orderLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                       int64_t group, bool back);

} // namespace tilebridge::cpu
