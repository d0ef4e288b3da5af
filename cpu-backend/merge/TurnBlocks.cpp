//===- TurnBlocks.cpp - tilebridge-cpu-turn-blocks ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A product of a matrix and a vector has rows of its result as the first
// dimension of its blocks. Where the matrix is the transpose of what lies in
// memory, that one is contiguous, and a program reads a few elements of each
// line. Programs are merged along the last dimension: the blocks are turned.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/merge/ProgramColumns.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUTURNBLOCKSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

static bool isBlock(Value value) { return rankOf(value) == 2; }

template <typename T> static SmallVector<T> turned(ArrayRef<T> values) {
  return SmallVector<T>(llvm::reverse(values));
}

static RankedTensorType turned(Type type) {
  auto block = cast<RankedTensorType>(type);
  return block.clone(turned(block.getShape()));
}

/// The block of memory that a load is all of, or a part.
static memref::ReinterpretCastOp blockOf(bufferization::ToTensorOp load) {
  Value view = load.getBuffer();
  if (auto part = view.getDefiningOp<memref::SubViewOp>())
    view = part.getSourceType().getRank() == part.getType().getRank()
               ? part.getSource()
               : Value();
  return view ? view.getDefiningOp<memref::ReinterpretCastOp>()
              : memref::ReinterpretCastOp();
}

/// `op`, which has blocks, means the same if all of these are turned.
static bool mayTurn(Operation *op) {
  if (auto load = dyn_cast<bufferization::ToTensorOp>(op))
    return blockOf(load) != nullptr;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return linalg_ext::keepsOrder(generic) &&
           generic.getNumReductionLoops() == 0 &&
           llvm::all_of(generic.getOutputs(), isBlock) &&
           !anyInside(generic, [&](Operation *inner) {
             return isa<linalg::IndexOp>(inner) &&
                    inner->getParentOp() != generic;
           });
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    return rankOf(broadcast.getInput()) < 2;
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    return reduce.getNumDpsInputs() == 1;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() != nullptr;
  return isa<tensor::EmptyOp, tensor::SplatOp, linalg::FillOp, scf::ForOp,
             scf::YieldOp>(op);
}

/// Rows of a few elements along the first dimension: which one is contiguous is
/// known, and programs that follow one another read more of them.
static bool isTurned(memref::ReinterpretCastOp block) {
  MemRefType type = block.getType();
  return type.hasStaticShape() && hasUnitStride(type, 0) &&
         !hasUnitStride(type, 1) && type.getDimSize(0) > 1 &&
         type.getDimSize(1) > 1;
}

/// All ops that have blocks; empty where they are not to be turned.
static SmallVector<Operation *> findBlocks(func::FuncOp func) {
  SmallVector<Operation *> ops;
  bool isPossible = true, isTurnedInLoop = false;
  func.walk([&](Operation *op) {
    if (op == func)
      return;
    bool hasBlock = false;
    for (Value value :
         llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                             SmallVector<Value>(op->getResults()))) {
      hasBlock |= isBlock(value);
      isPossible &= rankOf(value) <= 2;
    }
    if (!hasBlock)
      return;
    ops.push_back(op);
    isPossible &= mayTurn(op);
    auto load = dyn_cast<bufferization::ToTensorOp>(op);
    if (memref::ReinterpretCastOp block = load ? blockOf(load) : nullptr) {
      isPossible &= isTurned(block);
      isTurnedInLoop |= load->getParentOfType<scf::ForOp>() != nullptr;
    }
  });
  if (!isPossible || !isTurnedInLoop)
    ops.clear();
  return ops;
}

static void turn(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto replace = [&](Operation *with) {
    with->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(with);
    op->erase();
  };
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value outside = pad.getConstantPaddingValue();
    if (pad->isAncestor(outside.getParentBlock()->getParentOp()))
      outside = b.clone(*outside.getDefiningOp())->getResult(0);
    return replace(tensor::PadOp::create(
        b, loc, turned(pad.getType()), pad.getSource(),
        turned<OpFoldResult>(pad.getMixedLowPad()),
        turned<OpFoldResult>(pad.getMixedHighPad()), outside, pad.getNofold()));
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return replace(tensor::EmptyOp::create(
        b, loc, turned<OpFoldResult>(empty.getMixedSizes()),
        empty.getType().getElementType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return replace(arith::ConstantOp::create(
        b, loc,
        cast<DenseElementsAttr>(constant.getValue())
            .resizeSplat(turned(constant.getType()))));
  if (auto load = dyn_cast<bufferization::ToTensorOp>(op)) {
    Operation *view = load.getBuffer().getDefiningOp();
    load.getBufferMutable().assign(
        linalg_ext::permuteView(b, load.getBuffer(), {1, 0}));
    // Programs with views of both kinds are not merged.
    while (view && view->use_empty() && isa<ViewLikeOpInterface>(view)) {
      Operation *source = view->getOperand(0).getDefiningOp();
      view->erase();
      view = source;
    }
  }
  auto other = [&](ArrayRef<int64_t> dims) {
    return dims.size() == 1 ? SmallVector<int64_t>{1 - dims.front()}
                            : SmallVector<int64_t>(dims);
  };
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    broadcast.setDimensions(other(broadcast.getDimensions()));
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    reduce.setDimensions(other(reduce.getDimensions()));
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    for (auto index : generic.getBody()->getOps<linalg::IndexOp>())
      index.setDim(1 - index.getDim());
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (isBlock(argument))
        argument.setType(turned(argument.getType()));
  for (Value result : op->getResults())
    if (isBlock(result))
      result.setType(turned(result.getType()));
}

namespace {

struct TurnBlocksPass
    : public tilebridge::cpu::impl::CpuTurnBlocksPassBase<TurnBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr("tilebridge.kernel") || !isSumOfRows(func))
      return;
    for (Operation *op : findBlocks(func))
      turn(op);
  }
};

} // namespace
