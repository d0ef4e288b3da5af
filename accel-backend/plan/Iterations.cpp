//===- Iterations.cpp - integers of all iterations of a loop --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Iterations.h"

using namespace mlir;
using namespace tilebridge::accel;

// More are not evaluated.
static constexpr size_t mostIterations = 1 << 16;

scf::ForOp tilebridge::accel::loopAround(Operation *op, Turns &turns) {
  auto loop = op->getParentOfType<scf::ForOp>();
  while (loop && turns.valuesOf(loop.getInductionVar()))
    loop = loop->getParentOfType<scf::ForOp>();
  return loop;
}

namespace {
/// Iterations of some loops, from the outermost one.
struct Unrolled {
  /// What is not computed from anything else: ids and variables of loops.
  SmallVector<Value> seeds;
  InstanceValues values;

  /// The same with an inner loop; none where that takes too much.
  std::optional<Unrolled> with(scf::ForOp loop) {
    const InstanceValues::Row *lower = values.get(loop.getLowerBound());
    const InstanceValues::Row *upper = values.get(loop.getUpperBound());
    const InstanceValues::Row *stride = values.get(loop.getStep());
    if (!lower || !upper || !stride || loop.getUnsignedCmp())
      return std::nullopt;
    std::vector<size_t> origins;
    InstanceValues::Row variable;
    for (size_t each = 0; each < values.size(); ++each) {
      int64_t step = (*stride)[each];
      if (step <= 0)
        return std::nullopt;
      for (int64_t i = (*lower)[each]; i < (*upper)[each];) {
        if (origins.size() == mostIterations)
          return std::nullopt;
        origins.push_back(each);
        variable.push_back(i);
        if (llvm::AddOverflow(i, step, i))
          break;
      }
    }
    Unrolled inner{seeds, InstanceValues(origins.size())};
    for (Value seed : seeds) {
      const InstanceValues::Row &row = *values.get(seed);
      InstanceValues::Row own;
      for (size_t origin : origins)
        own.push_back(row[origin]);
      inner.values.seed(seed, std::move(own));
    }
    inner.values.seed(loop.getInductionVar(), std::move(variable));
    inner.seeds.push_back(loop.getInductionVar());
    return inner;
  }
};
} // namespace

std::optional<Iterations> Iterations::of(scf::ForOp loop, Turns &turns) {
  SmallVector<scf::ForOp> around;
  for (scf::ForOp each = loop; each; each = loopAround(each, turns))
    around.push_back(each);
  Unrolled unrolled{llvm::to_vector(turns.seeds()),
                    InstanceValues(turns.size())};
  for (Value seed : unrolled.seeds)
    unrolled.values.seed(seed, *turns.valuesOf(seed));
  for (scf::ForOp each : llvm::reverse(around)) {
    std::optional<Unrolled> inner = unrolled.with(each);
    if (!inner)
      return std::nullopt;
    unrolled = std::move(*inner);
  }
  return Iterations(std::move(unrolled.values), loop);
}

void Iterations::seedAsVariable(Value value) {
  values.seed(value, *values.get(loop.getInductionVar()));
}
