//===- Bodies.cpp - scalar code on scalars or vectors ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// All lanes of `x` by one number, as a product with its reciprocal. A power of
/// two keeps the reciprocal a normal number: what overflows on the way does so
/// in the quotient, what becomes subnormal is far below it. Zeros, infinities
/// and NaN give what division gives; the rest is right to 2 ulp.
static Operation *divideByOne(OpBuilder &b, Location loc, Value x, Value by,
                              VectorType type) {
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  auto is = [&](arith::CmpFPredicate kind, Value left, float right) -> Value {
    return arith::CmpFOp::create(b, loc, kind, left, number(right));
  };
  Value size = math::AbsFOp::create(b, loc, by);
  Value power = arith::SelectOp::create(
      b, loc, is(arith::CmpFPredicate::OGT, size, 0x1p63f), number(0x1p-62f),
      number(1.0f));
  power = arith::SelectOp::create(b, loc,
                                  is(arith::CmpFPredicate::OLT, size, 0x1p-63f),
                                  number(0x1p62f), power);
  Value reciprocal = arith::DivFOp::create(
      b, loc, number(1.0f), arith::MulFOp::create(b, loc, by, power));
  auto splat = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, loc, type, value);
  };
  Value scaled = arith::MulFOp::create(b, loc, x, splat(power));
  return arith::MulFOp::create(b, loc, scaled, splat(reciprocal));
}

/// A sign is one bit: what negates and takes magnitudes of 16-bit floats needs
/// no other type.
static bool changesSignOfHalves(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResultTypes().front());
  return isa<arith::NegFOp, math::AbsFOp>(op) &&
         (type.isBF16() || type.isF16());
}

static Operation *changeSign(OpBuilder &b, Operation *op, Value x) {
  Location loc = op->getLoc();
  Type bits = b.getI16Type();
  bool negates = isa<arith::NegFOp>(op);
  TypedAttr mask = b.getI16IntegerAttr(negates ? -0x8000 : 0x7fff);
  if (auto vector = dyn_cast<VectorType>(x.getType())) {
    bits = vector.clone(bits);
    mask = DenseElementsAttr::get(cast<VectorType>(bits), Attribute(mask));
  }
  Value integer = arith::BitcastOp::create(b, loc, bits, x);
  Value number = arith::ConstantOp::create(b, loc, mask);
  Value result =
      negates ? arith::XOrIOp::create(b, loc, integer, number).getResult()
              : arith::AndIOp::create(b, loc, integer, number).getResult();
  return arith::BitcastOp::create(b, loc, x.getType(), result);
}

/// `op` on scalars (lanes == 0) or vectors; null after an error.
Operation *FunctionEmitter::cloneElementwise(Operation *op,
                                             ArrayRef<Value> operands,
                                             int64_t lanes) {
  SmallVector<Value> values(operands);
  auto divide = dyn_cast<arith::DivFOp>(op);
  bool isFree = divide && bitEnumContainsAny(divide.getFastmath(),
                                             arith::FastMathFlags::arcp);
  if (isFree && target().usesReciprocals && lanes != 0 &&
      values[1].getType().isF32())
    return divideByOne(rewriter, op->getLoc(), toLanes(values[0], lanes),
                       values[1],
                       VectorType::get({lanes}, values[1].getType()));
  bool scalarCondition =
      isa<arith::SelectOp>(op) && !isa<VectorType>(values[0].getType());
  if (lanes != 0)
    for (auto [i, value] : llvm::enumerate(values))
      if (i != 0 || !scalarCondition)
        values[i] = toLanes(value, lanes);
  if (changesSignOfHalves(op))
    return changeSign(rewriter, op, values[0]);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    types.push_back(lanes != 0 ? Type(VectorType::get({lanes}, element))
                               : element);
  }
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), types, values,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, 0);
  // LLVM would estimate it.
  if (isFree)
    cast<arith::DivFOp>(copy).setFastmath(divide.getFastmath() &
                                          ~arith::FastMathFlags::arcp);
  return rewriter.insert(copy);
}

/// What has no vector form (a call, a branch): lane by lane, in a loop.
/// `lookup` gives the new value of what the op uses, a scalar or a vector.
SmallVector<Value>
FunctionEmitter::cloneByLane(Operation *op, int64_t lanes,
                             function_ref<Value(Value)> lookup) {
  Location loc = op->getLoc();
  llvm::SetVector<Value> uses;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        uses.insert(operand);
  });
  SmallVector<std::pair<Value, Value>> values;
  for (Value use : uses) {
    values.push_back({use, lookup(use)});
    if (!values.back().second)
      return {};
  }
  // The same for all lanes.
  if (llvm::none_of(values, [](const auto &use) {
        return isa<VectorType>(use.second.getType());
      })) {
    IRMapping mapping;
    for (auto [use, value] : values)
      mapping.map(use, value);
    return llvm::to_vector_of<Value>(
        rewriter.clone(*op, mapping)->getResults());
  }
  auto bound = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  SmallVector<Value> inits;
  for (Type type : op->getResultTypes())
    inits.push_back(toLanes(zeroOf(type, loc), lanes));
  auto loop = scf::ForOp::create(rewriter, loc, bound(0), bound(lanes),
                                 bound(1), inits);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(loop.getBody());
  OpFoldResult lane = loop.getInductionVar();
  IRMapping mapping;
  for (auto [use, value] : values)
    mapping.map(
        use,
        isa<VectorType>(value.getType())
            ? vector::ExtractOp::create(rewriter, loc, value, lane).getResult()
            : value);
  Operation *copy = rewriter.clone(*op, mapping);
  SmallVector<Value> next;
  for (auto [element, vector] :
       llvm::zip_equal(copy->getResults(), loop.getRegionIterArgs()))
    next.push_back(
        vector::InsertOp::create(rewriter, loc, element, vector, lane));
  if (!next.empty())
    scf::YieldOp::create(rewriter, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

LogicalResult FunctionEmitter::cloneBody(Block &block,
                                         ArrayRef<Value> arguments,
                                         ArrayRef<Index> indices, int64_t lanes,
                                         SmallVectorImpl<Value> &results) {
  DenseMap<Value, Value> local;
  DenseMap<Value, unsigned> indexOf;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    local[argument] = value;
  auto lookup = [&](Value value) -> Value {
    if (auto it = indexOf.find(value); it != indexOf.end())
      return laneIndices(indices[it->second], value.getType());
    if (auto it = local.find(value); it != local.end())
      return it->second;
    return mapScalar(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      indexOf[index] = index.getDim();
      continue;
    }
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    if (cast && indexOf.count(cast.getIn())) {
      local[cast] = laneIndices(indices[indexOf[cast.getIn()]], cast.getType());
      continue;
    }
    SmallVector<Value> operands;
    bool anyLanes = false;
    for (Value operand : op.getOperands()) {
      operands.push_back(lookup(operand));
      if (!operands.back())
        return op.emitError("uses a value that is not available here");
      anyLanes |= isa<VectorType>(operands.back().getType());
    }
    SmallVector<Value> values;
    if (op.getNumRegions() != 0) {
      // Everything, as if each lane were different: a branch may be.
      values = cloneByLane(&op, lanes, lookup);
      if (values.empty())
        return failure();
    } else if (op.getNumOperands() == 0) {
      values = llvm::to_vector_of<Value>(rewriter.clone(op)->getResults());
    } else if (op.hasTrait<OpTrait::Elementwise>()) {
      Operation *copy = cloneElementwise(&op, operands, anyLanes ? lanes : 0);
      values = llvm::to_vector_of<Value>(copy->getResults());
    } else if (anyLanes) {
      values = cloneByLane(&op, lanes, lookup);
      if (values.empty())
        return failure();
    } else {
      IRMapping mapping;
      for (auto [from, to] : llvm::zip_equal(op.getOperands(), operands))
        mapping.map(from, to);
      values =
          llvm::to_vector_of<Value>(rewriter.clone(op, mapping)->getResults());
    }
    for (auto [from, to] : llvm::zip_equal(op.getResults(), values))
      local[from] = to;
  }
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(lookup(value));
  return success();
}
