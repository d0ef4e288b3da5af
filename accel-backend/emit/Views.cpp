//===- Views.cpp - views of memory, and scalars in it ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilebridge::accel {

static View subview(memref::SubViewOp op, const View &source,
                    llvm::function_ref<Index(OpFoldResult)> index) {
  View result = source;
  result.sizes.clear(), result.strides.clear();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (size_t d = 0; d < source.strides.size(); ++d) {
    result.offset =
        result.offset + index(op.getMixedOffsets()[d]) * source.strides[d];
    if (dropped.test(d))
      continue;
    result.sizes.push_back(index(op.getMixedSizes()[d]));
    result.strides.push_back(index(op.getMixedStrides()[d]) *
                             source.strides[d]);
  }
  return result;
}

/// A dimension is split: the last part keeps its stride.
static View expanded(ArrayRef<ReassociationIndices> groups, ShapedType type,
                     const View &source) {
  View result = source;
  result.sizes.resize(type.getRank());
  result.strides.assign(type.getRank(), Index(1));
  for (auto [d, group] : llvm::enumerate(groups)) {
    Index stride = source.strides[d];
    for (int64_t part : llvm::reverse(group)) {
      bool isDynamic = type.isDynamicDim(part);
      int64_t others = 1;
      for (int64_t other : group)
        others *= other == part ? 1 : type.getDimSize(other);
      result.sizes[part] = !isDynamic ? Index(type.getDimSize(part))
                           : others == 1
                               ? source.sizes[d]
                               : Index("(" + source.sizes[d].str() + ") / " +
                                       std::to_string(others));
      result.strides[part] = stride;
      stride = stride * result.sizes[part];
    }
  }
  return result;
}

/// Dimensions that lie behind one another become one, with the stride of the
/// last that is not of size 1.
static View collapsed(ArrayRef<ReassociationIndices> groups,
                      const View &source) {
  View result = source;
  result.sizes.clear(), result.strides.clear();
  for (const ReassociationIndices &group : groups) {
    Index size = 1, stride = source.strides[group.back()];
    for (int64_t d : llvm::reverse(group))
      if (!source.sizes[d].is(1)) {
        stride = source.strides[d];
        break;
      }
    for (int64_t d : group)
      size = size * source.sizes[d];
    result.sizes.push_back(size);
    result.strides.push_back(stride);
  }
  return result;
}

Emitter::Outcome Emitter::emitView(Operation *op) {
  auto fold = [&](OpFoldResult value) { return index(value); };
  if (auto part = dyn_cast<memref::SubViewOp>(op))
    return set(part,
               FailureOr<View>(subview(part, view(part.getSource()), fold)));
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    View result = view(cast.getSource());
    result.offset = index(cast.getMixedOffsets().front());
    result.sizes.clear(), result.strides.clear();
    for (OpFoldResult size : cast.getMixedSizes())
      result.sizes.push_back(index(size));
    for (OpFoldResult stride : cast.getMixedStrides())
      result.strides.push_back(index(stride));
    return set(cast, FailureOr<View>(result));
  }
  if (isa<memref::CastOp, memref::MemorySpaceCastOp, bufferization::ToTensorOp,
          memref::AssumeAlignmentOp>(op)) {
    View result = view(op->getOperand(0));
    return set(op->getResult(0), FailureOr<View>(result));
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return set(expand, FailureOr<View>(expanded(
                           expand.getReassociationIndices(),
                           expand.getResultType(), view(expand.getSrc()))));
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return set(collapse,
               FailureOr<View>(collapsed(collapse.getReassociationIndices(),
                                         view(collapse.getSrc()))));
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    View source = view(transpose.getIn()), result = source;
    for (auto [d, expr] :
         llvm::enumerate(transpose.getPermutation().getResults())) {
      unsigned from = cast<AffineDimExpr>(expr).getPosition();
      result.sizes[d] = source.sizes[from];
      result.strides[d] = source.strides[from];
    }
    return set(transpose, FailureOr<View>(result));
  }
  if (auto parts = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    const View source = view(parts.getSource());
    View base = source;
    base.offset = 0;
    base.sizes.clear(), base.strides.clear();
    set(parts.getOffset(), source.offset.str());
    for (auto [value, size] : llvm::zip_equal(parts.getSizes(), source.sizes))
      set(value, size.str());
    for (auto [value, stride] :
         llvm::zip_equal(parts.getStrides(), source.strides))
      set(value, stride.str());
    return set(parts.getBaseBuffer(), FailureOr<View>(base));
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!number)
      return op->emitError("the size of a dimension that is not constant "
                           "cannot be emitted as C++");
    set(dim, "(" + view(dim.getSource()).sizes[*number].str() + ")");
    return success();
  }
  if (auto address = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op)) {
    set(address, "reinterpret_cast<intptr_t>(" +
                     view(address.getSource()).pointer + ")");
    return success();
  }
  if (auto address = dyn_cast<linalg_ext::ViewAddressOp>(op)) {
    auto type = cast<MemRefType>(address.getResult().getType());
    View result =
        described(type, "reinterpret_cast<" + cppType(type.getElementType()) +
                            " *>(" + word(address.getAddress()) + ")");
    result.sizes[0] = Index("INT64_MAX");
    return set(address.getResult(), FailureOr<View>(result));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && isa<MemRefType>(select.getType())) {
    std::vector<std::pair<std::string, std::string>> variables;
    if (failed(declare(select, "chosen", variables)))
      return failure();
    for (auto &[type, name] : variables)
      line(type + name + " = {};");
    open("if (" + word(select.getCondition()) + ")");
    if (failed(assign(select.getTrueValue(), select->getResults())))
      return failure();
    line("} else {");
    if (failed(assign(select.getFalseValue(), select->getResults())))
      return failure();
    close();
    return success();
  }
  return std::nullopt;
}

Value Emitter::load(Location loc, const View &from, const Index &at,
                    Type type) {
  Type emitted = emitcType(type);
  auto pointer = literal(emitc::PointerType::get(emitted), from.pointer);
  auto place = literal(b.getI64Type(), at.str());
  auto element = emitc::SubscriptOp::create(
      b, loc, emitc::LValueType::get(emitted), pointer, ValueRange{place});
  return emitc::LoadOp::create(b, loc, emitted, element);
}

void Emitter::store(Location loc, Value value, const View &to,
                    const Index &at) {
  auto pointer = literal(emitc::PointerType::get(value.getType()), to.pointer);
  auto place = literal(b.getI64Type(), at.str());
  auto element = emitc::SubscriptOp::create(
      b, loc, emitc::LValueType::get(value.getType()), pointer,
      ValueRange{place});
  emitc::AssignOp::create(b, loc, element, value);
}

Emitter::Outcome Emitter::emitAccess(Operation *op) {
  auto positions = [&](ValueRange indices) {
    SmallVector<Index> result;
    for (Value one : indices)
      result.push_back(index(one));
    return result;
  };
  if (auto read = dyn_cast<memref::LoadOp>(op)) {
    comment(op);
    const View &from = view(read.getMemRef());
    set(read, load(op->getLoc(), from, from.at(positions(read.getIndices())),
                   read.getType()));
    return success();
  }
  if (auto write = dyn_cast<memref::StoreOp>(op)) {
    comment(op);
    const View &to = view(write.getMemRef());
    store(op->getLoc(), scalar(write.getValue()), to,
          to.at(positions(write.getIndices())));
    return success();
  }
  if (auto copyOp = dyn_cast<memref::CopyOp>(op)) {
    comment(op, "copy");
    copy(op->getLoc(), view(copyOp.getSource()), view(copyOp.getTarget()),
         cast<MemRefType>(copyOp.getSource().getType()).getElementType());
    return success();
  }
  return std::nullopt;
}

void Emitter::copy(Location loc, const View &from, const View &to, Type type) {
  SmallVector<Index> position = openLoops(to.sizes);
  store(loc, load(loc, from, from.at(position), type), to, to.at(position));
  closeLoops(position);
}

} // namespace tilebridge::accel
