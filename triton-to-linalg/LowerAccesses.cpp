//===- LowerAccesses.cpp - memory accesses of tt to the bridge's ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/AccessAnalysis.h"
#include "triton-to-linalg/analysis/IntegerFacts.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/lower/Accesses.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_LOWERACCESSESPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// The one number that memref's attributes take for "not known".
static LogicalResult checkLayouts(Operation *function) {
  auto check = [](Operation *op, ValueRange sizes) -> LogicalResult {
    APInt value;
    for (Value size : sizes)
      if (matchPattern(size, m_ConstantInt(&value)) &&
          value.getBitWidth() == 64 && value.isMinSignedValue())
        return op->emitError("a size or stride of -2^63 elements is in no "
                             "memory; pass the tensor's own");
    return success();
  };
  WalkResult result = function->walk([&](Operation *op) -> WalkResult {
    if (auto pointer = dyn_cast<tt::MakeTensorPtrOp>(op))
      return WalkResult(success(succeeded(check(op, pointer.getShape())) &&
                                succeeded(check(op, pointer.getStrides()))));
    if (auto descriptor = dyn_cast<tt::MakeTensorDescriptorOp>(op))
      return check(op, descriptor.getStrides());
    return success();
  });
  return failure(result.wasInterrupted());
}

static bool isBlockPointer(Value value) {
  auto type = dyn_cast<tt::PointerType>(value.getType());
  return type && type.isBlockPointer();
}

namespace {

struct LowerAccessesPass : ttl::impl::LowerAccessesPassBase<LowerAccessesPass> {
  using LowerAccessesPassBase::LowerAccessesPassBase;

  void runOnOperation() override {
    if (failed(checkLayouts(getOperation())))
      return signalPassFailure();
    IntegerFacts facts(getOperation());
    foldMasks(facts);
    // A load is lowered before the accesses that its result addresses: what an
    // analysis sees is final.
    SmallVector<Operation *> accesses;
    getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { accesses.push_back(op); });
    for (Operation *op : accesses)
      lower(op, facts);
    // Pointer arithmetic that only served accesses is left without uses.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }

  /// Comparisons that hold for all lanes, as those of a loop over a number of
  /// elements that its steps divide, need not be computed.
  void foldMasks(const IntegerFacts &facts) {
    SmallVector<arith::CmpIOp> masks;
    getOperation()->walk([&](arith::CmpIOp op) {
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (type && type.getRank() > 0)
        masks.push_back(op);
    });
    ExprPool pool(&facts);
    AccessAnalysis analysis(pool, /*isExact=*/true);
    for (arith::CmpIOp op : masks) {
      if (!analysis.mask(op).isAll())
        continue;
      OpBuilder builder(op);
      auto type = cast<RankedTensorType>(op.getType());
      op.replaceAllUsesWith(
          arith::ConstantOp::create(
              builder, op.getLoc(),
              DenseElementsAttr::get(type, builder.getBoolAttr(true)))
              .getResult());
    }
  }

  static void lower(Operation *op, const IntegerFacts &facts) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tt::LoadOp load) {
          isBlockPointer(load.getPtr()) ? lowerBlockLoad(load)
          : mustReadEachTime(load)      ? lowerVolatileLoad(load)
                                        : lowerLoad(load, facts);
        })
        .Case([&](tt::StoreOp store) {
          isBlockPointer(store.getPtr()) ? lowerBlockStore(store)
                                         : lowerStore(store, facts);
        })
        .Case(lowerDescriptorLoad)
        .Case(lowerDescriptorStore)
        .Case(lowerDescriptorReduce)
        .Case(lowerDescriptorGather)
        .Case(lowerDescriptorScatter)
        .Case(lowerAtomicRMW)
        .Case(lowerAtomicCAS)
        .Case(lowerAtomicLoad)
        .Case(lowerAtomicStore)
        .Case(lowerAtomicPoll);
  }
};

} // namespace
