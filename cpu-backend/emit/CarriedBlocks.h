//===- CarriedBlocks.h - loops that combine blocks ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::cpu {

/// The loop only computes, and carries a block that stays in place; what is
/// reduced behind the loop is better reduced in it.
bool carriesInPlace(mlir::scf::ForOp loop);

/// A load of elements that lie apart, the first ones of which need not be
/// there.
bool isMaskedApart(mlir::Operation &op);

} // namespace tilebridge::cpu
