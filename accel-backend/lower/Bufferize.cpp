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
    // A block that a loop carries is in one buffer.
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      auto result = cast<OpResult>(next);
      worklist.push_back(inner.getTiedLoopInit(result)->get());
      worklist.push_back(inner.getYieldedValues()[result.getResultNumber()]);
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
    op->walk([&](scf::YieldOp yield) {
      llvm::append_range(worklist, yield.getOperands());
    });
  }
  return false;
}

namespace {
/// How inner loops, one after the other, carry on what a loop carries.
struct CarriedOn {
  /// Whether `value` is what comes of `argument` by them.
  bool isSo = false;
  /// Whether somebody else sees what one of them began with.
  bool isShared = false;
};
} // namespace

static CarriedOn carriedOn(Value value, BlockArgument argument) {
  CarriedOn result;
  while (auto inner = value.getDefiningOp<scf::ForOp>()) {
    value = inner.getTiedLoopInit(cast<OpResult>(value))->get();
    result.isShared |= !value.hasOneUse();
    result.isSo = value == argument;
    if (result.isSo)
      return result;
  }
  return result;
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
    CarriedOn inner = carriedOn(operand.get(), argument);
    if (!(inner.isSo && inner.isShared) &&
        !mayBeCarried(operand.get(), loop, argument))
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
        carriedOn(value, argument).isSo)
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

/// Whether an op may write over a block. Where a transfer writes to, the next
/// one is to be able to write while the op computes; and what a branch only
/// passes on is somebody else's.
static bool mayBeWritten(Value block) {
  Operation *op = block.getDefiningOp();
  if (!op || isa<CopyOp>(op))
    return false;
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return true;
  unsigned number = cast<OpResult>(block).getResultNumber();
  return llvm::all_of(branch->getRegions(), [&](Region &region) {
    Value own = region.front().getTerminator()->getOperand(number);
    return region.isAncestor(own.getParentRegion()) && mayBeWritten(own);
  });
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
    if (value.getType() != init->get().getType() || !value.hasOneUse() ||
        !mayBeWritten(value) ||
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

/// Finds out which results can be where they are copied to, and puts them
/// there.
static LogicalResult
eliminateEmpties(IRRewriter &rewriter, Operation *root,
                 const bufferization::OneShotBufferizationOptions &options) {
  bufferization::OneShotAnalysisState analysis(root, options);
  return success(succeeded(bufferization::analyzeOp(root, analysis)) &&
                 succeeded(bufferization::eliminateEmptyTensors(rewriter, root,
                                                                analysis)));
}

/// What branches give is put where it is copied to without regard to who reads
/// what is there. Where somebody does, they have buffers of their own.
static void
separateBranches(IRRewriter &rewriter, Operation *root,
                 const bufferization::OneShotBufferizationOptions &options) {
  SmallVector<tensor::EmptyOp> empties;
  root->walk([&](tensor::EmptyOp empty) {
    auto branch = empty->getParentOfType<scf::IfOp>();
    if (branch &&
        llvm::any_of(branch.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      empties.push_back(empty);
  });
  if (empties.empty())
    return;
  Operation *trial = root->clone();
  bool isFree = false;
  {
    ScopedDiagnosticHandler silence(root->getContext(),
                                    [](Diagnostic &) { return success(); });
    bufferization::OneShotAnalysisState analysis(trial, options);
    isFree = succeeded(eliminateEmpties(rewriter, trial, options)) &&
             succeeded(bufferization::analyzeOp(trial, analysis));
  }
  trial->erase();
  if (isFree)
    return;
  for (tensor::EmptyOp empty : empties) {
    rewriter.setInsertionPoint(empty);
    rewriter.replaceOpWithNewOp<bufferization::AllocTensorOp>(
        empty, empty.getType(), ValueRange());
  }
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

  separateBranches(rewriter, root, options);
  if (failed(eliminateEmpties(rewriter, root, options)))
    return failure();
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
