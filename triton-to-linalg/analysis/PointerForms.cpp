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
  PointerForm form;
  form.base = pointer;
  form.offset = algebra.uniform(shape, offset);
  return form;
}

/// Whether a number of bytes is one of elements of `size`, a power of two.
static bool isMultiple(const Expr *bytes, int64_t size) {
  return bytes->isConstant(0) || bytes->zeros >= llvm::Log2_64(size);
}

/// The number of elements of such a number of bytes.
static const Expr *exactQuotient(ExprPool &pool, const Expr *bytes,
                                 int64_t size) {
  if (bytes->kind == Expr::Kind::Mul) {
    std::optional<int64_t> factor = bytes->operands[1]->asConstant();
    if (factor && *factor % size == 0)
      return pool.mul(bytes->operands[0],
                      pool.constant(bytes->width, *factor / size));
  }
  return pool.division(Expr::Kind::DivS, bytes,
                       pool.constant(bytes->width, size));
}

/// Divides what a form's lanes differ by; nothing where a stride is not linear
/// or no multiple.
static bool divideStrides(ExprPool &pool, TensorForm &form, int64_t size) {
  for (DimTerm &term : form.terms) {
    if (term.kind == DimTerm::Kind::None)
      continue;
    if (term.kind != DimTerm::Kind::Linear || !isMultiple(term.stride, size))
      return false;
    term.stride = exactQuotient(pool, term.stride, size);
  }
  return true;
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
  else if (!source->offset || to % from != 0 ||
           !divideStrides(pool, *source->offset, to / from)) {
    fail("a cast to pointers of larger elements", op);
    return std::nullopt;
  } else {
    TensorForm &offset = *source->offset;
    if (isMultiple(offset.uniform, to / from)) {
      offset.uniform = exactQuotient(pool, offset.uniform, to / from);
    } else {
      // It begins between two elements, seen from the base.
      const Expr *bytes = pool.mul(offset.uniform, pool.constant(64, from));
      source->shift = source->shift ? pool.add(source->shift, bytes) : bytes;
      offset.uniform = pool.constant(64, 0);
    }
    source->isDirect = false;
  }
  return source;
}

/// Takes the address of a pointer out of a sum.
static Value takeBase(ExprPool &pool, const Expr *&sum) {
  if (sum->kind == Expr::Kind::Scalar) {
    auto address = sum->value.getDefiningOp<tt::PtrToIntOp>();
    if (!address)
      return {};
    sum = pool.constant(64, 0);
    return address.getSrc();
  }
  if (sum->kind != Expr::Kind::Add)
    return {};
  for (unsigned i : {0u, 1u}) {
    const Expr *part = sum->operands[i];
    if (Value base = takeBase(pool, part)) {
      sum = pool.add(part, sum->operands[1 - i]);
      return base;
    }
  }
  return {};
}

/// The addresses of a block's pointers, and what was added to them: offsets in
/// bytes.
std::optional<PointerForm> AccessAnalysis::addresses(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tt::PtrToIntOp>(op)) {
    std::optional<PointerForm> form = pointers(op->getOperand(0));
    if (!form || !form->offset)
      return std::nullopt;
    int64_t size = pointeeBytes(op->getOperand(0));
    form->offset = algebra.scale(*form->offset, pool.constant(64, size));
    return form;
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  Value other = op->getOperand(1);
  std::optional<PointerForm> form = addresses(op->getOperand(0));
  if (!form && isa<arith::AddIOp>(op)) {
    other = op->getOperand(0);
    form = addresses(op->getOperand(1));
  }
  std::optional<TensorForm> added = form ? integers(other) : std::nullopt;
  if (!added)
    return std::nullopt;
  int64_t sign = isa<arith::SubIOp>(op) ? -1 : 1;
  form->offset = algebra.add(*form->offset,
                             algebra.scale(*added, pool.constant(64, sign)));
  return form;
}

/// Pointers made of byte addresses that are a strided range.
std::optional<PointerForm> AccessAnalysis::integerPointers(Operation *op) {
  int64_t size = pointeeBytes(op->getResult(0));
  if (std::optional<PointerForm> form = addresses(op->getOperand(0));
      form && divideStrides(pool, *form->offset, size)) {
    form->isDirect = false;
    const Expr *&start = form->offset->uniform;
    if (isMultiple(start, size)) {
      start = exactQuotient(pool, start, size);
    } else {
      form->shift = form->shift ? pool.add(form->shift, start) : start;
      start = pool.constant(64, 0);
    }
    return form;
  }
  std::optional<TensorForm> bytes = integers(op->getOperand(0));
  if (!bytes || bytes->width != 64 || !divideStrides(pool, *bytes, size)) {
    fail("pointers without a common base: they depend on " + describe(op), op);
    return std::nullopt;
  }
  PointerForm form;
  form.isDirect = false;
  form.shift = bytes->uniform;
  form.base = takeBase(pool, form.shift);
  form.offset = *bytes;
  form.offset->uniform = pool.constant(64, 0);
  if (form.base && isMultiple(form.shift, size)) {
    form.offset->uniform = exactQuotient(pool, form.shift, size);
    form.shift = nullptr;
  }
  return form;
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
  if (isa<tt::IntToPtrOp>(op))
    return integerPointers(op);
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
