//===- Scalar.h - the address of a scalar access -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::ttl {

/// A scalar pointer as the memref of the pointer it was computed from and an
/// index into it.
struct ScalarAddress {
  mlir::Value base, index;
};
ScalarAddress scalarAddress(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value pointer, mlir::Type element);

} // namespace tilebridge::ttl
