//===- SplitReads.cpp - tilebridge-cpu-split-reads ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Pairs of neighbours, such as those of a rotary embedding, are often read as
// one block, reshaped to pairs and taken apart by `tl.split`. As a tensor a
// block that is reshaped is in memory, and so it would be copied before it is
// taken apart. Each part is read by itself instead, from every second element,
// as if the kernel had written that.
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlockParts.h"
#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUSPLITREADSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The part that a slice takes of what is reshaped before; nothing if it has
/// none of its own.
static std::optional<std::pair<Value, Part>> sliced(tensor::ExtractSliceOp op) {
  auto isDynamic = [](ArrayRef<int64_t> values) {
    return llvm::any_of(values, ShapedType::isDynamic);
  };
  if (isDynamic(op.getStaticOffsets()) || isDynamic(op.getStaticSizes()) ||
      isDynamic(op.getStaticStrides()) || !op.getSourceType().hasStaticShape())
    return std::nullopt;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  if (dropped.none())
    return std::nullopt;
  Part part;
  for (unsigned d = 0; d < dropped.size(); ++d)
    part.push_back({op.getStaticOffset(d), op.getStaticSize(d),
                    op.getStaticStride(d), dropped.test(d)});
  // Parts of parts.
  Value source = op.getSource();
  if (auto outer = source.getDefiningOp<tensor::ExtractSliceOp>()) {
    auto whole = sliced(outer);
    if (!whole)
      return std::nullopt;
    const Along *next = part.begin();
    for (Along &along : whole->second) {
      if (along.isDropped)
        continue;
      along.offset += next->offset * along.stride;
      along.stride *= next->stride;
      along.size = next->size;
      along.isDropped = next++->isDropped;
    }
    return whole;
  }
  return std::pair(source, part);
}

namespace {
struct SplitReadsPass
    : public tilebridge::cpu::impl::CpuSplitReadsPassBase<SplitReadsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<tensor::ExtractSliceOp> slices;
    getOperation().walk(
        [&](tensor::ExtractSliceOp op) { slices.push_back(op); });
    // Parts of parts first: they need nothing of what they are parts of.
    for (tensor::ExtractSliceOp op : llvm::reverse(slices)) {
      if (op->use_empty())
        continue;
      auto found = sliced(op);
      PartReader reader(&getContext());
      if (!found || !reader.canRead(found->first, found->second) ||
          !reader.isReshaped)
        continue;
      op.getResult().replaceAllUsesWith(
          reader.create(found->first, found->second));
      op.erase();
    }
  }
};
} // namespace
