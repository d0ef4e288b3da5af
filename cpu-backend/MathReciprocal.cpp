//===- MathReciprocal.cpp - products with reciprocals of usual numbers ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A division of vectors by one number is two products (emit/Bodies.cpp): with a
// power of two that keeps the reciprocal a normal number, and with that. For
// usual numbers the power is 1. A branch that always goes the same way is
// cheaper than the product.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathReciprocal.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// A power of two or 1, as divideByOne chooses it.
static bool isUsuallyOne(Value scalar) {
  auto select = scalar.getDefiningOp<arith::SelectOp>();
  auto rest = select ? select.getFalseValue().getDefiningOp<arith::SelectOp>()
                     : arith::SelectOp();
  auto is = [](Value value, double number) {
    FloatAttr attr;
    return matchPattern(value, m_Constant(&attr)) &&
           attr.getValueAsDouble() == number;
  };
  return rest && is(select.getTrueValue(), 0x1p62) &&
         is(rest.getTrueValue(), 0x1p-62) && is(rest.getFalseValue(), 1);
}

void tilebridge::cpu::skipProductWithOne(arith::MulFOp op, int64_t vectorBits) {
  auto type = dyn_cast<VectorType>(op.getType());
  auto power = op.getRhs().getDefiningOp<vector::BroadcastOp>();
  if (!type || type.isScalable() || !type.getElementType().isF32() ||
      type.getNumElements() * 32 < 2 * vectorBits || !power ||
      !power.getSource().getType().isF32() ||
      !isUsuallyOne(power.getSource()) || !op->getParentOfType<scf::ForOp>())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  // As integers: one flag tells, where a comparison of floats has two.
  auto i32 = b.getI32Type();
  Value isOther = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne,
      arith::BitcastOp::create(b, i32, power.getSource()),
      arith::ConstantOp::create(b, b.getI32IntegerAttr(0x3f800000)));
  auto branch = scf::IfOp::create(b, type, isOther, /*withElseRegion=*/true);
  op.getResult().replaceAllUsesWith(branch.getResult(0));
  op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, op.getResult());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, op.getLhs());
}

void tilebridge::cpu::keepQuotientWide(arith::TruncFOp op) {
  auto quotient = op.getIn().getDefiningOp<arith::DivFOp>();
  auto type = dyn_cast<VectorType>(op.getIn().getType());
  if (!quotient || !type || type.getRank() != 1 || type.isScalable() ||
      !type.getElementType().isF32() ||
      !getElementTypeOrSelf(op.getType()).isF16())
    return;
  OpBuilder b(op);
  auto fence = LLVM::CallIntrinsicOp::create(
      b, op.getLoc(), type, b.getStringAttr("llvm.arithmetic.fence"),
      quotient.getResult());
  op.getInMutable().assign(fence.getResult(0));
}
