//===- Readings.h - what a kernel loads, and for whom ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/ChooseAssignment.h"
#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::accel {

/// On a kernel whose launch is known: the counts of programs, x first.
constexpr llvm::StringLiteral gridAttr = "accel.grid";

/// The target that the module's `accel.target` names, none where it names none.
/// Fails, with an error at the operation, where there is no such target.
mlir::FailureOr<std::optional<Target>> targetOf(mlir::Operation *op);

/// The grids of a kernel for a known target and launch.
std::optional<Grids> gridsOf(mlir::func::FuncOp kernel,
                             const std::optional<Target> &target);

/// The argument whose memory a view is of; null where it is none's.
mlir::BlockArgument rootOf(mlir::Value view);

/// The memory that a kernel's argument is in: the one that it is placed in, or
/// the target's choice.
const Memory &memoryOf(mlir::Value pointer, const Target &target);

/// The name that the target has for the memory of one side of a transfer.
llvm::StringRef nameOfMemory(mlir::Value side, const Target &target);

/// The engine of the kernel's loads into local memory; null without one.
const DmaEngine *loadingEngine(mlir::func::FuncOp kernel, const Target &target);

/// What a copy reads by: its memory, its rows and its mask.
llvm::SmallVector<mlir::Value> sourceOf(CopyOp copy);

/// An addition to memory, or another combination with it, of which nobody reads
/// what was there before: an atomic access, or a copy that accumulates.
struct Combination {
  CombiningKind kind;
  /// The block, also where only a box of it is combined.
  mlir::Value values;
  /// What decides which elements they are combined with.
  llvm::SmallVector<mlir::Value> place;
};
std::optional<Combination> combinationOf(mlir::Operation *op);

/// Bytes of a block.
double bytesOf(mlir::Type block);

/// How often an operation is run in one program; loops whose count is not known
/// are taken to run a few times.
double timesRun(mlir::Operation *op, mlir::Operation *within);

/// All loads of a kernel that is not yet mapped, by program.
llvm::SmallVector<Reading> readingsOf(mlir::func::FuncOp kernel,
                                      const Grids &grids);

} // namespace tilebridge::accel
