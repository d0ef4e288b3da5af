//===- ReducedBlocks.cpp - blocks without unit dimensions -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ReducedBlocks.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace tilebridge::cpu;

RankedTensorType tilebridge::cpu::withoutUnits(RankedTensorType type) {
  return type.clone(withoutUnits(type.getShape(), type.getShape()));
}

/// `view`, a block of `shape` or the first elements of it, without the
/// dimensions that are 1 there; null if it is not made by subviews of one cast.
static Value castWithout(OpBuilder &b, Location loc, Value view,
                         ArrayRef<int64_t> shape,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<memref::SubViewOp> parts;
  Value source = view;
  while (auto part = source.getDefiningOp<memref::SubViewOp>()) {
    if (part.getDroppedDims().any())
      return {};
    parts.push_back(part);
    source = part.getSource();
  }
  auto cast = source.getDefiningOp<memref::ReinterpretCastOp>();
  if (!cast)
    return {};
  SmallVector<OpFoldResult> strides = cast.getMixedStrides();
  OpFoldResult offset = cast.getMixedOffsets().front();
  for (memref::SubViewOp part : llvm::reverse(parts))
    for (auto [at, step, stride] : llvm::zip_equal(
             part.getMixedOffsets(), part.getMixedStrides(), strides)) {
      offset = addIndex(b, loc, offset, mulIndex(b, loc, at, stride));
      stride = mulIndex(b, loc, stride, step);
    }
  SmallVector<OpFoldResult> kept = withoutUnits<OpFoldResult>(strides, shape);
  SmallVector<int64_t> knownSizes, knownStrides;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, knownSizes);
  dispatchIndexOpFoldResults(kept, dynamic, knownStrides);
  auto layout = StridedLayoutAttr::get(
      b.getContext(), constantOf(offset).value_or(ShapedType::kDynamic),
      knownStrides);
  auto type = MemRefType::get(
      knownSizes, mlir::cast<MemRefType>(view.getType()).getElementType(),
      layout);
  return memref::ReinterpretCastOp::create(b, loc, type, cast.getSource(),
                                           offset, sizes, kept);
}

BlockPart tilebridge::cpu::partWithoutUnits(OpBuilder &b, Location loc,
                                            Value view,
                                            SmallVector<OpFoldResult> sizes,
                                            ArrayRef<int64_t> shape) {
  Value zero, exists;
  for (auto [size, extent] : llvm::zip_equal(sizes, shape)) {
    if (extent != 1 || isConstantIntValue(size, 1))
      continue;
    zero = zero ? zero : arith::ConstantIndexOp::create(b, loc, 0).getResult();
    Value one = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                      toValue(b, loc, size), zero);
    exists = exists ? arith::AndIOp::create(b, loc, exists, one) : one;
    size = b.getIndexAttr(1);
  }
  BlockPart part;
  part.sizes = withoutUnits<OpFoldResult>(sizes, shape);
  if (exists) {
    auto *first = llvm::find_if(shape, [](int64_t size) { return size != 1; });
    OpFoldResult &size = sizes[first - shape.begin()];
    size = arith::SelectOp::create(b, loc, exists, toValue(b, loc, size), zero)
               .getResult();
    part.sizes.front() = size;
  }
  SmallVector<int64_t> known;
  for (OpFoldResult size : part.sizes)
    known.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<OpFoldResult> zeros(shape.size(), b.getIndexAttr(0)),
      ones(shape.size(), b.getIndexAttr(1));
  part.type = RankedTensorType::get(
      known, cast<MemRefType>(view.getType()).getElementType());
  // A subview's type does not say which of several dimensions of one element
  // it drops.
  if (llvm::is_contained(known, 1))
    if ((part.view = castWithout(b, loc, view, shape, part.sizes)))
      return part;
  auto type = memref::SubViewOp::inferRankReducedResultType(
      known, cast<MemRefType>(view.getType()), zeros, sizes, ones);
  part.view = memref::SubViewOp::create(b, loc, type, view, zeros, sizes, ones);
  return part;
}

Value ReducedBlocks::without(Value value) {
  if (!hasUnitDims(value))
    return value;
  RankedTensorType type = withoutUnits(blockType(value));
  if (isAnyShape(value))
    return type.getRank() == 0 ? numberOf(value) : inShape(value, type);
  Value &less = reduced[value];
  if (less)
    return less;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  less = isOneElement(value) ? elementOf(value) : reshape(value, type);
  return less;
}

Value ReducedBlocks::elementOf(Value block) {
  SmallVector<Value> zeros(blockType(block).getRank());
  for (Value &zero : zeros)
    zero = arith::ConstantIndexOp::create(b, block.getLoc(), 0);
  return tensor::ExtractOp::create(b, block.getLoc(), block, zeros);
}

static TypedAttr elementOf(arith::ConstantOp constant) {
  return cast<SplatElementsAttr>(constant.getValue())
      .getSplatValue<TypedAttr>();
}

/// The number that all elements are.
Value ReducedBlocks::numberOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return arith::ConstantOp::create(
      b, value.getLoc(),
      constant ? ::elementOf(constant)
               : b.getZeroAttr(blockType(value).getElementType()));
}

Value ReducedBlocks::inShape(Value value, RankedTensorType type) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return empty(value.getLoc(), type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(
        b, value.getLoc(),
        DenseElementsAttr::get(type, Attribute(::elementOf(constant))));
  return tensor::SplatOp::create(b, value.getLoc(), type, numberOf(value));
}

Value ReducedBlocks::empty(Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

Value ReducedBlocks::reshape(Value value, RankedTensorType type) {
  RankedTensorType from = blockType(value);
  if (from == type)
    return value;
  Location loc = value.getLoc();
  auto groups = getReassociationIndicesForReshape(from, type);
  assert(groups && "only dimensions of size 1 come and go");
  if (from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(b, loc, type, value, *groups);
  return tensor::ExpandShapeOp::create(b, loc, type, value, *groups);
}

Value ReducedBlocks::expanded(Location loc, Value less, RankedTensorType type) {
  if (blockType(less))
    return reshape(less, type);
  return tensor::SplatOp::create(b, loc, type, less);
}

Value ReducedBlocks::with(Location loc, Value value) {
  Value less = reduced.lookup(value);
  if (!less || !isReplaced(value))
    return {};
  return expanded(loc, less, blockType(value));
}

bool ReducedBlocks::give(Value result, Value less) {
  replaced.insert(result.getDefiningOp());
  if (dims.isDropped(result))
    reduced[result] = less;
  else if (RankedTensorType type = blockType(result))
    result.replaceAllUsesWith(expanded(result.getLoc(), less, type));
  else
    result.replaceAllUsesWith(less);
  return true;
}

void ReducedBlocks::retype(Value value) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  RankedTensorType type = blockType(value);
  auto stub = UnrealizedConversionCastOp::create(b, value.getLoc(),
                                                 TypeRange(type), value);
  value.replaceAllUsesExcept(stub.getResult(0), stub);
  value.setType(isOneElement(value) ? type.getElementType()
                                    : Type(withoutUnits(type)));
  reduced[stub.getResult(0)] = value;
  stubs.push_back(stub);
  replaced.insert(stub);
}

void ReducedBlocks::eraseReplaced(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    if (replaced.contains(op) || isOpTriviallyDead(op))
      op->erase();
  for (Operation *op : stubs)
    op->erase();
}
