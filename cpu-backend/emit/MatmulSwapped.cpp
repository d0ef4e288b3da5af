//===- MatmulSwapped.cpp - products whose operands change sides ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The pixels of a picture whose channels lie apart are gathered rows of single
// elements, most of which follow one another in memory. Instructions that
// multiply pairs of bf16 want the channels of a pixel beside each other in `a`:
// squares of pixels and channels would have to be transposed. In panels of `b`
// the pixels stay side by side, and two channels are put into words by a shift.
// So pixels are the right operand, weights the left one. The sums are stored as
// they are, if that is all that happens to them, and pixels follow one another
// there as well; else they are transposed once, when the loop ends.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/DirectOperands.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// How the transposed product of `op`, which a loop adds up, would take its
/// operands: null if it would be no better than the product itself.
static std::optional<MatmulKernel> swappedKernelOf(ImplicitLocOpBuilder &b,
                                                   DeepMatmul &product) {
  linalg::MatmulOp op = product.op;
  Value left = op.getInputs()[0];
  auto type = cast<RankedTensorType>(left.getType());
  Operation *right = packedValue(op).getDefiningOp();
  if (!op->hasAttr(deepAttr) || op->hasAttr(maskedRowsAttr) ||
      !givesGatheredColumns(left) || (right && right->hasAttr(directAttr)))
    return std::nullopt;
  auto form =
      MatmulForm::of(cast<linalg::LinalgOp>(*op), product.form.settings.target);
  if (failed(form) || form->swapsLhs)
    return std::nullopt;
  product.form = *form;
  product.depth = type.getDimSize(1);
  auto isBf16 = [](Value value) {
    return getElementTypeOrSelf(value.getType()).isBF16();
  };
  MatmulKernel kernel = product.swappedKernel(b);
  bool isPairs =
      kernel.takesPairs() && isBf16(left) && isBf16(op.getInputs()[1]);
  if (!isPairs && !(kernel.readsElements() &&
                    hasGatheredColumns(product, product.kernel(b))))
    return std::nullopt;
  return kernel;
}

MemRefType DeepMatmul::typeOfRhs(ImplicitLocOpBuilder &b) const {
  if (!isSwapped)
    return kernel(b).packedRhs(capacity);
  MatmulKernel made = swappedKernel(b);
  if (made.readsElements())
    return made.packedLhs(capacity, /*byColumns=*/true);
  // Rows at a distance of a power of two would compete for their places in the
  // cache.
  return made.packedLhs(capacity + lineBytes / made.packedBytes());
}

/// Along the rows of a block that is stored there elements lie beside each
/// other, along its columns they do not.
static bool isAlongRows(MemRefType view) {
  auto strides = view.getStridesAndOffset().first;
  return strides.size() == 2 && strides[0] == 1 && strides[1] != 1;
}

/// What is computed from `block`, element by element, is stored so, and nothing
/// else happens to it.
static bool isStoredByRows(Value block) {
  llvm::SmallSetVector<Value, 8> seen;
  seen.insert(block);
  for (size_t next = 0; next < seen.size(); ++next)
    for (Operation *user : seen[next].getUsers()) {
      MemRefType view;
      if (auto rows = dyn_cast<linalg_ext::ScatterRowsOp>(user))
        view = rows.getDim() == 0 ? rows.getView().getType() : MemRefType();
      else if (auto some = dyn_cast<linalg_ext::MaskedStoreOp>(user))
        view = cast<MemRefType>(some.getView().getType());
      else if (auto all =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(user))
        view = dyn_cast<MemRefType>(all.getDest().getType());
      if (view) {
        if (!isAlongRows(view))
          return false;
      } else if (isElementwise(user) || isa<tensor::ExtractSliceOp>(user)) {
        seen.insert_range(user->getResults());
      } else {
        return false;
      }
    }
  return true;
}

/// Before the loop: which products it adds up transposed. Their sums begin at
/// zero, so that there are none but those of the loop, and stay transposed if
/// they are only stored so.
void FunctionEmitter::findSwapped(scf::ForOp loop) {
  for (auto op : loop.getBody()->getOps<linalg::MatmulOp>()) {
    auto sums = dyn_cast<BlockArgument>(op.getDpsInits()[0]);
    if (!sums || sums.getOwner() != loop.getBody() ||
        !isZeroOfDeepMatmul(loop.getTiedLoopInit(sums)->get(), sums))
      continue;
    DeepMatmul product;
    product.op = op;
    product.form.settings.target = emitTarget;
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto kernel = swappedKernelOf(b, product);
    if (!kernel)
      continue;
    Value result = op->getResult(0), storage = plan.storageOf(sums);
    unsigned number = result.use_begin()->getOperandNumber();
    bool staysSo = storage == plan.storageOf(result) &&
                   !memory.lookup(storage) &&
                   isStoredByRows(loop->getResult(number));
    if (staysSo)
      memory[storage] = swapDims(b, allocate(product.typeOfSwappedSums()));
    // Columns of single elements are as quick to pack either way.
    if (staysSo || kernel->takesPairs())
      op->setAttr(swappedAttr, b.getUnitAttr());
  }
}

LogicalResult FunctionEmitter::packSwapped(const DeepMatmul &product,
                                           bool isLhs, Value tensor) {
  auto known = irregular.find(tensor);
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  MatmulKernel kernel = product.swappedKernel(b);
  if (isLhs && kernel.readsElements())
    return packByColumns(product, tensor);
  if (isLhs && known != irregular.end() && !buffers.count(tensor)) {
    const View &view = *known->second;
    auto load = tensor.getDefiningOp<linalg_ext::MaskedLoadOp>();
    Value pad = load ? load.getOther() : view.pad;
    bool isScalar = !pad || !isa<RankedTensorType>(pad.getType());
    if (constantOf(view.strides[0]) == 1 && isScalar)
      return packGatheredPairs(*this, product, view, pad,
                               load ? load.getMask() : Value());
  }
  Value view = viewOf(tensor, product.endsOfCopy(b, isLhs));
  if (!view)
    return failure();
  b.setInsertionPoint(rewriter.getInsertionBlock(),
                      rewriter.getInsertionPoint());
  if (!isLhs && product.form.swapsRhs)
    view = swapDims(b, view);
  product.packSteps(b, view, isLhs ? 1 : 0, [&](Value part, Value at) {
    if (isLhs)
      return kernel.packRhs(swapDims(b, part), product.lhs, at);
    if (!kernel.readsElements())
      return kernel.packLhs(swapDims(b, part), product.rhs, at);
    SmallVector<OpFoldResult> offsets = {at, b.getIndexAttr(0)},
                              strides(2, b.getIndexAttr(1));
    ArrayRef<int64_t> shape = cast<MemRefType>(part.getType()).getShape();
    kernel.packLhs(part,
                   memref::SubViewOp::create(
                       b, product.rhs, offsets,
                       getAsIndexOpFoldResult(b.getContext(), shape), strides));
  });
  return success();
}

void tilebridge::cpu::multiplySwapped(ImplicitLocOpBuilder &b,
                                      const DeepMatmul &product, Value acc,
                                      Value steps, Value isFirst,
                                      Allocate allocate) {
  MatmulKernel kernel = product.swappedKernel(b);
  Value weights =
      kernel.readsElements() ? swapDims(b, product.rhs) : product.rhs;
  auto multiply = [&](Value sums) {
    kernel.multiply(weights, product.lhs, sums, steps, allocate, {},
                    product.columnsEnd, isFirst);
  };
  if (cast<MemRefType>(acc.getType()).getStridesAndOffset().first[0] == 1)
    return multiply(swapDims(b, acc));
  multiply(product.swappedSums);
  auto branch = scf::IfOp::create(b, product.isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  constexpr int64_t side = 16;
  emitPack(b, swapDims(b, product.swappedSums), acc, side, side, 0,
           [](Value value) { return value; });
}
