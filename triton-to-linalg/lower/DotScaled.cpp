//===- DotScaled.cpp - products of block-scaled matrices ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An operand is computed as what it means, elements times their scales, and
// multiplied as any other. That is exact in f32 but for overflow; and in bf16,
// which has f32's exponents, but for elements of more than its 8 bits, and
// products below 2^-133. Two elements in a byte along K of the left side are
// not brought into one row: the products of all the lower and of all the upper
// ones are added, with a partner that is cut in the same way.
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/WideCombiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// The type of one element, where its bits do not have a float type.
static FloatType formatType(tt::ScaleDotElemType format, MLIRContext *context) {
  switch (format) {
  case tt::ScaleDotElemType::E4M3:
    return Float8E4M3FNType::get(context);
  case tt::ScaleDotElemType::E5M2:
    return Float8E5M2Type::get(context);
  case tt::ScaleDotElemType::E2M3:
    return Float6E2M3FNType::get(context);
  case tt::ScaleDotElemType::E3M2:
    return Float6E3M2FNType::get(context);
  case tt::ScaleDotElemType::E2M1:
    return Float4E2M1FNType::get(context);
  case tt::ScaleDotElemType::BF16:
    return BFloat16Type::get(context);
  case tt::ScaleDotElemType::FP16:
    return Float16Type::get(context);
  }
  llvm_unreachable("all formats are listed");
}

/// The float in the bits of an integer from `shift` on; floats stay.
static Value decode(OpBuilder &b, Location loc, Value bits, unsigned shift,
                    FloatType format) {
  if (isa<FloatType>(bits.getType()))
    return bits;
  if (shift != 0)
    bits = arith::ShRUIOp::create(
        b, loc, bits,
        arith::ConstantIntOp::create(b, loc, bits.getType(), shift));
  Type code = b.getIntegerType(format.getWidth());
  if (bits.getType() != code)
    bits = arith::TruncIOp::create(b, loc, code, bits);
  return arith::BitcastOp::create(b, loc, format, bits);
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Splits dimension `dim` into `outer` and the rest.
static Value splitDim(OpBuilder &b, Location loc, Value value, int64_t dim,
                      int64_t outer) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= outer;
  shape.insert(shape.begin() + dim, outer);
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, to = 0; d < type.getRank(); ++d) {
    groups.push_back({to++});
    if (d == dim)
      groups.back().push_back(to++);
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), value,
                                       groups);
}

/// The inverse: dimensions `dim` and `dim` + 1 become one.
static Value mergeDim(OpBuilder &b, Location loc, Value value, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < typeOf(value).getRank(); ++d) {
    if (d != dim + 1)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return tensor::CollapseShapeOp::create(b, loc, value, groups);
}

/// Every second slice along a dimension, from `first` on.
namespace {
struct EverySecond {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  EverySecond(OpBuilder &b, ArrayRef<int64_t> shape, int64_t dim, int64_t first)
      : offsets(shape.size(), b.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(b.getContext(), shape)),
        strides(shape.size(), b.getIndexAttr(1)) {
    offsets[dim] = b.getIndexAttr(first);
    sizes[dim] = b.getIndexAttr(shape[dim] / 2);
    strides[dim] = b.getIndexAttr(2);
  }
};
} // namespace

static Value takeSecond(OpBuilder &b, Location loc, Value value, int64_t dim,
                        int64_t first) {
  EverySecond slice(b, typeOf(value).getShape(), dim, first);
  return tensor::ExtractSliceOp::create(b, loc, value, slice.offsets,
                                        slice.sizes, slice.strides);
}

/// The slices of two blocks in turns.
static Value interleave(OpBuilder &b, Location loc, ValueRange halves,
                        int64_t dim) {
  RankedTensorType type = typeOf(halves.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= 2;
  Value whole = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  for (auto [first, half] : llvm::enumerate(halves)) {
    EverySecond slice(b, shape, dim, first);
    whole = tensor::InsertSliceOp::create(b, loc, half, whole, slice.offsets,
                                          slice.sizes, slice.strides);
  }
  return whole;
}

namespace {

/// One side of the product.
struct Side {
  Value block, scale;
  tt::ScaleDotElemType format;
  /// Where K, and M or N, are in the block.
  int64_t depthDim, otherDim;
  bool packedAlongDepth, packedAlongOther;
  /// What elements times scales are computed to.
  FloatType product;

  Side(Value block, Value scale, tt::ScaleDotElemType format, bool isLeft,
       bool packsDepth)
      : block(block), scale(scale), format(format) {
    int64_t rank = typeOf(block).getRank();
    depthDim = isLeft ? rank - 1 : rank - 2;
    otherDim = isLeft ? rank - 2 : rank - 1;
    bool isPacked = format == tt::ScaleDotElemType::E2M1;
    packedAlongDepth = isPacked && packsDepth;
    packedAlongOther = isPacked && !packsDepth;
    product = Float32Type::get(block.getContext());
  }

  /// Its products are numbers of bf16.
  bool fitsBf16() const {
    bool isPowers = !scale || !isa<FloatType>(typeOf(scale).getElementType());
    return format == tt::ScaleDotElemType::BF16
               ? isPowers
               : format != tt::ScaleDotElemType::FP16;
  }
};

class SideBuilder {
public:
  SideBuilder(OpBuilder &builder, Location loc, const Side &side)
      : b(builder), loc(loc), side(side),
        format(formatType(side.format, builder.getContext())) {}

  /// All of it as one matrix.
  Value whole() {
    Value scale = scales();
    if (side.packedAlongDepth)
      return pairs(scale);
    if (side.packedAlongOther) {
      Value halves[2];
      for (int64_t i = 0; i < 2; ++i)
        halves[i] =
            values(side.block, 4 * i,
                   scale ? takeSecond(b, loc, scale, side.otherDim, i) : scale);
      return interleave(b, loc, halves, side.otherDim);
    }
    // A product widens by itself what is a float of LLVM or of 8 bits.
    if (!scale && format.getWidth() >= 8)
      return typed();
    return values(side.block, 0, scale);
  }

  /// The elements of K with even or odd number.
  Value half(int64_t which) {
    if (side.packedAlongDepth)
      return values(side.block, 4 * which, scales());
    if (!side.packedAlongOther)
      return values(takeSecond(b, loc, side.block, side.depthDim, which), 0,
                    scales());
    return takeSecond(b, loc, whole(), side.depthDim, which);
  }

private:
  /// The block as floats, unscaled.
  Value typed() {
    RankedTensorType type = typeOf(side.block);
    if (isa<FloatType>(type.getElementType()))
      return side.block;
    return mapElements(b, loc, type.clone(format), side.block,
                       [&](OpBuilder &nested, Location at, ValueRange in) {
                         return decode(nested, at, in[0], 0, format);
                       });
  }

  /// The scales in f32, with the groups of K where the block has K; null if
  /// there are none.
  Value scales() {
    if (!side.scale)
      return {};
    RankedTensorType type = typeOf(side.scale);
    auto e8m0 = Float8E8M0FNUType::get(b.getContext());
    Value wide = mapElements(
        b, loc, type.clone(b.getF32Type()), side.scale,
        [&](OpBuilder &nested, Location at, ValueRange in) -> Value {
          return arith::ExtFOp::create(nested, at, nested.getF32Type(),
                                       decode(nested, at, in[0], 0, e8m0));
        });
    if (side.depthDim > side.otherDim)
      return wide;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq(type.getRank())),
                         shape(type.getShape());
    std::swap(order[side.depthDim], order[side.otherDim]);
    std::swap(shape[side.depthDim], shape[side.otherDim]);
    Value target = tensor::EmptyOp::create(b, loc, shape, b.getF32Type());
    return linalg::TransposeOp::create(b, loc, wide, target, order)
        ->getResult(0);
  }

  /// Elements with even and odd number of K, which share bytes, in turns.
  Value pairs(Value scale) {
    SmallVector<Value> inputs = {side.block};
    int64_t dim = side.depthDim;
    if (scale) {
      inputs[0] = splitDim(b, loc, side.block, dim,
                           typeOf(scale).getDimSize(side.depthDim));
      ++dim;
    }
    SmallVector<int64_t> shape(typeOf(inputs[0]).getShape());
    shape.insert(shape.begin() + dim + 1, 2);
    auto repeat = [&](Value value, ArrayRef<int64_t> dims) -> Value {
      Value target = tensor::EmptyOp::create(b, loc, shape,
                                             typeOf(value).getElementType());
      return linalg::BroadcastOp::create(b, loc, value, target, dims)
          ->getResult(0);
    };
    inputs[0] = repeat(inputs[0], dim + 1);
    if (scale)
      inputs.push_back(repeat(scale, {dim, dim + 1}));
    Value result = mapElements(
        b, loc, RankedTensorType::get(shape, side.product), inputs,
        [&](OpBuilder &nested, Location at, ValueRange in) {
          Value which = linalg::IndexOp::create(nested, at, dim + 1);
          Type bits = in[0].getType();
          Value four = arith::ConstantIntOp::create(nested, at, bits, 4);
          Value shift = arith::MulIOp::create(
              nested, at, arith::IndexCastOp::create(nested, at, bits, which),
              four);
          Value code = arith::ShRUIOp::create(nested, at, in[0], shift);
          return scaled(nested, at, decode(nested, at, code, 0, format),
                        in.drop_front());
        });
    if (scale)
      result = mergeDim(b, loc, result, dim);
    return mergeDim(b, loc, result, side.depthDim);
  }

  Value scaled(OpBuilder &nested, Location at, Value element,
               ValueRange scale) {
    Value value =
        arith::ExtFOp::create(nested, at, nested.getF32Type(), element);
    if (!scale.empty())
      value = arith::MulFOp::create(nested, at, value, scale[0]);
    if (side.product.isF32())
      return value;
    // Nothing is rounded: who multiplies in f32 need not.
    return arith::TruncFOp::create(
        nested, at, side.product, value, /*roundingmode=*/nullptr,
        arith::FastMathFlagsAttr::get(nested.getContext(),
                                      arith::FastMathFlags::contract));
  }

  /// Values of `elements` times their scales.
  Value values(Value elements, unsigned shift, Value scale) {
    SmallVector<Value> inputs = {elements};
    if (scale) {
      int64_t groups = typeOf(scale).getDimSize(side.depthDim);
      inputs[0] = splitDim(b, loc, elements, side.depthDim, groups);
      Value target = tensor::EmptyOp::create(
          b, loc, typeOf(inputs[0]).getShape(), b.getF32Type());
      inputs.push_back(
          linalg::BroadcastOp::create(b, loc, scale, target, side.depthDim + 1)
              ->getResult(0));
    }
    Value result = mapElements(
        b, loc, typeOf(inputs[0]).clone(side.product), inputs,
        [&](OpBuilder &nested, Location at, ValueRange in) {
          return scaled(nested, at, decode(nested, at, in[0], shift, format),
                        in.drop_front());
        });
    return scale ? mergeDim(b, loc, result, side.depthDim) : result;
  }

  OpBuilder &b;
  Location loc;
  const Side &side;
  FloatType format;
};

struct DotScaledLowering : OpConversionPattern<tt::DotScaledOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::DotScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Side left(adaptor.getA(), adaptor.getAScale(), op.getAElemType(),
              /*isLeft=*/true, op.getLhsKPack());
    Side right(adaptor.getB(), adaptor.getBScale(), op.getBElemType(),
               /*isLeft=*/false, op.getRhsKPack());
    if (left.fitsBf16() && right.fitsBf16())
      left.product = right.product = rewriter.getBF16Type();
    SideBuilder a(rewriter, loc, left), b(rewriter, loc, right);

    auto type = cast<RankedTensorType>(op.getType());
    Value sum = adaptor.getC();
    bool isWide = isNarrowFloat(type);
    if (isWide)
      sum = widenBlocks(rewriter, loc, sum)[0];
    if (left.packedAlongDepth) {
      // Rows of b are cut into even and odd ones where they lie.
      sum = multiply(rewriter, loc, a.half(0), b.half(0), sum);
      sum = multiply(rewriter, loc, a.half(1), b.half(1), sum);
    } else {
      sum = multiply(rewriter, loc, a.whole(), b.whole(), sum);
    }
    if (isWide)
      sum = narrowBlocks(rewriter, loc, sum, type)[0];
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  static Value multiply(OpBuilder &b, Location loc, Value left, Value right,
                        Value sum) {
    SmallVector<Value> inputs = {left, right};
    Operation *product;
    if (typeOf(sum).getRank() == 3)
      product =
          linalg::BatchMatmulOp::create(b, loc, sum.getType(), inputs, sum);
    else
      product = linalg::MatmulOp::create(b, loc, sum.getType(), inputs, sum);
    // Blocks of small numbers are scaled to large ones: sums may cancel.
    product->setAttr(linalg_ext::kShortSumsAttr, b.getUnitAttr());
    return product->getResult(0);
  }
};

} // namespace

void ttl::populateDotScaledPatterns(Converter converter,
                                    RewritePatternSet &patterns) {
  patterns.add<DotScaledLowering>(converter, patterns.getContext());
}
