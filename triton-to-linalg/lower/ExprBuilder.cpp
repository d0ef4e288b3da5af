//===- ExprBuilder.cpp - writes expressions into the program ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/ExprBuilder.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Kind = Expr::Kind;

/// Whether what is written before `op` can be used where `builder` writes.
static bool comesBefore(Operation *op, const OpBuilder &builder) {
  Block *block = op->getBlock(), *place = builder.getInsertionBlock();
  if (block == place) {
    Block::iterator point = builder.getInsertionPoint();
    return point == place->end() || op == &*point ||
           op->isBeforeInBlock(&*point);
  }
  Operation *outer = block->findAncestorOpInBlock(*place->getParentOp());
  return outer && op->isBeforeInBlock(outer);
}

Value ExprBuilder::value(const Expr *expr) {
  auto found = scalars.find(expr);
  if (found != scalars.end())
    return found->second;
  Value made;
  if (expr->anchor && comesBefore(expr->anchor, builder)) {
    // All of it is written at the anchor, apart from what is written here. A
    // quotient within another one may have been met first where the program
    // has it later; what the outer one is made of divided by the same number.
    OpBuilder before(expr->anchor);
    ExprBuilder there(before, loc, asIntegers);
    made = there.make(expr);
  } else {
    made = make(expr);
  }
  scalars[expr] = made;
  return made;
}

Value ExprBuilder::integer(const Expr *expr) {
  if (expr->width == 64 && expr->isConstant())
    return arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(*expr->asConstant()));
  if (expr->width == 64 && expr->kind == Kind::Scalar &&
      expr->value.getType().isInteger(64))
    return expr->value;
  if (expr->width == 64 &&
      (expr->kind == Kind::SExt || expr->kind == Kind::ZExt))
    return makeCast(expr, value(expr->operands[0]));
  Value made = value(expr);
  if (!made.getType().isIndex())
    return made;
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(),
                                                  made);
}

OpFoldResult ExprBuilder::index(const Expr *expr) {
  if (std::optional<int64_t> constant = expr->asConstant())
    return builder.getIndexAttr(*constant);
  return value(expr);
}

Value ExprBuilder::make(const Expr *expr) {
  Type type = builder.getIntegerType(expr->width);
  if (expr->width == 64 && !asIntegers)
    type = builder.getIndexType();
  switch (expr->kind) {
  case Kind::Constant:
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(type, expr->constant));
  case Kind::Scalar:
    if (expr->value.getType() == type)
      return expr->value;
    return builder.createOrFold<arith::IndexCastOp>(loc, type, expr->value);
  case Kind::Element: {
    int64_t rank = cast<RankedTensorType>(expr->value.getType()).getRank();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value element = tensor::ExtractOp::create(builder, loc, expr->value,
                                              SmallVector<Value>(rank, zero));
    return element.getType() == type
               ? element
               : builder.createOrFold<arith::IndexCastOp>(loc, type, element);
  }
  case Kind::SExt:
  case Kind::ZExt:
  case Kind::Trunc: {
    Value operand = value(expr->operands[0]);
    if (!isa<IndexType>(operand.getType()) && !isa<IndexType>(type))
      return makeCast(expr, operand);
    if (expr->kind == Kind::ZExt)
      return builder.createOrFold<arith::IndexCastUIOp>(loc, type, operand);
    return builder.createOrFold<arith::IndexCastOp>(loc, type, operand);
  }
  default:
    break;
  }
  SmallVector<Value, 3> operands;
  for (const Expr *operand : expr->operands)
    if (operand)
      operands.push_back(value(operand));
  return makeOp(expr, operands);
}

Value ExprBuilder::makeCast(const Expr *expr, Value operand) {
  Type type = builder.getIntegerType(expr->width);
  if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
    type = tensor.clone(type);
  if (expr->kind == Kind::SExt)
    return builder.createOrFold<arith::ExtSIOp>(loc, type, operand);
  if (expr->kind == Kind::ZExt)
    return builder.createOrFold<arith::ExtUIOp>(loc, type, operand);
  return builder.createOrFold<arith::TruncIOp>(loc, type, operand);
}

Value ExprBuilder::makeOp(const Expr *expr, ArrayRef<Value> in) {
  switch (expr->kind) {
  case Kind::Add:
    return builder.createOrFold<arith::AddIOp>(loc, in[0], in[1]);
  case Kind::Sub:
    return builder.createOrFold<arith::SubIOp>(loc, in[0], in[1]);
  case Kind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, in[0], in[1]);
  case Kind::DivS:
    return builder.createOrFold<arith::DivSIOp>(loc, in[0], in[1]);
  case Kind::DivU:
    return builder.createOrFold<arith::DivUIOp>(loc, in[0], in[1]);
  case Kind::RemS:
    return builder.createOrFold<arith::RemSIOp>(loc, in[0], in[1]);
  case Kind::RemU:
    return builder.createOrFold<arith::RemUIOp>(loc, in[0], in[1]);
  case Kind::MinS:
    return builder.createOrFold<arith::MinSIOp>(loc, in[0], in[1]);
  case Kind::MaxS:
    return builder.createOrFold<arith::MaxSIOp>(loc, in[0], in[1]);
  case Kind::MinU:
    return builder.createOrFold<arith::MinUIOp>(loc, in[0], in[1]);
  case Kind::And:
    return builder.createOrFold<arith::AndIOp>(loc, in[0], in[1]);
  case Kind::Cmp:
    return builder.createOrFold<arith::CmpIOp>(loc, expr->compare, in[0],
                                               in[1]);
  case Kind::Select:
    return builder.createOrFold<arith::SelectOp>(loc, in[0], in[1], in[2]);
  default:
    llvm_unreachable("leaves and casts are made elsewhere");
  }
}

Value ExprBuilder::lanes(const Expr *expr, int64_t count) {
  auto type =
      RankedTensorType::get({count}, builder.getIntegerType(expr->width));
  if (!expr->varies)
    return tensor::SplatOp::create(builder, loc, integer(expr), type);
  switch (expr->kind) {
  case Kind::Lane: {
    auto source = cast<RankedTensorType>(expr->value.getType());
    Value row = expr->value;
    if (source.getRank() > 1) {
      SmallVector<OpFoldResult> offsets(source.getRank(),
                                        builder.getIndexAttr(0));
      SmallVector<OpFoldResult> sizes(source.getRank(),
                                      builder.getIndexAttr(1));
      SmallVector<OpFoldResult> strides(source.getRank(),
                                        builder.getIndexAttr(1));
      sizes[expr->dim] = builder.getIndexAttr(count);
      row = tensor::ExtractSliceOp::create(
          builder, loc, RankedTensorType::get({count}, source.getElementType()),
          row, offsets, sizes, strides);
    }
    return row.getType() == type
               ? row
               : arith::IndexCastOp::create(builder, loc, type, row)
                     .getResult();
  }
  case Kind::Iota: {
    Value range = tt::MakeRangeOp::create(
        builder, loc, type.clone(builder.getI32Type()), 0, count);
    if (expr->width == 32)
      return range;
    if (expr->width < 32)
      return arith::TruncIOp::create(builder, loc, type, range);
    return arith::ExtSIOp::create(builder, loc, type, range);
  }
  case Kind::SExt:
  case Kind::ZExt:
  case Kind::Trunc:
    return makeCast(expr, lanes(expr->operands[0], count));
  default:
    break;
  }
  SmallVector<Value, 3> operands;
  for (const Expr *operand : expr->operands)
    if (operand)
      operands.push_back(lanes(operand, count));
  return makeOp(expr, operands);
}
