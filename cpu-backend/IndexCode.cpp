//===- IndexCode.cpp - what is computed from indices, as scalar code ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/IndexCode.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// More operations would be computed for each element.
static constexpr int64_t mostOps = 48;

static bool isFewStepsFromIndices(Value value, int64_t &budget) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || --budget < 0)
    return false;
  if (isa<tensor::SplatOp>(op) ||
      (isOneNumber(op) && !isa<tensor::EmptyOp>(op)))
    return true;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::BroadcastOp,
          linalg::TransposeOp>(op))
    return isFewStepsFromIndices(op->getOperand(0), budget);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return readsOnlyInputs(op) &&
         llvm::all_of(*generic.getBody(),
                      [&](Operation &inner) {
                        --budget;
                        return inner.getNumRegions() == 0;
                      }) &&
         llvm::all_of(generic.getInputs(), [&](Value input) {
           return isFewStepsFromIndices(input, budget);
         });
}

Value IndexCode::number(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value IndexCode::rowIndex(int64_t exchanged) {
  Value index = linalg::IndexOp::create(b, loc, 0);
  index = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  return exchanged == 0
             ? index
             : arith::XOrIOp::create(b, loc, index, number(exchanged))
                   .getResult();
}

SmallVector<Value> IndexCode::indicesOf(Value place, ArrayRef<int64_t> shape) {
  SmallVector<Value> indices(shape.size());
  int64_t stride = 1, size = ShapedType::getNumElements(shape);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1) {
      indices[d] = number(0);
      continue;
    }
    Value index = place;
    if (stride > 1)
      index =
          arith::ShRUIOp::create(b, loc, index, number(llvm::Log2_64(stride)));
    stride *= shape[d];
    if (stride < size)
      index = arith::AndIOp::create(b, loc, index, number(shape[d] - 1));
    indices[d] = index;
  }
  return indices;
}

SmallVector<Value> IndexCode::clone(Block &body, IRMapping &mapping,
                                    ArrayRef<Value> indices) {
  for (Operation &op : body.without_terminator()) {
    if (isa<linalg::IndexOp>(op))
      continue;
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>()
                      : linalg::IndexOp();
    if (index && cast.getType().isInteger(32)) {
      mapping.map(cast.getResult(), indices[index.getDim()]);
      continue;
    }
    for (Value operand : op.getOperands())
      if (auto used = operand.getDefiningOp<linalg::IndexOp>();
          used && !mapping.contains(operand))
        mapping.map(operand,
                    arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                               indices[used.getDim()]));
    b.clone(op, mapping);
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) -> Value { return mapping.lookupOrDefault(value); });
}

Value IndexCode::elementOf(Value tensor, ArrayRef<Value> indices) {
  Operation *op = tensor.getDefiningOp();
  if (!isa<RankedTensorType>(tensor.getType()))
    return tensor;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getInput();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b, loc,
        cast<SplatElementsAttr>(constant.getValue())
            .getSplatValue<TypedAttr>());
  SmallVector<Value> from;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Value place = indices[group.front()];
      for (int64_t d : llvm::drop_begin(group)) {
        if (shape[d] == 1)
          continue;
        place = arith::MulIOp::create(b, loc, place, number(shape[d]));
        place = arith::AddIOp::create(b, loc, place, indices[d]);
      }
      from.push_back(place);
    }
    return elementOf(expand.getSrc(), from);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    for (auto [d, group] : llvm::enumerate(collapse.getReassociationIndices()))
      llvm::append_range(
          from,
          indicesOf(indices[d], shape.slice(group.front(), group.size())));
    return elementOf(collapse.getSrc(), from);
  }
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    for (auto [d, index] : llvm::enumerate(indices))
      if (!llvm::is_contained(broadcast.getDimensions(),
                              static_cast<int64_t>(d)))
        from.push_back(index);
    return elementOf(broadcast.getInput(), from);
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    from.resize(indices.size());
    for (auto [d, source] : llvm::enumerate(transpose.getPermutation()))
      from[source] = indices[d];
    return elementOf(transpose.getInput(), from);
  }
  auto generic = cast<linalg::GenericOp>(op);
  IRMapping mapping;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    from.clear();
    for (AffineExpr expr : generic.getMatchingIndexingMap(input).getResults())
      from.push_back(isa<AffineDimExpr>(expr)
                         ? indices[cast<AffineDimExpr>(expr).getPosition()]
                         : number(cast<AffineConstantExpr>(expr).getValue()));
    mapping.map(generic.getMatchingBlockArgument(input),
                elementOf(input->get(), from));
  }
  return clone(*generic.getBody(), mapping, indices).front();
}

Value tilebridge::cpu::rowFromIndices(OpBuilder &builder, Location loc,
                                      Value tensor, int64_t exchanged) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t budget = mostOps;
  if (!isFewStepsFromIndices(tensor, budget) ||
      !llvm::all_of(type.getShape(), llvm::isPowerOf2_64))
    return {};
  auto row =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value init = tensor::EmptyOp::create(builder, loc, row.getShape(),
                                       row.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(row), ValueRange(), init, map,
      utils::IteratorType::parallel,
      [&](OpBuilder &nested, Location at, ValueRange) {
        IndexCode code(nested, at);
        Value element = code.elementOf(
            tensor, code.indicesOf(code.rowIndex(exchanged), type.getShape()));
        linalg::YieldOp::create(nested, at, element);
      });
  // Of the indices few are used.
  auto ops = llvm::map_to_vector(*generic.getBody(),
                                 [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return generic.getResult(0);
}
