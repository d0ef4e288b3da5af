//===- View.cpp - where elements lie -----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <atomic>

using namespace mlir;
using namespace tilebridge::cpu;

uint64_t Identity::next() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Indices tilebridge::cpu::ownIndices(size_t rank) {
  Indices indices(rank);
  for (auto [d, index] : llvm::enumerate(indices))
    index.dim = d;
  return indices;
}

Value tilebridge::cpu::allLanes(OpBuilder &builder, Location loc,
                                int64_t lanes) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, true));
}

Value tilebridge::cpu::advanced(OpBuilder &builder, Location loc, Value from,
                                Value offset) {
  if (!offset.getType().isIndex())
    offset = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        offset);
  return toValue(builder, loc, addIndex(builder, loc, from, offset));
}

Value tilebridge::cpu::numbersFrom0(OpBuilder &b, Location loc,
                                    VectorType type) {
  unsigned bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  SmallVector<APInt> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(APInt(bits, i));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, values));
}

bool tilebridge::cpu::hasUnitStride(MemRefType view, unsigned d) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(view.getStridesAndOffset(strides, offset)) &&
         strides[d] == 1;
}

std::optional<int64_t> tilebridge::cpu::constantOf(OpFoldResult value) {
  return getConstantIntValue(value);
}

Value tilebridge::cpu::toValue(OpBuilder &builder, Location loc,
                               OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value tilebridge::cpu::toI64(OpBuilder &builder, Location loc, Value value,
                             bool isSigned) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  if (!isSigned)
    return arith::ExtUIOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

OpFoldResult tilebridge::cpu::addIndex(OpBuilder &builder, Location loc,
                                       OpFoldResult a, OpFoldResult b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb)
    return builder.getIndexAttr(*ca + *cb);
  if (ca && *ca == 0)
    return b;
  if (cb && *cb == 0)
    return a;
  return arith::AddIOp::create(builder, loc, toValue(builder, loc, a),
                               toValue(builder, loc, b))
      .getResult();
}

OpFoldResult tilebridge::cpu::subIndex(OpBuilder &builder, Location loc,
                                       OpFoldResult a, OpFoldResult b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb)
    return builder.getIndexAttr(*ca - *cb);
  if (cb && *cb == 0)
    return a;
  return arith::SubIOp::create(builder, loc, toValue(builder, loc, a),
                               toValue(builder, loc, b))
      .getResult();
}

OpFoldResult tilebridge::cpu::mulIndex(OpBuilder &builder, Location loc,
                                       OpFoldResult a, OpFoldResult b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb)
    return builder.getIndexAttr(*ca * *cb);
  if ((ca && *ca == 0) || (cb && *cb == 0))
    return builder.getIndexAttr(0);
  if (ca && *ca == 1)
    return b;
  if (cb && *cb == 1)
    return a;
  return arith::MulIOp::create(builder, loc, toValue(builder, loc, a),
                               toValue(builder, loc, b))
      .getResult();
}

std::optional<StructuredLoad> tilebridge::cpu::matchLoad(Value tensor) {
  StructuredLoad load;
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto read = dyn_cast<bufferization::ToTensorOp>(op)) {
    load.read = read;
    return load;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    load.read = pad.getSource().getDefiningOp<bufferization::ToTensorOp>();
    load.pad = pad.getConstantPaddingValue();
    load.low = pad.getMixedLowPad();
    if (load.read && load.pad)
      return load;
    return std::nullopt;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    load.read = insert.getSource().getDefiningOp<bufferization::ToTensorOp>();
    // A constant slice of a static load is an ordinary insertion (join, cat).
    if (!load.read ||
        insert.getSourceType().getRank() != insert.getDestType().getRank() ||
        !insert.hasUnitStride())
      return std::nullopt;
    load.low = insert.getMixedOffsets();
    load.other = insert.getDest();
    return load;
  }
  return std::nullopt;
}

bool tilebridge::cpu::isContiguousAlong(Value block, unsigned dim) {
  Value view;
  if (std::optional<StructuredLoad> load = matchLoad(block))
    view = load->read.getBuffer();
  else if (auto rows =
               block.getDefiningOp<tilebridge::linalg_ext::GatherRowsOp>();
           rows && static_cast<unsigned>(rows.getDim()) != dim)
    view = rows.getView();
  return view && hasUnitStride(cast<MemRefType>(view.getType()), dim);
}

std::optional<StructuredStore> tilebridge::cpu::matchStore(Operation *op) {
  auto write = dyn_cast<bufferization::MaterializeInDestinationOp>(op);
  if (!write || !isa<MemRefType>(write.getDest().getType()))
    return std::nullopt;
  StructuredStore store;
  store.write = write;
  store.tensor = write.getSource();
  auto slice = store.tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && slice.hasUnitStride() &&
      slice.getSourceType().getRank() == slice.getResultType().getRank()) {
    store.tensor = slice.getSource();
    store.low = slice.getMixedOffsets();
  }
  return store;
}

bool View::isFull(unsigned d) const {
  auto low = constantOf(lo[d]), high = constantOf(hi[d]);
  return low && high && *low <= 0 && *high >= shape[d];
}

bool View::isWhole() const {
  return !rowMask && llvm::all_of(llvm::seq<unsigned>(0, shape.size()),
                                  [&](unsigned d) { return isFull(d); });
}

namespace {
/// A memref taken apart: element i is base[offset + sum(i * stride)].
struct Layout {
  Value base;
  OpFoldResult offset;
  SmallVector<OpFoldResult> sizes, strides;
};
} // namespace

/// A one-dimensional memref over everything that `memref` could reach by an
/// offset.
static Value flatten(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto layout = StridedLayoutAttr::get(builder.getContext(), 0, {1});
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                              layout, type.getMemorySpace());
  // The size is never looked at: accesses are masked by the box, not by the
  // memref.
  Value size = arith::ConstantIndexOp::create(
      builder, loc, std::numeric_limits<int32_t>::max());
  return memref::ReinterpretCastOp::create(
      builder, loc, flat, memref, builder.getIndexAttr(0),
      ArrayRef<OpFoldResult>{size},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

static Layout layoutOf(OpBuilder &builder, Location loc, Value memref) {
  Layout layout;
  if (auto cast = memref.getDefiningOp<memref::ReinterpretCastOp>()) {
    // Its offset counts from the allocation's start, whatever the source's
    // offset is.
    layout.base = flatten(builder, loc, cast.getSource());
    layout.offset = cast.getMixedOffsets().front();
    layout.sizes = cast.getMixedSizes();
    layout.strides = cast.getMixedStrides();
    return layout;
  }
  if (auto sub = memref.getDefiningOp<memref::SubViewOp>()) {
    layout = layoutOf(builder, loc, sub.getSource());
    for (auto [d, offset] : llvm::enumerate(sub.getMixedOffsets()))
      layout.offset =
          addIndex(builder, loc, layout.offset,
                   mulIndex(builder, loc, offset, layout.strides[d]));
    for (auto [d, stride] : llvm::enumerate(sub.getMixedStrides()))
      layout.strides[d] = mulIndex(builder, loc, layout.strides[d], stride);
    layout.sizes = sub.getMixedSizes();
    llvm::SmallBitVector droppedDims = sub.getDroppedDims();
    for (unsigned d = droppedDims.size(); d-- > 0;)
      if (droppedDims.test(d)) {
        layout.sizes.erase(layout.sizes.begin() + d);
        layout.strides.erase(layout.strides.begin() + d);
      }
    return layout;
  }
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  bool known = succeeded(type.getStridesAndOffset(strides, offset));
  if (known && type.hasStaticShape() && !ShapedType::isDynamic(offset) &&
      llvm::none_of(strides, ShapedType::isDynamic)) {
    layout.base = flatten(builder, loc, memref);
    layout.offset = builder.getIndexAttr(offset);
    layout.strides = getAsIndexOpFoldResult(builder.getContext(), strides);
    layout.sizes =
        getAsIndexOpFoldResult(builder.getContext(), type.getShape());
    return layout;
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  layout.base = flatten(builder, loc, metadata.getBaseBuffer());
  layout.offset = metadata.getConstifiedMixedOffset();
  layout.sizes = metadata.getConstifiedMixedSizes();
  layout.strides = metadata.getConstifiedMixedStrides();
  return layout;
}

View tilebridge::cpu::makeView(OpBuilder &builder, Location loc, Value memref,
                               ArrayRef<int64_t> shape,
                               ArrayRef<OpFoldResult> low) {
  Layout layout = layoutOf(builder, loc, memref);
  View view;
  view.base = layout.base;
  // Constants are compared as attributes: of one type.
  auto known = [&](OpFoldResult index) -> OpFoldResult {
    auto constant = constantOf(index);
    return constant ? OpFoldResult(builder.getIndexAttr(*constant)) : index;
  };
  view.offset = known(layout.offset);
  view.strides = llvm::map_to_vector(layout.strides, known);
  view.shape.assign(shape.begin(), shape.end());
  for (unsigned d = 0; d < shape.size(); ++d) {
    OpFoldResult lo = low.empty() ? builder.getIndexAttr(0) : low[d];
    view.lo.push_back(lo);
    view.hi.push_back(addIndex(builder, loc, lo, layout.sizes[d]));
    view.offset = subIndex(builder, loc, view.offset,
                           mulIndex(builder, loc, lo, view.strides[d]));
  }
  return view;
}

View tilebridge::cpu::reversedView(OpBuilder &builder, Location loc, View view,
                                   unsigned d) {
  OpFoldResult size = builder.getIndexAttr(view.shape[d]),
               last = builder.getIndexAttr(view.shape[d] - 1),
               minusOne = builder.getIndexAttr(-1);
  view.offset = addIndex(builder, loc, view.offset,
                         mulIndex(builder, loc, last, view.strides[d]));
  view.strides[d] = mulIndex(builder, loc, view.strides[d], minusOne);
  OpFoldResult low = subIndex(builder, loc, size, view.hi[d]);
  view.hi[d] = subIndex(builder, loc, size, view.lo[d]);
  view.lo[d] = low;
  return view;
}

Value tilebridge::cpu::sourceOf(const View &view) {
  Value source = view.base;
  while (Operation *op = source.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
      source = cast.getSource();
    else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      source = metadata.getSource();
    else
      break;
  }
  return source;
}
