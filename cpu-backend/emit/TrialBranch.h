//===- TrialBranch.h - a branch that may be taken back ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::cpu {

/// A branch of a nest in which places are looked at before it is known whether
/// they grow as they should. What is emitted in it is a level of its own.
class TrialBranch {
public:
  /// `branch` is the last operation at the innermost level of `frame`.
  TrialBranch(Frame &frame, mlir::OpBuilder &b, mlir::scf::IfOp branch)
      : frame(frame), b(b), branch(branch), outside(*frame.levels.back()),
        hadLoop(outside.hasLoop), before(outside.before) {
    if (!hadLoop)
      outside.before = branch;
    outside.hasLoop = true;
  }

  /// Emits at the end of `block`, of the branch or of one in it.
  void enter(mlir::Block *block) {
    auto level = std::make_unique<Level>();
    level->block = block;
    frame.levels.push_back(std::move(level));
    b.setInsertionPointToEnd(block);
  }

  /// Takes it back, with its one level, as if it had not been begun.
  void undo() {
    frame.levels.pop_back();
    b.setInsertionPointAfter(branch);
    branch.erase();
    outside.hasLoop = hadLoop;
    outside.before = before;
  }

private:
  Frame &frame;
  mlir::OpBuilder &b;
  mlir::scf::IfOp branch;
  Level &outside;
  bool hadLoop;
  mlir::Operation *before;
};

} // namespace tilebridge::cpu
