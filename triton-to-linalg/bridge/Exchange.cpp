//===- Exchange.cpp - blocks whose halves change places -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Exchange.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::linalg_ext;

/// The exclusive or of `source` along a dimension of two elements: that
/// dimension, or -1.
static int64_t matchXorAlong(Value value, Value source) {
  auto reduce = value.getDefiningOp<linalg::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduce.getInputs()[0] != source || reduce.getDimensions().size() != 1)
    return -1;
  int64_t dim = reduce.getDimensions()[0];
  auto type = cast<RankedTensorType>(source.getType());
  Block &body = *reduce.getBody();
  auto combine = llvm::hasNItems(body, 2)
                     ? dyn_cast<arith::XOrIOp>(body.front())
                     : arith::XOrIOp();
  bool isXor = combine &&
               body.getTerminator()->getOperand(0) == combine.getResult() &&
               isa<BlockArgument>(combine.getLhs()) &&
               isa<BlockArgument>(combine.getRhs()) &&
               combine.getLhs() != combine.getRhs();
  bool fromZero = matchPattern(reduce.getInits()[0], m_Zero());
  if (auto splat = reduce.getInits()[0].getDefiningOp<tensor::SplatOp>())
    fromZero = matchPattern(splat.getInput(), m_Zero());
  return isXor && fromZero && type.getDimSize(dim) == 2 ? dim : -1;
}

/// The same, where both elements have it.
static int64_t matchXorOfBoth(Value value, Value source) {
  if (auto broadcast = value.getDefiningOp<linalg::BroadcastOp>()) {
    int64_t dim = matchXorAlong(broadcast.getInput(), source);
    bool isBack = broadcast.getDimensions() == ArrayRef<int64_t>{dim};
    return isBack ? dim : -1;
  }
  // A block of one dimension is reduced to a number.
  auto splat = value.getDefiningOp<tensor::SplatOp>();
  auto extract = splat ? splat.getInput().getDefiningOp<tensor::ExtractOp>()
                       : tensor::ExtractOp();
  return extract ? matchXorAlong(extract.getTensor(), source) : -1;
}

std::optional<Swap> tilebridge::linalg_ext::matchSwap(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || !isOnly<arith::XOrIOp>(generic))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Value source = generic.getInputs()[i];
    int64_t dim = matchXorOfBoth(generic.getInputs()[1 - i], source);
    if (dim >= 0)
      return Swap{source, dim};
  }
  return std::nullopt;
}

int64_t tilebridge::linalg_ext::strideOf(RankedTensorType type, int64_t dim) {
  int64_t stride = 1;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    stride *= size;
  return stride;
}

std::optional<Pairs> tilebridge::linalg_ext::matchPairs(Value value) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  auto reduce = broadcast
                    ? broadcast.getInput().getDefiningOp<linalg::ReduceOp>()
                    : linalg::ReduceOp();
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduce.getDimensions().size() != 1 ||
      broadcast.getDimensions() != reduce.getDimensions())
    return std::nullopt;
  int64_t dim = reduce.getDimensions().front();
  Value source = reduce.getInputs().front();
  auto type = cast<RankedTensorType>(source.getType());
  if (type.getDimSize(dim) != 2 || !llvm::isPowerOf2_64(strideOf(type, dim)))
    return std::nullopt;
  return Pairs{reduce, source, dim};
}

Value tilebridge::linalg_ext::pickedAlong(
    OpBuilder &b, Location loc, Value source, int64_t dim,
    function_ref<Value(OpBuilder &, Value)> placeOf) {
  auto type = cast<RankedTensorType>(source.getType());
  auto indexType = RankedTensorType::get(type.getShape(), b.getI32Type());
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), b.getI32Type());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  auto indices = linalg::GenericOp::create(
      b, loc, TypeRange(indexType), ValueRange(), init, map, iterators,
      [&](OpBuilder &nested, Location at, ValueRange) {
        Value index = linalg::IndexOp::create(nested, at, dim);
        Value place = placeOf(nested, index);
        Value number =
            arith::IndexCastOp::create(nested, at, b.getI32Type(), place);
        linalg::YieldOp::create(nested, at, number);
      });
  return GatherAlongOp::create(b, loc, type, source, indices.getResult(0), dim);
}

Value tilebridge::linalg_ext::reversedAlong(OpBuilder &b, Location loc,
                                            Value source, int64_t dim) {
  auto type = cast<RankedTensorType>(source.getType());
  Value last = arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim) - 1);
  return pickedAlong(b, loc, source, dim, [&](OpBuilder &nested, Value index) {
    return arith::SubIOp::create(nested, loc, last, index).getResult();
  });
}

Value tilebridge::linalg_ext::exchangedAlong(OpBuilder &b, Location loc,
                                             Value source, int64_t dim,
                                             int64_t stride) {
  Value bit = arith::ConstantIndexOp::create(b, loc, stride);
  return pickedAlong(b, loc, source, dim, [&](OpBuilder &nested, Value index) {
    return arith::XOrIOp::create(nested, loc, index, bit).getResult();
  });
}
