//===- BlockPointers.cpp - loads and stores through block pointers ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Accesses.h"
#include "triton-to-linalg/lower/ClampedBox.h"
#include "triton-to-linalg/lower/Memory.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {
/// A block pointer as the bridge has it: the tensor in memory and the block's
/// part of it.
struct BlockAccess {
  Value memref;
  Box box;
};
} // namespace

/// The memory from the offsets on in dimensions that are not checked, where a
/// block may well lie outside of the pointer's sizes, or before its begin: as
/// large as the block there.
static Value beginAt(OpBuilder &builder, Location loc, Value memref,
                     SmallVector<OpFoldResult> &offsets,
                     ArrayRef<int64_t> shape, ArrayRef<bool> isChecked) {
  if (llvm::all_of(isChecked, [](bool checked) { return checked; }))
    return memref;
  auto type = cast<MemRefType>(memref.getType());
  auto meta = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  OpFoldResult begin = meta.getConstifiedMixedOffset();
  SmallVector<OpFoldResult> sizes = meta.getConstifiedMixedSizes(),
                            strides = meta.getConstifiedMixedStrides();
  SmallVector<int64_t> known(sizes.size(), ShapedType::kDynamic);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (isChecked[dim])
      continue;
    Value step = builder.createOrFold<arith::MulIOp>(
        loc, getValueOrCreateConstantIndexOp(builder, loc, offsets[dim]),
        getValueOrCreateConstantIndexOp(builder, loc, strides[dim]));
    begin = addIndex(builder, loc, begin, getAsOpFoldResult(step));
    offsets[dim] = builder.getIndexAttr(0);
    sizes[dim] = builder.getIndexAttr(size);
    known[dim] = size;
  }
  auto viewType =
      MemRefType::get(known, type.getElementType(), type.getLayout());
  // A constant offset is written as a value: the type says that it is open.
  return memref::ReinterpretCastOp::create(
      builder, loc, viewType, meta.getBaseBuffer(),
      OpFoldResult(getValueOrCreateConstantIndexOp(builder, loc, begin)), sizes,
      strides);
}

static BlockAccess blockOf(OpBuilder &builder, Location loc, Value pointer,
                           ArrayRef<int32_t> boundaryCheck) {
  auto type = cast<RankedTensorType>(
      cast<tt::PointerType>(pointer.getType()).getPointeeType());
  SmallVector<int64_t> dynamic(type.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(builder.getContext(),
                                       ShapedType::kDynamic, dynamic);
  SmallVector<Type> types = {
      MemRefType::get(dynamic, memoryElement(type.getElementType()), layout)};
  types.append(type.getRank(), builder.getIndexType());
  auto parts = UnrealizedConversionCastOp::create(builder, loc, types, pointer);
  SmallVector<bool> isChecked(type.getRank(), false);
  for (int32_t dim : boundaryCheck)
    isChecked[dim] = true;
  BlockAccess block;
  block.memref = parts.getResult(0);
  SmallVector<OpFoldResult> offsets =
      getAsOpFoldResult(parts.getResults().drop_front());
  block.memref =
      beginAt(builder, loc, block.memref, offsets, type.getShape(), isChecked);
  block.box = clampedBox(builder, loc, block.memref, offsets, type.getShape(),
                         isChecked);
  return block;
}

void ttl::lowerBlockLoad(tt::LoadOp op) {
  reportAccess(op, "subview", op.getType(), op.getPtr());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(memoryType(op.getType()));
  BlockAccess block = blockOf(builder, loc, op.getPtr(), op.getBoundaryCheck());
  bool isNan = op.getPadding() == tt::PaddingOption::PAD_NAN;
  Value other = isNan ? nanOf(builder, loc, type.getElementType())
                      : zeroOf(builder, loc, type.getElementType());
  Value loaded = loadBox(builder, loc, block.memref, block.box, type, other);
  op.replaceAllUsesWith(fromMemory(builder, loc, loaded, op.getType()));
  op.erase();
}

void ttl::lowerBlockStore(tt::StoreOp op) {
  reportAccess(op, "subview", op.getValue().getType(), op.getPtr());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value stored = toMemory(builder, loc, op.getValue());
  BlockAccess block = blockOf(builder, loc, op.getPtr(), op.getBoundaryCheck());
  storeBox(builder, loc, block.memref, block.box, stored);
  op.erase();
}
