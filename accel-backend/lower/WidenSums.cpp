//===- WidenSums.cpp - sums of narrow floats ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The terms of a sum, and the products of a matmul, come one after the other
// here, and a sum that is rounded to 16 bits after each of them loses a bit or
// two for each doubling of their number.
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELWIDENSUMSPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;

// One block of floats narrower than f32.
static bool hasNarrowResult(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto element =
      type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  return element && element.getWidth() < 32;
}

// One block that is added or multiplied up, of floats narrower than f32.
static bool isNarrowSum(linalg::ReduceOp reduce) {
  if (!hasNarrowResult(reduce))
    return false;
  Block *body = reduce.getBlock();
  Operation &first = body->front();
  return llvm::hasNItems(*body, 2) &&
         isa<arith::AddFOp, arith::MulFOp>(first) &&
         body->getTerminator()->getOperand(0) == first.getResult(0) &&
         llvm::all_of(first.getOperands(),
                      [](Value value) { return isa<BlockArgument>(value); });
}

// Each element converted to another type.
static Value convert(OpBuilder &builder, Location loc, Value block,
                     Type element) {
  auto type = cast<RankedTensorType>(block.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), block, empty,
             ArrayRef<AffineMap>{map, map}, iterators,
             [&](OpBuilder &inner, Location place, ValueRange arguments) {
               Value one = arguments.front();
               bool widens = one.getType().getIntOrFloatBitWidth() <
                             element.getIntOrFloatBitWidth();
               Value result = widens ? Value(arith::ExtFOp::create(
                                           inner, place, element, one))
                                     : Value(arith::TruncFOp::create(
                                           inner, place, element, one));
               linalg::YieldOp::create(inner, place, result);
             })
      .getResult(0);
}

static void widen(linalg::ReduceOp reduce) {
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  Type narrow =
      cast<RankedTensorType>(reduce->getResult(0).getType()).getElementType();
  Type wide = builder.getF32Type();
  bool isSum = isa<arith::AddFOp>(reduce.getBlock()->front());
  Value input = convert(builder, loc, reduce.getInputs().front(), wide);
  Value init = convert(builder, loc, reduce.getInits().front(), wide);
  auto sum = linalg::ReduceOp::create(
      builder, loc, ValueRange{input}, ValueRange{init}, reduce.getDimensions(),
      [&](OpBuilder &inner, Location place, ValueRange arguments) {
        Value result = isSum ? Value(arith::AddFOp::create(
                                   inner, place, arguments[0], arguments[1]))
                             : Value(arith::MulFOp::create(
                                   inner, place, arguments[0], arguments[1]));
        linalg::YieldOp::create(inner, place, result);
      });
  reduce->replaceAllUsesWith(
      ValueRange{convert(builder, loc, sum->getResult(0), narrow)});
  reduce->erase();
}

// A matmul widens its operands to its sums' type by itself.
template <typename MatmulT> static bool isNarrowProduct(MatmulT matmul) {
  return hasNarrowResult(matmul) && !matmul.hasUserDefinedMaps() &&
         matmul.getCast() == linalg::TypeFn::cast_signed;
}

template <typename MatmulT> static void widenProduct(MatmulT matmul) {
  OpBuilder builder(matmul);
  Location loc = matmul.getLoc();
  auto narrow = cast<RankedTensorType>(matmul->getResult(0).getType());
  Type wide = builder.getF32Type();
  Value init = convert(builder, loc, matmul.getOutputs().front(), wide);
  auto product = MatmulT::create(builder, loc, TypeRange(init.getType()),
                                 matmul.getInputs(), ValueRange(init));
  product->setDiscardableAttrs(matmul->getDiscardableAttrDictionary());
  matmul->replaceAllUsesWith(ValueRange{
      convert(builder, loc, product->getResult(0), narrow.getElementType())});
  matmul->erase();
}

namespace {
struct AccelWidenSumsPass
    : accel::impl::AccelWidenSumsPassBase<AccelWidenSumsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto reduce = dyn_cast<linalg::ReduceOp>(op)) {
        if (isNarrowSum(reduce))
          widen(reduce);
      } else if (auto matmul = dyn_cast<linalg::MatmulOp>(op)) {
        if (isNarrowProduct(matmul))
          widenProduct(matmul);
      } else if (auto matmul = dyn_cast<linalg::BatchMatmulOp>(op)) {
        if (isNarrowProduct(matmul))
          widenProduct(matmul);
      }
    }
  }
};
} // namespace
