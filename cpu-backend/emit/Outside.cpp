//===- Outside.cpp - what a block is where it was padded ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Outside.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

Attribute tilebridge::cpu::constantAttr(Value value) {
  Attribute attr;
  if (!value || !matchPattern(value, m_Constant(&attr)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(attr))
    return elements.isSplat() ? elements.getSplatValue<Attribute>()
                              : Attribute();
  return attr;
}

/// NaN if one of its operands is.
static bool passesNaN(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::ExtFOp, arith::TruncFOp, math::ExpOp,
             math::Exp2Op>(op);
}

/// Numbers of elements that are counted, and masks that are made of them.
static Outside outsideOfIntegers(Operation *op, ArrayRef<Outside> operands) {
  auto number = [&](unsigned i) -> std::optional<int64_t> {
    auto attr = operands[i].isExact() ? dyn_cast<IntegerAttr>(operands[i].value)
                                      : IntegerAttr();
    if (attr && attr.getValue().getSignificantBits() <= 64)
      return attr.getValue().getSExtValue();
    return std::nullopt;
  };
  if (isa<arith::AndIOp>(op) && (number(0) == 0 || number(1) == 0))
    return operands[number(0) == 0 ? 0 : 1];
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp>(op) &&
      operands[0].least) {
    // Blocks have fewer elements than that.
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    return type.isIndex() || type.getIntOrFloatBitWidth() >= 32 ? operands[0]
                                                                : Outside();
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return {};
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  auto is = [&](bool value) {
    return Outside::same(Builder(op->getContext()).getIntegerAttr(type, value));
  };
  // i < n, or n > i.
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  std::optional<int64_t> least = operands[0].least, other = number(1);
  bool isSwapped = !least;
  if (isSwapped) {
    least = operands[1].least;
    other = number(0);
  }
  if (!least || !other || *other < 0)
    return {};
  bool isBelow = isSwapped ? predicate == P::sgt || predicate == P::ugt
                           : predicate == P::slt || predicate == P::ult;
  bool isUpTo = isSwapped ? predicate == P::sge || predicate == P::uge
                          : predicate == P::sle || predicate == P::ule;
  if ((isBelow && *least >= *other) ||
      ((isUpTo || predicate == P::eq) && *least > *other))
    return is(false);
  return {};
}

static Outside outsideOfPlain(Operation *op, ArrayRef<Outside> operands) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return {};
  if (Outside found = outsideOfIntegers(op, operands);
      found.isSame || found.least)
    return found;
  // An operation of tensors folds splats.
  auto inType = [](Attribute value, Type type) -> Attribute {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return value && shaped ? DenseElementsAttr::get(shaped, value) : value;
  };
  auto fold = [&](bool exactly) -> Outside {
    SmallVector<Attribute> values;
    for (auto [outside, type] :
         llvm::zip_equal(operands, op->getOperandTypes()))
      values.push_back(exactly && !outside.isExact()
                           ? Attribute()
                           : inType(outside.value, type));
    Outside found;
    SmallVector<OpFoldResult> results = foldCopy(op, values);
    if (results.size() != 1)
      return found;
    if (auto attr = dyn_cast<Attribute>(results.front())) {
      auto elements = dyn_cast<DenseElementsAttr>(attr);
      if (!elements)
        found = Outside::same(attr);
      else if (elements.isSplat())
        found = Outside::same(elements.getSplatValue<Attribute>());
      return found;
    }
    for (auto [outside, operand] : llvm::zip_equal(operands, op->getOperands()))
      if (cast<Value>(results.front()) == operand)
        found = outside;
    return found;
  };
  if (Outside found = fold(/*exactly=*/true); found.isSame)
    return found;
  if (!llvm::all_of(operands, [](const Outside &o) { return o.isSame; }))
    return {};
  if (!passesNaN(op))
    return Outside::same();
  auto number = [&](unsigned i) {
    return dyn_cast_or_null<FloatAttr>(operands[i].value);
  };
  auto isZero = [](FloatAttr value) {
    return value && value.getValue().isZero();
  };
  // Zero times anything is zero, or NaN.
  for (unsigned i : {0, 1})
    if ((isa<arith::MulFOp>(op) || (i == 0 && isa<arith::DivFOp>(op))) &&
        isZero(number(i)))
      return Outside::zeroOrNaN(number(i));
  // An infinity stays what it is, or becomes NaN.
  for (unsigned i : {0, 1})
    if (isa<arith::AddFOp, arith::SubFOp>(op) && number(i) &&
        number(i).getValue().isInfinity()) {
      APFloat value = number(i).getValue();
      if (i == 1 && isa<arith::SubFOp>(op))
        value.changeSign();
      return {true, FloatAttr::get(number(i).getType(), value), true};
    }
  Outside found = fold(/*exactly=*/false);
  auto result = dyn_cast_or_null<FloatAttr>(found.value);
  if (!result)
    return Outside::same();
  if (llvm::none_of(operands, [](const Outside &o) { return o.anySign; }))
    return {true, result, /*mayBeNaN=*/true};
  // What is zero for one zero may be infinite for the other.
  bool keepsZero = isa<arith::AddFOp, arith::SubFOp, arith::NegFOp,
                       arith::ExtFOp, arith::TruncFOp>(op);
  return keepsZero && isZero(result) ? Outside::zeroOrNaN(result)
                                     : Outside::same();
}

/// `ofIndex`: what the index along a dimension is.
static Outside outsideOfBody(Block &block, ArrayRef<Outside> arguments,
                             llvm::function_ref<Outside(uint64_t)> ofIndex) {
  DenseMap<Value, Outside> known;
  for (auto [argument, outside] :
       llvm::zip_equal(block.getArguments(), arguments))
    known[argument] = outside;
  auto lookup = [&](Value value) -> Outside {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    return Outside::same(constantAttr(value));
  };
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1)
      return {};
    auto index = dyn_cast<linalg::IndexOp>(op);
    known[op.getResult(0)] =
        index ? ofIndex(index.getDim())
              : outsideOfPlain(&op,
                               llvm::map_to_vector(op.getOperands(), lookup));
  }
  return lookup(block.getTerminator()->getOperand(0));
}

Outside tilebridge::cpu::outsideOf(Operation *op, ArrayRef<Outside> operands) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return outsideOfPlain(op, operands);
  return outsideOfBody(*generic.getBody(), operands,
                       [](uint64_t) { return Outside(); });
}

namespace {

/// Blocks of the function as it was, without loops around.
class Search {
public:
  explicit Search(int64_t begin) : begin(begin) {}
  /// Where a mask of rank 1 is false.
  explicit Search(Value mask) : mask(mask) {}

  Outside visit(Value block, unsigned dim) {
    if (--budget < 0)
      return {};
    if (Attribute attr = constantAttr(block))
      return Outside::same(attr);
    if (mask && block == mask)
      return Outside::same(Builder(block.getContext()).getBoolAttr(false));
    if (std::optional<StructuredLoad> load = matchLoad(block))
      return mask ? Outside() : visitLoad(*load, dim);
    Operation *op = block.getDefiningOp();
    if (!op)
      return {};
    if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op))
      return visitRows(rows, dim);
    if (auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op))
      return visitMasked(load.getMask(), load.getOther(), block, dim);
    if (auto gather = dyn_cast<linalg_ext::GatherOp>(op))
      return visitMasked(gather.getMask(), gather.getOther(), block, dim);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return visitExpanded(expand, dim);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return visitCollapsed(collapse, dim);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitBranches(branch, block, dim);
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return Outside::same(constantAttr(splat.getInput()));
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      return Outside::same(constantAttr(fill.getInputs().front()));
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || isa<linalg::GenericOp>(op) ||
        !isa<linalg::BroadcastOp, linalg::TransposeOp>(op))
      return visitElementwise(op, dim);
    OpOperand *input = linalgOp.getDpsInputOperand(0);
    AffineMap to = linalgOp.getIndexingMapMatchingResult(op->getResult(0)),
              from = linalgOp.getMatchingIndexingMap(input);
    for (auto [d, expr] : llvm::enumerate(from.getResults()))
      if (expr == to.getResult(dim))
        return visit(input->get(), d);
    return unlikeRows();
  }

private:
  /// Of what is the same along the dimension, but another number in each row.
  Outside unlikeRows() const { return mask ? Outside::same() : Outside(); }

  Outside visitLoad(StructuredLoad load, unsigned dim) {
    auto read = cast<RankedTensorType>(load.read.getType());
    if (load.low.empty() || read.isDynamicDim(dim))
      return {};
    std::optional<int64_t> low = constantOf(load.low[dim]);
    if (!low || *low + read.getDimSize(dim) > begin)
      return {};
    return load.other ? visit(load.other, dim)
                      : Outside::same(constantAttr(load.pad));
  }

  Outside visitRows(linalg_ext::GatherRowsOp rows, unsigned dim) {
    auto view = cast<MemRefType>(rows.getView().getType());
    if (mask)
      return static_cast<unsigned>(rows.getDim()) == dim &&
                     rows.getRowmask() == mask
                 ? visitOther(rows.getOther(), rows.getResult(), dim)
                 : Outside();
    if (static_cast<unsigned>(rows.getDim()) == dim || view.isDynamicDim(dim) ||
        view.getDimSize(dim) > begin)
      return {};
    return visitOther(rows.getOther(), rows.getResult(), dim);
  }

  /// The same number in both.
  Outside visitBranches(scf::IfOp branch, Value block, unsigned dim) {
    unsigned number = cast<OpResult>(block).getResultNumber();
    Outside yes = visit(branch.thenYield().getOperand(number), dim),
            no = visit(branch.elseYield().getOperand(number), dim);
    return yes.isExact() && no.isExact() && yes.value == no.value ? yes
                                                                  : Outside();
  }

  Outside visitMasked(Value where, Value other, Value block, unsigned dim) {
    if (!where || !visit(where, dim).isFalse())
      return {};
    return visitOther(other, block, dim);
  }

  /// A number or a block; zero if it is not said.
  Outside visitOther(Value other, Value block, unsigned dim) {
    if (other && isa<RankedTensorType>(other.getType()))
      return visit(other, dim);
    Type element = getElementTypeOrSelf(block.getType());
    return Outside::same(
        other ? constantAttr(other)
              : Builder(block.getContext()).getZeroAttr(element));
  }

  /// A dimension that is expanded by such of size 1 only.
  Outside visitExpanded(tensor::ExpandShapeOp expand, unsigned dim) {
    int64_t size = expand.getResultType().getDimSize(dim);
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices()))
      if (llvm::is_contained(group, static_cast<int64_t>(dim)))
        return expand.getSrcType().getDimSize(d) == size
                   ? visit(expand.getSrc(), d)
                   : Outside();
    return {};
  }

  Outside visitCollapsed(tensor::CollapseShapeOp collapse, unsigned dim) {
    int64_t size = collapse.getResultType().getDimSize(dim);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t d : group)
      if (collapse.getSrcType().getDimSize(d) == size)
        return visit(collapse.getSrc(), d);
    return {};
  }

  Outside visitElementwise(Operation *op, unsigned dim) {
    if (!isElementwise(op) || op->getNumResults() != 1)
      return {};
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && !isa<linalg::GenericOp>(op))
      return {};
    SmallVector<Outside> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      Outside outside;
      if (!isa<RankedTensorType>(operand.get().getType())) {
        outside = Outside::same(constantAttr(operand.get()));
      } else if (!linalgOp) {
        outside = visit(operand.get(), dim);
      } else if (isRead(operand)) {
        AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
        outside = unlikeRows();
        for (auto [d, expr] : llvm::enumerate(map.getResults()))
          if (auto loop = dyn_cast<AffineDimExpr>(expr);
              loop && loop.getPosition() == dim)
            outside = visit(operand.get(), d);
        if (Attribute attr = constantAttr(operand.get()))
          outside = Outside::same(attr);
      }
      operands.push_back(outside);
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      return outsideOf(op, operands);
    return outsideOfBody(*generic.getBody(), operands, [&](uint64_t d) {
      Outside index;
      if (mask)
        return d == dim ? index : Outside::same();
      if (d == dim)
        index.least = begin;
      return index;
    });
  }

  int64_t begin = 0;
  Value mask;
  int budget = 64;
};

} // namespace

Outside tilebridge::cpu::outsideFrom(Value block, unsigned dim, int64_t begin) {
  return Search(begin).visit(block, dim);
}

Outside tilebridge::cpu::outsideOfMask(Value block, unsigned dim, Value mask) {
  return Search(mask).visit(block, dim);
}
