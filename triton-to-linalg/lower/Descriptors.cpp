//===- Descriptors.cpp - loads and stores through tensor descriptors --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/AccessNote.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Accesses.h"
#include "triton-to-linalg/lower/ClampedBox.h"
#include "triton-to-linalg/lower/Descriptor.h"
#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// Triton itself makes no descriptor whose last dimension is not contiguous, on
/// the device or on the host, but other writers of TTIR may on the device.
static bool isContiguous(Value descriptor) {
  auto isOne = [](tt::MakeTensorDescriptorOp op) {
    return isConstantIntValue(op.getStrides().back(), 1);
  };
  if (auto made = descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>())
    return isOne(made);
  // Through calls, loops and branches any of them may come.
  auto module = descriptor.getParentRegion()->getParentOfType<ModuleOp>();
  return !module
              .walk([&](tt::MakeTensorDescriptorOp op) {
                return isOne(op) ? WalkResult::advance()
                                 : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Backends see in the type that the last dimension is contiguous.
static Value contiguous(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto meta = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  SmallVector<OpFoldResult> sizes = meta.getConstifiedMixedSizes();
  SmallVector<OpFoldResult> strides = meta.getConstifiedMixedStrides();
  strides.back() = builder.getIndexAttr(1);
  SmallVector<int64_t> known(sizes.size(), ShapedType::kDynamic);
  known.back() = 1;
  auto layout =
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, known);
  return memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(), layout),
      meta.getBaseBuffer(), meta.getConstifiedMixedOffset(), sizes, strides);
}

Descriptor::Descriptor(OpBuilder &builder, Location loc, Value descriptor) {
  auto type = cast<tt::TensorDescType>(descriptor.getType());
  element = memoryElement(type.getElementType());
  block = type.getShape();
  SmallVector<int64_t> dynamic(block.size(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(builder.getContext(),
                                       ShapedType::kDynamic, dynamic);
  SmallVector<Type> types = {MemRefType::get(dynamic, element, layout),
                             builder.getI1Type()};
  auto parts =
      UnrealizedConversionCastOp::create(builder, loc, types, descriptor);
  memref = parts.getResult(0);
  if (isContiguous(descriptor))
    memref = contiguous(builder, loc, memref);
  isNan = parts.getResult(1);
}

Value Descriptor::padding(OpBuilder &builder, Location loc) const {
  Value zero = zeroOf(builder, loc, element);
  if (!isa<FloatType>(element))
    return zero;
  return builder.createOrFold<arith::SelectOp>(
      loc, isNan, nanOf(builder, loc, element), zero);
}

static Box boxAt(OpBuilder &builder, Location loc, const Descriptor &desc,
                 ValueRange indices) {
  SmallVector<bool> isChecked(desc.block.size(), true);
  return clampedBox(builder, loc, desc.memref, asIndices(builder, loc, indices),
                    desc.block, isChecked);
}

void ttl::lowerDescriptorLoad(tt::DescriptorLoadOp op) {
  reportAccess(op, "subview", op.getType(), op.getDesc(), op.getIndices());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Descriptor desc(builder, loc, op.getDesc());
  Box box = boxAt(builder, loc, desc, op.getIndices());
  auto type = RankedTensorType::get(desc.block, desc.element);
  Value loaded =
      loadBox(builder, loc, desc.memref, box, type, desc.padding(builder, loc));
  auto result = cast<RankedTensorType>(op.getType());
  loaded =
      fromMemory(builder, loc, loaded, type.clone(result.getElementType()));
  op.replaceAllUsesWith(reshapeTo(builder, loc, loaded, result));
  op.erase();
}

void ttl::lowerDescriptorStore(tt::DescriptorStoreOp op) {
  reportAccess(op, "subview", op.getSrc().getType(), op.getDesc(),
               op.getIndices());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Descriptor desc(builder, loc, op.getDesc());
  Value stored = toMemory(builder, loc, op.getSrc());
  stored = reshapeTo(builder, loc, stored,
                     RankedTensorType::get(desc.block, desc.element));
  storeBox(builder, loc, desc.memref,
           boxAt(builder, loc, desc, op.getIndices()), stored);
  op.erase();
}

namespace {
/// Rows of a descriptor at offsets of their own, and one column.
struct DescriptorRows {
  Value view, rows, rowMask;
  Box box; // of all rows, in the descriptor's memref and in the block
};
} // namespace

static DescriptorRows rowsOf(OpBuilder &builder, Location loc,
                             const Descriptor &desc, Value xOffsets,
                             Value yOffset) {
  DescriptorRows access;
  auto rowsType =
      cast<RankedTensorType>(xOffsets.getType()).clone(builder.getI64Type());
  int64_t count = rowsType.getDimSize(0);
  access.rows = arith::ExtSIOp::create(builder, loc, rowsType, xOffsets);
  // Rows outside of the tensor are masked off.
  Value bound = builder.createOrFold<memref::DimOp>(loc, desc.memref, 0);
  Value bound64 = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI64Type(), bound);
  Value bounds = tensor::SplatOp::create(builder, loc, bound64, rowsType);
  // An unsigned comparison also leaves out the negative ones.
  access.rowMask = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, access.rows, bounds);

  SmallVector<OpFoldResult> offsets = {
      builder.getIndexAttr(0), asIndices(builder, loc, yOffset).front()};
  access.box = clampedBox(builder, loc, desc.memref, offsets,
                          {count, desc.block[1]}, {false, true});
  access.box.sizes[0] = bound;
  SmallVector<OpFoldResult> ones(2, builder.getIndexAttr(1));
  access.view = memref::SubViewOp::create(
      builder, loc, desc.memref, access.box.offsets, access.box.sizes, ones);
  return access;
}

/// The column of each element of a block of two dimensions.
static Value columnsOf(OpBuilder &builder, Location loc,
                       RankedTensorType type) {
  int64_t count = type.getDimSize(1);
  auto columns = RankedTensorType::get({count}, builder.getI32Type());
  Value range = tt::MakeRangeOp::create(builder, loc, columns, 0, count);
  Value row = tt::ExpandDimsOp::create(builder, loc, columns.clone({1, count}),
                                       range, 0);
  return tt::BroadcastOp::create(builder, loc, columns.clone(type.getShape()),
                                 row);
}

/// `value`, or what `move` makes of it where `low` is not 0, which is rare.
static Value ifNotZero(OpBuilder &builder, Location loc, OpFoldResult low,
                       Value value,
                       function_ref<Value(OpBuilder &, Value)> move) {
  Value low32 = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      getValueOrCreateConstantIndexOp(builder, loc, low));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value isMoved = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        low32, zero);
  auto choice = scf::IfOp::create(builder, loc, TypeRange(value.getType()),
                                  isMoved, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder(),
            otherwise = choice.getElseBodyBuilder();
  scf::YieldOp::create(then, loc, move(then, low32));
  scf::YieldOp::create(otherwise, loc, value);
  return choice.getResult(0);
}

void ttl::lowerDescriptorGather(tt::DescriptorGatherOp op) {
  reportAccess(op, "row gather", op.getType(), op.getDesc(),
               {op.getXOffsets(), op.getYOffset()});
  OpBuilder builder(op);
  Location loc = linalg_ext::withAccessNote(
      op.getLoc(),
      {"row gather", "the kernel gathers rows of a descriptor", {}});
  Descriptor desc(builder, loc, op.getDesc());
  auto result = cast<RankedTensorType>(op.getType());
  auto type = result.clone(desc.element);
  DescriptorRows access =
      rowsOf(builder, loc, desc, op.getXOffsets(), op.getYOffset());
  Value padding = desc.padding(builder, loc);
  Value loaded = linalg_ext::GatherRowsOp::create(
      builder, loc, type, access.view, access.rows,
      builder.getI64IntegerAttr(0), access.rowMask, padding);
  if (!isConstantIntValue(access.box.low[1], 0)) {
    // A block that begins left of the tensor: what was read moves to the right.
    loaded = ifNotZero(
        builder, loc, access.box.low[1], loaded, [&](OpBuilder &b, Value low) {
          Value columns = arith::SubIOp::create(
              b, loc, columnsOf(b, loc, type),
              tt::SplatOp::create(b, loc, type.clone(b.getI32Type()), low));
          Value moved =
              linalg_ext::GatherAlongOp::create(b, loc, type, loaded, columns,
                                                /*dimension=*/1);
          Value zero = arith::ConstantOp::create(
              b, loc, b.getZeroAttr(columns.getType()));
          Value isRead = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sge, columns, zero);
          Value outside = tensor::SplatOp::create(b, loc, padding, type);
          return arith::SelectOp::create(b, loc, isRead, moved, outside)
              .getResult();
        });
  }
  op.replaceAllUsesWith(fromMemory(builder, loc, loaded, result));
  op.erase();
}

void ttl::lowerDescriptorScatter(tt::DescriptorScatterOp op) {
  reportAccess(op, "row scatter", op.getSrc().getType(), op.getDesc(),
               {op.getXOffsets(), op.getYOffset()});
  OpBuilder builder(op);
  Location loc = linalg_ext::withAccessNote(
      op.getLoc(),
      {"row scatter", "the kernel scatters rows of a descriptor", {}});
  Descriptor desc(builder, loc, op.getDesc());
  Value stored = toMemory(builder, loc, op.getSrc());
  auto type = cast<RankedTensorType>(stored.getType());
  DescriptorRows access =
      rowsOf(builder, loc, desc, op.getXOffsets(), op.getYOffset());
  if (!isConstantIntValue(access.box.low[1], 0)) {
    // A block that begins left of the tensor: what is written moves to the
    // left. What lies behind it is outside of the view.
    stored = ifNotZero(
        builder, loc, access.box.low[1], stored, [&](OpBuilder &b, Value low) {
          Value columns = arith::AddIOp::create(
              b, loc, columnsOf(b, loc, type),
              tt::SplatOp::create(b, loc, type.clone(b.getI32Type()), low));
          return linalg_ext::GatherAlongOp::create(b, loc, type, stored,
                                                   columns, /*dimension=*/1)
              .getResult();
        });
  }
  linalg_ext::ScatterRowsOp::create(builder, loc, stored, access.view,
                                    access.rows, builder.getI64IntegerAttr(0),
                                    access.rowMask);
  op.erase();
}
