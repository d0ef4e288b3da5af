//===- Harness.cpp - programs of integers, and what they compute ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/triton-to-linalg/Harness.h"

#include "frontend/Reader.h"
#include "frontend/TTOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::test;
using namespace tilebridge::ttl;
using llvm::APInt;
using Kind = Expr::Kind;

static MLIRContext::Threading off = MLIRContext::Threading::DISABLED;

Program::Program(const std::string &type, const std::string &body)
    : context(off) {
  DialectRegistry registry;
  frontend::registerTTIRDialects(registry);
  context.appendDialectRegistry(registry);
  std::string text = "tt.func public @f(%a: i32, %b: i32, %w: i64) -> " + type +
                     " {\n" + body + "\n}\n";
  std::string messages;
  module = frontend::readModule(text, "program", context, messages);
  if (!module) {
    llvm::errs() << messages << text;
    return;
  }
  auto function = *module->getOps<tt::FuncOp>().begin();
  returned = function.getBody().front().getTerminator()->getOperand(0);
}

static ArrayRef<int64_t> shapeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

static unsigned widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

std::vector<SmallVector<int64_t>> test::positionsOf(ArrayRef<int64_t> shape) {
  std::vector<SmallVector<int64_t>> all = {{}};
  for (int64_t size : shape) {
    std::vector<SmallVector<int64_t>> longer;
    for (const auto &prefix : all)
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(prefix);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

static size_t placeOf(ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  size_t place = 0;
  for (auto [index, size] : llvm::zip_equal(at, shape))
    place = place * size + (size == 1 ? 0 : index);
  return place;
}

static bool isDefined(Kind kind, const APInt &a, const APInt &b) {
  bool isSigned = kind == Kind::DivS || kind == Kind::RemS;
  return !b.isZero() && !(isSigned && b.isAllOnes() && a.isMinSignedValue());
}

/// A quotient or remainder; 0 where it is undefined, as any number would do.
static APInt divide(Kind kind, const APInt &a, const APInt &b) {
  if (!isDefined(kind, a, b))
    return APInt(a.getBitWidth(), 0);
  return kind == Kind::DivS   ? a.sdiv(b)
         : kind == Kind::DivU ? a.udiv(b)
         : kind == Kind::RemS ? a.srem(b)
                              : a.urem(b);
}

static APInt elementwise(Operation &op, ArrayRef<APInt> in) {
  if (isa<arith::AddIOp>(op))
    return in[0] + in[1];
  if (isa<arith::SubIOp>(op))
    return in[0] - in[1];
  if (isa<arith::MulIOp>(op))
    return in[0] * in[1];
  if (isa<arith::DivSIOp>(op))
    return divide(Kind::DivS, in[0], in[1]);
  if (isa<arith::DivUIOp>(op))
    return divide(Kind::DivU, in[0], in[1]);
  if (isa<arith::RemSIOp>(op))
    return divide(Kind::RemS, in[0], in[1]);
  if (isa<arith::RemUIOp>(op))
    return divide(Kind::RemU, in[0], in[1]);
  if (isa<arith::AndIOp>(op))
    return in[0] & in[1];
  if (isa<arith::XOrIOp>(op))
    return in[0] ^ in[1];
  if (isa<arith::ShLIOp>(op))
    return in[1].uge(in[0].getBitWidth()) ? APInt(in[0].getBitWidth(), 0)
                                          : in[0].shl(in[1]);
  unsigned width = widthOf(op.getResult(0));
  if (isa<arith::ExtSIOp>(op))
    return in[0].sext(width);
  if (isa<arith::ExtUIOp>(op))
    return in[0].zext(width);
  if (isa<arith::TruncIOp>(op))
    return in[0].trunc(width);
  if (isa<arith::SelectOp>(op))
    return in[0].isZero() ? in[2] : in[1];
  auto compare = cast<arith::CmpIOp>(op);
  return APInt(1,
               arith::applyCmpPredicate(compare.getPredicate(), in[0], in[1]));
}

void Program::compute(Operation &op) {
  Value result = op.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  Lanes &out = values[result];
  out.clear();
  DenseElementsAttr attr;
  APInt constant;
  auto map = isa<RankedTensorType>(result.getType())
                 ? dimensionMap(&op)
                 : std::optional<SmallVector<int>>();
  for (const auto &at : positionsOf(shape)) {
    if (matchPattern(result, m_Constant(&attr))) {
      out.push_back(attr.getValues<APInt>()[placeOf(at, shape)]);
    } else if (matchPattern(result, m_ConstantInt(&constant))) {
      out.push_back(constant);
    } else if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
      out.push_back(APInt(32, range.getStart() + at[0]));
    } else if (isa<tt::SplatOp>(op)) {
      out.push_back(values[op.getOperand(0)][0]);
    } else if (map) {
      ArrayRef<int64_t> from = shapeOf(op.getOperand(0));
      SmallVector<int64_t> source(from.size(), 0);
      for (auto [dim, place] : llvm::enumerate(*map))
        if (place >= 0)
          source[place] = at[dim];
      out.push_back(values[op.getOperand(0)][placeOf(source, from)]);
    } else if (isa<tt::ReshapeOp>(op)) {
      out.push_back(values[op.getOperand(0)][out.size()]);
    } else {
      SmallVector<APInt> in;
      for (Value operand : op.getOperands()) {
        const Lanes &lanes = values[operand];
        in.push_back(lanes.size() == 1 ? lanes[0] : lanes[placeOf(at, shape)]);
      }
      out.push_back(elementwise(op, in));
    }
  }
}

void Program::run(int32_t a, int32_t b, int64_t w) {
  auto function = *module->getOps<tt::FuncOp>().begin();
  values.clear();
  values[function.getArgument(0)] = {APInt(32, a, true)};
  values[function.getArgument(1)] = {APInt(32, b, true)};
  values[function.getArgument(2)] = {APInt(64, w, true)};
  for (Operation &op : function.getBody().front().without_terminator())
    compute(op);
}

std::optional<APInt> Program::evaluate(const Expr *expr, int64_t lane) const {
  SmallVector<APInt> in;
  for (const Expr *operand : expr->operands)
    if (operand) {
      std::optional<APInt> value = evaluate(operand, lane);
      if (!value)
        return std::nullopt;
      in.push_back(*value);
    }
  switch (expr->kind) {
  case Kind::Constant:
    return expr->constant;
  case Kind::Scalar:
    return lanesOf(expr->value)[0];
  case Kind::Element:
    return lanesOf(expr->value)[0];
  case Kind::Lane: {
    ArrayRef<int64_t> shape = shapeOf(expr->value);
    SmallVector<int64_t> at(shape.size(), 0);
    at[expr->dim] = lane;
    return lanesOf(expr->value)[placeOf(at, shape)];
  }
  case Kind::Iota:
    return APInt(64, lane).trunc(expr->width);
  case Kind::Add:
    return in[0] + in[1];
  case Kind::Sub:
    return in[0] - in[1];
  case Kind::Mul:
    return in[0] * in[1];
  case Kind::DivS:
  case Kind::DivU:
  case Kind::RemS:
  case Kind::RemU:
    if (!isDefined(expr->kind, in[0], in[1]))
      return std::nullopt;
    return divide(expr->kind, in[0], in[1]);
  case Kind::MinS:
    return llvm::APIntOps::smin(in[0], in[1]);
  case Kind::MaxS:
    return llvm::APIntOps::smax(in[0], in[1]);
  case Kind::MinU:
    return llvm::APIntOps::umin(in[0], in[1]);
  case Kind::And:
    return in[0] & in[1];
  case Kind::SExt:
    return in[0].sext(expr->width);
  case Kind::ZExt:
    return in[0].zext(expr->width);
  case Kind::Trunc:
    return in[0].trunc(expr->width);
  case Kind::Cmp:
    return APInt(1, arith::applyCmpPredicate(expr->compare, in[0], in[1]));
  case Kind::Select:
    return in[0].isZero() ? in[2] : in[1];
  }
  return std::nullopt;
}

std::optional<APInt> Program::evaluate(const TensorForm &form,
                                       ArrayRef<int64_t> at) const {
  std::optional<APInt> sum = evaluate(form.uniform);
  for (auto [term, index] : llvm::zip_equal(form.terms, at)) {
    if (!sum || term.kind == DimTerm::Kind::None)
      continue;
    std::optional<APInt> part;
    if (term.kind == DimTerm::Kind::Linear) {
      part = evaluate(term.stride);
      if (part)
        *part *= APInt(64, index).trunc(form.width);
    } else if (term.lanes) {
      part = evaluate(term.lanes, index);
    }
    sum = part ? std::optional(*sum + *part) : std::nullopt;
  }
  return sum;
}

std::optional<bool> Program::evaluate(const MaskForm &mask,
                                      ArrayRef<int64_t> at) const {
  auto isTrue = [&](const Expr *expr, int64_t lane) -> std::optional<bool> {
    std::optional<APInt> value = evaluate(expr, lane);
    return value ? std::optional(!value->isZero()) : std::nullopt;
  };
  bool all = true;
  for (auto [bounds, index] : llvm::zip_equal(mask.dims, at)) {
    for (const Expr *low : bounds.lower)
      all &= evaluate(low)->sle(index);
    for (const Expr *high : bounds.upper)
      all &= evaluate(high)->sgt(index);
  }
  for (const Expr *condition : mask.conditions) {
    std::optional<bool> value = isTrue(condition, 0);
    if (!value)
      return std::nullopt;
    all &= *value;
  }
  for (const ResidualMask &part : mask.residuals) {
    if (!part.lanes)
      return std::nullopt;
    std::optional<bool> value = isTrue(part.lanes, at[*part.dim]);
    if (!value)
      return std::nullopt;
    all &= *value;
  }
  return all;
}

int64_t test::awkward(std::mt19937_64 &random, unsigned width) {
  APInt value(width, 0);
  switch (random() % 5) {
  case 0:
    value = APInt(64, random() % 5).trunc(width);
    break;
  case 1:
    value = APInt::getOneBitSet(width, random() % width);
    break;
  case 2:
    value = random() % 2 ? APInt::getSignedMaxValue(width)
                         : APInt::getSignedMinValue(width);
    break;
  case 3:
    value = APInt(64, random() % 300).trunc(width);
    break;
  default:
    value = APInt(64, random()).trunc(width);
  }
  value += APInt(64, static_cast<int64_t>(random() % 3) - 1, true).trunc(width);
  return value.getSExtValue();
}
