//===- NumberQuestion.cpp - asking of all floats of a value ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/NumberQuestion.h"
#include "cpu-backend/ConstantNumbers.h"
#include "cpu-backend/ElementFlow.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Values that are looked at for one question.
static constexpr int mostSteps = 200;

bool NumberQuestion::holdsFor(Value value) {
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
      ++steps > mostSteps)
    return false;
  if (llvm::is_contained(asked, value))
    return true;
  asked.push_back(value);
  bool isSo = ask(value);
  asked.pop_back();
  return isSo;
}

bool NumberQuestion::ask(Value value) {
  if (auto sources = sourcesOf(value))
    return holdsForAll(*sources);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isConstantOf(op,
                        [&](const APFloat &number) { return isSuch(number); });
  return makesSuch(op);
}

bool NumberQuestion::holdsForAll(ValueRange values) {
  return llvm::all_of(values, [&](Value value) { return holdsFor(value); });
}
