//===- ProgramLoop.h - a thread's programs, one after another -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_PROGRAMLOOP_H
#define TILEBRIDGE_CPU_BACKEND_PROGRAMLOOP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilebridge::cpu {

/// On a kernel that has no merged ones: how many calls behind the last program
/// do what programs have left.
inline constexpr llvm::StringLiteral deferredAttr = "tilebridge.deferred";

/// A function of the kernel and what it is called with; the ids and counts from
/// `firstId` on are put in for each program.
struct ProgramCall {
  mlir::func::FuncOp function;
  mlir::SmallVector<mlir::Value> arguments;
  unsigned firstId = 0;
  /// Returns an order (OrderPrograms.h); null if programs are in that of x.
  mlir::func::FuncOp order;
  /// Returns which tiles a program runs (PersistentTiles.h); null if it is one.
  mlir::func::FuncOp tiles;

  /// How many calls behind that of a program do what it leaves to them
  /// (tilebridge-cpu-defer-stores); those behind the last program have none:
  /// all ids are -1.
  int64_t callsBehind() const {
    auto calls = function->getAttrOfType<mlir::IntegerAttr>(deferredAttr);
    return calls ? calls.getInt() : 0;
  }
};

/// Programs that are run by one call, if the kernel has a function for that.
struct MergedCall {
  ProgramCall call;
  /// Returns the distance of their ids, or 0: none are merged; null if that is
  /// 1.
  mlir::func::FuncOp step;
  int64_t count = 0;
  unsigned axis = 0;
  /// From so many programs along the axis, x, on ids at that distance follow
  /// one another, if the grid has a multiple of it; 0: they never do.
  int64_t leastApart = 0;
  /// How many times as many programs the grid has where that many run together,
  /// if fewer can, too: so many that all threads have work.
  int64_t leastGroups = 0;
};

/// Calls the kernel for the programs [begin, end) of the launch's grid, or of
/// the tiles of its programs; `scratch`: the memory of their thread. Of several
/// ways to run programs together the first one is taken that has as many as it
/// takes: each takes a multiple of those of the next one.
void createProgramLoop(mlir::OpBuilder &b, mlir::Location loc,
                       const ProgramCall &kernel,
                       llvm::ArrayRef<MergedCall> merged, mlir::Value launch,
                       mlir::Value begin, mlir::Value end, mlir::Value scratch);

/// How many programs in a row the merged ones are part of, as an i64: ranges of
/// as many have no programs that are left alone.
mlir::Value createProgramsAtOnce(mlir::OpBuilder &b, mlir::Location loc,
                                 llvm::ArrayRef<MergedCall> merged,
                                 mlir::Value launch);

/// How many programs the ranges of createProgramLoop are of, as an i64, for a
/// kernel that has `tiles`: the grid's, or all their tiles.
mlir::Value createProgramCount(mlir::OpBuilder &b, mlir::Location loc,
                               const ProgramCall &kernel, mlir::Value launch);

/// The module's kernel, where each of its programs runs by itself, one after
/// the other, and takes only what the caller gives; null if there is none.
mlir::func::FuncOp kernelOfSinglePrograms(mlir::ModuleOp module);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_PROGRAMLOOP_H
