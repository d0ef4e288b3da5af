//===- LoadsInStep.h - loads that PEs of a line could do together *- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Turns.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::accel {

/// What a loop's loads need of its body.
struct NeededByLoads {
  llvm::SetVector<mlir::Operation *> ops;
  /// Numbers of values that the loop carries: addresses that it advances.
  llvm::SetVector<unsigned> carried;
};

/// The loads of a loop; none where one of them is not in each iteration.
llvm::SmallVector<CopyOp> loadsOf(mlir::scf::ForOp loop);

/// None where that is something that has to stay where it is.
std::optional<NeededByLoads> neededBy(llvm::ArrayRef<CopyOp> loads,
                                      mlir::scf::ForOp loop);

/// The lines that all of these loads may be multicast along, by their sources
/// and the target, were the loop run equally often by all PEs of a line.
Sharing linesOf(llvm::ArrayRef<CopyOp> loads, mlir::scf::ForOp loop,
                const Target &target, Turns &turns);

} // namespace tilebridge::accel
