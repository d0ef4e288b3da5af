//===- MergeReport.cpp - which programs run together, and why -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/MergeReport.h"
#include "cpu-backend/DecisionRemark.h"

using namespace mlir;

void tilebridge::cpu::reportMerged(func::FuncOp func, unsigned axis,
                                   int64_t count, const Twine &where,
                                   bool isDivided) {
  if (!Decision::isWanted(func.getContext()))
    return;
  StringRef name = axis == 0 ? "x" : axis == 1 ? "y" : "z";
  Decision decision(func.getLoc(), "merged");
  decision.fact("programs", count)
      .fact("axis", axis)
      .report(Twine(count) + " programs " +
              (isDivided
                   ? Twine("of one column of blocks, as their id along ") +
                         name + " is divided,"
                   : Twine("along ") + name) +
              " run together where " + where);
}
