//===- PointerForms.cpp - bases and offsets of tensors of pointers ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/SourceText.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Bytes of what a pointer, or a tensor of them, points to; a boolean takes
/// one.
static int64_t pointeeBytes(Value pointers) {
  Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(pointers.getType()))
                     .getPointeeType();
  return pointee.isIntOrFloat()
             ? llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8u)
             : 8;
}

PointerForm AccessAnalysis::scalarPointer(Value pointer,
                                          ArrayRef<int64_t> shape) {
  // Additions to the scalar are part of the offset, so that accesses to one
  // argument have one base.
  const Expr *offset = pool.constant(64, 0);
  while (auto add = pointer.getDefiningOp<tt::AddPtrOp>()) {
    offset =
        pool.add(pool.extend(pool.scalar(add.getOffset()), 64, true), offset);
    pointer = add.getPtr();
  }
  return {pointer, algebra.uniform(shape, offset)};
}

std::optional<PointerForm> AccessAnalysis::bitcast(Operation *op) {
  std::optional<PointerForm> source = pointers(op->getOperand(0));
  if (!source)
    return std::nullopt;
  int64_t from = pointeeBytes(op->getOperand(0)),
          to = pointeeBytes(op->getResult(0));
  if (from == to)
    return source;
  if (source->offset && from % to == 0)
    source->offset =
        algebra.scale(*source->offset, pool.constant(64, from / to));
  else if (!source->offset || !source->offset->isUniform() ||
           !source->offset->uniform->isConstant(0)) {
    fail("a cast to pointers of larger elements", op);
    return std::nullopt;
  }
  return source;
}

std::optional<PointerForm> AccessAnalysis::pointers(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op) {
    fail("pointers that a loop or a branch carries", nullptr);
    return std::nullopt;
  }
  if (auto splat = dyn_cast<tt::SplatOp>(op))
    return scalarPointer(splat.getSrc(), shapeOf(tensor));
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    std::optional<PointerForm> form = pointers(add.getPtr());
    if (!form)
      return std::nullopt;
    std::optional<TensorForm> offset = integers(add.getOffset());
    std::optional<TensorForm> wide =
        offset ? algebra.extend(*offset, 64, add.getOffset()) : std::nullopt;
    if (offset && !wide)
      fail("not seen to stay in its integer type", op);
    if (form->offset && wide)
      form->offset = algebra.add(*form->offset, *wide);
    else
      form->offset.reset();
    return form;
  }
  if (isa<tt::BitcastOp>(op))
    return bitcast(op);
  std::optional<SmallVector<int>> map = dimensionMap(op);
  if (map || isa<tt::ReshapeOp>(op)) {
    std::optional<PointerForm> form = pointers(op->getOperand(0));
    if (!form || !form->offset)
      return form;
    if (map)
      form->offset = algebra.remap(*form->offset, shapeOf(tensor), *map);
    else
      form->offset = algebra.reshape(*form->offset, shapeOf(tensor));
    if (!form->offset)
      fail("a reshape of what is not one range", op);
    return form;
  }
  fail("pointers without a common base: they depend on " + describe(op), op);
  return std::nullopt;
}
