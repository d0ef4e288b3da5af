//===- LaneForms.cpp - integers of a block's lanes, as scalars ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/LaneForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge::accel;
using Pred = arith::CmpIPredicate;

bool LaneForm::isUniform() const {
  return bounds.empty() &&
         llvm::none_of(strides, [](Value stride) { return stride; });
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

// The form of a block with the dimensions of another one: `from` has, for each
// dimension of the new block, the old one, or none where it is repeated.
static LaneForm rearrange(const LaneForm &form,
                          ArrayRef<std::optional<unsigned>> from) {
  LaneForm result{form.base, SmallVector<Value>(from.size()), {}};
  for (auto [to, old] : llvm::enumerate(from)) {
    if (!old)
      continue;
    result.strides[to] = form.strides[*old];
    for (const LaneBound &bound : form.bounds)
      if (bound.dim == *old)
        result.bounds.push_back({unsigned(to), bound.end, bound.isUpper});
  }
  return result;
}

// Whether all that a form says is of dimensions that `from` has.
static bool keepsAll(const LaneForm &form,
                     ArrayRef<std::optional<unsigned>> from) {
  auto isKept = [&](unsigned dim) {
    return llvm::is_contained(from, std::optional<unsigned>(dim));
  };
  for (auto [dim, stride] : llvm::enumerate(form.strides))
    if (stride && !isKept(dim))
      return false;
  return llvm::all_of(
      form.bounds, [&](const LaneBound &bound) { return isKept(bound.dim); });
}

// For each dimension after a reshape the one before it; both blocks have the
// same ones but for those of one element.
static std::optional<SmallVector<std::optional<unsigned>>>
sameDimensions(RankedTensorType to, RankedTensorType from,
               ArrayRef<ReassociationIndices> groups, bool isExpansion) {
  RankedTensorType wide = isExpansion ? to : from;
  SmallVector<std::optional<unsigned>> result(to.getRank());
  for (auto [narrowDim, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> larger = llvm::filter_to_vector(
        group, [&](int64_t dim) { return wide.getDimSize(dim) != 1; });
    if (larger.size() > 1)
      return std::nullopt;
    int64_t wideDim = larger.empty() ? group.front() : larger.front();
    if (isExpansion)
      result[wideDim] = unsigned(narrowDim);
    else
      result[narrowDim] = unsigned(wideDim);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value LaneForms::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

Value LaneForms::toIndex(Value integer) {
  return integer.getType().isIndex()
             ? integer
             : builder.createOrFold<arith::IndexCastOp>(
                   loc, builder.getIndexType(), integer);
}

LaneForm LaneForms::uniform(Value scalar, size_t rank) {
  // A boolean that is always true says nothing.
  if (scalar.getType().isInteger(1) && matchPattern(scalar, m_One()))
    scalar = {};
  return {scalar, SmallVector<Value>(rank), {}};
}

Value LaneForms::multiply(Value left, Value right) {
  return left && right ? builder.createOrFold<arith::MulIOp>(loc, left, right)
                       : Value();
}

//===----------------------------------------------------------------------===//
// Operations on lanes
//===----------------------------------------------------------------------===//

static bool isMask(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
}

std::optional<LaneForm> LaneForms::both(const LaneForm &left,
                                        const LaneForm &right) {
  LaneForm result = left;
  if (left.base && right.base)
    result.base =
        builder.createOrFold<arith::AndIOp>(loc, left.base, right.base);
  else if (right.base)
    result.base = right.base;
  llvm::append_range(result.bounds, right.bounds);
  return result;
}

// A position, moved by a scalar, against another scalar.
std::optional<LaneForm> LaneForms::compare(Operation *op, const LaneForm &left,
                                           const LaneForm &right) {
  Pred predicate = cast<arith::CmpIOp>(op).getPredicate();
  if (left.isUniform() && right.isUniform())
    return uniform(builder.createOrFold<arith::CmpIOp>(loc, predicate,
                                                       left.base, right.base),
                   left.strides.size());
  if (left.isUniform()) {
    switch (predicate) {
    case Pred::slt:
      predicate = Pred::sgt;
      break;
    case Pred::sle:
      predicate = Pred::sge;
      break;
    case Pred::sgt:
      predicate = Pred::slt;
      break;
    case Pred::sge:
      predicate = Pred::sle;
      break;
    default:
      return std::nullopt;
    }
  } else if (!right.isUniform()) {
    return std::nullopt;
  }
  const LaneForm &lanes = left.isUniform() ? right : left;
  const LaneForm &scalar = left.isUniform() ? left : right;
  std::optional<unsigned> dim;
  for (auto [number, stride] : llvm::enumerate(lanes.strides)) {
    if (!stride)
      continue;
    if (dim || !matchPattern(stride, m_One()))
      return std::nullopt;
    dim = unsigned(number);
  }
  // Where all of the block is not below zero, a comparison that takes the
  // numbers as unsigned is one against a scalar that is not either.
  bool isUnsigned = predicate == Pred::ult;
  APInt least;
  if (isUnsigned && !(matchPattern(scalar.base, m_ConstantInt(&least)) &&
                      least.isNonNegative()))
    return std::nullopt;
  if (isUnsigned)
    predicate = Pred::slt;
  Value start = toIndex(lanes.base);
  auto distanceTo = [&](Value end) {
    return builder.createOrFold<arith::SubIOp>(loc, end, start);
  };
  Value end = toIndex(scalar.base);
  if (predicate == Pred::sle || predicate == Pred::sgt)
    end = builder.createOrFold<arith::AddIOp>(
        loc, end, constant(builder.getIndexType(), 1));
  bool isUpper = predicate == Pred::slt || predicate == Pred::sle;
  if (!isUpper && predicate != Pred::sgt && predicate != Pred::sge)
    return std::nullopt;
  LaneForm result{{}, SmallVector<Value>(lanes.strides.size()), {}};
  result.bounds.push_back({*dim, distanceTo(end), isUpper});
  if (isUnsigned)
    result.bounds.push_back(
        {*dim, distanceTo(constant(builder.getIndexType(), 0)), false});
  return result;
}

// An operation on single elements, one form for each of its operands.
std::optional<LaneForm> LaneForms::ofBody(Operation *op,
                                          ArrayRef<LaneForm> operands) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto eachPart = [&](auto write) {
    LaneForm result = operands[0];
    result.base = write(result.base);
    for (Value &stride : result.strides)
      stride = stride ? write(stride) : stride;
    return result;
  };
  return llvm::TypeSwitch<Operation *, std::optional<LaneForm>>(op)
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto cast) {
        if (getElementTypeOrSelf(cast.getIn().getType()).isInteger(1))
          return std::optional<LaneForm>();
        Type type = cast.getType();
        using CastOp = decltype(cast);
        return std::optional(eachPart([&](Value part) {
          return builder.createOrFold<CastOp>(loc, type, part);
        }));
      })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto sum) {
        if (isMask(op))
          return std::optional<LaneForm>();
        using SumOp = decltype(sum);
        auto add = [&](Value left, Value right) {
          if (!left && !right)
            return Value();
          Value zero = constant(sum.getType(), 0);
          return builder.createOrFold<SumOp>(loc, left ? left : zero,
                                             right ? right : zero);
        };
        LaneForm result = operands[0];
        result.base = add(operands[0].base, operands[1].base);
        for (auto [mine, left, right] : llvm::zip_equal(
                 result.strides, operands[0].strides, operands[1].strides))
          mine = add(left, right);
        return std::optional(result);
      })
      .Case([&](arith::MulIOp) {
        bool isFirst = operands[0].isUniform();
        if (isMask(op) || (!isFirst && !operands[1].isUniform()))
          return std::optional<LaneForm>();
        LaneForm result = operands[isFirst ? 1 : 0];
        Value factor = operands[isFirst ? 0 : 1].base;
        result.base = multiply(result.base, factor);
        for (Value &stride : result.strides)
          stride = multiply(stride, factor);
        return std::optional(result);
      })
      .Case([&](arith::CmpIOp) {
        // Booleans have no order.
        if (op->getOperand(0).getType().isInteger(1))
          return std::optional<LaneForm>();
        return compare(op, operands[0], operands[1]);
      })
      .Case([&](arith::AndIOp) {
        return isMask(op) ? both(operands[0], operands[1])
                          : std::optional<LaneForm>();
      })
      .Default(std::optional<LaneForm>());
}

std::optional<LaneForm> LaneForms::ofGeneric(linalg::GenericOp op) {
  size_t rank = op.getNumLoops();
  if (op.getNumReductionLoops() || op->getNumResults() != 1 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return std::nullopt;
  llvm::DenseMap<Value, LaneForm> forms;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (!isa<RankedTensorType>(input->get().getType())) {
      forms[argument] = uniform(input->get(), rank);
      continue;
    }
    std::optional<LaneForm> form = of(input->get());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!form || !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return std::nullopt;
    SmallVector<std::optional<unsigned>> from(rank);
    for (auto [dim, result] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(result))
        from[loop.getPosition()] = unsigned(dim);
    // What is read at position 0 alone does not change.
    forms[argument] = rearrange(*form, from);
  }
  auto formOf = [&](Value value) -> std::optional<LaneForm> {
    if (auto found = forms.find(value); found != forms.end())
      return found->second;
    if (!op.getRegion().isAncestor(value.getParentRegion()))
      return uniform(value, rank);
    return std::nullopt;
  };
  for (Operation &inner : op.getBody()->without_terminator()) {
    Attribute value;
    std::optional<LaneForm> form;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      form = uniform(constant(builder.getIndexType(), 0), rank);
      form->strides[index.getDim()] = constant(builder.getIndexType(), 1);
    } else if (matchPattern(&inner, m_Constant(&value))) {
      form = uniform(builder.clone(inner)->getResult(0), rank);
    } else {
      SmallVector<LaneForm> operands;
      for (Value operand : inner.getOperands())
        if (std::optional<LaneForm> one = formOf(operand))
          operands.push_back(*one);
      if (operands.size() == inner.getNumOperands())
        form = ofBody(&inner, operands);
    }
    if (form)
      forms[inner.getResult(0)] = *form;
  }
  return formOf(op.getBody()->getTerminator()->getOperand(0));
}

std::optional<LaneForm> LaneForms::find(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto reshape = [&](auto reshaped, bool isExpansion) {
    std::optional<LaneForm> form = of(reshaped.getSrc());
    auto from = sameDimensions(type, reshaped.getSrcType(),
                               reshaped.getReassociationIndices(), isExpansion);
    if (!form || !from || !keepsAll(*form, *from))
      return std::optional<LaneForm>();
    return std::optional(rearrange(*form, *from));
  };
  return llvm::TypeSwitch<Operation *, std::optional<LaneForm>>(op)
      .Case([&](arith::ConstantOp splat) -> std::optional<LaneForm> {
        auto values = dyn_cast<DenseIntElementsAttr>(splat.getValue());
        if (!values || !values.isSplat())
          return std::nullopt;
        return uniform(arith::ConstantOp::create(
                           builder, loc, values.getSplatValue<IntegerAttr>()),
                       type.getRank());
      })
      .Case([&](tensor::SplatOp splat) {
        return uniform(splat.getInput(), type.getRank());
      })
      .Case([&](linalg::FillOp fill) {
        return uniform(fill.getInputs().front(), type.getRank());
      })
      .Case([&](linalg::BroadcastOp broadcast) -> std::optional<LaneForm> {
        std::optional<LaneForm> form = of(broadcast.getInput());
        if (!form)
          return std::nullopt;
        SmallVector<std::optional<unsigned>> from(type.getRank());
        unsigned next = 0;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (!llvm::is_contained(broadcast.getDimensions(), dim))
            from[dim] = next++;
        return rearrange(*form, from);
      })
      .Case([&](linalg::TransposeOp transpose) -> std::optional<LaneForm> {
        std::optional<LaneForm> form = of(transpose.getInput());
        if (!form)
          return std::nullopt;
        SmallVector<std::optional<unsigned>> from;
        for (int64_t dim : transpose.getPermutation())
          from.push_back(unsigned(dim));
        return rearrange(*form, from);
      })
      .Case([&](tensor::ExpandShapeOp expand) { return reshape(expand, true); })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return reshape(collapse, false);
      })
      .Case([&](linalg::GenericOp generic) { return ofGeneric(generic); })
      .Default(std::optional<LaneForm>());
}

std::optional<LaneForm> LaneForms::of(Value block) {
  auto found = known.find(block);
  if (found != known.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(block.getType());
  std::optional<LaneForm> form;
  if (Operation *op = block.getDefiningOp();
      op && type && type.getElementType().isIntOrIndex())
    form = find(op);
  known[block] = form;
  return form;
}
