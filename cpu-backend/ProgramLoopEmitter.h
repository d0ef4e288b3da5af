//===- ProgramLoopEmitter.h - the code of a loop over programs --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/ProgramGrid.h"

namespace tilebridge::cpu {

/// What createProgramLoop and the questions about it write.
class ProgramLoopEmitter : private ProgramGrid {
public:
  ProgramLoopEmitter(mlir::OpBuilder &b, mlir::Location loc, Value launch)
      : ProgramGrid(b, loc, launch), launch(launch) {}

  void create(const ProgramCall &kernel, Value begin, Value end);
  void createTiles(const ProgramCall &kernel, Value begin, Value end,
                   Value scratch);
  void createMerged(const ProgramCall &kernel,
                    llvm::ArrayRef<MergedCall> merged, Value begin, Value end);
  Value atOnce(llvm::ArrayRef<MergedCall> merged);
  Value count(const ProgramCall &kernel);

private:
  /// Of a launch: all i64, but for `together`, an i1.
  struct Tiles {
    Value end, step, together;
  };
  Tiles askTiles(const ProgramCall &kernel);
  void createClear(const ProgramCall &kernel, Value together, Value scratch);
  mlir::func::CallOp call(const ProgramCall &call, mlir::ValueRange ids,
                          Value isRest = {});
  void callRarely(const ProgramCall &kernel, mlir::ValueRange ids);
  /// Whether the number is that of no program, but of what those before have
  /// left; null if they leave nothing.
  Value isRest(const ProgramCall &kernel, Value at, Value end);
  void findStep(llvm::ArrayRef<MergedCall> merged);
  /// Of a program in a launch with merged ones.
  struct Place {
    /// All programs of its group exist.
    Value isWhole;
    /// Its number in the group: 0 is the first one.
    Value number;
    /// Its number among the programs before the group's next one.
    Value inDistance;
  };
  Place placeOf(const MergedCall &merged, Value program, mlir::ValueRange ids);
  void createGroup(const ProgramCall &kernel, llvm::ArrayRef<MergedCall> merged,
                   Value first, mlir::ValueRange ids);
  mlir::SmallVector<Value> createMember(const ProgramCall &kernel,
                                        llvm::ArrayRef<MergedCall> merged,
                                        Value program, mlir::ValueRange ids,
                                        const Place &place);
  mlir::SmallVector<Value> createOne(const ProgramCall &kernel,
                                     llvm::ArrayRef<MergedCall> merged,
                                     mlir::ValueRange state);
  /// What one group and those between its programs take of the grid's numbers.
  Value blockOf(const MergedCall &merged) {
    return mlir::arith::MulIOp::create(b, loc, distance, number(merged.count));
  }
  Value hasEnough(const MergedCall &merged);

  Value launch;
  /// Of merged programs: the distance of their ids along the axis, or, where
  /// such ids follow one another, of their places in that order; of their
  /// numbers in the grid, `lower` times as far; how many there are along it.
  Value step, lower, distance, length;
  /// The launch's arguments are not those that programs are merged for.
  Value isOff;
};

} // namespace tilebridge::cpu
