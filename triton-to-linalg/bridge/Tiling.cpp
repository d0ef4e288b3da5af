//===- Tiling.cpp - tiles of the dialect's ops ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// TilingInterface for ops that compute or access a block element by element or
// row by row. Shapes of blocks are static, so tiles have sizes that divide the
// block. What writes memory, or is atomic, is defined in row-major order: its
// tiles are runs of that order, and no dimension of it is parallel.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Interfaces.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace tilebridge::linalg_ext;

using Position = SmallVector<OpFoldResult>;

namespace {

/// Makes the operands of one tile.
struct Tile {
  OpBuilder &b;
  Location loc;
  ArrayRef<OpFoldResult> offsets, sizes;
  SmallVector<Operation *> slices;

  SmallVector<OpFoldResult> ones() const {
    return SmallVector<OpFoldResult>(sizes.size(), b.getIndexAttr(1));
  }
  /// The tile of a tensor of the block's shape; a scalar stays.
  Value of(Value value) { return of(value, offsets, sizes); }
  Value of(Value value, ArrayRef<OpFoldResult> at,
           ArrayRef<OpFoldResult> part) {
    if (!value || !isa<RankedTensorType>(value.getType()))
      return value;
    SmallVector<OpFoldResult> strides(at.size(), b.getIndexAttr(1));
    Value slice =
        tensor::ExtractSliceOp::create(b, loc, value, at, part, strides);
    slices.push_back(slice.getDefiningOp());
    return slice;
  }
  /// The tile of a view whose box is the block, or with `rowDim` all of that
  /// dimension and the part of the others that exists.
  Value ofView(Value view, int64_t rowDim = -1) {
    auto type = cast<MemRefType>(view.getType());
    Position at, part;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      OpFoldResult size = memref::getMixedSize(b, loc, view, d);
      if (d == rowDim) {
        at.push_back(b.getIndexAttr(0));
        part.push_back(size);
      } else if (rowDim < 0) {
        at.push_back(offsets[d]);
        part.push_back(sizes[d]);
      } else {
        clampTo(size, d, at, part);
      }
    }
    return memref::SubViewOp::create(b, loc, view, at, part, ones());
  }

private:
  void clampTo(OpFoldResult size, int64_t d, Position &at, Position &part) {
    auto value = [&](OpFoldResult v) {
      return getValueOrCreateConstantIndexOp(b, loc, v);
    };
    auto least = [&](Value x, Value y) {
      return b.createOrFold<arith::MinSIOp>(loc, x, y);
    };
    Value begin = least(value(offsets[d]), value(size));
    Value rest = b.createOrFold<arith::SubIOp>(loc, value(size), begin);
    at.push_back(getAsOpFoldResult(begin));
    part.push_back(getAsOpFoldResult(least(value(sizes[d]), rest)));
  }
};

/// Elements that are next to each other in row-major order: one by one in the
/// outer dimensions, all of the inner ones.
bool isRun(ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> shape) {
  size_t d = 0;
  while (d < shape.size() && isConstantIntValue(sizes[d], 1))
    ++d;
  for (++d; d < shape.size(); ++d)
    if (!isConstantIntValue(sizes[d], shape[d]))
      return false;
  return true;
}

SmallVector<int64_t> toIntegers(ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(
      sizes, [](OpFoldResult size) { return *getConstantIntValue(size); });
}

/// What the models share. A derived class has `blockOf`, a tensor of the shape
/// that is tiled, and `tile`, which gives the op on one tile.
template <typename Model, typename OpTy>
struct Tiled : TilingInterface::ExternalModel<Model, OpTy> {
  /// Tiles are runs of row-major order.
  static constexpr bool isOrdered = false;
  /// The dimension that is not cut, or -1.
  static int64_t wholeDim(OpTy) { return -1; }

  static ArrayRef<int64_t> shapeOf(Operation *op) {
    auto type =
        dyn_cast<RankedTensorType>(Model::blockOf(cast<OpTy>(op)).getType());
    return type ? type.getShape() : ArrayRef<int64_t>();
  }

  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    SmallVector<utils::IteratorType> types(
        shapeOf(op).size(), Model::isOrdered ? utils::IteratorType::reduction
                                             : utils::IteratorType::parallel);
    int64_t whole = Model::wholeDim(cast<OpTy>(op));
    if (whole >= 0)
      types[whole] = utils::IteratorType::reduction;
    return types;
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    return llvm::map_to_vector(shapeOf(op), [&](int64_t size) {
      return Range{b.getIndexAttr(0), b.getIndexAttr(size), b.getIndexAttr(1)};
    });
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &b,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    ArrayRef<int64_t> shape = shapeOf(op);
    if (llvm::any_of(sizes, [](OpFoldResult size) {
          return !getConstantIntValue(size);
        }))
      return op->emitOpError("can only be cut into tiles of one size: shapes "
                             "of blocks are static, so choose sizes that "
                             "divide the block's");
    int64_t whole = Model::wholeDim(cast<OpTy>(op));
    if (whole >= 0 && !isConstantIntValue(sizes[whole], shape[whole]))
      return op->emitOpError("cannot be cut along dimension ")
             << whole << ", which it combines or looks up";
    if (Model::isOrdered && !isRun(sizes, shape))
      return op->emitOpError("happens in row-major order: a tile must be one "
                             "element of the outer dimensions and all of the "
                             "inner ones");
    Tile tile{b, op->getLoc(), offsets, sizes, {}};
    Operation *tiled = Model::tile(cast<OpTy>(op), tile);
    return TilingResult{{tiled}, tiled->getResults(), tile.slices};
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &, unsigned,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes,
                                      Position &resultOffsets,
                                      Position &resultSizes) const {
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  /// The tile of the block that gives a tile of a result.
  LogicalResult getIterationDomainTileFromResultTile(
      Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &b, unsigned number,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    auto *model = static_cast<const Model *>(this);
    Position at, part;
    if (Model::isOrdered || failed(model->getIterationDomainTileFromResultTile(
                                op, b, number, offsets, sizes, at, part)))
      return failure();
    FailureOr<TilingResult> tiled =
        model->getTiledImplementation(op, b, at, part);
    if (succeeded(tiled))
      tiled->tiledValues = {tiled->tiledOps.front()->getResult(number)};
    return tiled;
  }

protected:
  /// The op on other operands; its results have the tile's shape.
  static Operation *onTile(OpTy op, Tile &tile, ValueRange operands,
                           ArrayRef<int64_t> shape) {
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(isa<RankedTensorType>(type)
                          ? cast<RankedTensorType>(type).clone(shape)
                          : type);
    return clone(tile.b, op, types, operands);
  }
};

/// Every tensor operand has the block's shape, and so has the view, if any.
template <typename OpTy, bool Ordered, bool HasView = false>
struct Elementwise : Tiled<Elementwise<OpTy, Ordered, HasView>, OpTy> {
  static constexpr bool isOrdered = Ordered;
  static Value blockOf(OpTy op) {
    if constexpr (HasView)
      return op.getMask();
    else if constexpr (std::is_same_v<OpTy, GatherOp> ||
                       std::is_same_v<OpTy, ScatterOp>)
      return op.getOffsets();
    else
      return op.getOffset();
  }
  static Operation *tile(OpTy op, Tile &tile) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(HasView && isa<MemRefType>(operand.getType())
                             ? tile.ofView(operand)
                             : tile.of(operand));
    return Elementwise::onTile(op, tile, operands, toIntegers(tile.sizes));
  }
};

template <typename OpTy, bool Ordered>
struct Rows : Tiled<Rows<OpTy, Ordered>, OpTy> {
  static constexpr bool isOrdered = Ordered;
  static Value blockOf(OpTy op) {
    if constexpr (Ordered)
      return op.getValue();
    else
      return op.getResult();
  }
  static Operation *tile(OpTy op, Tile &tile) {
    int64_t dim = op.getDim();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (isa<MemRefType>(operand.getType()))
        operands.push_back(tile.ofView(operand, dim));
      else if (type && operand != blockOf(op))
        operands.push_back(
            tile.of(operand, tile.offsets[dim], tile.sizes[dim]));
      else
        operands.push_back(tile.of(operand));
    }
    return Rows::onTile(op, tile, operands, toIntegers(tile.sizes));
  }
};

struct Scan : Tiled<Scan, ScanOp> {
  static Value blockOf(ScanOp op) { return op.getInputs().front(); }
  static int64_t wholeDim(ScanOp op) { return op.getDimension(); }
  static Operation *tile(ScanOp op, Tile &tile) {
    SmallVector<Value> operands = llvm::map_to_vector(
        op.getInputs(), [&](Value input) { return tile.of(input); });
    return onTile(op, tile, operands, toIntegers(tile.sizes));
  }
};

struct Reduce : Tiled<Reduce, ReduceOp> {
  static Value blockOf(ReduceOp op) { return op.getInputs().front(); }
  static int64_t wholeDim(ReduceOp op) { return op.getDimension(); }
  static Operation *tile(ReduceOp op, Tile &tile) {
    SmallVector<Value> operands = llvm::map_to_vector(
        op.getInputs(), [&](Value input) { return tile.of(input); });
    SmallVector<int64_t> shape = toIntegers(tile.sizes);
    shape.erase(shape.begin() + op.getDimension());
    return onTile(op, tile, operands, shape);
  }
  LogicalResult getResultTilePosition(Operation *op, OpBuilder &, unsigned,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes,
                                      Position &resultOffsets,
                                      Position &resultSizes) const {
    int64_t dim = cast<ReduceOp>(op).getDimension();
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    resultOffsets.erase(resultOffsets.begin() + dim);
    resultSizes.erase(resultSizes.begin() + dim);
    return success();
  }
  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &b, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    int64_t dim = cast<ReduceOp>(op).getDimension();
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    domainOffsets.insert(domainOffsets.begin() + dim, b.getIndexAttr(0));
    domainSizes.insert(domainSizes.begin() + dim,
                       b.getIndexAttr(shapeOf(op)[dim]));
    return success();
  }
};

struct GatherAlong : Tiled<GatherAlong, GatherAlongOp> {
  static Value blockOf(GatherAlongOp op) { return op.getIndices(); }
  static Operation *tile(GatherAlongOp op, Tile &tile) {
    int64_t dim = op.getDimension();
    Position at(tile.offsets.begin(), tile.offsets.end()),
        part(tile.sizes.begin(), tile.sizes.end());
    at[dim] = tile.b.getIndexAttr(0);
    part[dim] = tile.b.getIndexAttr(
        cast<RankedTensorType>(op.getSource().getType()).getDimSize(dim));
    return onTile(op, tile,
                  {tile.of(op.getSource(), at, part), tile.of(op.getIndices())},
                  toIntegers(tile.sizes));
  }
};

} // namespace

void tilebridge::linalg_ext::registerTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LinalgExtDialect *) {
    context->loadDialect<arith::ArithDialect, memref::MemRefDialect,
                         tensor::TensorDialect>();
    GatherOp::attachInterface<Elementwise<GatherOp, false>>(*context);
    ScatterOp::attachInterface<Elementwise<ScatterOp, true>>(*context);
    MaskedLoadOp::attachInterface<Elementwise<MaskedLoadOp, false, true>>(
        *context);
    MaskedStoreOp::attachInterface<Elementwise<MaskedStoreOp, true, true>>(
        *context);
    AtomicRMWOp::attachInterface<Elementwise<AtomicRMWOp, true>>(*context);
    AtomicCASOp::attachInterface<Elementwise<AtomicCASOp, true>>(*context);
    AtomicLoadOp::attachInterface<Elementwise<AtomicLoadOp, true>>(*context);
    AtomicStoreOp::attachInterface<Elementwise<AtomicStoreOp, true>>(*context);
    GatherRowsOp::attachInterface<Rows<GatherRowsOp, false>>(*context);
    ScatterRowsOp::attachInterface<Rows<ScatterRowsOp, true>>(*context);
    ScanOp::attachInterface<Scan>(*context);
    ReduceOp::attachInterface<Reduce>(*context);
    GatherAlongOp::attachInterface<GatherAlong>(*context);
  });
}
