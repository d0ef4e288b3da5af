//===- IntegerForms.cpp - the forms of integer tensors ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/SourceText.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

std::optional<SmallVector<int>> ttl::dimensionMap(Operation *op) {
  SmallVector<int> map;
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    int rank = shapeOf(expand.getSrc()).size();
    for (int dim = 0, source = 0; dim <= rank; ++dim)
      map.push_back(dim == static_cast<int>(expand.getAxis()) ? -1 : source++);
    return map;
  }
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    for (int dim = 0, rank = shapeOf(broadcast.getSrc()).size(); dim < rank;
         ++dim)
      map.push_back(dim);
    return map;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return SmallVector<int>(trans.getOrder());
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape)
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(reshape.getSrc()),
                    to = shapeOf(reshape.getResult());
  size_t source = 0;
  for (int64_t size : to) {
    while (source < from.size() && from[source] == 1)
      ++source;
    if (size == 1) {
      map.push_back(-1);
    } else {
      if (source == from.size() || from[source] != size)
        return std::nullopt;
      map.push_back(source++);
    }
  }
  return map;
}

void AccessAnalysis::fail(std::string text, Operation *op) {
  lastReason = {std::move(text), op};
  ++failures;
}

llvm::SmallBitVector AccessAnalysis::varyingDims(Value tensor) {
  auto found = variation.find(tensor);
  if (found != variation.end())
    return found->second;
  ArrayRef<int64_t> shape = shapeOf(tensor);
  llvm::SmallBitVector dims(shape.size());
  Operation *op = tensor.getDefiningOp();
  if (op && isa<tt::SplatOp, tensor::SplatOp>(op)) {
    // One value.
  } else if (DenseElementsAttr attr;
             matchPattern(tensor, m_Constant(&attr)) && attr.isSplat()) {
    // One value.
  } else if (std::optional<SmallVector<int>> map =
                 op ? dimensionMap(op) : std::nullopt) {
    llvm::SmallBitVector source = varyingDims(op->getOperand(0));
    for (auto [dim, from] : llvm::enumerate(*map))
      if (from >= 0 && source.test(from))
        dims.set(dim);
  } else if (op && op->getNumResults() == 1 && isPure(op) &&
             (op->hasTrait<OpTrait::Elementwise>() ||
              isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        dims |= varyingDims(operand);
  } else {
    dims.set();
  }
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == 1)
      dims.reset(dim);
  variation[tensor] = dims;
  return dims;
}

std::optional<TensorForm> AccessAnalysis::byVariation(Value tensor) {
  llvm::SmallBitVector dims = varyingDims(tensor);
  if (dims.none())
    return algebra.uniform(shapeOf(tensor), pool.element(tensor));
  if (dims.count() == 1)
    return algebra.lanes(tensor, dims.find_first());
  return std::nullopt;
}

/// Numbers in a fixed progression in each dimension are a linear form: folding
/// makes such constants of ranges.
std::optional<TensorForm> AccessAnalysis::constants(Value tensor,
                                                    DenseElementsAttr attr) {
  ArrayRef<int64_t> shape = shapeOf(tensor);
  unsigned width = attr.getElementType().isIndex()
                       ? 64
                       : attr.getElementType().getIntOrFloatBitWidth();
  auto values = attr.getValues<APInt>();
  auto constant = [&](const APInt &value) {
    return pool.constant(width, value.getSExtValue());
  };
  if (attr.isSplat())
    return algebra.uniform(shape, constant(attr.getSplatValue<APInt>()));
  TensorForm form = algebra.uniform(shape, constant(values[0]));
  SmallVector<APInt> strides(shape.size(), APInt(width, 0));
  int64_t step = 1;
  for (size_t dim = shape.size(); dim-- > 0; step *= shape[dim]) {
    if (shape[dim] == 1)
      continue;
    strides[dim] = values[step] - values[0];
    form = algebra.add(form, algebra.range(shape, dim, pool.constant(width, 0),
                                           constant(strides[dim])));
  }
  for (auto [position, value] : llvm::enumerate(values)) {
    APInt expected = values[0];
    int64_t rest = position;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      expected += strides[dim] * APInt(64, rest % shape[dim]).trunc(width);
    if (value != expected)
      return std::nullopt;
  }
  return form;
}

std::optional<TensorForm> AccessAnalysis::integers(Value tensor) {
  auto found = known.find(tensor);
  if (found != known.end()) {
    if (!found->second.form)
      fail(found->second.reason.text, found->second.reason.op);
    return found->second.form;
  }
  unsigned before = failures;
  std::optional<TensorForm> form = computeIntegers(tensor);
  if (!form)
    form = byVariation(tensor);
  // The reason is the innermost one: what is made of such a tensor has no form
  // either.
  if (!form && failures == before) {
    Operation *op = tensor.getDefiningOp();
    fail(op ? "not linear: it depends on " + describe(op)
            : "carried by a loop or a branch",
         op);
  }
  known[tensor] = {form, form ? Reason() : lastReason};
  return form;
}

std::optional<TensorForm> AccessAnalysis::computeIntegers(Value tensor) {
  DenseElementsAttr attr;
  if (matchPattern(tensor, m_Constant(&attr)) &&
      attr.getElementType().isIntOrIndex())
    return constants(tensor, attr);
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(tensor);
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return algebra.range(
        shape, 0, pool.constant(32, static_cast<int32_t>(range.getStart())),
        pool.constant(32, 1));
  if (auto splat = dyn_cast<tt::SplatOp>(op))
    return algebra.uniform(shape, pool.scalar(splat.getSrc()));
  if (std::optional<SmallVector<int>> map = dimensionMap(op)) {
    if (std::optional<TensorForm> source = integers(op->getOperand(0)))
      return algebra.remap(*source, shape, *map);
    return std::nullopt;
  }
  if (isa<tt::ReshapeOp>(op)) {
    std::optional<TensorForm> source = integers(op->getOperand(0));
    if (std::optional<TensorForm> form =
            source ? algebra.reshape(*source, shape) : std::nullopt)
      return form;
    return std::nullopt;
  }
  std::optional<TensorForm> form = arithmetic(op);
  bool isKnown = form && llvm::all_of(form->terms, [](const DimTerm &term) {
                   return term.kind != DimTerm::Kind::Lanes || term.linear;
                 });
  if (!isKnown)
    if (std::optional<TensorForm> known = constantLanes(tensor))
      return known;
  return form;
}

/// The other factor of a product or shift, if it is uniform.
static const Expr *factorOf(ExprPool &pool, Operation *op,
                            const TensorForm &other) {
  if (!other.isUniform())
    return nullptr;
  if (isa<arith::MulIOp>(op))
    return other.uniform;
  std::optional<int64_t> amount = other.uniform->asConstant();
  if (!amount || *amount < 0 || *amount >= static_cast<int64_t>(other.width))
    return nullptr;
  return pool.constant(other.width,
                       APInt::getOneBitSet(64, *amount).getSExtValue());
}

/// Rows and columns that are kept inside of a matrix, `tl.where(i < n, i, 0)`:
/// linear where the whole block is inside, as nearly all are.
std::optional<TensorForm>
AccessAnalysis::chosenInside(arith::SelectOp select, const TensorForm &inside) {
  using Pred = arith::CmpIPredicate;
  std::optional<unsigned> dim = inside.onlyDim();
  llvm::SmallBitVector dims = varyingDims(select.getResult());
  if (!dim || dims.count() != 1 || !dims.test(*dim))
    return std::nullopt;
  const DimTerm &term = inside.terms[*dim];
  MaskForm mask = this->mask(select.getCondition());
  if (term.kind != DimTerm::Kind::Linear || !mask.residuals.empty())
    return std::nullopt;
  const Expr *condition = pool.boolean(true);
  auto demand = [&](const Expr *more) {
    condition = pool.conjunction(condition, more);
  };
  for (const Expr *more : mask.conditions)
    demand(more);
  for (auto [size, bounds] : llvm::zip_equal(inside.shape, mask.dims)) {
    for (const Expr *low : bounds.lower)
      demand(pool.cmp(Pred::sle, low, pool.constant(64, 0)));
    for (const Expr *high : bounds.upper)
      demand(pool.cmp(Pred::sge, high, pool.constant(64, size)));
  }
  TensorForm form = algebra.lanes(select.getResult(), *dim);
  if (!condition->isConstant())
    form.terms[*dim].linear =
        LinearCase{inside.uniform, term.stride, condition};
  else if (!condition->isConstant(0))
    return inside;
  return form;
}

/// `i >> 3` and `i & 7` as quotient and remainder by 8. Of numbers that may be
/// negative the first is another quotient, but a range that begins there is
/// linear in no case.
std::optional<TensorForm> AccessAnalysis::bits(Operation *op) {
  using Kind = Expr::Kind;
  std::optional<TensorForm> a = integers(op->getOperand(0)),
                            b = integers(op->getOperand(1));
  if (!a || !b || !b->isUniform() || a->width == 1)
    return std::nullopt;
  std::optional<int64_t> number = b->uniform->asConstant();
  bool isRemainder = isa<arith::AndIOp>(op);
  if (!number || *number <= 0 ||
      (isRemainder && !llvm::isMask_64(static_cast<uint64_t>(*number))))
    return std::nullopt;
  int64_t amount = isRemainder ? llvm::Log2_64(*number + 1) : *number;
  if (amount >= a->width - 1)
    return std::nullopt;
  bool isSigned = isa<arith::ShRSIOp>(op);
  if (isSigned && (a->isUniform() || !a->isLinear()))
    return std::nullopt;
  return algebra.divide(isRemainder ? Kind::RemU
                        : isSigned  ? Kind::DivS
                                    : Kind::DivU,
                        *a, pool.constant(a->width, int64_t(1) << amount), op);
}

/// A range that is kept from falling below a bound or from rising above it,
/// `tl.maximum(i, 0)`: itself where it does not.
std::optional<TensorForm> AccessAnalysis::clamped(Operation *op) {
  bool isMax = isa<arith::MaxSIOp>(op);
  std::optional<TensorForm> a = integers(op->getOperand(0));
  // Not below a remainder of its own.
  auto rem = op->getOperand(1).getDefiningOp<arith::RemSIOp>();
  if (isMax && rem && rem.getLhs() == op->getOperand(0))
    return a ? algebra.whereNotBelow(*a, pool.constant(a->width, 0), op)
             : std::nullopt;
  std::optional<TensorForm> b = integers(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (a->isUniform())
    std::swap(a, b);
  if (a->isUniform() || !b->isUniform())
    return std::nullopt;
  return isMax ? algebra.whereNotBelow(*a, b->uniform, op)
               : algebra.whereNotAbove(*a, b->uniform, op);
}

std::optional<TensorForm> AccessAnalysis::arithmetic(Operation *op) {
  using Kind = Expr::Kind;
  auto operand = [&](unsigned i) { return integers(op->getOperand(i)); };
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          op)) {
    std::optional<TensorForm> source = operand(0);
    if (!source)
      return std::nullopt;
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (width < source->width)
      return algebra.truncate(*source, width);
    if (isExact && width > source->width && !source->isUniform() &&
        !algebra.staysInType(*source, !isa<arith::ExtUIOp>(op))) {
      fail("not seen to stay in its integer type", op);
      return std::nullopt;
    }
    if (isa<arith::ExtUIOp>(op))
      return algebra.extendUnsigned(*source, width, op);
    std::optional<TensorForm> form =
        algebra.extend(*source, width, op->getOperand(0));
    if (!form)
      fail("not seen to stay in its integer type", op);
    return form;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Expr *condition = nullptr;
    if (!isa<RankedTensorType>(select.getCondition().getType()))
      condition = pool.scalar(select.getCondition());
    else if (auto splat = select.getCondition().getDefiningOp<tt::SplatOp>())
      condition = pool.scalar(splat.getSrc());
    std::optional<TensorForm> a = operand(1), b = operand(2);
    if (!condition)
      return a ? chosenInside(select, *a) : std::nullopt;
    return a && b ? algebra.select(condition, *a, *b) : std::nullopt;
  }
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op))
    return clamped(op);
  if (isa<arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(op))
    return bits(op);
  if (isa<arith::XOrIOp>(op)) {
    std::optional<TensorForm> source = operand(0), other = operand(1);
    std::optional<int64_t> bit = source && other && other->isUniform()
                                     ? other->uniform->asConstant()
                                     : std::nullopt;
    return bit ? algebra.exchanged(*source, *bit, op) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
           arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp>(op))
    return std::nullopt;
  std::optional<TensorForm> a = operand(0), b = operand(1);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return algebra.add(*a, *b);
  if (isa<arith::SubIOp>(op))
    return algebra.add(*a, algebra.scale(*b, pool.constant(b->width, -1)));
  if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    if (const Expr *factor = factorOf(pool, op, *b))
      return algebra.scale(*a, factor);
    const Expr *factor =
        isa<arith::MulIOp>(op) ? factorOf(pool, op, *a) : nullptr;
    return factor ? std::optional(algebra.scale(*b, factor)) : std::nullopt;
  }
  if (!b->isUniform())
    return std::nullopt;
  Kind kind = isa<arith::RemSIOp>(op)   ? Kind::RemS
              : isa<arith::RemUIOp>(op) ? Kind::RemU
              : isa<arith::DivSIOp>(op) ? Kind::DivS
                                        : Kind::DivU;
  return algebra.divide(kind, *a, b->uniform, op);
}
