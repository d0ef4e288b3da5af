//===- BatchBlocks.cpp - blocks of several programs -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/ProgramBatch.h"

#include "cpu-backend/emit/Plan.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

RankedTensorType ProgramBatch::withPrograms(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  auto shape = llvm::to_vector(tensor.getShape());
  if (!isWidened(shape.size())) {
    shape.push_back(merged.count);
  } else {
    // What is not known is the part that is inside, which is all columns.
    if (shape.back() != merged.columns && !ShapedType::isDynamic(shape.back()))
      return {};
    shape.back() = merged.columns * merged.count;
  }
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// The same for all programs, or, if it is a vector of the programs, the same
/// in all elements of each. `isWide`: the last dimension has the programs'
/// columns.
Value ProgramBatch::broadcast(Value value, RankedTensorType type, bool isVector,
                              bool isWide) {
  Location loc = value.getLoc();
  int64_t last = type.getRank() - 1;
  if (isWide) {
    auto apart = llvm::to_vector(type.getShape());
    apart.back() = merged.count;
    apart.push_back(merged.columns);
    SmallVector<int64_t> dims = {last};
    if (isVector) {
      dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
      dims.push_back(last + 1);
    }
    Value empty = tensor::EmptyOp::create(b, loc, apart, type.getElementType());
    Value all =
        linalg::BroadcastOp::create(b, loc, value, empty, dims).getResult()[0];
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d <= last; ++d)
      groups.push_back({d});
    groups.back().push_back(last + 1);
    return tensor::CollapseShapeOp::create(b, loc, all, groups);
  }
  SmallVector<int64_t> dims;
  if (!isVector)
    dims.push_back(last);
  else
    llvm::append_range(dims, llvm::seq<int64_t>(0, last));
  if (dims.empty())
    return value;
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  return linalg::BroadcastOp::create(b, loc, value, empty, dims).getResult()[0];
}

Value ProgramBatch::asBlock(Value old) {
  Batched batched = lookup(old);
  if (!batched.value || batched.kind == Kind::Block)
    return batched.value;
  RankedTensorType type = withPrograms(old.getType());
  auto oldType = dyn_cast<RankedTensorType>(old.getType());
  if (!type || (merged.columns && !oldType.hasStaticShape()))
    return {};
  Operation *op = batched.value.getDefiningOp();
  if (isa_and_nonnull<tensor::EmptyOp>(op))
    return tensor::EmptyOp::create(b, old.getLoc(), type, ValueRange());
  DenseElementsAttr elements;
  if (matchPattern(batched.value, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(b, old.getLoc(),
                                     elements.resizeSplat(type));
  if (!type.hasStaticShape())
    return {};
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op))
    return tensor::SplatOp::create(b, old.getLoc(), type, splat.getInput());
  bool isWide = isWidened(oldType.getRank());
  // What is one number in each row is so in the longer one.
  auto rows = dyn_cast_or_null<linalg::BroadcastOp>(op);
  if (isWide && rows &&
      llvm::is_contained(rows.getDimensions(), oldType.getRank() - 1)) {
    Value empty = tensor::EmptyOp::create(b, old.getLoc(), type, ValueRange());
    return linalg::BroadcastOp::create(b, old.getLoc(), rows.getInput(), empty,
                                       rows.getDimensions())
        .getResult()[0];
  }
  return broadcast(batched.value, type, /*isVector=*/false, isWide);
}

/// The op on blocks of all programs; its regions stay as they are.
Operation *ProgramBatch::rebuild(Operation *op, ValueRange operands,
                                 ArrayRef<NamedAttribute> changed) {
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.push_back(withPrograms(type));
    if (!types.back())
      return nullptr;
  }
  if (llvm::is_contained(operands, Value()))
    return nullptr;
  NamedAttrList attributes(op->getAttrDictionary());
  for (NamedAttribute attribute : changed)
    attributes.set(attribute.getName(), attribute.getValue());
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front())
      if (!usesOnlySame(&inner))
        return nullptr;
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       attributes);
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), same);
  Operation *result = b.create(state);
  for (auto [old, value] :
       llvm::zip_equal(op->getResults(), result->getResults()))
    set(old, Batched::block(value));
  return result;
}

LogicalResult ProgramBatch::visitGeneric(Operation *op) {
  auto generic = cast<linalg::GenericOp>(op);
  if (generic.getNumReductionLoops() != 0 || generic->getNumResults() == 0)
    return failure();
  // Those of columns are changed, at the top.
  bool isNested = anyInside(generic, [&](Operation *op) {
    return isa<linalg::IndexOp>(op) && op->getParentOp() != generic;
  });
  if (merged.columns && isNested)
    return failure();
  for (AffineMap map : generic.getIndexingMapsArray())
    if (!map.isIdentity())
      return failure();
  SmallVector<Value> inputs, outputs;
  for (Value input : generic.getInputs())
    inputs.push_back(asBlock(input));
  for (Value output : generic.getOutputs())
    outputs.push_back(asBlock(output));
  if (llvm::is_contained(inputs, Value()) ||
      llvm::is_contained(outputs, Value()))
    return failure();
  // Scalars that differ from program to program become operands.
  Location loc = op->getLoc();
  llvm::SetVector<Value> scalars;
  generic.getBody()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto it = values.find(operand);
          it != values.end() && it->second.kind != Kind::Same)
        scalars.insert(operand);
  });
  auto shape = cast<RankedTensorType>(outputs.front().getType()).getShape();
  bool isWide = isWidened(generic.getNumLoops());
  for (Value scalar : scalars) {
    Value vector = asVector(scalar);
    if (!vector)
      return failure();
    auto element = cast<RankedTensorType>(vector.getType()).getElementType();
    inputs.push_back(broadcast(vector, RankedTensorType::get(shape, element),
                               /*isVector=*/true, isWide));
  }
  unsigned rank = shape.size();
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(),
                              b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  unsigned oldInputs = generic.getNumDpsInputs();
  auto result = linalg::GenericOp::create(
      b, loc, types, inputs, outputs, maps, kinds,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        IRMapping map = same;
        Block *body = generic.getBody();
        for (unsigned i = 0; i < oldInputs; ++i)
          map.map(body->getArgument(i), arguments[i]);
        for (unsigned i = 0; i < outputs.size(); ++i)
          map.map(body->getArgument(oldInputs + i),
                  arguments[inputs.size() + i]);
        for (auto [i, scalar] : llvm::enumerate(scalars)) {
          Value value = arguments[oldInputs + i];
          if (scalar.getType().isIndex())
            value =
                arith::IndexCastOp::create(inner, loc, scalar.getType(), value);
          map.map(scalar, value);
        }
        for (Operation &each : *body) {
          Operation *clone = inner.clone(each, map);
          auto index = dyn_cast<linalg::IndexOp>(clone);
          if (!isWide || !index || index.getDim() + 1 != rank)
            continue;
          // Each program counts its own columns.
          Value own =
              arith::ConstantIndexOp::create(inner, loc, merged.columns);
          map.map(each.getResult(0),
                  arith::RemUIOp::create(inner, loc, index, own));
        }
      });
  for (auto [old, value] :
       llvm::zip_equal(op->getResults(), result->getResults()))
    set(old, Batched::block(value));
  return success();
}

/// Ops that only give a block another shape.
LogicalResult ProgramBatch::visitShape(Operation *op) {
  Value old = op->getResult(0);
  Location loc = op->getLoc();
  auto done = [&](Value value) {
    set(old, Batched::block(value));
    return success();
  };
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    Value vector = asVector(splat.getInput());
    if (!vector || !withPrograms(old.getType()))
      return failure();
    return done(broadcast(vector, withPrograms(old.getType()), true,
                          isWidened(splat.getType().getRank())));
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    auto type = cast<RankedTensorType>(extract.getTensor().getType());
    Value block = asBlock(extract.getTensor());
    if (!block || !type.hasStaticShape() || type.getNumElements() != 1)
      return failure();
    if (type.getRank() == 0)
      return done(block);
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all[0], llvm::seq<int64_t>(0, type.getRank() + 1));
    return done(tensor::CollapseShapeOp::create(b, loc, block, all));
  }
  if (auto from = dyn_cast<tensor::FromElementsOp>(op)) {
    auto type = withPrograms(old.getType());
    if (from.getElements().size() != 1 || !type)
      return failure();
    Value vector = asVector(from.getElements()[0]);
    if (!vector || type.getRank() == 1)
      return vector ? done(vector) : failure();
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all[0], llvm::seq<int64_t>(0, type.getRank()));
    return done(tensor::ExpandShapeOp::create(b, loc, type, vector, all));
  }
  // Groups of dimensions, before that of the programs.
  auto withLast = [&](ArrayRef<ReassociationIndices> groups, int64_t rank) {
    SmallVector<ReassociationIndices> result(groups);
    // Of blocks of some columns the last dimension stays the last one.
    if (merged.columns)
      return result;
    // A block of rank 0 has no groups.
    result.emplace_back();
    if (groups.empty())
      llvm::append_range(result.back(), llvm::seq<int64_t>(0, rank));
    result.back().push_back(rank);
    return result;
  };
  Value block = asBlock(op->getOperand(0));
  if (!block || op->getNumOperands() != 1 ||
      !cast<RankedTensorType>(old.getType()).hasStaticShape() ||
      (merged.columns && (!withPrograms(old.getType()) ||
                          cast<ShapedType>(old.getType()).getRank() == 0)))
    return failure();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return done(tensor::ExpandShapeOp::create(
        b, loc, withPrograms(old.getType()), block,
        withLast(expand.getReassociationIndices(),
                 expand.getResultType().getRank())));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return done(tensor::CollapseShapeOp::create(
        b, loc, withPrograms(old.getType()), block,
        withLast(collapse.getReassociationIndices(),
                 collapse.getSrcType().getRank())));
  return failure();
}

/// Parts of blocks: all programs' at the same place.
LogicalResult ProgramBatch::visitSlice(Operation *op) {
  Location loc = op->getLoc();
  bool isWide = isWidened(cast<ShapedType>(op->getResultTypes()[0]).getRank());
  auto with = [&](SmallVector<OpFoldResult> list, int64_t value) {
    if (!isWide)
      list.push_back(b.getIndexAttr(value));
    return list;
  };
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value value = pad.getConstantPaddingValue();
    if (value && lookup(value).value)
      value = demandSame(value);
    Value block = asBlock(pad.getSource());
    auto low = offsetsOfAll(pad.getMixedLowPad()),
         high = offsetsOfAll(pad.getMixedHighPad());
    if (!value || !block || failed(low) || failed(high))
      return failure();
    if (!same.contains(value) && lookup(value).value)
      return failure();
    Value result =
        tensor::PadOp::create(b, loc, withPrograms(pad.getResultType()), block,
                              with(*low, 0), with(*high, 0), value);
    return set(pad.getResult(), Batched::block(result)), success();
  }
  auto sliced = cast<OffsetSizeAndStrideOpInterface>(op);
  auto offsets = offsetsOfAll(sliced.getMixedOffsets()),
       sizes = sizesOfAll(sliced.getMixedSizes()),
       strides = demandSame(sliced.getMixedStrides());
  Value source = asBlock(op->getOperand(0));
  if (!source || failed(offsets) || failed(sizes) || failed(strides) ||
      (isWide && getConstantIntValue(strides->back()) != 1))
    return failure();
  *offsets = with(*offsets, 0);
  *sizes = with(*sizes, merged.count);
  *strides = with(*strides, 1);
  Value result;
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    result =
        tensor::ExtractSliceOp::create(b, loc, withPrograms(extract.getType()),
                                       source, *offsets, *sizes, *strides);
  } else {
    Value dest = asBlock(cast<tensor::InsertSliceOp>(op).getDest());
    if (!dest)
      return failure();
    result = tensor::InsertSliceOp::create(b, loc, source, dest, *offsets,
                                           *sizes, *strides);
  }
  set(op->getResult(0), Batched::block(result));
  return success();
}

/// Whether an op neither combines columns nor makes or moves them.
bool ProgramBatch::keepsLast(Operation *op) {
  if (!merged.columns)
    return true;
  int64_t rank = 0;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
      rank = std::max(rank, type.getRank());
  ArrayRef<int64_t> changed;
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    changed = reduce.getDimensions();
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    changed = broadcast.getDimensions();
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return rank > 0 && transpose.getPermutation().back() == rank - 1;
  auto along = op->getAttrOfType<IntegerAttr>("dimension");
  return rank > 0 && !llvm::is_contained(changed, rank - 1) &&
         !(along && along.getInt() == rank - 1);
}

/// Columns of the right operand are those of the result.
LogicalResult ProgramBatch::visitProduct(linalg::MatmulOp op) {
  AffineMap straight =
      AffineMap::getMultiDimMapWithTargets(3, {2, 1}, op->getContext());
  Value left = lookup(op.getInputs()[0]).value;
  if (!merged.columns || !left ||
      lookup(op.getInputs()[0]).kind != Kind::Same ||
      op.getIndexingMapsArray()[1] != straight)
    return failure();
  return success(rebuild(op, {left, asBlock(op.getInputs()[1]),
                              asBlock(op.getOutputs()[0])}) != nullptr);
}

LogicalResult ProgramBatch::visitBlocks(Operation *op) {
  if (isa<linalg::GenericOp>(op))
    return visitGeneric(op);
  if (isa<tensor::SplatOp, tensor::ExtractOp, tensor::FromElementsOp,
          tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return visitShape(op);
  if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    return visitSlice(op);
  if (!keepsLast(op))
    return failure();
  if (auto product = dyn_cast<linalg::MatmulOp>(op))
    return visitProduct(product);
  SmallVector<Value> blocks;
  for (Value operand : op->getOperands())
    blocks.push_back(asBlock(operand));
  if (isa<linalg::ReduceOp, linalg::BroadcastOp, linalg_ext::ReduceOp,
          linalg_ext::ScanOp>(op))
    return success(rebuild(op, blocks) != nullptr);
  auto transpose = dyn_cast<linalg::TransposeOp>(op);
  if (!transpose)
    return failure();
  auto order = llvm::to_vector(transpose.getPermutation());
  if (!merged.columns)
    order.push_back(order.size());
  auto changed = b.getNamedAttr("permutation", b.getDenseI64ArrayAttr(order));
  return success(rebuild(op, blocks, changed) != nullptr);
}
