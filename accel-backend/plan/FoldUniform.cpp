//===- FoldUniform.cpp - what is the same in all programs -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Iterations.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFOLDUNIFORMPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
/// Values that are the same in all turns and iterations.
class Uniform {
public:
  Uniform(Turns &turns) : turns(turns) {}

  std::optional<int64_t> get(Value value) {
    if (const InstanceValues::Row *row = turns.valuesOf(value))
      return only(*row);
    scf::ForOp loop = loopAround(value.getDefiningOp(), turns);
    if (!loop)
      return std::nullopt;
    auto [it, isNew] = loops.try_emplace(loop);
    if (isNew)
      it->second = Iterations::of(loop, turns);
    const InstanceValues::Row *row =
        it->second ? it->second->valuesOf(value) : nullptr;
    return row ? only(*row) : std::nullopt;
  }

private:
  static std::optional<int64_t> only(const InstanceValues::Row &row) {
    if (row.empty() || !llvm::all_equal(row))
      return std::nullopt;
    return row.front();
  }

  Turns &turns;
  llvm::DenseMap<Operation *, std::optional<Iterations>> loops;
};

struct AccelFoldUniformPass
    : accel::impl::AccelFoldUniformPassBase<AccelFoldUniformPass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::of(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch || !(*launch)->grids || !(*launch)->grids->programs())
      return;
    func::FuncOp kernel = (*launch)->kernel;
    Turns turns = (*launch)->turns();
    Uniform values(turns);
    SmallVector<std::pair<Operation *, int64_t>> uniform;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The values of a body are those of single elements.
      if (isa<linalg::LinalgOp, ComputeOp>(op))
        return WalkResult::skip();
      if (op->getNumResults() != 1 || isa<arith::ConstantOp, PeCountOp>(op) ||
          op->use_empty())
        return WalkResult::advance();
      if (std::optional<int64_t> value = values.get(op->getResult(0)))
        uniform.push_back({op, *value});
      return WalkResult::advance();
    });
    for (auto [op, value] : uniform) {
      OpBuilder builder(op);
      Type type = op->getResult(0).getType();
      op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
          builder, op->getLoc(), builder.getIntegerAttr(type, value)));
    }
  }
};
} // namespace
