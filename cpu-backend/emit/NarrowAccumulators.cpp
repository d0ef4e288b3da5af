//===- NarrowAccumulators.cpp - tilebridge-cpu-narrow-accumulators --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// On a GPU a block of partial results lives in the registers of many threads. A
// CPU would keep it in memory, and read and write all of it in every iteration.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Combiners.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUNARROWACCUMULATORSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

/// Along the lanes fewer elements than this are a few registers; their tree of
/// sums costs more. Rows are added up lane by lane, which costs nothing.
static constexpr int64_t leastElements = 64, leastRows = 2;

/// The value that a splat has everywhere, if it is a constant.
static TypedAttr splatOf(Value tensor) {
  SplatElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)))
    return elements.getSplatValue<TypedAttr>();
  Attribute scalar;
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    if (matchPattern(splat.getInput(), m_Constant(&scalar)))
      return dyn_cast<TypedAttr>(scalar);
  return {};
}

namespace {
/// One value that a loop carries.
struct Accumulator {
  /// acc = combine(acc, elements) in the loop, and the reduction behind it.
  linalg::GenericOp update;
  linalg::ReduceOp reduce;
  Value elements;
  TypedAttr start;
  /// What chooses between the updated value and the old one, if anything does.
  linalg::GenericOp choice;
};
} // namespace

/// `op` if it selects, element by element, by a mask between two tensors.
static linalg::GenericOp asChoice(linalg::GenericOp op) {
  if (!op || op.getNumDpsInputs() != 3 || op.getNumDpsInits() != 1 ||
      !tilebridge::linalg_ext::keepsOrder(op))
    return {};
  Block &body = *op.getBody();
  auto select = dyn_cast<arith::SelectOp>(body.front());
  if (!select || select->getNextNode() != body.getTerminator() ||
      body.getTerminator()->getOperand(0) != select.getResult())
    return {};
  for (auto [i, operand] : llvm::enumerate(select->getOperands()))
    if (operand != body.getArgument(i))
      return {};
  return op;
}

/// Loops over `elements` have their lanes along dimensions that are reduced:
/// the last one, unless what is read lies in memory along others.
static bool lanesAreReduced(Value elements, ArrayRef<int64_t> reduced) {
  auto shape = cast<RankedTensorType>(elements.getType()).getShape();
  if (!llvm::is_contained(reduced, static_cast<int64_t>(shape.size()) - 1))
    return false;
  llvm::SmallSetVector<Value, 16> seen;
  seen.insert(elements);
  constexpr size_t most = 64;
  bool liesAlongOther = false;
  for (size_t next = 0; next < seen.size() && next < most; ++next) {
    Value block = seen[next];
    auto type = dyn_cast<RankedTensorType>(block.getType());
    if (!type || type.getShape() != shape)
      continue;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!isContiguousAlong(block, d))
        continue;
      if (llvm::is_contained(reduced, d))
        return true;
      liesAlongOther = true;
    }
    if (auto op = block.getDefiningOp<linalg::GenericOp>();
        op && tilebridge::linalg_ext::keepsOrder(op))
      seen.insert_range(op.getInputs());
  }
  return !liesAlongOther;
}

static std::optional<Accumulator> match(scf::ForOp loop, unsigned i) {
  BlockArgument argument = loop.getRegionIterArg(i);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  OpResult result = loop->getResult(i);
  if (!type || !result.hasOneUse())
    return std::nullopt;
  Accumulator found;
  Value next = loop.getYieldedValues()[i];
  found.choice = asChoice(next.getDefiningOp<linalg::GenericOp>());
  if (found.choice) {
    if (found.choice.getDpsInputs()[2] != argument ||
        !found.choice->hasOneUse())
      return std::nullopt;
    next = found.choice.getDpsInputs()[1];
  }
  found.update = next.getDefiningOp<linalg::GenericOp>();
  found.reduce = dyn_cast<linalg::ReduceOp>(*result.getUsers().begin());
  if (!found.update || !found.reduce ||
      !llvm::all_of(argument.getUsers(),
                    [&](Operation *user) {
                      return user == found.update || user == found.choice;
                    }) ||
      !argument.hasNUses(found.choice ? 2 : 1) ||
      found.update->getBlock() != loop.getBody() ||
      !found.update->hasOneUse() || found.update.getNumDpsInputs() != 2 ||
      found.update.getNumDpsInits() != 1 ||
      found.reduce.getNumDpsInputs() != 1 ||
      !tilebridge::linalg_ext::keepsOrder(found.update))
    return std::nullopt;
  unsigned at = found.update.getDpsInputs()[0] == argument ? 0 : 1;
  if (found.update.getDpsInputs()[at] != argument)
    return std::nullopt;
  found.elements = found.update.getDpsInputs()[1 - at];
  Operation *update = combinerOf(*found.update.getBody());
  Operation *combiner = combinerOf(found.reduce.getCombiner().front());
  found.start = splatOf(loop.getInitArgs()[i]);
  if (!update || !combiner || update->getName() != combiner->getName() ||
      !found.start || !staysWhenCombined(combiner, found.start) ||
      !splatOf(found.reduce.getInits()[0]))
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t d : found.reduce.getDimensions())
    elements *= type.getDimSize(d);
  if (elements < leastRows ||
      (elements < leastElements &&
       lanesAreReduced(found.elements, found.reduce.getDimensions())))
    return std::nullopt;
  return found;
}

/// `value` as a scalar (rank 0), or everywhere in a tensor of `type`.
static Value constant(OpBuilder &b, Location loc, RankedTensorType type,
                      TypedAttr value) {
  if (type.getRank() == 0)
    return arith::ConstantOp::create(b, loc, value);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

/// Reduces `elements` as the program does behind the loop, and combines that
/// with `sum`.
static Value updated(OpBuilder &b, Accumulator &found, Value sum) {
  Location loc = found.update.getLoc();
  Value outer = found.reduce.getInits()[0];
  auto type = cast<RankedTensorType>(outer.getType());
  Value init = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, splatOf(outer)));
  Operation *reduce = b.clone(*found.reduce);
  reduce->setOperands({found.elements, init});
  Operation *combiner = combinerOf(*found.update.getBody());
  auto combine = [&](OpBuilder &at, ValueRange operands) {
    Operation *copy = at.clone(*combiner);
    copy->setOperands(operands);
    return copy->getResult(0);
  };
  if (type.getRank() == 0) {
    Value part = tensor::ExtractOp::create(b, loc, reduce->getResult(0));
    return combine(b, {sum, part});
  }
  return elementwiseBlock(b, loc, type, {sum, reduce->getResult(0)}, combine);
}

/// Where the old value would stay, what the loop begins with is combined with
/// it in place of the element: that is in it already, and changes nothing.
static Operation *dropChoice(Accumulator &found) {
  linalg::GenericOp choice = found.choice;
  OpBuilder b(choice);
  auto type = cast<RankedTensorType>(choice->getResult(0).getType());
  Value start = constant(b, choice.getLoc(), type, found.start);
  Operation *chosen = b.clone(*choice);
  chosen->setOperand(1, found.elements);
  chosen->setOperand(2, start);
  found.elements = chosen->getResult(0);
  choice->getResult(0).replaceAllUsesWith(found.update->getResult(0));
  choice->erase();
  return chosen;
}

static void narrow(scf::ForOp loop, unsigned i, Accumulator &found) {
  Operation *chosen = found.choice ? dropChoice(found) : nullptr;
  OpBuilder b(loop);
  auto type = cast<RankedTensorType>(found.reduce->getResult(0).getType());
  SmallVector<Value> inits(loop.getInitArgs());
  inits[i] = constant(b, loop.getLoc(), type, found.start);
  auto next = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  next.setUnsignedCmp(loop.getUnsignedCmp());
  if (!next.getBody()->empty())
    next.getBody()->getTerminator()->erase();
  SmallVector<Value> arguments(next.getBody()->getArguments());
  Value sum = next.getRegionIterArg(i);
  if (chosen)
    b.setInsertionPointAfter(chosen);
  else
    b.setInsertionPoint(found.update);
  Value result = updated(b, found, sum);
  loop.getBody()->getTerminator()->setOperand(i, result);
  found.update->erase();
  // Nothing but the update has used the old argument.
  next.getBody()->getOperations().splice(next.getBody()->end(),
                                         loop.getBody()->getOperations());
  for (auto [from, to] :
       llvm::zip_equal(loop.getBody()->getArguments(), arguments))
    if (from.getType() == to.getType())
      from.replaceAllUsesWith(to);
  Value total = next->getResult(i);
  if (type.getRank() == 0) {
    b.setInsertionPointAfter(next);
    total = tensor::FromElementsOp::create(b, next.getLoc(), type, total);
  }
  found.reduce->getResult(0).replaceAllUsesWith(total);
  found.reduce->erase();
  for (auto [from, to] :
       llvm::zip_equal(loop->getResults(), next->getResults()))
    if (from.getType() == to.getType())
      from.replaceAllUsesWith(to);
  loop->erase();
}

namespace {
struct CpuNarrowAccumulatorsPass
    : tilebridge::cpu::impl::CpuNarrowAccumulatorsPassBase<
          CpuNarrowAccumulatorsPass> {
  void runOnOperation() override {
    while (narrowOne())
      ;
  }

  bool narrowOne() {
    scf::ForOp place;
    unsigned at = 0;
    std::optional<Accumulator> found;
    getOperation().walk([&](scf::ForOp loop) {
      for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
        if ((found = match(loop, i))) {
          place = loop;
          at = i;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (found)
      narrow(place, at, *found);
    return found.has_value();
  }
};
} // namespace
