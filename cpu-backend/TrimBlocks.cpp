//===- TrimBlocks.cpp - tilebridge-cpu-trim-blocks ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Blocks have sizes that are powers of two: an attention with heads of 80
// elements pads them to 128. What was padded is multiplied and added up like
// the rest. Where the number of elements is a constant, blocks without them are
// as good, if nobody sees those, and sums get nothing but zeros of them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlockDims.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Combiners.h"
#include "cpu-backend/emit/Outside.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/bridge/SeparateUses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include "llvm/Support/MathExtras.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUTRIMBLOCKSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static bool isZero(Attribute attr) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attr))
    return number.getValue().isZero();
  auto number = dyn_cast_or_null<IntegerAttr>(attr);
  return number && number.getValue().isZero();
}

/// Without elements of the inputs from `size` on, sums are what they were.
static bool addsNothingFrom(const BlockDims::Class &dim, int64_t size) {
  return llvm::all_of(dim.summed, [&](auto place) {
    auto [operand, d] = place;
    Outside outside = outsideFrom(operand->get(), d, size);
    if (!outside.isSame || !outside.isExact() || !isZero(outside.value))
      return false;
    auto reduce = dyn_cast<linalg::ReduceOp>(operand->getOwner());
    return !reduce || (reduce.getInputs().size() == 1 &&
                       isa_and_present<arith::AddFOp, arith::AddIOp>(
                           combinerOf(reduce.getCombiner().front())));
  });
}

namespace {

/// Blocks that may be computed for each use: from indices and numbers alone, or
/// by broadcasting.
class RepeatableBlocks {
public:
  bool operator()(Operation *op) {
    if (isa<arith::ConstantOp, tensor::EmptyOp, tensor::SplatOp, linalg::FillOp,
            linalg::BroadcastOp>(op))
      return true;
    bool isOfIndices =
        (isElementwise(op) ||
         isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *from = operand.getDefiningOp();
          return !isa<RankedTensorType>(operand.getType()) ||
                 ofIndices.contains(from) ||
                 isa_and_present<arith::ConstantOp, tensor::EmptyOp,
                                 tensor::SplatOp, linalg::FillOp>(from);
        });
    if (isOfIndices)
      ofIndices.insert(op);
    return isOfIndices;
  }

private:
  DenseSet<Operation *> ofIndices;
};

} // namespace

/// The part of a view that is as large as the block.
static void trimView(OpOperand &view, RankedTensorType block) {
  OpBuilder b(view.getOwner());
  SmallVector<OpFoldResult> zeros(block.getRank(), b.getIndexAttr(0)),
      ones(block.getRank(), b.getIndexAttr(1));
  view.set(memref::SubViewOp::create(
      b, view.getOwner()->getLoc(), view.get(), zeros,
      getAsIndexOpFoldResult(b.getContext(), block.getShape()), ones));
}

/// Gives the block its new type, and says so where its op does besides.
static void trim(Value block, RankedTensorType type) {
  block.setType(type);
  for (Operation *user : block.getUsers())
    if (auto store = dyn_cast<linalg_ext::MaskedStoreOp>(user);
        store && store.getValue() == block)
      trimView(store.getViewMutable(), type);
  Operation *op = block.getDefiningOp();
  if (!op)
    return;
  if (auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op))
    return trimView(load.getViewMutable(), type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      constant.setValueAttr(
          DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    expand.setStaticOutputShape(type.getShape());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    SmallVector<int64_t> high(pad.getStaticHigh());
    for (auto [d, low, end] : llvm::enumerate(pad.getStaticLow(), high))
      if (!ShapedType::isDynamic(low) && !ShapedType::isDynamic(end) &&
          !pad.getSourceType().isDynamicDim(d))
        end = type.getDimSize(d) - low - pad.getSourceType().getDimSize(d);
    pad.setStaticHigh(high);
  }
}

namespace {

struct TrimBlocksPass
    : public tilebridge::cpu::impl::CpuTrimBlocksPassBase<TrimBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation()
             .walk([](linalg::ContractionOpInterface) {
               return WalkResult::interrupt();
             })
             .wasInterrupted())
      return;
    // Where a thousand copies are too few, the rest stays tied.
    linalg_ext::SeparateUses separated(
        getOperation(), RepeatableBlocks(), /*mostCopies=*/1000,
        linalg_ext::SeparateUses::Place::BesideOriginal);
    BlockDims dims(getOperation());
    DenseMap<const BlockDims::Class *, int64_t> sizes;
    for (const BlockDims::Class &dim : dims.all())
      if (int64_t size = trimmed(dim); size < dim.size)
        sizes[&dim] = size;
    if (sizes.empty())
      return separated.undo();
    for (Value block : dims.blocks()) {
      auto type = cast<RankedTensorType>(block.getType());
      SmallVector<int64_t> shape(type.getShape());
      for (auto [d, size] : llvm::enumerate(shape))
        if (auto it = sizes.find(dims.classOf(block, d)); it != sizes.end())
          size = it->second;
      if (ArrayRef<int64_t>(shape) != type.getShape())
        trim(block, type.clone(shape));
    }
    // Blocks that are equal are one again.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }

private:
  /// The size that the dimension gets.
  int64_t trimmed(const BlockDims::Class &dim) const {
    if (dim.isFixed || dim.productBits == 0)
      return dim.size;
    // Whole vectors and, of the units that have them, whole tiles.
    int64_t step = tiles ? 512 / std::min(dim.productBits, 32u) : 16;
    auto nobodySees = [&](int64_t size) {
      return llvm::all_of(dim.storeMasks, [&](auto place) {
        return outsideFrom(place.first, place.second, size).isFalse();
      });
    };
    int64_t size = std::max<int64_t>(step, llvm::alignTo(dim.end, step));
    while (size < dim.size && !(nobodySees(size) && addsNothingFrom(dim, size)))
      size += step;
    return std::min(size, dim.size);
  }
};

} // namespace
