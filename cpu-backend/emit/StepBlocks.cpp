//===- StepBlocks.cpp - several iterations of a loop as blocks ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/StepBlocks.h"
#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

StepBlocks::Axes StepBlocks::ownAxes() const {
  if (sums.getRank() == 1)
    return {Columns};
  if (isSwapped)
    return {Columns, Rows};
  return {Rows, Columns};
}

int64_t StepBlocks::sizeOf(Side side) const {
  if (sums.getRank() == 1)
    return side == Columns ? sums.getDimSize(0) : 1;
  return sums.getDimSize((side == Columns) != isSwapped);
}

RankedTensorType StepBlocks::typeOf(Side side, Type element) const {
  SmallVector<int64_t> shape = {sizeOf(side), steps};
  if (dimOfSteps(side) == 0)
    std::swap(shape[0], shape[1]);
  return RankedTensorType::get(shape, element);
}

std::optional<StepBlocks::Axes> StepBlocks::axesOfOperand(Operation *op,
                                                          ArrayRef<int> axes) {
  Axes result;
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    for (auto [d, axis] : llvm::enumerate(axes))
      if (!llvm::is_contained(broadcast.getDimensions(),
                              static_cast<int64_t>(d)))
        result.push_back(axis);
    return result;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    result.resize(axes.size());
    for (auto [axis, d] : llvm::zip_equal(axes, transpose.getPermutation()))
      result[d] = axis;
    return result;
  }
  if (!isUnitReshape(op))
    return std::nullopt;
  // Dimensions of one element belong to none.
  SmallVector<int> wide;
  for (auto [size, axis] : llvm::zip_equal(
           cast<RankedTensorType>(op->getResult(0).getType()).getShape(), axes))
    if (size != 1)
      wide.push_back(axis);
  auto next = wide.begin();
  for (int64_t size :
       cast<RankedTensorType>(op->getOperand(0).getType()).getShape())
    result.push_back(size == 1 ? -1 : *next++);
  return result;
}

std::optional<unsigned> StepBlocks::variesAlong(Value value) {
  return variesAlong(value, ownAxes());
}

std::optional<unsigned> StepBlocks::variesAlong(Value value,
                                                ArrayRef<int> axes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return 0;
  unsigned own = 0;
  for (auto [size, axis] : llvm::zip_equal(type.getShape(), axes))
    if (size != 1 && axis >= 0)
      own |= 1u << axis;
  Operation *op = value.getDefiningOp();
  if (!op)
    return isFixed(value) ? std::optional(own) : std::nullopt;
  if (isa<tensor::SplatOp>(op))
    return 0;
  if (auto inner = axesOfOperand(op, axes))
    return variesAlong(op->getOperand(0), *inner);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (generic && readsOnlyInputs(op) && linalg_ext::keepsOrder(generic)) {
    unsigned result = 0;
    for (Value input : generic.getInputs()) {
      auto part = variesAlong(input, axes);
      if (!part)
        return std::nullopt;
      result |= *part;
    }
    generic.walk([&](linalg::IndexOp index) {
      int axis = axes[index.getDim()];
      result |= axis >= 0 ? 1u << axis : 0;
    });
    return result;
  }
  if (matchLoad(value) || isFixed(value))
    return own;
  return std::nullopt;
}

Value StepBlocks::of(Value value, Side side) {
  Value block = blockOf(value, ownAxes(), side);
  if (block && hasRest && !isZeroInRest(value))
    return withoutRest(block, dimOfSteps(side));
  return block;
}

/// One number for each step, the same along the other dimension.
Value StepBlocks::blockOfLine(Value line, Side side) {
  if (!line)
    return {};
  auto type = typeOf(side, getElementTypeOrSelf(line.getType()));
  Location loc = line.getLoc();
  if (auto splat = line.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, type, splat.getInput());
  if (sizeOf(side) == 1) {
    SmallVector<ReassociationIndices> both = {{0, 1}};
    return tensor::ExpandShapeOp::create(b, loc, type, line, both);
  }
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  return linalg::BroadcastOp::create(
             b, loc, line, empty,
             ArrayRef<int64_t>{1 - static_cast<int64_t>(dimOfSteps(side))})
      .getResult()[0];
}

Value StepBlocks::blockOf(Value value, ArrayRef<int> axes, Side side) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return blockOfLine(lineOf(value), side);
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(
        b, value.getLoc(),
        elements.resizeSplat(typeOf(side, type.getElementType())));
  Operation *op = value.getDefiningOp();
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op))
    return blockOfLine(lineOf(splat.getInput()), side);
  if (isFixed(value) &&
      llvm::all_of(llvm::zip_equal(type.getShape(), axes), [&](auto dim) {
        auto [size, axis] = dim;
        return size == 1 || axis == side;
      }))
    return blockOfFixed(value, side);
  if (!op)
    return {};
  if (auto inner = axesOfOperand(op, axes))
    return blockOf(op->getOperand(0), *inner, side);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return blockOfGeneric(generic, axes, side);
  return isFixed(value) ? Value() : blockOfLoad(value, axes, side);
}

/// A block that is the same in all iterations, of one dimension besides those
/// of one element.
Value StepBlocks::blockOfFixed(Value value, Side side) {
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = value.getLoc();
  if (type.getRank() == 0)
    return {};
  if (type.getRank() > 1) {
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all[0], llvm::seq<int64_t>(0, type.getRank()));
    value = tensor::CollapseShapeOp::create(b, loc, value, all);
  }
  if (type.getNumElements() != sizeOf(side))
    return {};
  Value empty = tensor::EmptyOp::create(
      b, loc, typeOf(side, type.getElementType()), ValueRange());
  return linalg::BroadcastOp::create(
             b, loc, value, empty,
             ArrayRef<int64_t>{static_cast<int64_t>(dimOfSteps(side))})
      .getResult()[0];
}

Value StepBlocks::blockOfGeneric(linalg::GenericOp op, ArrayRef<int> axes,
                                 Side side) {
  if (!readsOnlyInputs(op) || !linalg_ext::keepsOrder(op))
    return {};
  SmallVector<Value> inputs, scalars;
  for (Value input : op.getInputs())
    inputs.push_back(blockOf(input, axes, side));
  IRMapping known;
  bool isKnown = true;
  op.getBody()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (op.getRegion().isAncestor(operand.getParentRegion()) ||
          isFixed(operand) || known.contains(operand) ||
          llvm::is_contained(scalars, operand))
        continue;
      if (matchPattern(operand, m_Constant())) {
        known.map(operand, first(operand));
        continue;
      }
      Value block = blockOfLine(lineOf(operand), side);
      isKnown &= block != nullptr;
      scalars.push_back(operand);
      inputs.push_back(block);
    }
  });
  if (!isKnown || llvm::is_contained(inputs, Value()))
    return {};
  Location loc = op.getLoc();
  auto type = typeOf(side, getElementTypeOrSelf(op->getResult(0).getType()));
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
  unsigned own = op.getNumDpsInputs();
  return linalg::GenericOp::create(
             b, loc, type, inputs, empty, maps, kinds,
             [&](OpBuilder &inner, Location, ValueRange arguments) {
               IRMapping body = known;
               for (unsigned i = 0; i < own; ++i)
                 body.map(op.getBody()->getArgument(i), arguments[i]);
               for (auto [i, scalar] : llvm::enumerate(scalars)) {
                 Value element = arguments[own + i];
                 if (scalar.getType().isIndex())
                   element = arith::IndexCastOp::create(
                       inner, loc, scalar.getType(), element);
                 body.map(scalar, element);
               }
               for (Operation &each : *op.getBody()) {
                 Operation *clone = inner.clone(each, body);
                 clone->walk([&](linalg::IndexOp index) {
                   if (axes[index.getDim()] == side) {
                     index.setDim(1 - dimOfSteps(side));
                     return;
                   }
                   // A dimension of one element.
                   OpBuilder at(index);
                   Value zero = arith::ConstantIndexOp::create(at, loc, 0);
                   index->replaceAllUsesWith(ValueRange{zero});
                   index.setDim(0);
                   if (index == clone)
                     body.map(each.getResult(0), zero);
                 });
               }
             })
      .getResult(0);
}

/// Zero in the steps that are none.
Value StepBlocks::withoutRest(Value block, unsigned dim) {
  Location loc = block.getLoc();
  auto type = cast<RankedTensorType>(block.getType());
  Value end = toValue(b, loc, count);
  return elementwiseBlock(
      b, loc, type, block,
      [&](OpBuilder &inner, ValueRange arguments) -> Value {
        Value i = linalg::IndexOp::create(inner, loc, dim);
        Value isThere = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::slt, i, end);
        Value zero = arith::ConstantOp::create(
            inner, loc, inner.getZeroAttr(type.getElementType()));
        return arith::SelectOp::create(inner, loc, isThere, arguments[0], zero);
      });
}

/// What is read is padded by zeros, and casts keep them.
bool StepBlocks::isZeroInRest(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isFixed(value))
    return false;
  if (isa<memref::LoadOp>(op) || matchLoad(value))
    return true;
  auto isCast = [](Operation *cast) {
    return isa_and_present<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp,
                           arith::SIToFPOp, arith::UIToFPOp>(cast);
  };
  if (isa<tensor::SplatOp, linalg::BroadcastOp, linalg::TransposeOp>(op) ||
      isUnitReshape(op) || isCast(op))
    return isZeroInRest(op->getOperand(0));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && isCast(onlyOperation(op)) &&
         generic.getNumDpsInputs() == 1 && isZeroInRest(generic.getInputs()[0]);
}
