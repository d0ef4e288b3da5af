//===- TensorAccess.cpp - accesses through tensors of pointers --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/TensorAccess.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/SourceText.h"
#include "triton-to-linalg/bridge/AccessNote.h"
#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Pred = arith::CmpIPredicate;
using TermKind = DimTerm::Kind;

TensorAccess::TensorAccess(Operation *op, Value pointers, Value mask,
                           RankedTensorType valueType,
                           const IntegerFacts &facts)
    : op(op), builder(op), loc(op->getLoc()), pointers(pointers),
      maskValue(mask), type(cast<RankedTensorType>(memoryType(valueType))),
      blocks(type.getShape()), pool(&facts), analysis(pool) {
  if (mask && matchPattern(mask, m_One()))
    maskValue = {};
}

StringRef TensorAccess::rowsForm() const {
  return isLoad() ? "row gather" : "row scatter";
}

void TensorAccess::report(StringRef form, const Reason &reason) {
  AccessReport told;
  told.op = op;
  told.form = form;
  if (hasFallback) {
    told.fallback = form;
    told.form = runs || rowDim ? rowsForm() : linearForm();
  }
  told.type = type;
  told.reason = reason;
  if (pointer.offset)
    describeOffset(told, pointer.base,
                   linear.uniform ? linear : *pointer.offset,
                   /*isSplit=*/linear.uniform);
  if (wantsAccessReports(op))
    told.mask = textsOf(mask);
  reportAccess(told);
  loc = locationOf(told);
}

/// An operation that made values of lanes.
static Operation *originOf(const Expr *lanes) {
  if (!lanes || !lanes->varies)
    return nullptr;
  if (lanes->value)
    return lanes->value.getDefiningOp();
  for (const Expr *operand : lanes->operands)
    if (Operation *origin = originOf(operand))
      return origin;
  return nullptr;
}

/// Why an offset with lanes from there is not linear.
static Reason unevenBecauseOf(Operation *origin) {
  Reason reason = {"the offset is not linear", origin};
  if (origin)
    reason.text += ": it depends on " + describe(origin);
  return reason;
}

Value TensorAccess::lower() {
  std::optional<PointerForm> found = analysis.pointers(pointers);
  Reason reason = analysis.reason();
  if (!found) {
    report(isLoad() ? "element gather by addresses"
                    : "element scatter by addresses",
           reason);
    return lowerAddresses();
  }
  pointer = *found;
  if (pointer.shift)
    pointer.base = shiftedBase();
  if (maskValue)
    mask = analysis.mask(maskValue);
  else
    mask.dims.resize(type.getRank());
  for (const Expr *condition : mask.conditions)
    if (condition->isConstant(0)) {
      report("none");
      return nothing();
    }
  if (!pointer.offset) {
    report(isLoad() ? "element gather" : "element scatter",
           {"the offset is " + reason.text, reason.op});
    return lowerElements();
  }

  ExprBuilder exprs(builder, loc);
  // Dimensions that are linear where a modulo does not wrap.
  TensorForm straight = *pointer.offset;
  const Expr *condition = pool.boolean(true);
  reason = {"the offset is not linear", op};
  std::optional<Reason> uneven;
  blocks.settleExchanges(straight, mask, pool);
  for (auto [dim, term] : llvm::enumerate(straight.terms)) {
    if (term.kind != TermKind::Lanes)
      continue;
    Operation *origin = originOf(term.lanes);
    bool hasRuns = term.linear && term.linear->hasRuns();
    if (!term.linear && !uneven) {
      rowDim = dim;
      uneven = unevenBecauseOf(origin);
      continue;
    }
    reason.op = origin;
    if (!term.linear || (hasRuns && (runs || !term.lanes))) {
      runs.reset();
      rowDim.reset();
      return lowerUneven(exprs, uneven ? *uneven : unevenBecauseOf(origin));
    }
    condition = pool.conjunction(condition, term.linear->condition);
    straight.uniform = pool.add(straight.uniform, term.linear->base);
    if (term.linear->inner) {
      blocks.split(dim, term.linear->inner, term.linear->exchangesHalves);
      if (hasRuns)
        runs = dim;
      continue;
    }
    const Expr *stride = term.linear->stride;
    term = DimTerm();
    if (!stride->isConstant(0)) {
      term.kind = TermKind::Linear;
      term.stride = stride;
    }
  }
  // Rows that lie anywhere, where all else is linear.
  if (uneven && !hasRows(straight, condition)) {
    runs.reset();
    rowDim.reset();
    return lowerUneven(exprs, *uneven);
  }
  if (runs)
    reason = unevenBecauseOf(reason.op);
  if (runs && !shortenRuns(straight))
    condition = pool.boolean(false);
  if (condition->isConstant(0))
    return lowerUneven(exprs, reason);
  linear = straight;
  if (condition->isConstant() && (runs || rowDim)) {
    report(rowsForm(), rowDim ? *uneven : reason);
    return runs ? lowerRuns(*runs, exprs) : lowerUneven(linear, *rowDim, exprs);
  }
  if (condition->isConstant())
    return lowerLinear(exprs);

  reason.text = std::string("only in programs whose block ") +
                (blocks.isSplit() || isa_and_nonnull<arith::MaxSIOp>(reason.op)
                     ? "begins below zero or leaves its integer type"
                 : isa_and_nonnull<arith::SelectOp, arith::MinSIOp>(reason.op)
                     ? "is not inside as a whole"
                     : "wraps around at the modulo") +
                "; in all others " + (rowDim ? "rows are" : "the access is") +
                " structured";
  hasFallback = true;
  // Both branches need the bounds.
  if (mask.residuals.empty() && !blocks.isSplit())
    (void)boxOf(exprs, pool, mask, type.getShape());
  bool hasResult = isLoad();
  auto choice =
      scf::IfOp::create(builder, loc, hasResult ? TypeRange(type) : TypeRange(),
                        exprs.value(condition), true);
  auto inside = [&](Block *block, auto write) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    ExprBuilder inner(exprs);
    Value result = write(inner);
    builder.setInsertionPointToEnd(block);
    if (hasResult)
      scf::YieldOp::create(builder, loc, result);
  };
  inside(choice.thenBlock(), [&](ExprBuilder &inner) {
    return runs     ? lowerRuns(*runs, inner)
           : rowDim ? lowerUneven(linear, *rowDim, inner)
                    : lowerLinear(inner);
  });
  inside(choice.elseBlock(),
         [&](ExprBuilder &inner) { return lowerUneven(inner, reason); });
  if (!hasResult)
    return {};
  choice.elseYield().getOperand(0).getDefiningOp()->setAttr(
      linalg_ext::sameLoadAttr, builder.getUnitAttr());
  return choice.getResult(0);
}

Reason TensorAccess::maskReason() {
  if (!mask.residuals.empty())
    return mask.residuals.front().reason;
  if (blocks.isSplit() && !blocks.mask(mask, pool))
    return {"a mask whose end is not known to be a multiple of the divisor",
            maskValue.getDefiningOp()};
  return {};
}

StringRef TensorAccess::linearForm() {
  return maskReason().text.empty() ? "subview"
         : maskedRows()            ? rowsForm()
         : isLoad()                ? "masked load"
                                   : "masked store";
}

Value TensorAccess::lowerLinear(ExprBuilder &exprs) {
  if (std::optional<unsigned> dim = maskedRows()) {
    if (!hasFallback)
      report(rowsForm(), maskReason());
    const Expr *places = pool.mul(pool.iota(64), linear.terms[*dim].stride);
    auto starts = [&] { return exprs.lanes(places, type.getDimSize(*dim)); };
    return lowerRows(linear, mask, *dim, starts, exprs);
  }
  TensorForm offset = blocks.form(linear, pool);
  Value view = makeView(builder, loc, exprs, pointer.base, offset,
                        type.getElementType());
  Reason reason = maskReason();
  bool isBox = reason.text.empty();
  if (!hasFallback)
    report(linearForm(), reason);
  Value loaded =
      isBox ? structured(view, boxOf(exprs, pool, *blocks.mask(mask, pool),
                                     offset.shape))
            : masked(view, blocks.expand(builder, loc, maskValue));
  return loaded ? blocks.collapse(builder, loc, loaded) : Value();
}

Value TensorAccess::lowerUneven(ExprBuilder &exprs, const Reason &reason) {
  std::optional<unsigned> uneven;
  unsigned sized = 0;
  for (auto [dim, term] : llvm::enumerate(pointer.offset->terms)) {
    sized += type.getDimSize(dim) > 1;
    if (term.kind == TermKind::Lanes)
      uneven = dim;
  }
  bool one = pointer.offset->countOf(TermKind::Lanes) == 1;
  if (one && sized > 1 && canUseRows(*pointer.offset, mask, *uneven)) {
    report(rowsForm(), reason);
    SplitBlock split = std::exchange(blocks, SplitBlock(type.getShape()));
    Value loaded = lowerUneven(*pointer.offset, *uneven, exprs);
    blocks = split;
    return loaded;
  }
  report(isLoad() ? "element gather" : "element scatter", reason);
  return lowerElements();
}

/// The pointer that offsets count from, as an operation before the access.
Value TensorAccess::shiftedBase() {
  ExprBuilder exprs(builder, loc, /*asIntegers=*/true);
  Value bytes = exprs.integer(pointer.shift);
  auto type = tt::PointerType::get(
      builder.getI8Type(),
      cast<tt::PointerType>(getElementTypeOrSelf(pointers.getType()))
          .getAddressSpace());
  if (!pointer.base)
    return tt::IntToPtrOp::create(builder, loc, type, bytes);
  Value base = pointer.base;
  if (base.getType() != type)
    base = tt::BitcastOp::create(builder, loc, type, base);
  return tt::AddPtrOp::create(builder, loc, type, base, bytes);
}

Value TensorAccess::lowerElements() {
  if (!pointer.isDirect)
    return lowerAddresses();
  ElementAddress address = elementAddress(builder, loc, pointers, pointer.base,
                                          type.getElementType());
  return elements(address.base, address.offsets, maskValue);
}

Value TensorAccess::lowerAddresses() {
  ElementAddress address =
      elementAddress(builder, loc, pointers, {}, type.getElementType());
  return elements(address.base, address.offsets, maskValue);
}
