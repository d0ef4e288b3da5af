//===- ElementwiseBlock.h - blocks computed element by element --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilebridge::cpu {

/// A linalg.generic that makes a block of `type`, whose shape is static.
/// `element` gives each of its elements from those of `inputs` at the same
/// place: tensors of the shape of `type`, of any element types, or none where
/// elements follow from their place (linalg.index).
mlir::Value elementwiseBlock(
    mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
    mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
        element);

} // namespace tilebridge::cpu
