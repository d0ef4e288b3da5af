//===- WidenOperands.cpp - tilebridge-cpu-widen-operands ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Where nothing multiplies bf16 or f16, the micro-kernel reads f32. A left
// operand that is in scratch memory anyway, as what is computed is, and what
// all iterations of a loop multiply, is put there as f32: it is written and
// read once less, and not widened again in each iteration.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUWIDENOPERANDSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// `block`, or what it is a transpose of.
static Value untransposed(Value block) {
  while (auto transpose = block.getDefiningOp<linalg::TransposeOp>())
    block = transpose.getInput();
  return block;
}

/// An iteration of a loop around `op` does not change `value`.
static bool isFromOutside(Value value, Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && loop.isDefinedOutsideOfLoop(value);
}

namespace {
struct WidenOperandsPass
    : public tilebridge::cpu::impl::CpuWidenOperandsPassBase<
          WidenOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products) {
      if (!wantsWide(op))
        continue;
      Value left = widened(op->getOperand(0));
      if (auto matmul = dyn_cast<linalg::MatmulOp>(*op))
        replace(matmul, left);
      else
        replace(cast<linalg::BatchMatmulOp>(*op), left);
    }
  }

private:
  /// The left operand of `op` is in scratch memory, and would be packed there.
  bool wantsWide(linalg::LinalgOp op) const {
    auto matmul = dyn_cast<linalg::MatmulOp>(*op);
    if ((matmul && (isDeepMatmul(matmul) || findMaskedRows(matmul))) ||
        op->hasAttr(linalg_ext::kShortSumsAttr))
      return false;
    Value left = op->getOperand(0), block = untransposed(left);
    auto type = cast<RankedTensorType>(left.getType());
    auto sums = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!block.getDefiningOp() || !isa<FloatType>(type.getElementType()) ||
        !type.hasStaticShape() || !sums || !sums.hasStaticShape() ||
        sums.getShape().back() == 1)
      return false;
    if (matchLoad(block) && !isFromOutside(block, op))
      return false;
    auto form = MatmulForm::of(op, target());
    if (failed(form))
      return false;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    ArrayRef<int64_t> shape = type.getShape().take_back(2);
    SmallVector<int64_t> strides = {shape[1], 1};
    if (form->swapsLhs)
      std::swap(strides[0], strides[1]);
    auto layout = StridedLayoutAttr::get(b.getContext(), 0, strides);
    int64_t depth = shape[form->swapsLhs ? 0 : 1];
    auto sumType =
        MemRefType::get(sums.getShape().take_back(2), sums.getElementType());
    auto readsAs = [&](Type element) {
      SmallVector<int64_t> lhsShape = {sumType.getDimSize(0), depth};
      MatmulKernel kernel(b, element,
                          getElementTypeOrSelf(op->getOperand(1).getType()),
                          sumType, depth, form->settings);
      return kernel.readsLhs(MemRefType::get(lhsShape, element, layout));
    };
    return !readsAs(type.getElementType()) && readsAs(b.getF32Type());
  }

  /// What it computes with each element depends on their types.
  template <typename Product> static void replace(Product op, Value left) {
    OpBuilder b(op);
    auto product =
        Product::create(b, op.getLoc(), op->getResultTypes(),
                        ValueRange{left, op.getInputs()[1]}, op.getOutputs());
    product.setIndexingMapsAttr(op.getIndexingMapsAttr());
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(product);
    op->erase();
  }

  Value widened(Value block) {
    if (Value wide = widenedBlocks.lookup(block))
      return wide;
    OpBuilder b(block.getContext());
    b.setInsertionPointAfterValue(block);
    Location loc = block.getLoc();
    if (auto transpose = block.getDefiningOp<linalg::TransposeOp>()) {
      Value input = widened(transpose.getInput());
      return widenedBlocks[block] = linalg_ext::transposed(
                 b, loc, input, transpose.getPermutation());
    }
    auto type = cast<RankedTensorType>(block.getType());
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), b.getF32Type());
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> dims(type.getRank(),
                                          utils::IteratorType::parallel);
    return widenedBlocks[block] =
               linalg::GenericOp::create(
                   b, loc, empty.getType(), block, empty, maps, dims,
                   [](OpBuilder &b, Location loc, ValueRange args) {
                     Value element =
                         arith::ExtFOp::create(b, loc, b.getF32Type(), args[0]);
                     linalg::YieldOp::create(b, loc, element);
                   })
                   .getResult(0);
  }

  EmitTarget target() const {
    EmitTarget target;
    target.vectorBits = vectorBits;
    target.hasBf16Pairs = bf16Pairs;
    target.hasTwoFmas = twoFmas;
    target.hasBf16Tiles = bf16Tiles;
    return target;
  }

  llvm::DenseMap<Value, Value> widenedBlocks;
};
} // namespace
