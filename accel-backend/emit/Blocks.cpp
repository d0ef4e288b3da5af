//===- Blocks.cpp - shapes of blocks within a computation -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The body of accel.compute has tensors. Each is an array on the stack, or a
// view of another one: nothing changes a tensor.

#include "accel-backend/emit/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::accel {

View Emitter::temporary(ShapedType type, llvm::StringRef like) {
  View result = described(type, fresh(like));
  line(result.element + " " + result.pointer + "[" +
       std::to_string(std::max<int64_t>(type.getNumElements(), 1)) + "];");
  return result;
}

static View slice(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides,
                  const llvm::SmallBitVector &dropped, const View &source,
                  llvm::function_ref<Index(OpFoldResult)> index) {
  View result = source;
  result.sizes.clear(), result.strides.clear();
  for (size_t d = 0; d < source.strides.size(); ++d) {
    result.offset = result.offset + index(offsets[d]) * source.strides[d];
    if (!dropped.empty() && dropped.test(d))
      continue;
    result.sizes.push_back(index(sizes[d]));
    result.strides.push_back(index(strides[d]) * source.strides[d]);
  }
  return result;
}

/// The row-major view of a block that lies without gaps.
static View reshaped(const View &source, const View &shape) {
  View result = source;
  result.sizes = shape.sizes;
  result.strides = shape.strides;
  return result;
}

Emitter::Outcome Emitter::emitTensor(Operation *op) {
  auto fold = [&](OpFoldResult value) { return index(value); };
  if (op->getNumResults() != 1)
    return std::nullopt;
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const View &from = view(extract.getTensor());
    SmallVector<Index> at;
    for (Value one : extract.getIndices())
      at.push_back(index(one));
    set(extract, load(op->getLoc(), from, from.at(at), extract.getType()));
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    set(dim, view(dim.getSource()).sizes[*dim.getConstantIndex()].str());
    return success();
  }
  if (!type || cppType(type.getElementType()).empty())
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return std::nullopt;
    View block = temporary(type, "constant");
    if (elements.isSplat()) {
      SmallVector<Index> at = openLoops(block.sizes);
      line(block.pointer + "[" + block.at(at).str() +
           "] = " + *cppConstant(elements.getSplatValue<Attribute>()) + ";");
      closeLoops(at);
    } else {
      for (auto [number, value] :
           llvm::enumerate(elements.getValues<Attribute>()))
        line(block.pointer + "[" + std::to_string(number) +
             "] = " + *cppConstant(value) + ";");
    }
    return set(result, FailureOr<View>(block));
  }
  // What linalg writes to is made there.
  bool isInit = llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto structured = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return structured && structured.isDpsInit(&use);
  });
  if (isa<tensor::EmptyOp>(op) && isInit)
    return set(result, FailureOr<View>(described(type, "")));
  if (isa<tensor::EmptyOp>(op) && type.hasStaticShape())
    return set(result, FailureOr<View>(temporary(type, "empty")));
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    std::string value = word(splat.getInput());
    View block = temporary(type, "splat");
    SmallVector<Index> at = openLoops(block.sizes);
    line(block.pointer + "[" + block.at(at).str() + "] = " + value + ";");
    closeLoops(at);
    return set(result, FailureOr<View>(block));
  }
  if (auto list = dyn_cast<tensor::FromElementsOp>(op)) {
    View block = temporary(type, "elements");
    for (auto [number, value] : llvm::enumerate(list.getElements()))
      store(op->getLoc(), scalar(value), block, Index(number));
    return set(result, FailureOr<View>(block));
  }
  if (auto part = dyn_cast<tensor::ExtractSliceOp>(op))
    return set(result, FailureOr<View>(
                           slice(part.getMixedOffsets(), part.getMixedSizes(),
                                 part.getMixedStrides(), part.getDroppedDims(),
                                 view(part.getSource()), fold)));
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    const View dest = view(insert.getDest()), source = view(insert.getSource());
    View block = temporary(type, "inserted");
    copy(op->getLoc(), dest, block, type.getElementType());
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    copy(op->getLoc(), source,
         slice(insert.getMixedOffsets(), insert.getMixedSizes(),
               insert.getMixedStrides(), dropped, block, fold),
         type.getElementType());
    return set(result, FailureOr<View>(block));
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    const View source = view(op->getOperand(0));
    View plain = described(from, source.pointer);
    bool isContiguous = true;
    for (size_t d = 0; d < source.strides.size(); ++d)
      isContiguous &= source.strides[d].constant() &&
                      source.strides[d].is(*plain.strides[d].constant());
    if (isContiguous)
      return set(result,
                 FailureOr<View>(reshaped(source, described(type, ""))));
    View block = temporary(from, "reshaped");
    copy(op->getLoc(), source, block, from.getElementType());
    return set(result, FailureOr<View>(reshaped(block, described(type, ""))));
  }
  if (isa<tensor::CastOp>(op)) {
    View same = view(op->getOperand(0));
    return set(result, FailureOr<View>(same));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    View block = temporary(type, "chosen");
    open("if (" + word(select.getCondition()) + ")");
    copy(op->getLoc(), view(select.getTrueValue()), block,
         type.getElementType());
    line("} else {");
    copy(op->getLoc(), view(select.getFalseValue()), block,
         type.getElementType());
    close();
    return set(result, FailureOr<View>(block));
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
