//===- RaiseProducts.cpp - tilebridge-cpu-raise-products ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A product that is written as it is defined has one step along K in each
// iteration: a column of `a` by a row of `b`. What packs operands, keeps sums
// in registers and shares blocks of `b` knows blocks of many steps, as those of
// `tl.dot` are. The loop becomes one over such blocks.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ProductSum.h"
#include "cpu-backend/emit/StepBlocks.h"
#include "cpu-backend/emit/UniformTensors.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPURAISEPRODUCTSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Steps of a block, and the fewest and most where their number is known. Of a
/// block all are multiplied, and loops gather blocks anyway.
static constexpr int64_t usualSteps = 8, leastSteps = 8, mostSteps = 64;
/// Smaller blocks of sums stay in registers as they are, and narrower ones fill
/// no vectors.
static constexpr int64_t leastSums = 32, leastColumns = 16;
static constexpr unsigned mostTerms = 16;

bool ProductSum::add(Value value, bool isSubtracted) {
  if (value == acc) {
    bool isFirst = !hasAcc && !isSubtracted;
    hasAcc = true;
    return isFirst;
  }
  auto op = value.getDefiningOp<linalg::GenericOp>();
  Operation *inner = onlyOperation(op);
  if (!inner || !readsOnlyInputs(op) || !linalg_ext::keepsOrder(op) ||
      terms.size() >= mostTerms)
    return false;
  auto operand = [&](unsigned i) {
    Value element = inner->getOperand(i);
    Value block = blockOf(op, element);
    return block ? block : element;
  };
  // Nobody else sees the sums in between.
  bool isAlone = value.hasOneUse();
  if (isa<arith::AddFOp, arith::AddIOp>(inner))
    return isAlone && add(operand(0), isSubtracted) &&
           add(operand(1), isSubtracted);
  if (isa<arith::SubFOp, arith::SubIOp>(inner))
    return isAlone && add(operand(0), isSubtracted) &&
           add(operand(1), !isSubtracted);
  bool isFma = isa<math::FmaOp>(inner);
  if (!isFma && !isa<arith::MulFOp, arith::MulIOp>(inner))
    return false;
  terms.push_back({operand(0), operand(1), isSubtracted, op.getLoc()});
  return !isFma || (isAlone && add(operand(2), isSubtracted));
}

/// Sums of these are not rounded to a narrower type after each step.
static bool isSummed(Type type) {
  return type.isF32() || type.isF64() || type.isInteger(32);
}

/// How many steps a block of the loop has; 0: too few for one.
static int64_t stepsOfBlock(scf::ForOp loop) {
  std::optional<APInt> known = loop.getStaticTripCount();
  if (!known)
    return usualSteps;
  if (known->ult(leastSteps))
    return 0;
  if (known->ule(mostSteps))
    return known->getZExtValue();
  for (int64_t steps = mostSteps; steps >= mostSteps / 4; --steps)
    if (known->urem(steps) == 0)
      return steps;
  return usualSteps;
}

/// The loop reads and computes, and counts up by a constant.
static bool isUsual(scf::ForOp loop) {
  auto step = getConstantIntValue(loop.getStep());
  bool acts = anyInside(
      loop, [](Operation *op) { return mayWrite(op) || hasOrder(op); });
  return !loop.getUnsignedCmp() && step && *step > 0 && !acts;
}

std::optional<ProductSum> ProductSum::match(scf::ForOp loop, unsigned i) {
  BlockArgument acc = loop.getRegionIterArg(i);
  auto type = dyn_cast<RankedTensorType>(acc.getType());
  if (!type || !type.hasStaticShape() || type.getRank() < 1 ||
      type.getRank() > 2 || !isSummed(type.getElementType()) ||
      type.getNumElements() < leastSums || !acc.hasOneUse() || !isUsual(loop) ||
      stepsOfBlock(loop) == 0)
    return std::nullopt;
  ProductSum sum;
  sum.acc = acc;
  if (!sum.add(loop.getYieldedValues()[i]) || !sum.hasAcc || sum.terms.empty())
    return std::nullopt;
  return sum;
}

/// The negative of `block`, exactly.
static Value negated(OpBuilder &b, Location loc, Value block) {
  auto type = cast<RankedTensorType>(block.getType());
  return elementwiseBlock(b, loc, type, block,
                          [&](OpBuilder &inner, ValueRange arguments) -> Value {
                            Value x = arguments[0];
                            if (isa<FloatType>(x.getType()))
                              return arith::NegFOp::create(inner, loc, x);
                            Value zero = arith::ConstantOp::create(
                                inner, loc, inner.getZeroAttr(x.getType()));
                            return arith::SubIOp::create(inner, loc, zero, x);
                          });
}

/// Which of the term's factors are rows and columns of operands.
static std::optional<std::pair<Value, Value>> factorsOf(const ProductTerm &term,
                                                        StepBlocks &blocks) {
  auto left = blocks.variesAlong(term.left),
       right = blocks.variesAlong(term.right);
  if (!left || !right)
    return std::nullopt;
  constexpr unsigned rows = 1u << StepBlocks::Rows,
                     columns = 1u << StepBlocks::Columns;
  if (!(*left & columns) && !(*right & rows))
    return std::pair(term.left, term.right);
  if (!(*left & rows) && !(*right & columns))
    return std::pair(term.right, term.left);
  return std::nullopt;
}

bool ProductSum::areProducts(scf::ForOp loop) const {
  OpBuilder b(loop);
  StepBlocks blocks(b, loop, cast<RankedTensorType>(acc.getType()), 1);
  return llvm::all_of(terms, [&](const ProductTerm &term) {
    return factorsOf(term, blocks).has_value();
  });
}

/// The bytes that both blocks are widened from, whose products are the same.
static void keepBytes(Value &lhs, Value &rhs) {
  auto bytesOf = [](Value block) -> Value {
    auto op = block.getDefiningOp<linalg::GenericOp>();
    bool isWidened = isa_and_present<arith::ExtSIOp>(onlyOperation(op)) &&
                     op.getNumDpsInputs() == 1;
    Value bytes = isWidened ? op.getInputs()[0] : Value();
    return bytes && getElementTypeOrSelf(bytes.getType()).isInteger(8)
               ? bytes
               : Value();
  };
  Value left = bytesOf(lhs), right = bytesOf(rhs);
  if (left && right && getElementTypeOrSelf(lhs.getType()).isInteger(32))
    lhs = left, rhs = right;
}

/// A block that the loop reads has columns that are contiguous in memory, and
/// rows that are not.
static bool readsColumns(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<bufferization::ToTensorOp>(),
                      [](bufferization::ToTensorOp load) {
                        auto type =
                            cast<MemRefType>(load.getBuffer().getType());
                        return type.getRank() == 2 && hasUnitStride(type, 0) &&
                               !hasUnitStride(type, 1);
                      });
}

/// Adds the term to `acc` (of two dimensions) by a loop over blocks of steps,
/// before `loop`; null, and nothing is left, where an operand has no blocks.
static Value raise(const ProductTerm &term, Value acc, StepBlocks blocks,
                   OpBuilder &b) {
  auto factors = factorsOf(term, blocks);
  if (!factors)
    return {};
  scf::ForOp raised = blocks.begin(acc);
  Value lhs = blocks.of(factors->first, StepBlocks::Rows);
  Value rhs = lhs ? blocks.of(factors->second, StepBlocks::Columns) : Value();
  // One row of sums is multiplied with rows of `b` as quickly where it stays in
  // registers, but not with columns.
  bool isRow = cast<RankedTensorType>(acc.getType()).getDimSize(0) == 1;
  if (!rhs || (isRow && !readsColumns(raised)))
    return blocks.undo(), Value();
  if (term.isSubtracted)
    lhs = negated(b, term.loc, lhs);
  keepBytes(lhs, rhs);
  Value sum =
      linalg::MatmulOp::create(b, term.loc, acc.getType(), ValueRange{lhs, rhs},
                               raised.getRegionIterArg(0))
          .getResult(0);
  scf::YieldOp::create(b, term.loc, sum);
  b.setInsertionPointAfter(raised);
  return raised.getResult(0);
}

/// A block that is only stored, and columns of which are contiguous in memory.
static bool isStoredByColumns(Value block) {
  if (cast<RankedTensorType>(block.getType()).getRank() != 2 ||
      block.use_empty())
    return false;
  return llvm::all_of(block.getUsers(), [&](Operation *user) {
    if (isa<tensor::ExtractSliceOp>(user) && user->hasOneUse())
      user = *user->getUsers().begin();
    auto store = matchStore(user);
    auto type = store ? cast<MemRefType>(store->write.getDest().getType())
                      : MemRefType();
    return store && store->tensor == block && hasUnitStride(type, 0) &&
           !hasUnitStride(type, 1);
  });
}

/// Stores the transpose of `block`, `swapped`, in place of it.
static void storeSwapped(Value block, Value swapped) {
  const SmallVector<int64_t> order = {1, 0};
  for (Operation *user : llvm::make_early_inc_range(block.getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    auto store = cast<bufferization::MaterializeInDestinationOp>(
        slice ? *user->getUsers().begin() : user);
    OpBuilder b(store);
    Value view = linalg_ext::permuteView(b, store.getDest(), order);
    Value part = swapped;
    if (slice) {
      auto swap = [](SmallVector<OpFoldResult> list) {
        std::swap(list[0], list[1]);
        return list;
      };
      part = tensor::ExtractSliceOp::create(
          b, slice.getLoc(), swapped, swap(slice.getMixedOffsets()),
          swap(slice.getMixedSizes()), swap(slice.getMixedStrides()));
    }
    if (!view) {
      part = linalg_ext::transposed(b, store.getLoc(), part, order);
      view = store.getDest();
    }
    auto result = bufferization::MaterializeInDestinationOp::create(
        b, store.getLoc(), Type(), part, view);
    result.setWritable(true);
    store.erase();
    if (slice)
      slice.erase();
  }
}

/// Computes the loop's result `i` before it.
static bool raise(scf::ForOp loop, unsigned i) {
  auto sum = ProductSum::match(loop, i);
  if (!sum || loop->getResult(i).use_empty())
    return false;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto type = cast<RankedTensorType>(loop->getResult(i).getType());
  int64_t steps = stepsOfBlock(loop);
  bool isRow = type.getRank() == 1,
       isSwapped = isStoredByColumns(loop->getResult(i));
  if (type.getDimSize(isSwapped || isRow ? 0 : 1) < leastColumns)
    return false;
  SmallVector<ReassociationIndices> both = {{0, 1}};
  Value acc = loop.getInitArgs()[i];
  Operation *before = loop->getPrevNode();
  if (isRow)
    acc = tensor::ExpandShapeOp::create(
        b, loc,
        RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType()),
        acc, both);
  DenseElementsAttr start;
  if (isSwapped && matchPattern(acc, m_Constant(&start)) && start.isSplat())
    acc = arith::ConstantOp::create(
        b, loc,
        start.resizeSplat(RankedTensorType::get(
            {type.getDimSize(1), type.getDimSize(0)}, type.getElementType())));
  else if (isSwapped)
    acc = linalg_ext::transposed(b, loc, acc, {1, 0});
  for (const ProductTerm &term : sum->terms) {
    acc = raise(term, acc, StepBlocks(b, loop, type, steps, isSwapped), b);
    if (!acc)
      break;
  }
  if (!acc) {
    while (loop->getPrevNode() != before)
      loop->getPrevNode()->erase();
    return false;
  }
  if (isRow)
    acc = tensor::CollapseShapeOp::create(b, loc, acc, both);
  if (isSwapped)
    storeSwapped(loop->getResult(i), acc);
  else
    loop->getResult(i).replaceAllUsesWith(acc);
  // The old sums are not computed any more.
  loop.getBody()->getTerminator()->setOperand(i, sum->acc);
  return true;
}

namespace {
struct CpuRaiseProductsPass
    : tilebridge::cpu::impl::CpuRaiseProductsPassBase<CpuRaiseProductsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      bool hasRaised = false;
      for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
        hasRaised |= raise(loop, i);
      if (hasRaised && loop->use_empty())
        loop.erase();
    }
  }
};
} // namespace
