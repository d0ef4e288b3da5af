//===- Indexing.cpp - which element of an operand a result needs -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/RepeatedLanes.h"
#include "cpu-backend/emit/StreamScans.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

bool tilebridge::cpu::isUnitReshape(Operation *op) {
  SmallVector<ReassociationIndices> groups;
  RankedTensorType wide;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    groups = expand.getReassociationIndices();
    wide = expand.getResultType();
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    groups = collapse.getReassociationIndices();
    wide = collapse.getSrcType();
  } else {
    return false;
  }
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(
               group, [&](int64_t d) { return wide.getDimSize(d) != 1; }) <= 1;
  });
}

bool tilebridge::cpu::isElementwise(Operation *op) {
  if (isa<linalg::BroadcastOp, linalg::TransposeOp>(op))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalgOp.getNumLoops() != linalgOp.getNumParallelLoops() ||
        !linalgOp.hasPureTensorSemantics())
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      bool fits = linalgOp.isDpsInit(&operand)
                      ? map.isIdentity()
                      : llvm::all_of(map.getResults(), [](AffineExpr e) {
                          return isa<AffineDimExpr, AffineConstantExpr>(e);
                        });
      if (!fits)
        return false;
    }
    return true;
  }
  return op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         op->hasTrait<OpTrait::Elementwise>() && !isa<arith::ConstantOp>(op);
}

bool tilebridge::cpu::readsOnlyInputs(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return generic && generic.getNumResults() == 1 && isElementwise(op) &&
         generic.getMatchingBlockArgument(generic.getDpsInitOperand(0))
             .use_empty();
}

Operation *tilebridge::cpu::onlyOperation(Operation *op) {
  if (!op || !isElementwise(op) ||
      isa<linalg::LinalgOp>(op) != readsOnlyInputs(op))
    return nullptr;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return op;
  Block &body = *generic.getBody();
  return llvm::hasNItems(body, 2) && body.getTerminator()->getOperands() ==
                                         body.front().getResults()
             ? &body.front()
             : nullptr;
}

bool tilebridge::cpu::isReversal(Operation *op) {
  auto gather = dyn_cast<linalg_ext::GatherAlongOp>(op);
  return gather && gather.isReversal();
}

bool tilebridge::cpu::isPick(Operation *op) {
  return isa_and_present<linalg_ext::GatherAlongOp>(op) && !isReversal(op) &&
         !matchExchange(op);
}

bool tilebridge::cpu::isPickedFrom(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return isPick(use.getOwner()) && use.getOperandNumber() == 0;
  });
}

std::optional<Exchange> tilebridge::cpu::matchExchange(Operation *op) {
  auto gather = dyn_cast_if_present<linalg_ext::GatherAlongOp>(op);
  bool isFree = gather && gather->hasAttr(nearAttr) &&
                static_cast<int64_t>(gather.getDimension()) + 1 ==
                    gather.getType().getRank();
  if (isFree)
    if (int64_t stride = gather.getExchangeStride())
      return Exchange{stride, 2 * stride, true};
  auto lanes = gather ? gather->getAttrOfType<IntegerAttr>(lanesAttr) : nullptr;
  int64_t stride = lanes ? gather.getExchangeStride() : 0;
  if (stride == 0 || gather.getType().getRank() != 1)
    return std::nullopt;
  return Exchange{stride, lanes.getInt()};
}

bool tilebridge::cpu::isRead(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && linalgOp.isDpsInit(&operand))
    return isElementwise(op) &&
           !linalgOp.getMatchingBlockArgument(&operand).use_empty();
  // The indices of a reversal or an exchange are known.
  return operand.getOperandNumber() == 0 ||
         !(isReversal(op) || matchExchange(op));
}

/// A constant belongs to no loop, so that it must also be defined outside of
/// all: what is computed from it may be moved out of the loop that is written
/// at present.
static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  OpBuilder::InsertionGuard guard(builder);
  Region *region = builder.getInsertionBlock()->getParent();
  while (region && region->getParentOp() &&
         !region->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
    region = region->getParentRegion();
  if (region)
    builder.setInsertionPointToStart(&region->front());
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Index constantIndexOf(int64_t value, Location loc, OpBuilder *builder) {
  Index index;
  if (builder)
    index.base = constantIndex(*builder, loc, value);
  return index;
}

static Index zeroIndex(Location loc, OpBuilder *builder) {
  return constantIndexOf(0, loc, builder);
}

/// base * stride + offset, where both are constants. It is written where the
/// loop `level` is, which may be inside of the index's own.
static Index shifted(const Index &index, int64_t offset, int64_t stride,
                     unsigned level, Location loc, OpBuilder *builder) {
  if (offset == 0 && stride == 1)
    return index;
  Index result = index;
  result.dim = -1;
  result.step = index.step * stride;
  result.level = level;
  // The index of lanes whose loop is not open yet has no value.
  if (builder && index.base) {
    OpFoldResult scaled = mulIndex(*builder, loc, OpFoldResult(index.base),
                                   builder->getIndexAttr(stride));
    result.base =
        toValue(*builder, loc,
                addIndex(*builder, loc, scaled, builder->getIndexAttr(offset)));
  }
  return result;
}

/// An index into several dimensions of these sizes as one into each of them;
/// nothing where lanes run along it.
static bool splitIndex(const Index &index, ArrayRef<int64_t> sizes,
                       MutableArrayRef<Index> result, Location loc,
                       OpBuilder *builder) {
  if (index.step != 0)
    return false;
  Value rest = index.base;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    result[d] = index;
    result[d].dim = -1;
    if (!builder || !rest)
      continue;
    result[d].base = rest;
    if (d == 0)
      break;
    Value size = constantIndex(*builder, loc, sizes[d]);
    result[d].base = arith::RemUIOp::create(*builder, loc, rest, size);
    rest = arith::DivUIOp::create(*builder, loc, rest, size);
  }
  return true;
}

/// The inverse.
static Index mergeIndices(ArrayRef<Index> indices, ArrayRef<int64_t> sizes,
                          Location loc, OpBuilder *builder) {
  Index result = indices.front();
  result.dim = -1;
  for (auto [index, size] :
       llvm::zip_equal(indices.drop_front(), sizes.drop_front())) {
    result.step = result.step * size + index.step;
    result.level = std::max(result.level, index.level);
    if (!builder || !result.base || !index.base)
      continue;
    OpFoldResult scaled = mulIndex(*builder, loc, OpFoldResult(result.base),
                                   builder->getIndexAttr(size));
    result.base =
        toValue(*builder, loc, addIndex(*builder, loc, scaled, index.base));
  }
  return result;
}

static std::optional<Indices>
reshapeIndices(Operation *op, ArrayRef<Index> indices, OpBuilder *builder) {
  Indices result;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    RankedTensorType wide = expand.getResultType();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      SmallVector<Index> parts;
      SmallVector<int64_t> sizes;
      for (int64_t d : group) {
        if (wide.getDimSize(d) == 1)
          continue;
        parts.push_back(indices[d]);
        sizes.push_back(wide.getDimSize(d));
      }
      if (parts.empty())
        result.push_back(indices[group.back()]);
      else if (parts.size() == 1)
        result.push_back(parts.front());
      else
        result.push_back(mergeIndices(parts, sizes, op->getLoc(), builder));
    }
    return result;
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!collapse)
    return std::nullopt;
  RankedTensorType wide = collapse.getSrcType();
  result.resize(wide.getRank());
  for (auto [to, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    SmallVector<int64_t> dims, sizes;
    for (int64_t d : group)
      if (wide.getDimSize(d) != 1) {
        dims.push_back(d);
        sizes.push_back(wide.getDimSize(d));
      }
    SmallVector<Index> parts(dims.size());
    if (dims.size() == 1)
      parts[0] = indices[to];
    else if (!dims.empty() &&
             !splitIndex(indices[to], sizes, parts, op->getLoc(), builder))
      return std::nullopt;
    for (auto [d, part] : llvm::zip_equal(dims, parts))
      result[d] = part;
  }
  for (auto [d, size] : llvm::enumerate(wide.getShape()))
    if (size == 1)
      result[d] = zeroIndex(op->getLoc(), builder);
  return result;
}

std::optional<Indices> tilebridge::cpu::operandIndices(OpOperand &operand,
                                                       ArrayRef<Index> indices,
                                                       OpBuilder *builder) {
  Operation *op = operand.getOwner();
  Location loc = op->getLoc();
  if (isElementwise(op)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      return Indices(indices);
    Indices result;
    for (AffineExpr expr :
         linalgOp.getMatchingIndexingMap(&operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        result.push_back(indices[dim.getPosition()]);
      else
        result.push_back(constantIndexOf(
            cast<AffineConstantExpr>(expr).getValue(), loc, builder));
    }
    return result;
  }
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    Indices result;
    for (auto [d, index] : llvm::enumerate(indices))
      if (!llvm::is_contained(broadcast.getDimensions(),
                              static_cast<int64_t>(d)))
        result.push_back(index);
    return result;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    Indices result(indices.size());
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      result[from] = indices[d];
    return result;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(slice.getStaticStrides(), ShapedType::isDynamic))
      return std::nullopt;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned level = 0;
    for (const Index &index : indices)
      level = std::max(level, index.level);
    Indices result;
    unsigned from = 0;
    for (unsigned d = 0, e = slice.getSourceType().getRank(); d < e; ++d) {
      if (dropped.test(d))
        result.push_back(
            constantIndexOf(slice.getStaticOffset(d), loc, builder));
      else
        result.push_back(shifted(indices[from++], slice.getStaticOffset(d),
                                 slice.getStaticStride(d), level, loc,
                                 builder));
    }
    return result;
  }
  if (isReversal(op)) {
    auto gather = cast<linalg_ext::GatherAlongOp>(op);
    int64_t d = gather.getDimension();
    unsigned level = 0;
    for (const Index &index : indices)
      level = std::max(level, index.level);
    Indices result(indices);
    result[d] = shifted(indices[d], gather.getType().getDimSize(d) - 1, -1,
                        level, loc, builder);
    return result;
  }
  if (auto exchange = matchExchange(op)) {
    Indices result(indices);
    Index &last = result.back();
    if (exchange->isFree && (last.step != 0 || !builder || !last.base)) {
      // Lanes that are not whole groups are computed one by one.
      last.groupDim = last.dim;
      last.group = std::max(last.group, exchange->lanes);
      return result;
    }
    if (exchange->isNear() && !exchange->isFree)
      return result;
    last.dim = -1;
    if (builder && last.base)
      last.base =
          arith::XOrIOp::create(*builder, loc, last.base,
                                constantIndex(*builder, loc, exchange->stride));
    return result;
  }
  if (auto repeated = RepeatedLanes::match(op)) {
    // For walks: see GroupLanes::repeat.
    const Index &last = indices.back();
    Indices result(indices);
    result.push_back(Index());
    Index &group = result[result.size() - 2];
    group.step = 0;
    group.dim = -1;
    group.groupDim = last.step != 0 || !last.base ? last.dim : -1;
    group.group = repeated->times;
    group.isSpread = true;
    if (builder && last.base)
      group.base =
          arith::DivUIOp::create(*builder, loc, last.base,
                                 constantIndex(*builder, loc, repeated->times));
    result.back().dim = -1;
    return result;
  }
  if (isStreamedScan(op))
    return Indices(indices);
  // Each element has its own place in memory, and its own mask.
  if (isa<linalg_ext::GatherOp, linalg_ext::MaskedLoadOp>(op))
    return Indices(indices);
  // Of the source any elements.
  if (isPick(op))
    return operand.getOperandNumber() == 1
               ? std::optional<Indices>(Indices(indices))
               : std::nullopt;
  if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op))
    return Indices{indices[rows.getDim()]};
  return reshapeIndices(op, indices, builder);
}
