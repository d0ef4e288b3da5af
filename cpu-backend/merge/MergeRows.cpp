//===- MergeRows.cpp - tilebridge-cpu-merge-rows --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A program that multiplies numbers with rows of `b` reads all of `b` for one
// row of sums, and the next program does so again: two loads for each
// multiplication that they take part in. Those of rows below each other are
// compiled as one program, too, whose sums are a block.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ProductSum.h"
#include "cpu-backend/merge/MergeReport.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUMERGEROWSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Rows of a block: many where the grid has so many groups of them that threads
/// find work, and few for others and for the rows behind these.
static constexpr int64_t manyRows = 16, fewRows = 8, leastGroups = 4;
/// So much of sums stays near.
static constexpr int64_t mostBlockBytes = 256 * 1024;

/// All that loops of the function carry of so many dimensions are products, and
/// some are.
static bool hasOnlyProducts(func::FuncOp func, int64_t rank) {
  bool hasProduct = false;
  bool isOther = anyInside(func, [&](Operation *op) {
    if (isProduct(op) || isa<scf::WhileOp>(op))
      return true;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return false;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      auto type = dyn_cast<RankedTensorType>(loop->getResult(i).getType());
      if (!type)
        continue;
      auto sum = ProductSum::match(loop, i);
      if (type.getRank() != rank || !sum || !sum->areProducts(loop))
        return true;
      hasProduct = true;
    }
    return false;
  });
  return hasProduct && !isOther;
}

/// The function that runs `count` programs; null where they are no block.
static func::FuncOp mergeRows(func::FuncOp func, unsigned axis, Value divisor,
                              int64_t count, StringRef suffix) {
  ProgramBatch batch(func, {axis, divisor, count, 0});
  if (failed(batch.run()))
    return {};
  func::FuncOp merged = batch.function();
  if (batch.largestBlock() > mostBlockBytes || !hasOnlyProducts(merged, 2))
    return merged.erase(), func::FuncOp();
  merged.setName((func.getName() + suffix).str());
  if (failed(batch.finish()))
    return {};
  OpBuilder b(func.getContext());
  merged->setAttr(mergedCountAttr, b.getI64IntegerAttr(count));
  merged->setAttr(mergedAxisAttr, b.getI64IntegerAttr(axis));
  merged->setAttr(mergedGroupsAttr, b.getI64IntegerAttr(leastGroups));
  if (divisor) {
    func::FuncOp step = makeMergedStep(func, divisor, {}, suffix);
    if (!step)
      return merged.erase(), func::FuncOp();
    merged->setAttr(mergedStepAttr, FlatSymbolRefAttr::get(step.getNameAttr()));
  }
  reportMerged(func, axis, count,
               "that many are left: they multiply the same rows with numbers "
               "of their own");
  return merged;
}

static bool mergeRows(func::FuncOp func, unsigned axis, Value divisor) {
  // Both or none: the second goes on where the first ends.
  func::FuncOp many = mergeRows(func, axis, divisor, manyRows, ".merged");
  return many && mergeRows(func, axis, divisor, fewRows, ".merged_few");
}

static bool mergeRows(func::FuncOp func) {
  if (!mayBeCompiled(func, 3) || !hasOnlyProducts(func, 1))
    return false;
  ValueRange ids = func.getArguments().take_back(linalg_ext::kProgramArguments);
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (ids[axis].use_empty())
      continue;
    if (mergeRows(func, axis, {}))
      return true;
    if (Value divisor = divisorOf(func, axis))
      if (mergeRows(func, axis, divisor))
        return true;
  }
  return false;
}

namespace {
struct MergeRowsPass
    : public tilebridge::cpu::impl::CpuMergeRowsPassBase<MergeRowsPass> {
  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      mergeRows(func);
  }
};
} // namespace
