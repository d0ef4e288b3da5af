//===- Effects.h - what a kernel's accesses do to the chip's memory -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

namespace tilebridge::accel {

/// What others see: a store, an atomic access, a print.
bool isSeen(mlir::Operation *op);

/// A store that can be repeated with the same values.
bool isPlainStore(mlir::Operation *op);

/// A load, of a block or of one element.
bool readsChipMemory(mlir::Operation *op);

/// Whether two accesses may be to the same memory: they are to one argument, or
/// to two of which neither is `accel.noalias`. A print touches none.
bool mayTouchSameMemory(mlir::Operation *a, mlir::Operation *b);

/// Whether position by position they access the same elements.
bool accessesSamePlaces(mlir::Operation *a, mlir::Operation *b);

/// Views that are made alike from the same values.
bool isSameView(mlir::Value a, mlir::Value b);

/// Whether something in the operation may write what the other one reads.
bool containsWriteTo(mlir::Operation *op, mlir::Operation *reader);

} // namespace tilebridge::accel
