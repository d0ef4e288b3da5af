//===- WidenSums.cpp - tilebridge-cpu-widen-sums ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A GPU adds up a block as a tree over many threads: few roundings to the
// narrow type on the way. Here each lane adds up its share in order, where a
// sum in bf16 stands still at 256 times the element.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUWIDENSUMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

/// The value that is everywhere in `tensor`, if it is a constant.
static std::optional<double> splatOf(Value tensor) {
  SplatElementsAttr elements;
  FloatAttr scalar;
  if (matchPattern(tensor, m_Constant(&elements)))
    return elements.getSplatValue<APFloat>().convertToDouble();
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    if (matchPattern(splat.getInput(), m_Constant(&scalar)))
      return scalar.getValueAsDouble();
  return std::nullopt;
}

/// The sum or product that is all that `reduce` does with floats of 16 bits.
static Operation *narrowCombiner(linalg::ReduceOp reduce) {
  if (reduce.getNumDpsInputs() != 1)
    return nullptr;
  Type element = getElementTypeOrSelf(reduce.getInputs()[0].getType());
  Block &body = reduce.getCombiner().front();
  if (!(element.isF16() || element.isBF16()) ||
      llvm::range_size(body.without_terminator()) != 1)
    return nullptr;
  Operation *op = &body.front();
  bool combines =
      isa<arith::AddFOp, arith::MulFOp>(op) &&
      body.getTerminator()->getOperand(0) == op->getResult(0) &&
      llvm::all_of(body.getArguments(), [&](BlockArgument argument) {
        return llvm::is_contained(op->getOperands(), argument);
      });
  return combines ? op : nullptr;
}

/// Each element of `value` converted by an op of type `Conversion`.
template <typename Conversion>
static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0) {
    Value scalar = tensor::ExtractOp::create(b, loc, value);
    scalar = Conversion::create(b, loc, element, scalar);
    return tensor::FromElementsOp::create(b, loc, type.clone(element), scalar);
  }
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type.clone(element), value, empty, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               Value result =
                   Conversion::create(inner, at, element, arguments[0]);
               linalg::YieldOp::create(inner, at, result);
             })
      .getResult(0);
}

namespace {
struct CpuWidenSumsPass
    : tilebridge::cpu::impl::CpuWidenSumsPassBase<CpuWidenSumsPass> {
  void runOnOperation() override {
    SmallVector<linalg::ReduceOp> found;
    getOperation().walk([&](linalg::ReduceOp reduce) {
      if (narrowCombiner(reduce) && splatOf(reduce.getInits()[0]))
        found.push_back(reduce);
    });
    for (linalg::ReduceOp reduce : found)
      widen(reduce);
  }

  static void widen(linalg::ReduceOp reduce) {
    OpBuilder b(reduce);
    Location loc = reduce.getLoc();
    Operation *combiner = narrowCombiner(reduce);
    auto type = cast<RankedTensorType>(reduce->getResult(0).getType());
    Value elements =
        convert<arith::ExtFOp>(b, loc, reduce.getInputs()[0], b.getF32Type());
    auto wide = type.clone(b.getF32Type());
    Value init = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            wide, b.getF32FloatAttr(*splatOf(reduce.getInits()[0]))));
    auto sum = linalg::ReduceOp::create(
        b, loc, elements, init, reduce.getDimensions(),
        [&](OpBuilder &inner, Location at, ValueRange arguments) {
          Value x = arguments[1], y = arguments[0];
          Value result =
              isa<arith::AddFOp>(combiner)
                  ? arith::AddFOp::create(inner, at, x, y).getResult()
                  : arith::MulFOp::create(inner, at, x, y).getResult();
          linalg::YieldOp::create(inner, at, result);
        });
    Value result = convert<arith::TruncFOp>(b, loc, sum->getResult(0),
                                            type.getElementType());
    reduce->getResult(0).replaceAllUsesWith(result);
    reduce->erase();
  }
};
} // namespace
