//===- DescriptorReduce.cpp - reducing stores of descriptors ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Accesses.h"
#include "triton-to-linalg/lower/ClampedBox.h"
#include "triton-to-linalg/lower/Descriptor.h"
#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using linalg_ext::AtomicKind;

/// The atomic operation; a minimum or maximum takes the sign of the
/// descriptor's elements.
static AtomicKind kindOf(tt::DescriptorReduceKind kind, Type element) {
  bool isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case tt::DescriptorReduceKind::ADD:
    return isa<FloatType>(element) ? AtomicKind::FAdd : AtomicKind::Add;
  case tt::DescriptorReduceKind::MIN:
    return isUnsigned ? AtomicKind::UMin : AtomicKind::Min;
  case tt::DescriptorReduceKind::MAX:
    return isUnsigned ? AtomicKind::UMax : AtomicKind::Max;
  case tt::DescriptorReduceKind::INC:
    return AtomicKind::Inc;
  case tt::DescriptorReduceKind::DEC:
    return AtomicKind::Dec;
  case tt::DescriptorReduceKind::AND:
    return AtomicKind::And;
  case tt::DescriptorReduceKind::OR:
    return AtomicKind::Or;
  case tt::DescriptorReduceKind::XOR:
    return AtomicKind::Xor;
  }
  llvm_unreachable("all kinds are listed");
}

namespace {
/// The elements of a block: their offsets in memory and which of them lie in
/// the tensor.
struct Elements {
  Value offsets, mask;
};
} // namespace

/// A value for each lane of one dimension, in a tensor of the block's shape.
static Value spread(OpBuilder &builder, Location loc, Value lanes, unsigned dim,
                    ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(lanes.getType());
  SmallVector<int64_t> thin(shape.size(), 1);
  thin[dim] = shape[dim];
  lanes = reshapeTo(builder, loc, lanes,
                    RankedTensorType::get(thin, type.getElementType()));
  auto full = RankedTensorType::get(shape, type.getElementType());
  return lanes.getType() == full
             ? lanes
             : tt::BroadcastOp::create(builder, loc, full, lanes).getResult();
}

static Elements elementsOf(OpBuilder &builder, Location loc,
                           memref::ExtractStridedMetadataOp meta,
                           ValueRange indices, ArrayRef<int64_t> shape) {
  Elements all;
  Type i64 = builder.getI64Type();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    auto type = RankedTensorType::get(shape[dim], i64);
    auto splat = [&](Value scalar) -> Value {
      if (scalar.getType().isIndex())
        scalar = builder.createOrFold<arith::IndexCastOp>(loc, i64, scalar);
      else
        scalar = builder.createOrFold<arith::ExtSIOp>(loc, i64, scalar);
      return tensor::SplatOp::create(builder, loc, scalar, type);
    };
    Value range = tt::MakeRangeOp::create(
        builder, loc, type.clone(builder.getI32Type()), 0, shape[dim]);
    Value place = arith::ExtSIOp::create(builder, loc, type, range);
    place = arith::AddIOp::create(builder, loc, place, splat(index));
    // An unsigned comparison also leaves out the negative ones.
    Value inside =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place,
                              splat(meta.getSizes()[dim]));
    Value offset = arith::MulIOp::create(builder, loc, place,
                                         splat(meta.getStrides()[dim]));
    inside = spread(builder, loc, inside, dim, shape);
    offset = spread(builder, loc, offset, dim, shape);
    all.mask =
        dim == 0
            ? inside
            : arith::AndIOp::create(builder, loc, all.mask, inside).getResult();
    all.offsets = dim == 0
                      ? offset
                      : arith::AddIOp::create(builder, loc, all.offsets, offset)
                            .getResult();
  }
  return all;
}

/// No atomic instruction compares floats. Their bits do: as signed numbers
/// where the value is positive, as unsigned ones the other way round where it
/// is negative. Each of the two has a mask.
static void lowerFloatExtremum(OpBuilder &builder, tt::DescriptorReduceOp op,
                               memref::ExtractStridedMetadataOp meta,
                               const Elements &all, Value value) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto bitsType = type.clone(builder.getIntegerType(width));
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, value);

  Value start = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, meta.getSource());
  Value bytes = arith::ConstantIndexOp::create(builder, loc, width / 8);
  Value address =
      builder.createOrFold<arith::MulIOp>(loc, meta.getOffset(), bytes);
  address = arith::AddIOp::create(builder, loc, start, address);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value base = linalg_ext::ViewAddressOp::create(
      builder, loc, pointerMemref(bitsType.getElementType()), address);

  bool isMax = op.getKind() == tt::DescriptorReduceKind::MAX;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bitsType));
  for (bool negative : {false, true}) {
    auto sign =
        negative ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
    Value mask = arith::CmpIOp::create(builder, loc, sign, bits, zero);
    mask = arith::AndIOp::create(builder, loc, mask, all.mask);
    AtomicKind kind = negative ? (isMax ? AtomicKind::UMin : AtomicKind::UMax)
                               : (isMax ? AtomicKind::Max : AtomicKind::Min);
    linalg_ext::AtomicRMWOp::create(
        builder, loc, bitsType, kind, linalg_ext::MemSem::Relaxed,
        linalg_ext::MemScope::Gpu, base, all.offsets, bits, mask);
  }
}

void ttl::lowerDescriptorReduce(tt::DescriptorReduceOp op) {
  reportAccess(op, "atomic elements", op.getSrc().getType(), op.getDesc(),
               op.getIndices());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Descriptor desc(builder, loc, op.getDesc());
  Type element =
      cast<tt::TensorDescType>(op.getDesc().getType()).getElementType();
  Value value = toMemory(builder, loc, op.getSrc());
  value = reshapeTo(builder, loc, value,
                    RankedTensorType::get(desc.block, desc.element));
  auto meta =
      memref::ExtractStridedMetadataOp::create(builder, loc, desc.memref);
  Value reach = builder.createOrFold<arith::MulIOp>(loc, meta.getSizes()[0],
                                                    meta.getStrides()[0]);
  Value base = memref::ReinterpretCastOp::create(
      builder, loc, pointerMemref(desc.element), meta.getBaseBuffer(),
      OpFoldResult(meta.getOffset()), {OpFoldResult(reach)},
      {OpFoldResult(builder.getIndexAttr(1))});
  Elements all = elementsOf(builder, loc, meta, op.getIndices(), desc.block);
  bool isFloat = isa<FloatType>(element);
  if (isFloat && op.getKind() != tt::DescriptorReduceKind::ADD) {
    lowerFloatExtremum(builder, op, meta, all, value);
  } else {
    linalg_ext::AtomicRMWOp::create(
        builder, loc, value.getType(), kindOf(op.getKind(), element),
        linalg_ext::MemSem::Relaxed, linalg_ext::MemScope::Gpu, base,
        all.offsets, value, all.mask);
  }
  op.erase();
}
