//===- Pointers.cpp - pointers that no access took with it ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/BridgeTypes.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/PointerMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

Value ttl::addressOf(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Type i64 = builder.getI64Type();
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value offset = memref::ExtractStridedMetadataOp::create(builder, loc, memref)
                     .getOffset();
  base = arith::IndexCastOp::create(builder, loc, i64, base);
  offset = arith::IndexCastOp::create(builder, loc, i64, offset);
  Value size = arith::ConstantIntOp::create(
      builder, loc, i64, elementBytes(type.getElementType()));
  offset = arith::MulIOp::create(builder, loc, offset, size);
  return arith::AddIOp::create(builder, loc, base, offset);
}

Value ttl::memrefAt(OpBuilder &builder, Location loc, MemRefType type,
                    Value address) {
  return linalg_ext::ViewAddressOp::create(builder, loc, type, address);
}

namespace {

struct AddPtrLowering : OpConversionPattern<tt::AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::AddPtrOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (auto type = dyn_cast<MemRefType>(adaptor.getPtr().getType())) {
      rewriter.replaceOp(
          op, move(rewriter, loc, type, adaptor.getPtr(), adaptor.getOffset()));
      return success();
    }
    auto pointer = cast<tt::PointerType>(getElementTypeOrSelf(op.getType()));
    int64_t bytes = elementBytes(pointer.getPointeeType());
    rewriter.replaceOp(
        op, mapElements(rewriter, loc, adaptor.getPtr().getType(),
                        adaptor.getOperands(),
                        [&](OpBuilder &b, Location l, ValueRange in) -> Value {
                          Value offset = widen(b, l, in[1]);
                          Value size = arith::ConstantIntOp::create(
                              b, l, b.getI64Type(), bytes);
                          offset = arith::MulIOp::create(b, l, offset, size);
                          return arith::AddIOp::create(b, l, in[0], offset);
                        }));
    return success();
  }

  /// Offsets are signed.
  static Value widen(OpBuilder &builder, Location loc, Value value) {
    Type i64 = builder.getI64Type();
    if (value.getType().getIntOrFloatBitWidth() < 64)
      return arith::ExtSIOp::create(builder, loc, i64, value);
    return value;
  }

  static Value move(OpBuilder &builder, Location loc, MemRefType type,
                    Value pointer, Value distance) {
    auto meta = memref::ExtractStridedMetadataOp::create(builder, loc, pointer);
    distance = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                          distance);
    Value offset =
        arith::AddIOp::create(builder, loc, meta.getOffset(), distance);
    return memref::ReinterpretCastOp::create(
        builder, loc, type, meta.getBaseBuffer(), OpFoldResult(offset),
        OpFoldResult(meta.getSizes()[0]),
        OpFoldResult(builder.getIndexAttr(1)));
  }
};

struct PtrToIntLowering : OpConversionPattern<tt::PtrToIntOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::PtrToIntOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value source = adaptor.getSrc();
    rewriter.replaceOp(op, isa<MemRefType>(source.getType())
                               ? addressOf(rewriter, op.getLoc(), source)
                               : source);
    return success();
  }
};

struct IntToPtrLowering : OpConversionPattern<tt::IntToPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::IntToPtrOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(typeConverter->convertType(op.getType()));
    rewriter.replaceOp(
        op, type ? memrefAt(rewriter, op.getLoc(), type, adaptor.getSrc())
                 : adaptor.getSrc());
    return success();
  }
};

struct BitcastLowering : OpConversionPattern<tt::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::BitcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = adaptor.getSrc();
    Type type = typeConverter->convertType(op.getType());
    // Pointers to elements of one kind in memory (i1 and i8), and addresses.
    if (source.getType() == type) {
      rewriter.replaceOp(op, source);
      return success();
    }
    if (auto memref = dyn_cast<MemRefType>(type)) {
      rewriter.replaceOp(op, memrefAt(rewriter, loc, memref,
                                      addressOf(rewriter, loc, source)));
      return success();
    }
    Type element = getElementTypeOrSelf(type);
    rewriter.replaceOp(
        op, mapElements(rewriter, loc, type, source,
                        [&](OpBuilder &b, Location l, ValueRange in) -> Value {
                          return arith::BitcastOp::create(b, l, element, in[0]);
                        }));
    return success();
  }
};

/// A pointer everywhere: its address everywhere.
struct PointerSplatLowering : OpConversionPattern<tt::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(adaptor.getSrc().getType()))
      return rewriter.notifyMatchFailure(op, "no splat of a pointer");
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(
        op, addressOf(rewriter, op.getLoc(), adaptor.getSrc()),
        typeConverter->convertType<RankedTensorType>(op.getType()));
    return success();
  }
};

/// The one pointer of a tensor.
struct PointerUnsplatLowering : OpConversionPattern<tt::UnsplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::UnsplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(typeConverter->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "gives no pointer");
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    SmallVector<Value> origin(
        cast<RankedTensorType>(adaptor.getSrc().getType()).getRank(), zero);
    Value address =
        tensor::ExtractOp::create(rewriter, loc, adaptor.getSrc(), origin);
    rewriter.replaceOp(op, memrefAt(rewriter, loc, type, address));
    return success();
  }
};

/// What an earlier pass took of a pointer, or gave as one: its values are those
/// that the pointer becomes here.
struct CastLowering : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    for (ValueRange range : adaptor.getOperands())
      llvm::append_range(values, range);
    SmallVector<SmallVector<Value>> replacements;
    ArrayRef<Value> rest(values);
    for (Type type : op.getResultTypes()) {
      SmallVector<Type> types;
      if (failed(typeConverter->convertType(type, types)) ||
          types.size() > rest.size() ||
          TypeRange(ValueRange(rest.take_front(types.size()))) !=
              TypeRange(types))
        return rewriter.notifyMatchFailure(op,
                                           "is no cast to or from the bridge");
      replacements.emplace_back(rest.take_front(types.size()));
      rest = rest.drop_front(types.size());
    }
    if (!rest.empty())
      return rewriter.notifyMatchFailure(op, "drops values");
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }
};

} // namespace

void ttl::populatePointerPatterns(Converter converter,
                                  RewritePatternSet &patterns) {
  patterns
      .add<AddPtrLowering, PtrToIntLowering, IntToPtrLowering, BitcastLowering,
           PointerSplatLowering, PointerUnsplatLowering, CastLowering>(
          converter, patterns.getContext());
}
