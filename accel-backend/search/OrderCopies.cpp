//===- OrderCopies.cpp - blocks in the order of memory --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What an engine does not say is how elements of a block get apart from their
// neighbours: a compute unit does that on local memory, at once for the block.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/plan/Descriptor.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/search/Passes.h"
#include "accel-backend/simulator/Cost.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELORDERCOPIESPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

using Permutation = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// What is gained
//===----------------------------------------------------------------------===//

/// How many descriptors of the engine say the box, and the cycles of their
/// set-up.
static double countDescriptors(Box box, const DmaEngine &engine) {
  double count = 1;
  while (std::optional<Piece> piece = nextPiece(box, engine)) {
    int64_t &most = box.most[size_t(piece->dimension)];
    if (most == unknownExtent)
      return std::numeric_limits<double>::infinity();
    count *= double(llvm::divideCeil(uint64_t(most), uint64_t(piece->size)));
    box.isExact[size_t(piece->dimension)] = most % piece->size == 0;
    most = piece->size;
  }
  return count;
}

/// Strides of a block that lies in local memory row by row.
static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// The box that moves a block of this shape, whose memory has these dimensions.
static Box boxOf(RankedTensorType block, MemRefType memory, bool isLoad,
                 ArrayRef<int64_t> permutation) {
  Box box;
  box.elementBytes = llvm::divideCeil(memory.getElementTypeBitWidth(), 8);
  SmallVector<int64_t> memoryStrides;
  int64_t offset;
  if (failed(memory.getStridesAndOffset(memoryStrides, offset)))
    memoryStrides.assign(memory.getRank(), ShapedType::kDynamic);
  SmallVector<int64_t> shape = applyPermutation(block.getShape(), permutation);
  SmallVector<int64_t> sizes = applyPermutation(memory.getShape(), permutation);
  memoryStrides = applyPermutation(memoryStrides, permutation);
  for (auto [size, most] : llvm::zip_equal(sizes, shape)) {
    bool isKnown = !ShapedType::isDynamic(size);
    box.most.push_back(isKnown ? std::min(size, most) : most);
    box.isExact.push_back(isKnown);
  }
  box.sourceStrides = isLoad ? memoryStrides : rowMajor(shape);
  box.destStrides = isLoad ? rowMajor(shape) : memoryStrides;
  return box;
}

/// The dimensions from the largest stride to the smallest: what is not known is
/// taken to be large, and what is read again and again comes first, too.
static Permutation orderOfMemory(MemRefType memory) {
  SmallVector<int64_t> strides;
  int64_t offset;
  Permutation order = llvm::to_vector(llvm::seq(memory.getRank()));
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return order;
  auto rank = [&](int64_t d) {
    int64_t stride = strides[d];
    return ShapedType::isDynamic(stride) || stride == 0
               ? std::numeric_limits<int64_t>::max()
               : std::abs(stride);
  };
  llvm::stable_sort(order,
                    [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
  return order;
}

static double cyclesToTranspose(RankedTensorType block, const Target &target) {
  StringRef name = rateTypeOf(block);
  const ComputeUnit &unit = target.unitFor(operations::move, name);
  return unit.startupCycles +
         double(block.getNumElements()) / unit.rate(operations::move, name);
}

//===----------------------------------------------------------------------===//
// Views and blocks in another order
//===----------------------------------------------------------------------===//

/// The block in another order. Of a part of a block, the whole is transposed:
/// buffers have static sizes. Null where there is no such.
static Value permuteBlock(OpBuilder &builder, Location loc, Value block,
                          ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(block.getType());
  if (block.getDefiningOp<tensor::EmptyOp>() && type.hasStaticShape())
    return tensor::EmptyOp::create(
        builder, loc, applyPermutation(type.getShape(), permutation),
        type.getElementType());
  if (type.hasStaticShape())
    return linalg_ext::transposed(builder, loc, block, permutation);
  auto part = block.getDefiningOp<tensor::ExtractSliceOp>();
  if (!part || !part.getSourceType().hasStaticShape() ||
      part.getSourceType().getRank() != type.getRank())
    return {};
  Value whole =
      linalg_ext::transposed(builder, loc, part.getSource(), permutation);
  return tensor::ExtractSliceOp::create(
      builder, loc, whole,
      applyPermutation(part.getMixedOffsets(), permutation),
      applyPermutation(part.getMixedSizes(), permutation),
      applyPermutation(part.getMixedStrides(), permutation));
}

/// The block of which the copy moves all or a part.
static RankedTensorType wholeBlock(Value block) {
  if (auto part = block.getDefiningOp<tensor::ExtractSliceOp>())
    if (part.getSourceType().getRank() == part.getType().getRank())
      return part.getSourceType();
  return cast<RankedTensorType>(block.getType());
}

namespace {
struct AccelOrderCopiesPass
    : accel::impl::AccelOrderCopiesPassBase<AccelOrderCopiesPass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::of(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch)
      return;
    SmallVector<CopyOp> copies;
    getOperation().walk([&](CopyOp copy) { copies.push_back(copy); });
    for (CopyOp copy : copies)
      order(copy, (*launch)->target);
  }

  static void order(CopyOp copy, const Target &target) {
    bool isLoad = isa<RankedTensorType>(copy.getDest().getType());
    Value view = isLoad ? copy.getSource() : copy.getDest();
    Value block = isLoad ? copy.getDest() : copy.getSource();
    auto memory = dyn_cast<MemRefType>(view.getType());
    if (copy.getRows() || !memory || !isa<RankedTensorType>(block.getType()))
      return;
    RankedTensorType whole = wholeBlock(block);
    Permutation inOrder = orderOfMemory(memory);
    if (!whole.hasStaticShape() || isIdentityPermutation(inOrder))
      return;
    StringRef far = nameOfMemory(view, target);
    StringRef local = target.localMemory().name;
    const DmaEngine *engine =
        isLoad ? target.findEngine(far, local) : target.findEngine(local, far);
    if (!engine)
      return;
    Permutation asIs = llvm::to_vector(llvm::seq(memory.getRank()));
    double now = countDescriptors(boxOf(whole, memory, isLoad, asIs), *engine);
    double then =
        countDescriptors(boxOf(whole, memory, isLoad, inOrder), *engine);
    double setup = std::max(1.0, double(engine->setupCycles));
    if (then >= now || (now - then) * setup <= cyclesToTranspose(whole, target))
      return;
    OpBuilder builder(copy);
    Value ordered = linalg_ext::permuteView(builder, view, inOrder);
    if (!ordered)
      return;
    Value orderedBlock = permuteBlock(builder, copy.getLoc(), block, inOrder);
    Value mask = copy.getMask();
    if (mask)
      mask = permuteBlock(builder, copy.getLoc(), mask, inOrder);
    if (!orderedBlock || (copy.getMask() && !mask))
      return;
    std::string reason =
        llvm::formatv("engine '{0}' takes {1} descriptors for the block, "
                      "and {2} in the order of memory",
                      engine->name, uint64_t(now), uint64_t(then));
    copy.emitRemark("is copied in the order of memory and transposed in local "
                    "memory: ")
        << reason;
    // Why a mask is one is said with it.
    linalg_ext::AccessNote note = AccessText(copy).note;
    note.form += ", transposed";
    note.reason += (note.reason.empty() ? "" : "; ") + reason;
    rewrite(builder, copy, isLoad ? ordered : orderedBlock,
            isLoad ? orderedBlock : ordered, mask, inOrder,
            linalg_ext::withAccessNote(copy.getLoc(), note));
  }

  static void rewrite(OpBuilder &builder, CopyOp copy, Value source, Value dest,
                      Value mask, ArrayRef<int64_t> inOrder, Location loc) {
    SmallVector<Value> low;
    if (!copy.getLow().empty())
      low = applyPermutation(llvm::to_vector(copy.getLow()), inOrder);
    SmallVector<Type, 1> results;
    if (copy.getResult())
      results.push_back(dest.getType());
    auto ordered = CopyOp::create(
        builder, loc, TypeRange(results), source, dest, /*rows=*/Value(),
        /*dim=*/uint64_t(0), /*scatter=*/false, low, copy.getPad(), mask,
        copy.getAccumulateAttr(), copy.getMulticastAttr());
    if (copy.getResult())
      copy.getResult().replaceAllUsesWith(linalg_ext::transposed(
          builder, loc, ordered.getResult(), invertPermutationVector(inOrder)));
    copy.erase();
  }
};
} // namespace
