//===- CountMatches.cpp - tilebridge-cpu-count-matches --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel that counts how often each number is in a block compares all
// elements with all numbers, as a GPU does that at once. A CPU takes longer for
// each number that there is; to look up one counter for each element takes it
// as long as sixteen comparisons of vectors.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/UniformTensors.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUCOUNTMATCHESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Fewer numbers are compared as quickly.
static constexpr int64_t leastBins = 16;

/// The one operation that `tensor` is of its operands, element by element, and
/// these: tensors, or scalars from outside. Null if it is anything else.
static Operation *operationOf(Value tensor, SmallVectorImpl<Value> &operands) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  Operation *inner = onlyOperation(op);
  if (!inner || !linalg_ext::keepsOrder(op))
    return nullptr;
  for (Value operand : inner->getOperands()) {
    Value block = blockOf(op, operand);
    operands.push_back(block ? block : operand);
  }
  return inner;
}

/// What is the same in all elements along `dim`, without that dimension.
static Value alongOther(Value tensor, int64_t dim) {
  auto broadcast = tensor.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || broadcast.getDimensions() != ArrayRef<int64_t>(dim))
    return {};
  return broadcast.getInput();
}

/// The number that all elements of a tensor are, as a scalar, or nothing.
static OpFoldResult numberOfAll(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<Attribute>();
  return {};
}

static bool isNumber(Value value, int64_t wanted) {
  OpFoldResult number = numberOfAll(value);
  if (!number)
    return false;
  Attribute attr = dyn_cast<Attribute>(number);
  if (!attr && !matchPattern(cast<Value>(number), m_Constant(&attr)))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getValue() == wanted;
  auto floating = dyn_cast<FloatAttr>(attr);
  return floating && floating.getValueAsDouble() == double(wanted);
}

namespace {
/// Which elements of a block are counted, for which numbers.
class Matches {
public:
  Matches(int64_t bins) : bins(bins) {}

  /// `tensor` is 1 where its element along the other dimension is the number
  /// along `bins`, and 0 elsewhere.
  bool addCount(Value tensor);

  Value elements;     ///< one dimension, as those of `masks`
  OpFoldResult first; ///< the first number; null: 0
  SmallVector<Value> masks;

private:
  bool addCondition(Value tensor);
  bool addNumbers(Value tensor);

  int64_t bins;
};
} // namespace

bool Matches::addCount(Value tensor) {
  SmallVector<Value> operands;
  Operation *op = operationOf(tensor, operands);
  if (!op)
    return false;
  bool ofBool = getElementTypeOrSelf(operands.front()).isInteger(1);
  if (isa<arith::ExtUIOp, arith::UIToFPOp>(op) && ofBool)
    return addCondition(operands.front());
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::UIToFPOp, arith::SIToFPOp>(op))
    return !ofBool && addCount(operands.front());
  return isa<arith::SelectOp>(op) && isa<TensorType>(operands[0].getType()) &&
         isNumber(operands[1], 1) && isNumber(operands[2], 0) &&
         addCondition(operands[0]);
}

bool Matches::addCondition(Value tensor) {
  if (Value mask = alongOther(tensor, bins)) {
    masks.push_back(mask);
    return true;
  }
  SmallVector<Value> operands;
  Operation *op = operationOf(tensor, operands);
  if (!op || !llvm::all_of(operands, [](Value operand) {
        return isa<TensorType>(operand.getType());
      }))
    return false;
  if (isa<arith::AndIOp>(op))
    return addCondition(operands[0]) && addCondition(operands[1]);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      elements)
    return false;
  for (unsigned i : {0, 1}) {
    Value numbers = alongOther(operands[1 - i], 1 - bins);
    elements = alongOther(operands[i], bins);
    if (elements && numbers && addNumbers(numbers))
      return true;
  }
  elements = {};
  return false;
}

/// Each number is one more than the one before.
bool Matches::addNumbers(Value tensor) {
  SmallVector<Value> operands;
  if (Operation *op = operationOf(tensor, operands);
      isa_and_present<arith::AddIOp>(op)) {
    if (!numberOfAll(operands[1]))
      std::swap(operands[0], operands[1]);
    OpFoldResult more = numberOfAll(operands[1]);
    if (!more || first || !isa<TensorType>(operands[0].getType()))
      return false;
    first = more;
    if (addNumbers(operands[0]))
      return true;
    first = {};
    return false;
  }
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 0 || op.getNumResults() != 1)
    return false;
  Value number = op.getBlock()->getTerminator()->getOperand(0);
  Attribute start;
  if (auto sum = number.getDefiningOp<arith::AddIOp>()) {
    if (first || !matchPattern(sum.getRhs(), m_Constant(&start)))
      return false;
    number = sum.getLhs();
  }
  auto cast = number.getDefiningOp<arith::IndexCastOp>();
  if (!cast || !cast.getIn().getDefiningOp<linalg::IndexOp>())
    return false;
  if (start)
    first = start;
  return true;
}

static bool isSum(linalg::ReduceOp op) {
  Block &block = op.getCombiner().front();
  Operation &inner = block.front();
  return op.getInputs().size() == 1 && op.getDimensions().size() == 1 &&
         isa<arith::AddIOp, arith::AddFOp>(inner) &&
         inner.getNextNode() == block.getTerminator() &&
         block.getTerminator()->getOperands() == inner.getResults() &&
         inner.getOperand(0) != inner.getOperand(1) &&
         llvm::all_of(inner.getOperands(), llvm::IsaPred<BlockArgument>) &&
         isNumber(op.getInits()[0], 0);
}

static bool countMatches(linalg::ReduceOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
  if (!isSum(op) || !type || type.getRank() != 2 || !type.hasStaticShape())
    return false;
  int64_t along = 1 - op.getDimensions().front(), bins = type.getDimSize(along);
  Type element = type.getElementType();
  // Narrow integers run over, and sums of narrow floats are rounded.
  if (bins < leastBins || !(element.isInteger(32) || element.isInteger(64) ||
                            element.isF32() || element.isF64()))
    return false;
  // Beyond, sums of f32 stay what they are.
  if (element.isF32() && type.getDimSize(1 - along) > (int64_t(1) << 24))
    return false;
  Matches matches(along);
  if (!matches.addCount(op.getInputs()[0]) || !matches.elements)
    return false;
  Value elements = matches.elements;
  auto integer =
      dyn_cast<IntegerType>(getElementTypeOrSelf(elements.getType()));
  // As many numbers as there are bits for: none of them comes twice.
  if (!integer ||
      (integer.getWidth() < 63 && bins > (int64_t(1) << integer.getWidth())))
    return false;

  OpBuilder b(op);
  Location loc = op.getLoc();
  if (matches.first) {
    Value first = dyn_cast<Value>(matches.first);
    if (!first)
      first = arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(cast<Attribute>(matches.first)));
    elements = elementwiseBlock(
        b, loc, cast<RankedTensorType>(elements.getType()), elements,
        [&](OpBuilder &b, ValueRange arguments) -> Value {
          return arith::SubIOp::create(b, loc, arguments[0], first);
        });
  }
  Value mask;
  for (Value other : matches.masks)
    mask = mask ? elementwiseBlock(
                      b, loc, cast<RankedTensorType>(mask.getType()),
                      {mask, other},
                      [&](OpBuilder &b, ValueRange both) -> Value {
                        return arith::AndIOp::create(b, loc, both[0], both[1]);
                      })
                : other;
  Type counted = isa<FloatType>(element) ? b.getI32Type() : element;
  Value counts = linalg_ext::HistogramOp::create(
      b, loc, RankedTensorType::get({bins}, counted), elements, mask);
  if (counted != element)
    counts = elementwiseBlock(
        b, loc, RankedTensorType::get({bins}, element), counts,
        [&](OpBuilder &b, ValueRange arguments) -> Value {
          return arith::SIToFPOp::create(b, loc, element, arguments[0]);
        });
  op.getResult(0).replaceAllUsesWith(counts);
  op.erase();
  return true;
}

namespace {
struct CountMatchesPass
    : public tilebridge::cpu::impl::CpuCountMatchesPassBase<CountMatchesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::ReduceOp> sums;
    getOperation().walk([&](linalg::ReduceOp op) { sums.push_back(op); });
    for (linalg::ReduceOp op : sums)
      countMatches(op);
  }
};
} // namespace
