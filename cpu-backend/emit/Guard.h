//===- Guard.h - whether views overlap, at run time --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {

inline bool mattersIn(const View &view, unsigned d) {
  return view.shape[d] != 1;
}

/// The bytes [begin, end) that a view can touch, and the address of index 0.
struct ByteRange {
  mlir::Value begin, end, origin;
};

class GuardBuilder {
public:
  GuardBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  ByteRange rangeOf(const View &view);

  /// The views overlap, and (where `sameIsSafe`) are not equal either.
  mlir::Value overlap(const View &a, const ByteRange &rangeA, const View &other,
                      const ByteRange &rangeB, bool sameIsSafe);

private:
  mlir::Value liesBetween(const View &a, const ByteRange &rangeA,
                          const View &other, const ByteRange &rangeB);
  mlir::Value liesInGaps(const View &a, const ByteRange &rangeA,
                         const View &other, const ByteRange &rangeB);

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace tilebridge::cpu
