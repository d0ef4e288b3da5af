//===- Bufferize.cpp - blocks become buffers in local memory --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELBUFFERIZEPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct AccelBufferize
    : public accel::impl::AccelBufferizePassBase<AccelBufferize> {
  using AccelBufferizePassBase::AccelBufferizePassBase;

  void runOnOperation() override;
  LogicalResult bufferize();
};
} // namespace

/// True if the buffer of `value` may be that of a block which the loop carries,
/// other than `own`.
static bool mayBeCarried(Value value, scf::ForOp loop, BlockArgument own) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!isa<RankedTensorType>(next.getType()) || !seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == loop.getBody() && argument != own)
        return true;
      // A block that an inner loop carries.
      if (auto inner = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
        if (inner != loop)
          worklist.push_back(inner.getTiedLoopInit(argument)->get());
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!loop->isProperAncestor(op) || isa<tensor::EmptyOp>(op))
      continue;
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op)) {
      worklist.push_back(style.getTiedOpOperand(cast<OpResult>(next))->get());
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
    op->walk([&](scf::YieldOp yield) {
      llvm::append_range(worklist, yield.getOperands());
    });
  }
  return false;
}

/// The inner loop that carries on what `argument` carries, and gives `value`.
static scf::ForOp innerLoop(Value value, BlockArgument argument) {
  auto inner = value.getDefiningOp<scf::ForOp>();
  if (!inner)
    return {};
  OpOperand *init = inner.getTiedLoopInit(cast<OpResult>(value));
  return init->get() == argument ? inner : scf::ForOp();
}

/// What a loop yields is to be in the buffer that it carries: otherwise each
/// iteration would make another one.
static void yieldInPlace(IRRewriter &rewriter, scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  Location loc = yield.getLoc();
  // Blocks that change places are saved before one of them is overwritten.
  for (auto [operand, argument] :
       llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    // An inner loop is in place already, unless what it began with is used
    // once more.
    bool isShared = innerLoop(operand.get(), argument) && !argument.hasOneUse();
    if (!isShared && !mayBeCarried(operand.get(), loop, argument))
      continue;
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    auto saved = linalg::CopyOp::create(rewriter, loc, operand.get(), empty);
    operand.set(saved.getResult(0));
  }
  for (auto [operand, argument] :
       llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs())) {
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType()) || value == argument ||
        innerLoop(value, argument))
      continue;
    auto inPlace = bufferization::MaterializeInDestinationOp::create(
        rewriter, loc, value.getType(), value, argument);
    operand.set(inPlace.getResult());
  }
}

/// Gives each use of a tensor.empty one of its own, so that buffers are not
/// shared by, and do not outlive, what they are for.
static void separateEmpties(IRRewriter &rewriter, Operation *root) {
  SmallVector<tensor::EmptyOp> empties;
  root->walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (tensor::EmptyOp empty : empties) {
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      use.set(rewriter.clone(*empty)->getResult(0));
    }
    rewriter.eraseOp(empty);
  }
}

/// An elementwise op may write over an operand that nobody reads afterwards:
/// where that is so the analysis finds out.
static void reuseOperand(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1 || generic.getNumLoops() == 0 ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return;
  OpOperand *init = generic.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
      generic.payloadUsesValueFromOperand(init))
    return;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    Value value = input->get();
    // Where a transfer writes to, the next one is to be able to write while
    // this op computes.
    if (value.getType() != init->get().getType() || !value.hasOneUse() ||
        value.getDefiningOp<CopyOp>() || !value.getDefiningOp() ||
        !generic.getMatchingIndexingMap(input).isIdentity() ||
        !generic.getMatchingIndexingMap(init).isIdentity())
      continue;
    init->set(value);
    return;
  }
}

/// Buffers become accel.alloc, copies of them linalg.copy.
static LogicalResult replaceMemoryOps(IRRewriter &rewriter, Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::CopyOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      linalg::CopyOp::create(rewriter, op->getLoc(), copy.getSource(),
                             copy.getTarget());
      rewriter.eraseOp(op);
      continue;
    }
    auto alloc = cast<memref::AllocOp>(op);
    if (!alloc.getType().hasStaticShape())
      return op->emitError("cannot be lowered for an accelerator: a buffer's "
                           "size is not known: ")
             << alloc.getType();
    rewriter.replaceOpWithNewOp<AllocOp>(op, TypeRange(alloc.getType()),
                                         IntegerAttr(), IntegerAttr());
  }
  return success();
}

LogicalResult AccelBufferize::bufferize() {
  Operation *root = getOperation();
  IRRewriter rewriter(&getContext());
  separateEmpties(rewriter, root);
  root->walk([&](scf::ForOp loop) { yieldInPlace(rewriter, loop); });
  root->walk([&](linalg::GenericOp generic) { reuseOperand(generic); });

  bufferization::OneShotBufferizationOptions options;
  Attribute local =
      MemoryAttr::get(&getContext(), rewriter.getStringAttr(memory));
  options.defaultMemorySpaceFn = [=](TensorType) -> std::optional<Attribute> {
    return local;
  };
  options.unknownTypeConverterFn =
      [=](TensorType type, Attribute space,
          const bufferization::BufferizationOptions &) {
        return bufferization::getMemRefTypeWithStaticIdentityLayout(type,
                                                                    local);
      };
  // A body's tensors are contents, not buffers.
  options.opFilter.denyOperation([](Operation *op) {
    return op->getParentOfType<ComputeOp>() != nullptr;
  });
  options.allowReturnAllocsFromLoops = true;

  // The first analysis shows which results can be where they are copied to.
  {
    bufferization::OneShotAnalysisState analysis(root, options);
    if (failed(bufferization::analyzeOp(root, analysis)) ||
        failed(bufferization::eliminateEmptyTensors(rewriter, root, analysis)))
      return failure();
  }
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(root, options, state)))
    return failure();
  return replaceMemoryOps(rewriter, root);
}

void AccelBufferize::runOnOperation() {
  if (failed(bufferize()))
    return signalPassFailure();
  // Nothing of what the bridge IR calls a tensor is left.
  WalkResult result =
      getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
        if (isa<ComputeOp>(op))
          return WalkResult::skip();
        for (Type type : op->getResultTypes())
          if (isa<TensorType>(type)) {
            op->emitError(
                "cannot be lowered for an accelerator: nothing says in "
                "which buffer its result ")
                << type << " is";
            return WalkResult::interrupt();
          }
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    signalPassFailure();
}
