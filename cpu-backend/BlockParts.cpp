//===- BlockParts.cpp - every so manyth element of a block ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlockParts.h"
#include "cpu-backend/UnitDims.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static RankedTensorType blockOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool isAllOf(Value block, ArrayRef<Along> part) {
  return llvm::all_of(llvm::zip_equal(part, blockOf(block).getShape()),
                      [](auto each) {
                        auto [along, size] = each;
                        return along.isAll(size);
                      });
}

static RankedTensorType typeOf(Value block, ArrayRef<Along> part) {
  SmallVector<int64_t> shape;
  for (const Along &along : part)
    if (!along.isDropped)
      shape.push_back(along.size);
  return blockOf(block).clone(shape);
}

/// Of the dimensions that are kept, which one is `d`.
static int64_t numberOf(ArrayRef<Along> part, int64_t d) {
  return llvm::count_if(part.take_front(d),
                        [](const Along &along) { return !along.isDropped; });
}

/// The part of the block before a reshape; nothing where that is none of the
/// same rank: one dimension of each group may be kept.
static std::optional<Part> partBefore(tensor::ExpandShapeOp op,
                                      ArrayRef<Along> part) {
  Part result;
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Along whole;
    whole.isDropped = true;
    int64_t inner = 1;
    for (int64_t d : llvm::reverse(group)) {
      const Along &along = part[d];
      whole.offset += along.offset * inner;
      if (!along.isDropped) {
        if (!whole.isDropped)
          return std::nullopt;
        whole.isDropped = false;
        whole.size = along.size;
        whole.stride = along.stride * inner;
      }
      inner *= shape[d];
    }
    result.push_back(whole);
  }
  return result;
}

/// The same of a transpose, or a broadcast.
static Part partBefore(Operation *op, ArrayRef<Along> part) {
  Part result(blockOf(op->getOperand(0)).getRank());
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      result[from] = part[d];
    return result;
  }
  ArrayRef<int64_t> added = cast<linalg::BroadcastOp>(op).getDimensions();
  Along *next = result.begin();
  for (auto [d, along] : llvm::enumerate(part))
    if (!llvm::is_contained(added, static_cast<int64_t>(d)))
      *next++ = along;
  return result;
}

/// Blocks are read at the indices of the loops, and others are numbers.
static bool isPlainElementwise(Operation *op) {
  if (!isElementwise(op))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return !isa<linalg::LinalgOp>(op) &&
           llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  return readsOnlyInputs(op) &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return !blockOf(operand.get()) ||
                  generic.getMatchingIndexingMap(&operand).isIdentity();
         });
}

/// Nobody needs more of it than parts.
bool PartReader::isOnlySplit(Operation *op) {
  if (!split.insert(op).second)
    return true;
  return llvm::all_of(op->getUsers(), [this](Operation *user) {
    return isa<tensor::ExtractSliceOp>(user) ||
           ((isa<tensor::ExpandShapeOp, linalg::TransposeOp>(user) ||
             isPlainElementwise(user)) &&
            isOnlySplit(user));
  });
}

/// A part of a load can be read where the box begins with the block, along the
/// dimensions of which it has not all.
static bool canReadLoad(StructuredLoad load, Value block,
                        ArrayRef<Along> part) {
  if (!sizesOf(load.read.getBuffer()))
    return false;
  for (auto [d, along] : llvm::enumerate(part))
    if (along.isDropped || (!along.isAll(blockOf(block).getDimSize(d)) &&
                            !load.low.empty() && constantOf(load.low[d]) != 0))
      return false;
  return true;
}

bool PartReader::canRead(Value block, ArrayRef<Along> part) {
  Operation *op = block.getDefiningOp();
  if (isAllOf(block, part))
    return true;
  if (!op)
    return false;
  auto [place, isNew] = seen.try_emplace(block, part);
  if (!isNew)
    return place->second == part;
  if (std::optional<StructuredLoad> load = matchLoad(block))
    return canReadLoad(*load, block, part) &&
           (!load->other || canRead(load->other, part));
  if (isOneNumber(op))
    return true;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    std::optional<Part> before = partBefore(expand, part);
    isReshaped |= !isUnitReshape(op);
    return before && canRead(expand.getSrc(), *before);
  }
  if (isa<linalg::TransposeOp, linalg::BroadcastOp>(op))
    return canRead(op->getOperand(0), partBefore(op, part));
  // What others need as well is computed once, if that is more than a
  // conversion.
  return isPlainElementwise(op) && (costOfBody(op) <= 1 || isOnlySplit(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !blockOf(operand) || canRead(operand, part);
         });
}

/// How many elements of the part are among the first `size` ones of the block.
OpFoldResult PartReader::countIn(Location loc, OpFoldResult size,
                                 const Along &along) {
  if (auto known = constantOf(size)) {
    int64_t count = llvm::divideCeilSigned(*known - along.offset, along.stride);
    return b.getIndexAttr(std::clamp<int64_t>(count, 0, along.size));
  }
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value count = toValue(
      b, loc,
      addIndex(b, loc, size, b.getIndexAttr(along.stride - 1 - along.offset)));
  count = arith::MaxSIOp::create(b, loc, count, constant(0));
  if (along.stride != 1)
    count = arith::DivUIOp::create(b, loc, count, constant(along.stride));
  return arith::MinSIOp::create(b, loc, count, constant(along.size))
      .getResult();
}

Value PartReader::createLoad(Value block, ArrayRef<Along> part) {
  std::optional<StructuredLoad> load = matchLoad(block);
  Value buffer = load->read.getBuffer(),
        other = load->other ? create(load->other, part) : Value();
  Location loc = block.getLoc();
  b.setInsertionPoint(load->read);
  SmallVector<OpFoldResult> offsets, sizes, strides, high,
      low(load->low.begin(), load->low.end());
  for (auto [d, size] : llvm::enumerate(*sizesOf(buffer))) {
    const Along &along = part[d];
    bool isAll = along.isAll(blockOf(block).getDimSize(d));
    offsets.push_back(b.getIndexAttr(along.offset));
    strides.push_back(b.getIndexAttr(along.stride));
    sizes.push_back(isAll ? size : countIn(loc, size, along));
  }
  Value view =
      memref::SubViewOp::create(b, loc, buffer, offsets, sizes, strides);
  auto read = bufferization::ToTensorOp::create(
      b, loc,
      RankedTensorType::get(cast<MemRefType>(view.getType()).getShape(),
                            blockOf(block).getElementType()),
      view, load->read.getRestrict(), load->read.getWritable());
  read->setDiscardableAttrs(load->read->getDiscardableAttrDictionary());
  if (low.empty())
    return read;
  b.setInsertionPointAfterValue(block);
  RankedTensorType type = typeOf(block, part);
  if (other)
    return tensor::InsertSliceOp::create(
        b, loc, read, other, low, sizes,
        SmallVector<OpFoldResult>(low.size(), b.getIndexAttr(1)));
  for (auto [whole, begin, size] : llvm::zip_equal(type.getShape(), low, sizes))
    high.push_back(
        subIndex(b, loc, subIndex(b, loc, b.getIndexAttr(whole), begin), size));
  return tensor::PadOp::create(b, loc, type, read, low, high, load->pad);
}

Value PartReader::createElementwise(Operation *op, ArrayRef<Along> part) {
  RankedTensorType type = typeOf(op->getResult(0), part);
  IRMapping map;
  for (Value operand : op->getOperands())
    if (blockOf(operand) && !map.contains(operand))
      map.map(operand, create(operand, part));
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op, map);
  copy->getResult(0).setType(type);
  auto generic = dyn_cast<linalg::GenericOp>(copy);
  if (!generic)
    return copy->getResult(0);
  unsigned loops = type.getRank();
  SmallVector<AffineMap> maps;
  for (Value operand : copy->getOperands())
    maps.push_back(blockOf(operand) ? b.getMultiDimIdentityMap(loops)
                                    : AffineMap::get(loops, 0, b.getContext()));
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  SmallVector<Attribute> kinds(
      loops, linalg::IteratorTypeAttr::get(b.getContext(),
                                           utils::IteratorType::parallel));
  generic.setIteratorTypesAttr(b.getArrayAttr(kinds));
  generic.walk([&](linalg::IndexOp index) {
    OpBuilder inside(index);
    Location loc = index.getLoc();
    int64_t d = index.getDim();
    const Along &along = part[d];
    OpFoldResult at = inside.getIndexAttr(along.offset);
    if (!along.isDropped) {
      Value own = linalg::IndexOp::create(inside, loc, numberOf(part, d));
      at = addIndex(
          inside, loc,
          mulIndex(inside, loc, own, inside.getIndexAttr(along.stride)), at);
    }
    index.getResult().replaceAllUsesWith(toValue(inside, loc, at));
    index.erase();
  });
  return copy->getResult(0);
}

Value PartReader::createBroadcast(linalg::BroadcastOp op,
                                  ArrayRef<Along> part) {
  Value input = create(op.getInput(), partBefore(op, part));
  SmallVector<int64_t> dims;
  for (int64_t d : op.getDimensions())
    if (!part[d].isDropped)
      dims.push_back(numberOf(part, d));
  if (dims.empty())
    return input;
  b.setInsertionPointAfter(op);
  RankedTensorType type = typeOf(op->getResult(0), part);
  Value init = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                       type.getElementType());
  return linalg::BroadcastOp::create(b, op.getLoc(), input, init, dims)
      ->getResult(0);
}

Value PartReader::createTranspose(linalg::TransposeOp op,
                                  ArrayRef<Along> part) {
  Part before = partBefore(op, part);
  Value input = create(op.getInput(), before);
  SmallVector<int64_t> order;
  for (auto [d, from] : llvm::enumerate(op.getPermutation()))
    if (!part[d].isDropped)
      order.push_back(numberOf(before, from));
  if (llvm::is_sorted(order))
    return input;
  b.setInsertionPointAfter(op);
  return linalg_ext::transposed(b, op.getLoc(), input, order);
}

Value PartReader::create(Value block, ArrayRef<Along> part) {
  if (isAllOf(block, part))
    return block;
  if (Value known = made.lookup(block))
    return known;
  // What it needs is made meanwhile.
  Value result = createAnew(block, part);
  return made[block] = result;
}

Value PartReader::createAnew(Value block, ArrayRef<Along> part) {
  Operation *op = block.getDefiningOp();
  if (matchLoad(block))
    return createLoad(block, part);
  RankedTensorType type = typeOf(block, part);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return create(expand.getSrc(), *partBefore(expand, part));
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return createTranspose(transpose, part);
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    return createBroadcast(broadcast, part);
  if (!isOneNumber(op) && !isa<tensor::EmptyOp>(op))
    return createElementwise(op, part);
  b.setInsertionPointAfter(op);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return tensor::SplatOp::create(b, op->getLoc(), type, splat.getInput());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b, op->getLoc(),
        cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  return tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                 type.getElementType());
}
